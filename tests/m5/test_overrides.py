"""Dotted-path overrides."""

from __future__ import annotations

from typing import Any

import pytest

from breakeven.config.element_names import mode_name
from breakeven.config.errors import OverrideError
from breakeven.config.overrides import apply_override, get_parameter, set_parameter
from breakeven.machine.presets import describe_machine, list_presets, load_machine
from breakeven.points.ranges import parse_number


@pytest.fixture
def minor() -> Any:
    return load_machine("minor")


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("cpu.dcache.size=64KiB", "cpu.dcache.size", 65536),
        ("system.cpu.dcache.size = 64KiB", "cpu.dcache.size", 65536),
        ("root.system.cpu.dcache.size=64KiB", "cpu.dcache.size", 65536),
        ("cache_line_size=32", "cache_line_size", 32),
        ("root.sim_quantum=5", "root.sim_quantum", 5),
        ("cpu.executeFuncUnits.funcUnits[6].opLat=2", "cpu.executeFuncUnits.funcUnits6.opLat", 2),
        ("cpu.executeFuncUnits.funcUnits6.opLat=3", "cpu.executeFuncUnits.funcUnits[6].opLat", 3),
        (
            "cpu.executeFuncUnits.funcUnits[0].timings.srcRegsRelativeLats=0,1",
            "cpu.executeFuncUnits.funcUnits0.timings[0].srcRegsRelativeLats",
            [0, 1],
        ),
        (
            "cpu.executeFuncUnits.funcUnits[0].timings[0].srcRegsRelativeLats[0]=1",
            "cpu.executeFuncUnits.funcUnits0.timings.srcRegsRelativeLats",
            [1],
        ),
        ("cpu.isa.enable_Zbb=false", "cpu.isa[0].enable_Zbb", False),
        ("cpu.misaligned.policy=trap", "cpu.misaligned.policy", "trap"),
        ("cpu.mmu.pma_checker.misaligned=", "cpu.mmu.pma_checker.misaligned", []),
    ],
)
def test_overrides_reach_their_parameter(minor: Any, text: str, path: str, value: Any) -> None:
    apply_override(minor, text)
    assert get_parameter(minor, path) == value
    if not path.startswith("root."):
        assert get_parameter(minor.system, path) == value


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("cpu.isa.microcode.rep_movs.forward.startup_uops=9", "cpu.isa.microcode.rep_movs[1].startup_uops", 9),
        ("cpu.isa.microcode.rep_stos.backwards.startup=9", "cpu.isa.microcode.rep_stos[2].startup", 9),
        ("cpu.isa.microcode.instructions.sbb.latency=2", "cpu.isa.microcode.instructions[0].latency", 2),
        ("cpu.fuPool.FUList.PortsLoad.opList.MemRead.opLat=2", "cpu.fuPool.FUList[4].opList[0].opLat", 2),
        ("l2.prefetcher.prefetchers.StreamPrefetcher.distance=4", "l2.prefetcher.prefetchers[0].distance", 4),
    ],
)
def test_elements_have_names(text: str, path: str, value: int) -> None:
    root = load_machine("skylake")
    apply_override(root, text)
    assert get_parameter(root, path) == value


def test_modes_of_the_string_engine_are_called_by_their_conditions() -> None:
    modes = load_machine("goldencove").system.cpu.isa[0].microcode.rep_movs
    assert [mode_name(mode._value) for mode in modes] == [
        "zero", "words_coaligned_up_to_128B", "words_coaligned_up_to_256B", "words_coaligned_up_to_511B",
        "words_coaligned", "words", "up_to_128B", "up_to_256B", "up_to_511B", "forward", "backwards",
    ]  # fmt: skip
    for preset in list_presets():
        isa = load_machine(preset.name).system.cpu.isa[0]
        for name in ("rep_movs", "rep_stos") if preset.isa == "x86" and isa.microcode else ():
            names = [mode_name(mode._value) for mode in getattr(isa.microcode, name)]
            assert len(set(names)) == len(names), preset.name


