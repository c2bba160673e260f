"""Files of small grammars that somebody else made: distributions, tables, earlier comparisons, measurements."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import breakeven
from breakeven.analysis.baseline import read_baseline
from breakeven.calibration.measurements import VERSION, read
from breakeven.errors import UserError
from breakeven.explorer.state import from_row
from breakeven.files.reading import csv_rows, parsed_json
from breakeven.output import plots
from breakeven.points import MEASURES, Point, as_dict, distribution, point_dtype, record
from breakeven.points.distribution import load
from breakeven.points.mix import mix_of
from breakeven.store.contents import _known
from breakeven.web.sources import read_part, read_table


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1e308\n2 1e308\n", "weight 1e\\+308 of 1..1 is no share"),
        ("1..1000 5e-324\n", "weight 5e-324 of 1..1000 is no share"),
        ("1 nan\n", "weight nan of 1..1 is no share"),
        ("1 -1\n", "weight -1.0"),
        ("1 0\n", "no size has a weight"),
        ("8 " + "x" * 10_000, "line 1: '8 x{58}\\.\\.\\.' is not SIZE WEIGHT"),
        ("1,1," + "y" * 10_000, "could not convert string to float: 'y+\\.\\.\\.: one line of weights"),
    ],
)
def test_a_distribution_that_says_nothing_is_refused_in_a_line(text: str, message: str) -> None:
    Path("d.txt").write_text(text)
    with pytest.raises(UserError, match=message) as refused:
        load("d.txt")
    assert len(str(refused.value)) < 300


def test_shares_are_those_of_the_weights_however_large() -> None:
    Path("d.txt").write_text("1 1e99\n2 3e99\n")
    assert load("d.txt").shares == pytest.approx({1: 0.25, 2: 0.75})


def test_a_long_distribution_is_refused_before_it_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribution, "MAX_SIZES", 100)
    Path("d.txt").write_text(",".join(["1"] * 200))
    with pytest.raises(UserError, match="more than 100 weights"):
        load("d.txt")
    monkeypatch.setattr(distribution, "_MAX_BYTES", 100)
    with pytest.raises(UserError, match="more than 100 bytes"):
        load("d.txt")


def test_sizes_name_no_file(tmp_path: Path) -> None:
    """A sweep's file names no file to draw from, whatever lies beside it."""
    Path("1..8").write_text("50 1\n")
    assert list(mix_of("1..8").distribution.shares) == list(range(1, 9))
    assert list(mix_of("./1..8").distribution.shares) == [50]
    assert list(mix_of("1," * 300 + "1").distribution.shares) == [1]
    with pytest.raises(UserError, match="there is no mix"):
        mix_of("x" * 300)


@pytest.mark.parametrize("mix", [5, {1: 1}, ["1"], b"1..4", float("nan"), {}])
def test_a_mix_is_a_text(mix: object) -> None:
    with pytest.raises(UserError, match="there is no mix .* give a text"):
        breakeven.run("rv-byte", 64, mix=mix, store=False)


@pytest.mark.parametrize("more", [{"align": "x"}, {"align": 1.5}, {"align": True}, {"seed": "x"}, {"calls": 1.5}])
def test_numbers_of_a_mix_are_whole(more: dict[str, object]) -> None:
    with pytest.raises(UserError, match="is out of range"):
        breakeven.run("rv-byte", 64, mix="1..4", store=False, **more)


@pytest.mark.parametrize("more", [{"size2": 64}, {"src_offset2": 9}, {"dst_offset2": 9}, {"total": 5}])
def test_what_is_not_of_a_mix_is_refused(more: dict[str, int]) -> None:
    for ask in (breakeven.run, breakeven.sweep):
        with pytest.raises(UserError, match="is not of a mix"):
            ask("rv-byte", 64, mix="1..4", store=False, **more)


def test_an_empty_mix_is_a_mistake(in_process) -> None:
    status, _, error = in_process("run", "rv-byte", "-n", 64, "--mix", "")
    assert status == 1 and '--mix "" names no mix' in error


def test_a_dollar_in_a_name_is_no_formula() -> None:
    target = Path("p.png")
    plots.lines(target, [1, 2], {"$\\frac{$": [1.0, 2.0]}, title="$\\frac{$", caption="$_{")
    assert target.stat().st_size > 1000


def wide(rows: int) -> str:
    return "\n".join(
        [",".join(["routine", "size", "cycles_median", *(f"c{i}" for i in range(rows))]), *["a,1,1"] * rows]
    )


