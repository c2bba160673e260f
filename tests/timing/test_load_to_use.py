"""Load-to-use of every level on every preset: the number configured is the number measured.

The formula is that of docs/memory.md ("Load to use") and docs/presets.md; it is evaluated here from the description,
and measured by a chain of dependent loads over a working set that only the level in question holds.
"""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from breakeven.machines import describe_machine
from tests.asm import BEGIN, END, EXIT, measure

pytest.importorskip("breakeven._engine")
pytestmark = pytest.mark.skipif(shutil.which("riscv64-unknown-elf-gcc") is None, reason="no RISC-V cross compiler")

LOADS = 16  # in one turn of the measured loop
LINE = 64
IN_UNIT = 1  # cycles that a load spends in its unit while the cache is asked


def chain(lines: int, stride: int, base: int) -> str:
    """Builds `lines` pointers, `stride` bytes apart from offset `base` on, in a ring; t0 is at the first.

    The lines are cleaned: a dirty one would be written back again by the load that evicts it, before the next miss.
    """
    return f"""
    li t0, {0x80100000 + base}
    mv t3, t0
    li t2, {stride}
    li t1, {lines - 1}
1:  add t4, t0, t2
    sd t4, 0(t0)
    mv t0, t4
    addi t1, t1, -1
    bnez t1, 1b
    sd t3, 0(t0)
    mv t0, t3
    li t1, {lines}
2:  .insn i 0x0f, 2, x0, t0, 1  # cbo.clean
    add t0, t0, t2
    addi t1, t1, -1
    bnez t1, 2b
    mv t0, t3
    """


def cycles_each(
    machine: dict[str, Any], lines: int, stride: int = LINE, body: str = "ld t0, 0(t0)\n", base: int = 0
) -> float:
    """Cycles of one `body`, loop and start left out: a long run less a short one of the same code, after a warm-up."""
    short, long = 40, 240
    source = f"""{chain(lines, stride, base)}
    la s10, kernel
    li s11, {lines // LOADS + 20}
    li s4, {short}
    li s5, {long}
    li s7, 3
    .balign 64
3:  {BEGIN}
    jalr s10
    {END}
    mv s11, s4
    mv s4, s5
    addi s7, s7, -1
    bnez s7, 3b
    {EXIT}
    .balign 64
kernel:
2:  {body * LOADS}
    addi s11, s11, -1
    bnez s11, 2b
    ret
"""
    _, a, b = measure(machine, source)
    return (b - a) / (long - short) / LOADS


class Description:
    """Look-ups in a machine description by path."""

    def __init__(self, machine: dict[str, Any]) -> None:
        self.objects = {thing["path"]: thing for thing in machine["objects"]}

    def __getitem__(self, path: str) -> dict[str, Any]:
        return self.objects[f"system.{path}"]["params"]

    def has(self, path: str) -> bool:
        return f"system.{path}" in self.objects

    @property
    def minor(self) -> bool:
        return self.objects["system.cpu"]["type"] == "RiscvMinorCPU"

    def request(self, bus: str) -> int:
        own, filtered = self[bus], self[f"{bus}.snoop_filter"]
        return own["frontend_latency"] + own["forward_latency"] + filtered["lookup_latency"]

    def load_unit(self) -> dict[str, Any]:
        """The functional unit that does MemRead."""
        for thing in self.objects.values():
            if thing["type"] == "MinorOpClass" and thing["params"]["opClass"] == "MemRead":
                unit = thing["path"].split(".opClasses")[0]
                return self.objects[unit]["params"]
        raise AssertionError("no unit loads")


def hit(cache: dict[str, Any]) -> int:
    tag, data = cache["tag_latency"], cache["data_latency"]
    return tag + data if cache["sequential_access"] else max(tag, data)


def to_l2(d: Description) -> int:
    """Access to response when the second level has the line (cycles; docs/memory.md)."""
    l1, bus = d["cpu.dcache"], d["l2bus"]
    return l1["tag_latency"] + d.request("l2bus") + hit(d["l2"]) + bus["response_latency"] + l1["response_latency"]


def to_memory(d: Description, period: int) -> float:
    """Access to response when a SimpleMemory has it and nothing is in the way (cycles)."""
    l1, membus = d["cpu.dcache"], d["membus"]
    path = l1["tag_latency"] + l1["response_latency"] + d.request("membus") + membus["response_latency"]
    if d.has("l2"):
        l2, bus = d["l2"], d["l2bus"]
        path += l2["tag_latency"] + l2["response_latency"] + d.request("l2bus") + bus["response_latency"]
    return path + d["mem_ctrl"]["latency"] / period


@pytest.mark.parametrize("name", ["u74", "c906"])
def test_first_level(name: str) -> None:
    machine = describe_machine(name)
    d = Description(machine)
    configured = hit(d["cpu.dcache"]) + d.load_unit()["opLat"]
    assert cycles_each(machine, 64) == pytest.approx(configured, rel=0.01)


OUT_OF_ORDER = ["o3", "c910", "o3_small", "o3_large"]


def without_prefetchers(name: str, *settings: str) -> dict[str, Any]:
    """A ring of neighbouring lines is what prefetchers are made for."""
    return describe_machine(name, [f"{cache}.prefetcher=NULL" for cache in ("cpu.dcache", "l2")] + list(settings))


def lines_of(cache: dict[str, Any]) -> int:
    return int(cache["size"]) // LINE


@pytest.mark.parametrize("name", OUT_OF_ORDER)
def test_first_level_out_of_order(name: str) -> None:
    machine = without_prefetchers(name)
    assert cycles_each(machine, 64) == pytest.approx(hit(Description(machine)["cpu.dcache"]) + IN_UNIT, rel=0.01)