def test_an_unknown_element_names_those_there_are() -> None:
    with pytest.raises(OverrideError, match=r"vector of 3; say which one: rep_movs\[0\], or by name: zero, forward"):
        apply_override(load_machine("skylake"), "cpu.isa.microcode.rep_movs.short.startup=9")


@pytest.mark.parametrize("text", ["64K", "64k", "64KB", "64kb", "64KiB", "65536", "65536B", "0x10000"])
def test_a_size_is_written_as_sizes_are(minor: Any, text: str) -> None:
    apply_override(minor, f"cpu.dcache.size={text}")
    assert get_parameter(minor, "cpu.dcache.size") == 65536 == parse_number(text, "size")


def test_what_nothing_reads_is_refused_but_not_what_something_refers_to() -> None:
    with pytest.raises(OverrideError, match=r"warmup_percentage=3 changes nothing: no rule reads warmup_percentage"):
        describe_machine("minor", ["cpu.dcache.warmup_percentage=3"])
    # The cache's clock is `Parent.clk_domain`, and nothing reads the system's own.
    describe_machine("minor", ["clk_domain.clock=2GHz", "cpu.dcache.prefetcher=StridePrefetcher"])


def test_prefetchers_and_out_of_order_units_are_reached() -> None:
    import breakeven.m5.objects as o

    root = load_machine("minor")
    for text in ("l2.prefetcher=StreamPrefetcher", "l2.prefetcher.distance=8", "cpu.branchPred=LTAGE"):
        apply_override(root, text)
    assert (type(root.system.l2.prefetcher).__name__, get_parameter(root, "l2.prefetcher.distance")) == (
        "StreamPrefetcher",
        8,
    )
    assert get_parameter(root, "cpu.branchPred.tage.maxHist") == 640
    root.system.spare = o.DefaultFUPool()
    apply_override(root, "spare.FUList[1].opList[0].opLat=4")
    assert root.system.spare.FUList[1].opList[0].opLat == 4
    assert o.DefaultFUPool().FUList[1].opList[0].opLat == 3


def test_clocks_and_objects(minor: Any) -> None:
    apply_override(minor, "clk_domain.clock=1GHz")
    assert minor.system.clk_domain.clock[0].ticks == 1000
    apply_override(minor, "cpu.branchPred=LocalBP")
    assert type(minor.system.cpu.branchPred).__name__ == "LocalBP"
    apply_override(minor, "cpu.dcache.replacement_policy=RandomRP()")
    assert type(minor.system.cpu.dcache.replacement_policy).__name__ == "RandomRP"
    apply_override(minor, "cpu.branchPred=NULL")
    assert not minor.system.cpu.branchPred
    set_parameter(minor, "cpu.dcache.assoc", 4)
    assert minor.system.cpu.dcache.assoc == 4


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("cpu.dcache.sise=1", "did you mean 'size'"),
        ("cpu.dchache.size=1", "did you mean 'dcache'"),
        ("cpu.dcache.size=lots", "size in bytes"),
        ("cpu.dcache=1", "set one of its parameters"),
        ("cpu.dcache.cpu_side=1", "is a port"),
        ("cpu.dcache.size", "path=value"),
        ("=3", "path=value"),
        ("cpu.executeFuncUnits.funcUnits.opLat=1", "say which one"),
        ("cpu.executeFuncUnits.funcUnits[9].opLat=1", "there is no \\[9\\]"),
        ("cpu.isa[1].vlen=128", "has 1 element;"),
        ("cpu.branchPred=LocalPB", "did you mean 'LocalBP'"),
        ("cpu.branchPred=LRURP", "is not a BranchPredictor"),
        ("cpu.misaligned.policy=sometimes", "one of"),
        ("cpu.numThreads.x=1", "is a value"),
        ("cpu..size=1", "is not a name"),
        ("cpu.numThreads=-4", "out of range"),
        ("clk_domain.clock=0Hz", "must run"),
        ("cpu.isa[0].vlen[3]=1", "no element 3"),
    ],
)
def test_wrong_overrides_say_what_is_wrong(minor: Any, text: str, says: str) -> None:
    with pytest.raises(OverrideError, match=says) as caught:
        apply_override(minor, text)
    assert "\n" not in str(caught.value)
