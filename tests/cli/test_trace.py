"""O3PipeView traces: a strict reader of gem5's format, and what a trace must agree with."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from breakeven.analysis import traces
from breakeven.engines.open import open_engine
from breakeven.machine.clock import core_period
from breakeven.machine.resolve import resolve
from breakeven.points import CACHE_STATES, Point
from breakeven.points.machine_spec import MachineSpec

pytestmark = pytest.mark.slow

STAGES = ("fetch", "decode", "rename", "dispatch", "issue", "complete", "retire")


@dataclass(frozen=True)
class Record:
    """One micro-op: the tick of each stage, 0 where it was never reached."""

    pc: int
    micro_pc: int
    seq: int
    text: str
    ticks: tuple[int, ...]
    store: int

    @property
    def retired(self) -> bool:
        return self.ticks[-1] > 0


def number(text: str, base: int = 10) -> int:
    """A number as C's printf writes it: no sign, no blanks, no leading zeros but in hexadecimal."""
    digits = text.removeprefix("0x") if base == 16 else text
    assert digits and (base == 16) == text.startswith("0x"), text
    assert set(digits) <= set("0123456789abcdef"[:base]), text
    assert base == 16 or digits == "0" or digits[0] != "0", text
    return int(digits, base)


def read(text: str) -> list[Record]:
    """All records of a trace; raises on anything that is not gem5's format to the letter."""
    assert text == "" or text.endswith("\n")
    lines = text.splitlines()
    assert len(lines) % len(STAGES) == 0
    records = []
    for at in range(0, len(lines), len(STAGES)):
        fields = [line.split(":") for line in lines[at : at + len(STAGES)]]
        assert [f[:2] for f in fields] == [["O3PipeView", stage] for stage in STAGES]
        ticks = tuple(number(f[2]) for f in fields)
        assert [len(f) for f in fields] == [7, 3, 3, 3, 3, 3, 5]
        _, _, _, pc, micro_pc, seq, disassembly = fields[0]
        assert disassembly.startswith("  ")
        assert fields[-1][3] == "store"
        record = Record(number(pc, 16), number(micro_pc), number(seq), disassembly[2:], ticks, number(fields[-1][4]))
        check(record)
        records.append(record)
    return records


def check(record: Record) -> None:
    """Stages are reached one after the other; what was not reached is 0, and nothing behind it was."""
    reached = [tick for tick in record.ticks if tick]
    assert reached == sorted(reached), record
    assert record.ticks[0] > 0, record
    missing = record.ticks.index(0) if 0 in record.ticks else len(STAGES)
    # Only issue and completion may be left out by one that retires (it needs no execution).
    behind = [t for t in record.ticks[missing:] if t]
    assert not behind or (record.retired and missing >= STAGES.index("issue")), record
    assert record.store == 0 or record.store >= record.ticks[-1] > 0, record


GOOD = (
    "O3PipeView:fetch:500:0x80000000:0:1:  00c58533 add x10, x11, x12\nO3PipeView:decode:1000\n"
    "O3PipeView:rename:1500\nO3PipeView:dispatch:2500\nO3PipeView:issue:2500\nO3PipeView:complete:3000\n"
    "O3PipeView:retire:4000:store:0\n"
)


def test_the_reader_reads():
    (record,) = read(GOOD)
    assert record == Record(
        0x80000000, 0, 1, "00c58533 add x10, x11, x12", (500, 1000, 1500, 2500, 2500, 3000, 4000), 0
    )
    assert read("") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("decode:1000", "decode:400"),
        ("decode:1000", "decode:0"),
        ("fetch:500", "fetch:0"),
        ("store:0", "store:3999"),
        ("store:0", "store:"),
        ("retire", "Retire"),
        ("0x80000000", "80000000"),
        (":0:1:", ":0:"),
        ("O3PipeView:rename:1500\n", ""),
        ("1500\n", "01500\n"),
        ("retire:4000:store:0\n", "retire:4000:store:0"),
    ],
)
def test_the_reader_is_strict(old, new):
    assert old in GOOD
    with pytest.raises((AssertionError, ValueError)):
        read(GOOD.replace(old, new))
        raise LookupError("read without complaint")


