"""The account of a point's cycles, adding up; `explain` as a user sees it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from breakeven.analysis.ports import Instruction, Pressure, Unit
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


def test_an_account_is_without_what_is_subtracted_from_its_point():
    # The routine's own work hides half of the fence that an empty call waits for.
    whole, empty = stats(retiring=200, memory=120, serialize=80), stats(cycles=40, retiring=20, serialize=140)
    account = account_of(whole, "m", empty)
    assert (account.cycles, account.instructions) == (60, 0)
    assert {line.reason or line.group: line.cycles for line in account.lines} == pytest.approx(
        {"retiring": 45, "memory": 30, "execution": -15, "serialize": -15}
    )
    assert sum(line.percent for line in account.groups) == pytest.approx(100)
    # Nothing is left of an empty call less itself, and a share of nothing is none.
    account = account_of(empty, "m", empty)
    assert account.cycles == 0 and not account.lines


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
def test_the_account_of_a_throughput_is_of_the_cycles_that_its_point_has(breakeven, machine, routine):
    options = (routine, "-n", "64", "-m", machine, "--measure", "throughput")
    run = json.loads(breakeven("run", *options, "--json").stdout)
    (point,) = json.loads(breakeven("explain", *options, "--json").stdout)["points"]
    assert run["overhead"] == 0 and point["cycles"] == run["cycles"] == point["cycles_median"]
    assert sum(row["cycles"] for row in point["account"] if row["reason"] is None) == pytest.approx(
        run["cycles"], abs=0.2
    )
    assert "one measurement, what 16 calls more take in a row" in breakeven("explain", *options).stdout
    assert "what 16 calls more take in a row" in breakeven("run", *options).stdout


@pytest.mark.parametrize("machine", ["o3", "u74", "x86_minor"])
def test_a_point_explained(breakeven, o3, machine):
    routine = "x64-copy-unrolled" if machine.startswith("x86") else "rv-word"
    options = ("-n", "1000", "-s", "3", "-m", machine)
    run = json.loads(breakeven("run", routine, *options, "--json").stdout)
    done = breakeven("explain", routine, *options, "--json")
    assert done.returncode == 0, done.stderr
    (point,) = json.loads(done.stdout)["points"]
    assert point["cycles"] == point["cycles_median"] == run["cycles"], "the very measurement of the median"
    assert point["instructions"] == run["instructions"]
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
    assert repeated["cycles"] == run["cycles"], "the very measurement of the median"
    for point in (repeated, unrolled):
        groups = [row for row in point["account"] if row["reason"] is None]
        assert sum(row["percent"] for row in groups) == pytest.approx(100, abs=1e-6)
        assert sum(row["cycles"] for row in groups) == pytest.approx(point["cycles"])
        assert point["instructions"] > 0
    assert repeated["instructions"] < unrolled["instructions"], "a repeated string instruction is one"


def test_without_a_size_it_is_where_the_lead_changes(breakeven):
    pair = ("rv-byte", "rv-word", "-m", "u74")
    found = json.loads(breakeven("compare", *pair, "--json").stdout)
    threshold = found["break_even"]["threshold"]
    done = breakeven("explain", *pair)
    assert done.returncode == 0 and f"u74: {threshold} B," in done.stdout, done.stderr
    # One leads at every size: no size is better than another.
    done = breakeven("explain", "rv-word", "rv-word-unrolled8", "-m", "u74", "--mix", "1..64")
    assert done.returncode == 1 and "working set" in done.stderr


@pytest.mark.parametrize("measure", ["latency", "throughput"])
@pytest.mark.parametrize(
    ("machine", "routine"), [("u74", "rv-word"), ("skylake", "x64-copy-unrolled"), ("zen5", "x64-csum-herbert")]
)
def test_the_units_of_each_instruction(breakeven, machine, routine, measure):
    done = breakeven("explain", routine, "-n", "256", "-m", machine, "--measure", measure, "--ports", "--json")
    (point,) = json.loads(done.stdout)["points"]
    found = point["ports"]
    assert found["cycles"] == pytest.approx(point["cycles_median"] / point["calls"])
    units = {unit["name"]: unit for unit in found["units"]}
    for name, unit in units.items():
        assert sum(one["micro_ops"].get(name, 0) for one in found["instructions"]) == pytest.approx(unit["micro_ops"])
        # A u74 begins a store every other cycle; the other units take one a cycle.
        each = 2 if name == "U74StoreFU" else 1
        assert unit["share"] == pytest.approx(each * unit["micro_ops"] / (unit["count"] * found["cycles"]))
        if measure == "throughput":
            assert unit["share"] <= 1.001, "a unit takes one micro-op a cycle"
    if routine != "x64-csum-herbert":
        # 32 words are loaded and stored, wherever that is done.
        loads, stores = ("U74LoadFU", "U74StoreFU") if machine == "u74" else ("PortsLoad", "PortStore")
        returns = machine == "skylake"  # `ret` loads its address
        assert (units[loads]["micro_ops"], units[stores]["micro_ops"]) == (32 + returns, 32)
    table = breakeven("explain", routine, "-n", "256", "-m", machine, "--measure", measure, "--ports").stdout
    assert found["bound"] in table and all(name in table for name in units)


@pytest.mark.slow
@pytest.mark.parametrize(("machine", "unit"), [("o3", "IntMultDiv"), ("u74", "U74DivFU")])
def test_a_divider_is_taken_for_as_long_as_it_divides(breakeven, tmp_path, monkeypatch, machine, unit):
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path))
    source = tmp_path / "divides.c"
    source.write_text(
        "#include <stddef.h>\nvoid divides(unsigned char *d, const unsigned char *s, size_t n) {\n"
        "for (size_t i = 0; i < n; i++) { unsigned long a = s[i] + 1000, q; asm volatile("
        '"divu %0, %1, %2" : "=r"(q) : "r"(a), "r"(3ul)); d[i] = s[i]; } }\n'
    )
    assert breakeven("add", source, "--isa", "riscv").returncode == 0
    done = breakeven("explain", "divides", "-n", "100", "-m", machine, "--measure", "throughput", "--ports", "--json")
    found = {each["name"]: each for each in json.loads(done.stdout)["points"][0]["ports"]["units"]}[unit]
    assert found["micro_ops"] == 100 and 0.85 < found["share"] <= 1.001, found
    done = breakeven("explain", "divides", "-n", "100", "-m", machine, "--measure", "throughput", "--ports")
    assert "it binds" in done.stdout


def test_a_unit_that_binds_is_named():
    store, load = Unit("PortStore", 1, 9.0, 0.9), Unit("PortsLoad", 2, 9.0, 0.45)
    move = Instruction(16, "mov %r8,(%rdi)", 9.0, {"PortStore": 9.0}, 4.5)
    assert Pressure("r", 10.0, (load, store), (move,)).bound == "PortStore is taken in 90% of the cycles: it binds"
    assert Pressure("r", 20.0, (load,), (move,)).bound == (
        "no unit binds (the 2 PortsLoad are taken in 45% of the cycles); retirement waits longest for mov %r8,(%rdi) "
        "(4.5 cycles a call)"
    )


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


def test_a_routine_s_name_is_no_files(breakeven, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rv-word").write_bytes((Path(__file__).resolve().parents[1] / "data/gem5/micro.rv64.elf").read_bytes())
    assert "u74: 100 B, src+0" in breakeven("explain", "rv-word", "-n", "100", "-m", "u74").stdout
    assert "rv-word on u74" in breakeven("explain", "./rv-word", "-m", "u74").stdout


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
        (("rv-word", "-n", "64", "-m", "timing", "--ports"), ["timing", "no pipeline", "u74"]),
        (("rv-word", "-n", "554", "-m", "c910", "--cache", "send"), ["send", "round", "--cache cold"]),
        (("rv-word", "-n", "4K", "--measure", "stream", "--ports"), ["--ports", "stream", "throughput"]),
        (("rv-byte", "-n", "1M", "-m", "o3", "--repetitions", "1", "--warmup", "0", "--ports"), ["too long", "--size"]),
        ((str(Path(__file__).resolve().parents[1] / "data/gem5/micro.rv64.elf"), "--ports"), ["--ports", "routines"]),
    ],
)
def test_mistakes_are_one_sentence(breakeven, args, words):
    done = breakeven("explain", *args)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert all(word in done.stderr for word in words), done.stderr
