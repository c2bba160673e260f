"""What comes from outside is read with a bound: compressed data, lines, nesting, numbers that are none."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from breakeven.analysis.baseline import read_baseline
from breakeven.errors import UserError
from breakeven.files import reading
from breakeven.files.reading import MAX_DEPTH, lines_of, parsed_json
from breakeven.points.table import write_table
from breakeven.sweeps.file import read_sweep_file
from breakeven.web.sources import read_table
from tests.cli.test_report import table


@pytest.mark.slow
@pytest.mark.parametrize("text", ["\0", "line\n"])
def test_a_small_file_that_unpacks_to_gigabytes_is_refused(tmp_path: Path, text: str) -> None:
    """In a process of 1 GiB: the file stands for 2."""
    bomb = tmp_path / "bomb.gz"
    part = gzip.compress((text * (1 << 23)).encode(), 1)
    bomb.write_bytes(part * ((1 << 31) // ((1 << 23) * len(text))))
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "from pathlib import Path; from breakeven.files import reading; reading.MAX_TEXT_BYTES = 1 << 20\n"
        "from breakeven.analysis.trace_diff import read; read(Path(sys.argv[1]), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(bomb)], capture_output=True, text=True, timeout=100)
    assert f"UserError: {bomb} is no trace that can be read: " in done.stderr and " has more than " in done.stderr


def test_lines_are_read_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["a\n", "b\u00e4\n", "x" * 999 + "\n", "the last"]
    plain, packed = tmp_path / "t", tmp_path / "t.gz"
    plain.write_text("".join(lines))
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert list(lines_of(plain)) == list(lines_of(packed)) == lines
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 99)
    for path in (plain, packed):
        with pytest.raises(ValueError, match="a line has more than 99 bytes"):
            list(lines_of(path))
    monkeypatch.undo()
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(ValueError, match="ended before the end-of-stream marker"):
        list(lines_of(packed))


DEEP = "[" * 100_000
HOSTILE = ["NaN", "-Infinity", "1e999", DEEP, '{"a":' * 100_000, '[{"a": "' + "]" * 99, "\0", '"' * 99, "1" * 9999]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_json_is_parsed_or_refused(text: str) -> None:
    for given in (text, text.encode(), f'{{"x": {text}}}', b"\xff" + text.encode()):
        with pytest.raises(ValueError):
            parsed_json(given)


def test_json_means_the_same() -> None:
    nested = json.dumps({"a": [1, -2.5e-3, True, None, 'a "[[[[ text\\"', "{" * 99], "b": {"\\": "\\\\"}})
    for text in (nested, nested.encode(), "[" * MAX_DEPTH + "]" * MAX_DEPTH):
        assert parsed_json(text) == json.loads(text)


@pytest.mark.parametrize("text", [*HOSTILE, '{"along": "size", "x": [1], "cycles": {"a": ["nan"]}}'])
def test_an_earlier_comparison_is_read_or_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(UserError, match="is no earlier comparison"):
        read_baseline(path)
    if not text.startswith("{"):
        path.write_text(f'{{"along": "size", "x": [{text}], "cycles": {{"a": [{text}]}}}}')
        with pytest.raises(UserError, match="is no earlier comparison"):
            read_baseline(path)


@pytest.mark.parametrize(
    "text",
    [
        f"routines = {DEEP}",
        "routines = " + "{a=" * 50_000,
        "routines = ['a']\nsizes = 1\n[set]\n" + ".".join("a" * 3000) + " = 1\n",
        "routines = ['a']\nsizes = 1\n[set]\n" + ".".join("a" * 60) + " = 1\n",
        "routines = ['a']\nsizes = inf\n",
        "routines = ['a']\nsizes = 1\nrepetitions = nan\n",
    ],
    ids=["array", "table", "path", "short path", "inf", "nan"],
)
def test_a_sweep_file_is_blamed_for_itself(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(UserError, match="s.toml") as said:
        read_sweep_file(path)
    assert "machine" not in str(said.value).replace(str(tmp_path), "")


@pytest.mark.slow
def test_a_damaged_parquet_table_is_told(tmp_path: Path) -> None:
    """No test of what stands in the repository's environment: it runs where pyarrow is installed."""
    pytest.importorskip("pyarrow")
    right, path, draw = table(), tmp_path / "t.parquet", random.Random(7)
    write_table(right, path)
    assert read_table(path).equals(right)
    whole = path.read_bytes()
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(draw.choice([1, 1, 3, 30])):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        path.write_bytes(data[: draw.choice([len(data), len(data), draw.randrange(len(data))])])
        try:
            found = read_table(path)
        except UserError as error:
            assert str(path) in str(error)
            continue
        # The names of columns have no checksum.
        known = [name for name in found if name in right]
        assert found[known].equals(right[known])
    pd.DataFrame({f"c{i}": pd.Series([0]).repeat(1 << 20) for i in range(99)}).to_parquet(path, index=False)
    with pytest.raises(UserError, match="1048576 rows: more than a page can hold"):
        read_table(path)