@pytest.fixture
def o3():
    from breakeven.machine.presets import list_presets

    if not any(preset.name == "o3" for preset in list_presets()):
        pytest.skip("there is no o3 preset")
    return "o3"


def test_the_trace_of_a_measurement(breakeven, tmp_path, o3):
    # Three measurements: predictors that know the routine let fetch begin the call before its measurement begins.
    point = ("run", "rv-word", "-n", "200", "-m", o3, "--json", "--repetitions", "3")
    plain = json.loads(breakeven(*point).stdout)
    done = breakeven(*point, "--debug-flags", "O3PipeView", "--debug-file", "t")
    assert done.returncode == 0, done.stderr
    traced = json.loads(done.stdout)
    assert traced == plain, "tracing changes nothing"
    records = read((tmp_path / "t").read_text())
    committed = sorted((r for r in records if r.retired), key=lambda r: (r.ticks[-1], r.seq))
    # Every instruction of the measured call, and those of the empty call around it.
    assert plain["instructions"] < sum(r.micro_pc == 0 for r in committed) < plain["instructions"] + 40
    # In order, each once.
    assert [r.seq for r in committed] == sorted({r.seq for r in committed})
    assert [r.ticks[-1] for r in committed] == sorted(r.ticks[-1] for r in committed)
    assert any(r.store for r in committed), "the copy's stores are written"
    assert all(r.text for r in committed)
    span = max(r.ticks[-1] for r in committed) - min(r.ticks[0] for r in committed)
    assert span >= 500 * plain["cycles"]


@pytest.mark.parametrize("size", [1, 200])
@pytest.mark.parametrize(
    ("machine", "routine", "cache"),
    [
        ("o3", "rv-word", "warm"), ("o3_large", "rv-byte", "warm"), ("p550", "rv-word", "cold"),
        ("skylake", "x64-copy-erms", "warm"), ("goldencove", "x64-copy-unrolled", "cold"), ("u74", "rv-word", "cold"),
    ],
)  # fmt: skip
def test_the_trace_of_a_measurement_has_every_micro_op_that_retires_in_it(tmp_path, machine, routine, cache, size):
    with open_engine(None, None, no_store=True) as engine:
        session = engine.open(MachineSpec(machine))
        point = Point(routine, size, cache_state=CACHE_STATES.index(cache))
        plain, seen = session.measured(point), session.measured(point, tmp_path / "t", 1 << 24)
        period = core_period(resolve(MachineSpec(machine)))
    stats, untraced = ([row for row in each.stats if not row[0].startswith("host")] for each in (seen, plain))
    # As text: a ratio without a divisor is no number.
    assert str((seen.result, stats, seen.begin)) == str((plain.result, untraced, plain.begin)) and seen.traced
    text = (tmp_path / "t").read_text()
    retired = [record for record in read(text) if record.retired]
    # What was fetched before the first reading of the counter, too.
    assert [len(retired)] == [value for name, value, *_ in stats if name == "simOps"]
    rows = traces.rows(text, period, seen.begin)
    last = max(row.stages[-1] for row in rows)
    assert min(row.stages[-1] for row in rows) > 0 and seen.cycles - 100 < last <= seen.cycles
    assert sum(cycles for _, cycles in traces.by_address(rows).values()) == last


