"""`machines show`: what is on the page, and that each mark says what is so."""

from __future__ import annotations

import re

import pytest

from breakeven.config.overrides import get_parameter
from breakeven.machine.page import Page, in_columns
from breakeven.machine.parameters import matching, parameters
from breakeven.machine.presets import describe_machine, list_presets, load_machine
from breakeven.machine.sources import Sources

pytestmark = pytest.mark.slow


def page(name: str, *settings: str) -> tuple[str, Sources]:
    root = load_machine(name, settings)
    sources = Sources(root, settings)
    sections = Page(describe_machine(name, settings), sources).sections()
    return "\n".join("\n".join([f"# {heading}", *lines]) for heading, lines in sections), sources


@pytest.mark.parametrize("name", [preset.name for preset in list_presets()])
def test_a_page_is_readable(name: str) -> None:
    text, _ = page(name)
    assert max(map(len, text.splitlines())) <= 98  # two more for the indentation
    assert len(text.splitlines()) <= 160
    assert "# cpu: Riscv" in text or "# cpu: X86" in text
    assert "# TLBs" in text


def test_marks_tell_sources_and_differences() -> None:
    text, sources = page("u74", "cpu.dcache.assoc=4")
    assert "executeIssueLimit 2 u" in text  # gem5's default too
    assert "executeLSQStoreBufferSize 3 *u" in text
    assert "fetch2InputBufferSize 1 *a" in text
    assert "issueLat 2 *c: MemWrite" in text
    assert "policy trap *u" in text
    assert re.search(r"^assoc +4 s +8 u +16 u$", text, re.MULTILINE)
    assert re.search(r"^prefetcher +none +none +none$", text, re.MULTILINE)
    assert "executeLSQRequestsQueueSize 1\n" in text  # gem5's, and nobody says otherwise
    rows = dict(sources.rows())
    assert rows["u74/retire_width"].startswith("2 insn (high: ")
    assert sources.cited["u74/retire_width"] == ["cpu.executeCommitLimit"]
    assert "u74/rob_size" not in rows


def test_issue_queues_stand_with_their_units() -> None:
    text, _ = page("zen3", "cpu.instQueues[1].numEntries=20")
    assert "# cpu.instQueues[0].fuPool (functional units, cycles)\nnumEntries 24 *u\nFUList.Alu0: count 1 u" in text
    assert "# cpu.instQueues[1].fuPool (functional units, cycles)\nnumEntries 20 *s\nFUList.Alu1" in text
    assert "numIQEntries" not in text and "# cpu.fuPool" not in text  # of a gem5 without such queues
    assert "iqInsertionPolicy LeastLoaded *a" in text


def test_gem5s_own_machine_has_no_differences() -> None:
    text, sources = page("minor")
    assert "*" not in text
    assert re.search(r"^tag_latency +2 g +2 g +10 g$", text, re.MULTILINE)
    assert sources.rows() == []


def test_every_shown_name_is_what_set_takes() -> None:
    """Core, unit, predictor and cache names with their headings are paths of parameters."""
    settings = [
        "cpu.decodeInputWidth=1",
        "cpu.executeFuncUnits.funcUnits[3].opLat=9",
        "cpu.branchPred.btb.numEntries=64",
        "cpu.misaligned.granule=8",
        "l2.tag_latency=3",
        "cpu.mmu.dtb.size=16",
        "mem_ctrl.latency=50ns",
    ]
    text, _ = page("u74", *settings)
    for shown in ("decodeInputWidth 1 *s", "opLat 9 s", "btb.numEntries 64 *s", "granule 8 *s", "latency 50 ns *s"):
        assert shown in text, shown


def test_the_string_engine_and_the_instructions_are_shown() -> None:
    text, _ = page("skylake", "cpu.isa.microcode.rep_movs.forward.startup_uops=99")
    assert "instructions.adc: latency 1 u (for adc sbb)" in text
    assert "instructions.mul: latency 3 a (for mul mulx)" in text
    assert "instructions.psadbw: latency 3 u (for psadbw vpsadbw)" in text
    assert "rep_movs.zero: max_count 0 a, startup_uops 20 a" in text
    assert "rep_movs.forward: startup_uops 99 s, block 64 u, alignment 16 u, bytes_per_cycle 28.9" in text
    assert "flag_merge none u" in text
    assert "FUList.PortsLoad: count 2 u; opLat of MemRead, FloatMemRead: 1" in text
    assert "# l2.prefetcher.prefetchers.StreamPrefetcher: StreamPrefetcher" in text


@pytest.mark.parametrize("name", [preset.name for preset in list_presets()])
def test_every_parameter_has_a_path_that_set_takes(name: str) -> None:
    root = load_machine(name)
    found = parameters(describe_machine(name), Sources(root))
    assert len({each.path for each in found}) == len(found) > 90
    for each in found:
        get_parameter(root, each.path)


def test_parameters_are_found_by_their_words() -> None:
    root = load_machine("skylake")
    known = parameters(describe_machine("skylake"), Sources(root))
    found = {each.path: each for each in matching(known, "REP_MOVS uops")}
    one = found["cpu.isa.microcode.rep_movs.zero.startup_uops"]
    assert (one.value, one.unit, one.takes, one.mark) == ("20", "micro-ops", "0 to 4096", "*a")
    assert [each.path for each in matching(known, "skylake/lat_psadbw")] == [
        "cpu.isa.microcode.instructions.psadbw.latency"
    ]
    assert matching(known, "l3.slices")[0].value == "20"
    assert not matching(known, "no such thing")


def test_columns_hold_what_fits() -> None:
    assert in_columns([]) == []
    assert in_columns(["a" * 60, "b" * 60]) == ["a" * 60, "b" * 60]
    assert in_columns([str(n) for n in range(10)], 4)[0].startswith("    0")