def test_a_small_parquet_table_that_unpacks_to_much_is_refused(tmp_path: Path, monkeypatch) -> None:
    """It runs where pyarrow is installed: a text that stands in the file once, and in each row of the table."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("breakeven.web.sources._MOST_UNPACKED", 1 << 20)
    path, rows = tmp_path / "t.parquet", 500
    needed = {"routine": ["rv-byte"] * rows, "size": range(rows), "cycles_median": [1.0] * rows}

    def written(column: object, **options: object) -> None:
        parquet.write_table(pa.table({**needed, "more": column}), path, compression="zstd", **options)

    for kind in (pa.string(), pa.large_string(), pa.binary(), pa.string_view()):
        for stored in (True, False):
            written(pa.array(["x"] * rows, kind), store_schema=stored)
            assert len(read_table(path)) == rows
            written(pa.array(["x" * 4000] * rows, kind), store_schema=stored)
            assert path.stat().st_size < 20_000
            with pytest.raises(UserError, match="unpacks to more than 1048576 bytes"):
                read_table(path)
    for column in (pa.array([[1] * 9] * rows), pa.array([b"x" * 9] * rows, pa.binary(9))):
        written(column)
        with pytest.raises(UserError, match="a column holds neither numbers nor texts"):
            read_table(path)
    written(pa.array(["x" * 4000 + str(i) for i in range(rows)]), use_dictionary=False)
    with pytest.raises(UserError, match="unpacks to more than 1048576 bytes"):
        read_table(path)


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_table_without_an_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A folder that somebody has sent may hold a link to a device."""
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 1 << 20)
    (tmp_path / f"t.{kind}").symlink_to("/dev/zero")
    with pytest.raises(UserError, match="it has more than 1048576 bytes"):
        read_table(tmp_path / f"t.{kind}")


@pytest.mark.parametrize("data", [b"claim,verdict\n\xff,x\n", b"claim\n" + b"x" * 200_000])
def test_a_report_with_damaged_verdicts_is_told(breakeven, tmp_path: Path, data: bytes) -> None:
    folder = tmp_path / "tsukamoto2021"
    folder.mkdir()
    (folder / "verdicts.csv").write_bytes(data)
    table().to_csv(folder / "data-calls.csv", index=False)
    done = breakeven("report", "tsukamoto2021", "-o", "r.html")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "fault of breakeven's own" not in done.stderr


def test_a_tables_cycles_are_no_bound_of_what_a_report_simulates(tmp_path: Path) -> None:
    """16 MiB a million times in 53 cycles each would take years."""
    from breakeven.web.details import Details
    from breakeven.web.sources import read_part

    path = tmp_path / "long.csv"
    for cycles in (53, 0):
        path.write_text(
            "routine,machine,size,src_offset,dst_offset,cache_state,measure,repetitions,calls,cycles_median\n"
            f"rv-byte,u74,16777216,0,0,warm,latency,1000000,1,{cycles}\n"
        )
        part = read_part(path)
        with Details(lambda _: True, 1) as details:
            (said,) = details.of_long([(part, part.table, [])])
        assert isinstance(said, str) and "million simulated cycles" in said


def test_long_texts_of_a_trace_are_cut(tmp_path: Path) -> None:
    from breakeven.analysis.trace_diff import read

    path = tmp_path / "trace"
    stages = "".join(f"O3PipeView:{stage}:1\n" for stage in ("decode", "rename", "dispatch", "issue", "complete"))
    path.write_text(f"O3PipeView:fetch:1:0x10:0:1:  {'x' * 65_000}\n{stages}O3PipeView:retire:2:store:0\n")
    (record,) = read(path, 9)
    assert 50 < len(record.text) <= 200


def test_a_sweep_file_of_empty_lines_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text("\n" * 300_000 + 'routines = ["rv-word"]\nsizes = "8"\n')
    assert read_sweep_file(path)["sizes"] == "8"
    path.write_text("\n" * 300_000 + 'routines = ["rv-word"]\n  sizes = "x"\n')
    with pytest.raises(UserError, match="line 300002: sizes: "):
        read_sweep_file(path)


@pytest.mark.parametrize("value", ["0x1" + "0" * 5000, "1" + "0" * 5000])
def test_a_sweep_file_of_a_number_of_thousands_of_digits_is_refused(tmp_path: Path, value: str) -> None:
    path = tmp_path / "s.toml"
    for text in (f'routines = ["rv-word"]\nsizes = {value}\n', f"[set]\na = {value}\n"):
        path.write_text(text)
        with pytest.raises(UserError, match="a number is too large"):
            read_sweep_file(path)


@pytest.mark.parametrize(
    "setting", ["mem_ctrl.latency=1e300s", "mem_ctrl.latency=\u0663ns", "cpu.decodeInputWidth=\u0663"]
)
def test_a_setting_that_is_no_number_of_ours_is_one_sentence(breakeven, setting: str) -> None:
    done = breakeven("run", "rv-word", "-n", "64", "-m", "u74", "--set", setting)
    assert done.returncode == 1 and "fault of breakeven's own" not in done.stderr
    assert setting.partition("=")[0] in done.stderr


def test_a_table_without_a_routines_parameter_is_a_table(breakeven, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "routine,machine,size,src_offset,dst_offset,cache_state,measure,repetitions,calls,cycles_median,parameter\n"
        "rv-byte,u74,16,0,0,warm,latency,21,1,53,\n"
    )
    done = breakeven("report", "t.csv", "-o", "r.html")
    assert (done.returncode, done.stdout) == (0, "1 points: r.html\n")


def test_what_is_wrong_with_a_report_is_a_user_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import breakeven

    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("routine,machine,size,cycles_median\nrv-byte,u74,16,53\n")
    for settings in ({"nope": 1}, {"mem_ctrl.latency": "1e300s"}):
        with pytest.raises(UserError, match=next(iter(settings))):
            breakeven.report("t.csv", out="r.html", settings=settings)