@pytest.mark.parametrize(
    ("machine", "routine"), [("u74", "rv-word"), ("minor", "rv-byte"), ("bonnell", "x64-copy-unrolled")]
)
def test_the_trace_of_an_in_order_core(breakeven, tmp_path, machine, routine):
    point = ("run", routine, "-n", "200", "-m", machine, "--json", "--repetitions", "3")
    plain = json.loads(breakeven(*point).stdout)
    done = breakeven(*point, "--debug-flags", "O3PipeView", "--debug-file", "t")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == plain, "tracing changes nothing"
    records = read((tmp_path / "t").read_text())
    committed = sorted((r for r in records if r.retired), key=lambda r: r.seq)
    assert plain["instructions"] < sum(r.micro_pc == 0 for r in committed) < plain["instructions"] + 60
    assert all(r.text for r in committed)
    # Every stage is in order, of the whole pipeline.
    for stage in range(len(STAGES)):
        if STAGES[stage] != "complete":
            ticks = [r.ticks[stage] for r in committed]
            assert ticks == sorted(ticks), STAGES[stage]


@pytest.mark.parametrize(
    ("machine", "routine", "repeats"),
    [("x86_o3", "x64-copy-unrolled", False), ("skylake", "x64-copy-erms", True), ("x86_o3", "x64-copy-erms", True)],
)
def test_the_trace_of_an_x86_measurement(breakeven, tmp_path, machine, routine, repeats):
    options = ("run", routine, "-n", "200", "-m", machine, "--json")
    plain = json.loads(breakeven(*options).stdout)
    done = breakeven(*options, "--debug-flags", "O3PipeView", "--debug-file", "t")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == plain, "tracing changes nothing"
    records = read((tmp_path / "t").read_text())
    committed = sorted((r for r in records if r.retired), key=lambda r: (r.ticks[-1], r.seq))
    assert [r.seq for r in committed] == sorted({r.seq for r in committed})
    assert any(r.store for r in committed), "the copy's stores are written"
    assert all(r.text for r in committed)
    assert any(r.micro_pc > 0 for r in committed), "an instruction of several micro-ops"
    # Each step of a repeated string instruction has a first micro-op; it counts as one instruction.
    steps = [r for r in committed if r.micro_pc == 0]
    strings = [r for r in steps if r.text.startswith("rep ")]
    assert bool(strings) == repeats
    executed = len(steps) - (len(strings) - len({r.pc for r in strings}))
    assert plain["instructions"] < executed < plain["instructions"] + 60


def test_the_trace_of_a_program(breakeven, tmp_path, o3):
    from breakeven.files.data import find_data

    elf = find_data("guests", "riscv.elf")
    options = ("exec", elf, "-m", o3, "--max-insts", "3000", "--debug-flags", "O3PipeView", "--debug-file", "t")
    breakeven(*options)
    whole = (tmp_path / "t").read_text()
    records = read(whole)
    assert sum(r.retired and r.micro_pc == 0 for r in records) >= 2900
    assert any(not r.retired for r in records), "a wrong path was fetched"
    middle = sorted(r.ticks[0] for r in records)[len(records) // 2]
    breakeven(*options, "--debug-start", str(middle))
    later = read((tmp_path / "t").read_text())
    assert later == [r for r in records if r.ticks[0] >= middle]
    breakeven(*options, "--debug-end", str(middle))
    assert read((tmp_path / "t").read_text()) == [r for r in records if r.ticks[0] < middle]
    done = breakeven(*options, "--debug-limit", "10K")
    assert "ends early" in done.stderr
    cut = (tmp_path / "t").read_text()
    assert len(cut) <= 10240
    assert whole.startswith(cut)
    assert len(read(cut)) > 20


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--debug-flags", "O3PipeView", "-m", "timing"), ["O3PipeView", "O3CPU"]),
        (("--debug-flags", "Exec"), ["Exec", "O3PipeView"]),
        (("--debug-flags", "O3PipeView", "--debug-file", "no/where"), ["no folder"]),
        (("--debug-flags", "O3PipeView", "--debug-limit", "many"), ["--debug-limit", "many"]),
    ],
)
def test_mistakes_are_one_sentence(breakeven, tmp_path, args, words):
    done = breakeven("run", "rv-word", "-n", "64", *args)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert all(word in done.stderr for word in words), done.stderr
    assert not (tmp_path / "trace.out").exists()
