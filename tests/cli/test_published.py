"""What was measured on hardware, as the dots beside simulated curves: units, conditions, sources."""

from __future__ import annotations

import csv

import pytest

from breakeven.files.data import find_data
from breakeven.machine.clock import core_period
from breakeven.machine.resolve import resolve
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.published import dots


def none() -> int:
    raise AssertionError("cycles and numbers with a clock need none of the preset's")


def found(machine: str, *routines: str, src: int = 0, dst: int = 0, cache: str = "warm", measure: str = "latency"):
    return dots(machine, routines, src, dst, cache, measure, lambda: core_period(resolve(MachineSpec(machine))))


def test_nanoseconds_become_cycles_of_the_presets_clock() -> None:
    both = found("westmere", "x64-csum-old", "x64-csum-herbert", measure="throughput")
    # netdev 2016: 195.6 and 181.7 ns for 1400 bytes; a later message has 202 ns for the new one.
    old, new, later = (dot for dot in both if dot.size == 1400 and dot.routine != "x64-csum-naive-adc")
    ghz = 1000 / core_period(resolve(MachineSpec("westmere")))
    assert old.cycles == pytest.approx(195.6 * ghz) and new.cycles == pytest.approx(181.7 * ghz)
    assert later.routine == new.routine == "x64-csum-herbert" and later.cycles == pytest.approx(202 * ghz)
    assert "195.6 ns" in old.said and "back-to-back calls" in old.said and "T. Herbert" in old.said
    assert f"at {ghz:.4g} GHz" in old.said
    # Other offsets, another measure: other rows, or none.
    assert 14 in {dot.size for dot in both} and {
        dot.size for dot in found("westmere", "x64-csum-old", src=4, measure="throughput")
    } == {8, 14}
    assert not [dot for dot in found("westmere", "x64-csum-old") if "back-to-back" in dot.said]


def test_rates_times_and_the_order_of_a_pair() -> None:
    (fast,) = (dot for dot in dots("u74", ["rv-memcpy-croce-c"], 1, 3, "warm", "throughput", none) if dot.size == 256)
    assert fast.cycles == pytest.approx(256 / 1.00 * 1.5) and "J. Zhang" in fast.said
    assert not dots("u74", ["rv-memcpy-croce-c"], 0, 3, "warm", "throughput", none)
    for board, rate, ghz in (("c910", 1.27, 0.75), ("c906", 0.59, 0.85)):
        *_, last = dots(board, ["rv-memcpy-croce-c"], 1, 3, "warm", "throughput", none)
        assert last.size == 512 and last.cycles == pytest.approx(512 / rate * ghz)
        assert [dot for dot in dots(board, ["rv-memcpy-ucb"], 0, 0, "warm", "throughput", none) if dot.size == 4096]
    # 1337 ns with REP MOVSB, 94 with the other (openucx has rates: the greater number is the faster routine).
    # The host of results/native disagrees.
    zen3 = {
        (dot.routine, dot.size): dot.cycles
        for dot in found("zen3", "x64-copy-erms", "x64-copy-string", src=3, dst=3)
        if "results/native" not in dot.said
    }
    assert zen3["x64-copy-erms", 4096] > 10 * zen3["x64-copy-string", 4096]
    ucx = {(dot.routine, dot.size): dot.cycles for dot in found("zen3", "x64-copy-erms", "glibc-vec-erms-sse2")}
    assert ucx["x64-copy-erms", 8192] < ucx["glibc-vec-erms-sse2", 8192]


def test_misaligned_to_8_holds_for_such_offsets_only() -> None:
    assert [dot.cycles for dot in dots("pentium3", ["i386-movsl-plain"], 0, 0, "warm", "latency", none)] == [3000]
    assert [dot.cycles for dot in dots("pentium3", ["i386-movsl-plain"], 4, 4, "warm", "latency", none)] == [7000]
    assert not dots("pentium3", ["i386-movsl-plain"], 0, 0, "cold", "latency", none)


@pytest.mark.parametrize("preset", ["goldencove", "zen4"])
def test_hosts_that_were_measured_are_dots_of_their_preset(preset: str) -> None:
    with find_data("native", f"{preset}/points.csv").open(newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["size"] == "1448" and row["offset"] == "3")
    (dot,) = (dot for dot in dots(preset, [row["routine"]], 3, 3, "warm", "latency", none) if dot.size == 1448)
    assert dot.cycles == float(row["native"]) and "Host" not in dot.said and "results/native/" in dot.said
    assert not [
        dot for dot in dots(preset, [row["routine"]], 3, 3, "warm", "throughput", lambda: 1) if "native" in dot.said
    ]


def test_a_report_has_the_dots_of_the_conditions_in_its_table() -> None:
    import pandas as pd

    from breakeven.web.details import Details
    from breakeven.web.page import _part
    from breakeven.web.sources import Part

    rows = [
        {"routine": name, "size": size, "machine": "zen4 cpu.x=1", "src_offset": offset, "dst_offset": offset,
         "cache_state": "warm", "measure": "latency", "cycles_median": 10.0}
        for name in ("x64-copy-erms", "x64-copy-string") for size in (1024, 2048) for offset in (0, 1, 3)
    ]  # fmt: skip
    found = _part(Part("t", "", pd.DataFrame(rows), ""), Details(lambda _: False, 1))["dots"]
    assert {dot["where"]["src_offset"] for dot in found} == {0, 3} and {dot["size"] for dot in found} >= {1024, 1448}
    assert {dot["routine"] for dot in found} == {"x64-copy-erms", "x64-copy-string"}