def test_a_table_takes_no_more_than_its_file() -> None:
    """Rows that leave out most columns would be filled up: the square of the file."""
    whole = wide(2000)
    for text in (
        whole,
        "\n" + whole,
        whole.replace("\n", "\r"),
        whole.replace("c0,", '"c\n0",'),
        '"' + whole.replace(",", '",', 1),
    ):
        Path("w.csv").write_bytes(text.encode())
        with pytest.raises(UserError, match=r"w\.csv.*shorter than its 2003 columns"):
            read_table(Path("w.csv"))
        with pytest.raises(UserError, match="not every row has 2003 columns"):
            csv_rows(Path("w.csv"))
    rows = [{"routine": "a", "size": 1, "cycles_median": 1, f"c{i}": 1} for i in range(2000)]
    Path("w.json").write_text(json.dumps(rows))
    with pytest.raises(UserError, match=r"w\.json.*columns"):
        read_table(Path("w.json"))
    # A sweep's own tables, in which only what is not known is left out.
    pd.DataFrame({"routine": ["a"] * 3, "size": 1, "cycles_median": 1, **{f"c{i}": None for i in range(9)}}).to_csv(
        "t.csv"
    )
    assert len(read_table(Path("t.csv"))) == 3


@pytest.mark.parametrize(
    "text", ['{"a": 1}', "[1]", '[{"routine": "a", "size": 1, "cycles_median": {"x": 1}}]', "[[1]]"]
)
def test_a_table_in_json_is_a_list_of_records(text: str) -> None:
    Path("t.json").write_text(text)
    with pytest.raises(UserError, match="is not a table of results"):
        read_table(Path("t.json"))


@pytest.mark.parametrize("cycles", ["1e308", "-1", "1e17"])
def test_cycles_are_such_as_a_call_takes(cycles: str) -> None:
    Path("t.csv").write_text(f"routine,size,cycles_median\na,1,{cycles}\nb,1,5\n")
    with pytest.raises(UserError, match="not every cycles_median is between 0 and"):
        read_part(Path("t.csv"))


@pytest.mark.parametrize("column", ["size", "calls", "repetitions", "warmup", "size2", "src_offset", "cycles_min"])
@pytest.mark.parametrize("value", ["1e308", "-5", "18446744073709551616", "x"])
def test_a_column_of_a_table_is_in_range(column: str, value: str) -> None:
    row = {"routine": "a", "size": "1", "cycles_median": "5", column: value}
    Path("t.csv").write_text(",".join(row) + "\n" + ",".join(row.values()) + "\n")
    with pytest.raises(UserError, match=f"not every {column} is"):
        read_part(Path("t.csv"))


def test_what_a_program_prints_is_bounded(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture) -> None:
    from breakeven.cli import guest_output

    monkeypatch.setattr(guest_output, "MOST_PASSED", 1 << 20)
    out = guest_output.PassedOn("stdout")
    with pytest.raises(UserError, match="printed more than 1 MiB"):
        for _ in range(30):
            out.write(b"x" * (1 << 16))
    assert len(capfdbinary.readouterr().out) == 1 << 20


def test_a_link_names_a_routine_once() -> None:
    assert from_row({"routines": "rv-byte,rv-byte,rv-word"}).routines == ("rv-byte", "rv-word")


@pytest.mark.parametrize("number", ["9" * 400, "-1", "1e308", "1e-320", '"12345678"', "true", "null", "[1]"])
def test_an_earlier_comparison_has_cycles(number: str) -> None:
    text = '{"along": "size", "x": [1, 2], "cycles": {"a": [1, %s], "b": [1, 2]}, "ok": true}'
    Path("b.json").write_text(text % number)
    with pytest.raises(UserError, match="no earlier comparison"):
        read_baseline(Path("b.json"))
    Path("b.json").write_text(text % "3.5")
    assert read_baseline(Path("b.json"))["cycles"]["a"] == [1.0, 3.5]


def test_integers_of_json_fit_into_a_double() -> None:
    assert parsed_json(str(10**299)) == 10**299
    with pytest.raises(ValueError, match="not a finite number"):
        parsed_json("1" * 400)


