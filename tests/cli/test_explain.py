"""The account of a point's cycles, adding up; `explain` as a user sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from breakeven.analysis.topdown import GROUPS, account_of, side_by_side
from breakeven.errors import UserError


def stats(cycles=100, **slots):
    rows = [("simInsts", 250, "Count", ""), ("system.cpu.numCycles", cycles, "Cycle", "")]
    rows += [(f"system.cpu.account::{name}", value, "Count", "") for name, value in slots.items()]
    return [*rows, ("system.cpu.account::total", sum(slots.values()), "Count", "")]


def test_slots_become_cycles_that_add_up():
    # Four slots a cycle.
    account = account_of(stats(retiring=250, level2=100, split=40, frontEnd=10, somethingNew=0), "m")
    assert (account.cycles, account.instructions) == (100, 250)
    groups = {line.group: line for line in account.lines if not line.reason}
    assert {name: (line.cycles, line.percent) for name, line in groups.items()} == {
        "retiring": (62.5, 62.5),
        "front end": (2.5, 2.5),
        "memory": (35.0, 35.0),
    }
    assert [(line.reason, line.cycles) for line in account.lines if line.group == "memory"] == [
        ("", 35.0),
        ("level2", 25.0),
        ("split", 10.0),
    ]
    # A reason that this command does not know is shown, not lost.
    account = account_of(stats(retiring=300, somethingNew=100), "m")
    assert sum(line.percent for line in account.lines if not line.reason) == 100
    assert ("other", 25.0) in [(line.group, line.cycles) for line in account.lines]


def test_accounts_side_by_side_have_every_line_of_any():
    a, b = account_of(stats(retiring=400), "m"), account_of(stats(retiring=100, memory=300), "m")
    rows = side_by_side([a, b])
    assert [(line.group, line.reason) for line, _ in rows] == [("retiring", ""), ("memory", ""), ("memory", "memory")]
    assert [[line and line.cycles for line in lines] for _, lines in rows] == [[100, 25], [None, 75], [None, 75]]


def test_a_core_without_an_account_is_named():
    with pytest.raises(UserError, match=r"timing.*a MinorCPU and an O3CPU do"):
        account_of(stats()[:2], "timing")


@pytest.fixture
def o3():
    from breakeven.machine.presets import list_presets

    if not any(preset.name == "o3" for preset in list_presets()):
        pytest.skip("there is no o3 preset")
    return "o3"


@pytest.mark.parametrize(("machine", "routine"), [("u74", "rv-word"), ("skylake", "x64-copy-unrolled")])
def test_the_account_of_a_throughput_is_of_twice_its_calls(breakeven, machine, routine):
    options = (routine, "-n", "64", "-m", machine, "--measure", "throughput")
    run = json.loads(breakeven("run", *options, "--json").stdout)
    (point,) = json.loads(breakeven("explain", *options, "--json").stdout)["points"]
    assert run["overhead"] == 0 and 2 * run["cycles"] <= point["cycles"] < 2.2 * run["cycles"]
    assert "of 32 calls; the point's cycles are those of 16" in breakeven("explain", *options).stdout
    assert "what 16 calls more take in a row" in breakeven("run", *options).stdout


@pytest.mark.parametrize("machine", ["o3", "u74", "x86_minor"])
def test_a_point_explained(breakeven, o3, machine):
    routine = "x64-copy-unrolled" if machine.startswith("x86") else "rv-word"
    options = ("-n", "1000", "-s", "3", "-m", machine)
    run = json.loads(breakeven("run", routine, *options, "--json").stdout)
    done = breakeven("explain", routine, *options, "--json")
    assert done.returncode == 0, done.stderr
    (point,) = json.loads(done.stdout)["points"]
    assert point["cycles"] == run["cycles"] + run["overhead"], "the very measurement of the median"
    assert point["cycles_median"] == run["cycles"]
    for parts in ({None}, {reason for reasons in GROUPS.values() for reason in reasons}):
        rows = [
            row
            for row in point["account"]
            if row["reason"] in parts or (None not in parts and row["group"] == "retiring")
        ]
        assert sum(row["percent"] for row in rows) == pytest.approx(100, abs=1e-6)
        assert sum(row["cycles"] for row in rows) == pytest.approx(point["cycles"])
    table = breakeven("explain", routine, *options).stdout
    assert max(map(len, table.splitlines())) <= 100
    for word in ("retiring", "all", "100.0", "#", str(point["cycles"])):
        assert word in table


@pytest.mark.parametrize("machine", ["x86_o3", "skylake"])
def test_an_x86_point_explained(breakeven, machine):
    options = ("-n", "500", "-d", "3", "-m", machine)
    run = json.loads(breakeven("run", "x64-copy-erms", *options, "--json").stdout)
    done = breakeven("explain", "x64-copy-erms", "x64-copy-unrolled", *options, "--json")
    assert done.returncode == 0, done.stderr
    repeated, unrolled = json.loads(done.stdout)["points"]
    assert repeated["cycles"] == run["cycles"] + run["overhead"], "the very measurement of the median"
    for point in (repeated, unrolled):
        groups = [row for row in point["account"] if row["reason"] is None]
        assert sum(row["percent"] for row in groups) == pytest.approx(100, abs=1e-6)
        assert sum(row["cycles"] for row in groups) == pytest.approx(point["cycles"])
        assert point["instructions"] > 0
    assert repeated["instructions"] < unrolled["instructions"], "a repeated string instruction is one"


def test_what_is_slow_is_what_is_charged(breakeven, o3):
    def shares(*options):
        rows = json.loads(breakeven("explain", "rv-word", "-m", o3, "--json", *options).stdout)["points"][0]["account"]
        return {row["reason"] or row["group"]: row["percent"] for row in rows}

    warm, cold = shares("-n", "4K"), shares("-n", "4K", "--cache", "cold")
    assert cold.get("memory", 0) > warm.get("memory", 0) + 20
    assert warm["retiring"] > cold["retiring"]


def test_routines_side_by_side(breakeven, o3):
    done = breakeven("explain", "rv-byte", "rv-word", "-n", "256", "-m", o3)
    assert done.returncode == 0, done.stderr
    assert "rv-byte cycles" in done.stdout
    assert "rv-word cycles" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.slow
def test_a_program_explained(breakeven, o3):
    elf = Path(__file__).resolve().parents[1] / "data/gem5/micro.rv64.elf"
    done = breakeven("explain", elf, "-m", o3)
    assert done.returncode == 0, done.stderr
    assert "dump" in done.stdout
    assert "100.0" in done.stdout


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("rv-word", "-n", "64", "-m", "timing"), ["timing", "account", "MinorCPU"]),
        (("rv-word",), ["--size"]),
        (("rv-wrod", "-n", "64"), ["rv-wrod", "rv-word"]),
        (("nothere.elf",), ["no file", "nothere.elf"]),
    ],
)
def test_mistakes_are_one_sentence(breakeven, args, words):
    done = breakeven("explain", *args)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert all(word in done.stderr for word in words), done.stderr