@pytest.mark.parametrize("name", OUT_OF_ORDER)
def test_second_level_out_of_order(name: str) -> None:
    machine = without_prefetchers(name)
    d = Description(machine)
    assert cycles_each(machine, 2 * lines_of(d["cpu.dcache"])) == pytest.approx(to_l2(d) + IN_UNIT, abs=0.05)


def test_memory_out_of_order() -> None:
    machine = without_prefetchers("c910")
    d = Description(machine)
    expected = to_memory(d, d["clk_domain"]["clock"][0]) + IN_UNIT
    assert cycles_each(machine, 2 * lines_of(d["l2"])) == pytest.approx(expected, abs=1)


def test_prefetchers_hide_what_they_can() -> None:
    """Neighbouring lines of the second level, one after the other: the stride prefetcher runs ahead of the chain."""
    lines = 2 * lines_of(Description(describe_machine("c910"))["cpu.dcache"])
    assert cycles_each(describe_machine("c910"), lines) < 0.8 * cycles_each(without_prefetchers("c910"), lines)


@pytest.mark.parametrize(("cross", "offset", "stride"), [("granule", 5, 128), ("line", 61, 128), ("page", 4093, 4096)])
def test_a_load_that_crosses_is_late_out_of_order(cross: str, offset: int, stride: int) -> None:
    per = [
        cycles_each(
            without_prefetchers("c910", "cpu.misaligned.granule=8", f"cpu.misaligned.{cross}_cross_load={extra}"),
            8, stride, base=offset,
        )
        for extra in (10, 17)
    ]  # fmt: skip
    assert per[1] - per[0] == pytest.approx(7, abs=0.05)


def test_first_level_of_gem5s_minor_replays() -> None:
    """Cache 2 + unit 1 = 3, less what gem5's early issue hides (its own chaseL1 kernel is in the agreement test)."""
    assert 2.5 < cycles_each(describe_machine("minor"), 64) <= 3.0


@pytest.mark.parametrize("name", ["u74", "minor"])
def test_second_level(name: str) -> None:
    machine = describe_machine(name)
    d = Description(machine)
    assert cycles_each(machine, 1024) == pytest.approx(to_l2(d) + IN_UNIT, abs=0.02)


def test_second_level_of_timing_simple_is_exact() -> None:
    """TimingSimple adds nothing of its own: the difference between the levels is the configured path."""
    machine = describe_machine("timing")
    d = Description(machine)
    assert cycles_each(machine, 1024) - cycles_each(machine, 64) == to_l2(d) - hit(d["cpu.dcache"])


@pytest.mark.parametrize("name", ["c906", "u74"])
def test_memory(name: str) -> None:
    # A chain through more than a second level misses each time only if the line used longest ago gives way.
    machine = describe_machine(name, ["l2.replacement_policy=LRURP()"] if name == "u74" else [])
    d = Description(machine)
    period = d["clk_domain"]["clock"][0]
    lines = 40_000 if d.has("l2") else 1024
    assert cycles_each(machine, lines) == pytest.approx(to_memory(d, period) + IN_UNIT, abs=0.02)


@pytest.mark.parametrize(("parameter", "level"), [("l2bus.frontend_latency", 1024), ("l2.data_latency", 1024)])
def test_one_cycle_more_is_one_cycle_more(parameter: str, level: int) -> None:
    """A latency that is changed in one place is measured in one place."""
    base = describe_machine("u74")
    now = Description(base)[parameter.rpartition(".")[0]][parameter.rpartition(".")[2]]
    changed = describe_machine("u74", [f"{parameter}={now + 1}"])
    assert cycles_each(changed, level) - cycles_each(base, level) == pytest.approx(1.0, abs=0.02)
    assert cycles_each(changed, 64) == cycles_each(base, 64)


@pytest.mark.parametrize(("cross", "offset", "stride"), [("granule", 5, 128), ("line", 61, 128), ("page", 4093, 4096)])
def test_a_load_that_crosses_is_late_by_what_is_configured(cross: str, offset: int, stride: int) -> None:
    """A chain of dependent loads, each across the boundary: seven cycles more configured are seven measured."""
    per = [
        cycles_each(describe_machine("c906", [f"cpu.misaligned.{cross}_cross_load={extra}"]), 8, stride, base=offset)
        for extra in (10, 17)
    ]
    assert per[1] - per[0] == pytest.approx(7, abs=0.05)


@pytest.mark.parametrize(("cross", "offset"), [("granule", 5), ("line", 61)])
def test_a_store_that_crosses_is_late_by_what_is_configured(cross: str, offset: int) -> None:
    """Stores one at a time in memory: the store buffer is full, so each store's lateness is the next one's wait."""
    per = [
        cycles_each(
            describe_machine(
                "c906", ["cpu.executeMaxAccessesInMemory=1", f"cpu.misaligned.{cross}_cross_store={extra}"]
            ),
            8,
            body=f"sd t2, {offset}(t0)\n",
        )
        for extra in (10, 17)
    ]
    assert per[1] - per[0] == pytest.approx(7, abs=0.05)


@pytest.mark.parametrize("operation", ["ld", "sd"])
def test_a_split_keeps_the_memory_pipeline_for_its_slots(operation: str) -> None:
    per = [
        cycles_each(
            describe_machine(
                "c906",
                [
                    f"cpu.misaligned.split_slots={slots}",
                    "cpu.misaligned.line_cross_load=0",
                    "cpu.misaligned.line_cross_store=0",
                ],
            ),
            8,
            body=f"{operation} t2, 61(t0)\n",
        )
        for slots in (4, 9)
    ]
    assert per[1] - per[0] == pytest.approx(5, abs=0.05)