KEY = "rv-byte|copy|0|64|latency"


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"gigahertz": 1e300}, "1e\\+300 is not between"),
        ({"gigahertz": -1}, "-1 is not between"),
        ({"probes": {"a": {"cycles": 1e300, "spread": 0}}}, "1e\\+300 is not between"),
        ({"probes": {"a": {"cycles": 1, "spread": -1}}}, "-1 is not between"),
        ({"routines": {KEY: -5}}, "-5 is not between"),
        ({"routines": {KEY.replace("copy", "song"): 5}}, "of no measure or kind"),
        ({"routines": {KEY.replace("64", "65"): 5}}, "of another size or offset"),
        ({"routines": {KEY.replace("|0|", "|1|"): 5}}, "of another size or offset"),
        ({"routines": {f"r{i}|copy|0|64|latency": 5 for i in range(1001)}}, "more than 1000 routines"),
    ],
)
def test_measurements_are_such_as_a_host_gives(more: dict[str, object], what: str) -> None:
    data = {
        "version": VERSION, "host": "h", "vendor": "v", "family": 1, "model": 2, "date": "2026-01-01", "probes": {},
        "caches": [], "noisy": {}, "routines": {KEY: 60.0}, "gigahertz": 3.0,
    }  # fmt: skip
    Path("m.json").write_text(json.dumps(data))
    assert read(Path("m.json")).routines == {KEY: 60.0}
    Path("m.json").write_text(json.dumps({**data, **more}))
    with pytest.raises(UserError, match=rf"m\.json holds no complete measurements.*{what}"):
        read(Path("m.json"))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise BaseExceptionGroup('x', [ValueError('y'), KeyboardInterrupt()])", "BaseExceptionGroup: x"),
        ("class S(str):\n        def __str__(self): raise ValueError\n    raise ValueError(S('x'))", "ValueError"),
    ],
)
def test_a_machine_file_s_own_errors_are_a_sentence(breakeven, body: str, words: str) -> None:
    Path("mine.py").write_text(f"NAME = DESCRIPTION = 'm'\nISA = 'riscv'\ndef machine():\n    {body}\n")
    done = breakeven("run", "rv-byte", "-n", "8", "-m", "./mine.py", "--no-store")
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and words in done.stderr, done.stderr


def test_mixes_are_told_apart(tmp_path: Path) -> None:
    told = [
        str(mix_of(text))
        for text in ("1,64", "1..64", "1..64:3", "1..64:7,9", ",".join(map(str, range(1, 200, 3))) + ",7")
    ]
    for weight in (1, 2):
        Path("d.txt").write_text(f"1 1\n2 {weight}\n")
        told.append(str(mix_of("d.txt")))
    told.append(str(mix_of("1..64", seed=5)))
    assert len(set(told)) == len(told) and max(map(len, told)) < 100


def test_a_mix_has_no_more_bytes_than_a_stream() -> None:
    with pytest.raises(UserError, match="calls of this mix have .* 67108864 at most"):
        breakeven.run("rv-byte", "16M", mix="16777216", calls=65536, store=False)


def test_lists_of_calls_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "_lists", {})
    monkeypatch.setattr(record, "_MOST_KEPT", 10_000)
    drawn = [mix_of("1..64", calls=100, seed=seed).drawn(64) for seed in range(20)]
    assert record.list_named(drawn[-1].name) == drawn[-1] and len(record._lists) == 8
    with pytest.raises(UserError, match="are not known here"):
        record.list_named(drawn[0].name)


def test_a_table_of_many_machines_is_refused(tmp_path: Path) -> None:
    rows = [f"rv-byte,8,9,m{i}" for i in range(201)]
    Path("t.csv").write_text("\n".join(["routine,size,cycles_median,machine", *rows]))
    with pytest.raises(UserError, match="201 machines"):
        read_part(Path("t.csv"))


def test_points_that_no_engine_takes_are_left_out_of_a_store(in_process) -> None:
    """A row's checksum may be right, and its record be none that this version runs."""
    point = breakeven.points.Point("rv-byte", 64, repetitions=21)
    mixed = replace(point, measure=MEASURES.index("mix"), mix=7, calls=5)
    rows = [
        point,
        mixed,
        replace(point, mix=7),
        replace(mixed, mix=0),
        replace(point, size=1 << 40),
        replace(mixed, calls=0),
    ]
    known = _known(np.frombuffer(b"".join(map(packed, rows)), point_dtype()))
    assert known.tolist() == [True, True, False, False, False, False]


def packed(point: Point) -> bytes:
    """As somebody else may have written it: nothing is checked."""
    row = np.zeros(1, point_dtype())
    row["routine"] = point.routine.encode()
    for name, value in as_dict(point).items():
        if name in row.dtype.names and name != "routine":
            row[name] = MEASURES.index(value) if name == "measure" else getattr(point, name)
    return row.tobytes()


def test_a_point_that_the_guest_does_not_take_is_not_kept(in_process) -> None:
    status, _, error = in_process("run", "rv-byte", "-n", 16, "--parameter", 64, "-m", "atomic", "--store", "s.sqlite")
    assert status == 1 and "NO RESULT" in error
    status, _, error = in_process(
        "sweep", "rv-byte", "--sizes", 16, "--parameter", 64, "-m", "atomic", "--out", "t.csv"
    )
    assert status == 1 and "breakeven: NO RESULT at 1 of 1 points" in error
    assert (
        in_process("sweep", "rv-byte", "--sizes", 16, "-m", "atomic", "--store", "s.sqlite", "--out", "u.csv")[0] == 0
    )
    assert in_process("report", "--store", "s.sqlite", "-o", "o.html")[0] == 0
