"""`breakeven gem5-diff`: two O3PipeView traces of one program."""

from __future__ import annotations

import gzip
import json

import pytest

STAGES = ("decode", "rename", "dispatch", "issue", "complete")


def record(number: int, address: int, fetch: int, retire: int, *, issue: int = 3, store: int = 0) -> str:
    """A record whose stages follow each other; `retire` 0: squashed."""
    lines = [f"O3PipeView:fetch:{fetch}:{address:#010x}:0:{number}:  add x, y:z"]
    ticks = (fetch + 1, fetch + 2, fetch + 2, fetch + issue, fetch + issue + 1)
    lines += [f"O3PipeView:{stage}:{tick}" for stage, tick in zip(STAGES, ticks, strict=True)]
    return "\n".join([*lines, f"O3PipeView:retire:{retire}:store:{store}"]) + "\n"


def straight(n: int, start: int = 0, tick: int = 1000) -> list[str]:
    return [record(i, 0x8000 + 4 * i, tick + 10 * i, tick + 10 * i + 9) for i in range(start, start + n)]


@pytest.fixture
def diff(breakeven, tmp_path):
    def run(first: str, second: str, *words: str):
        (tmp_path / "a").write_text(first)
        (tmp_path / "b").write_text(second)
        return breakeven("gem5-diff", str(tmp_path / "a"), str(tmp_path / "b"), *words)

    return run


def test_the_first_tick_that_differs(diff):
    ours = straight(60)
    ours[40] = record(40, 0x8000 + 160, 1400, 1409, issue=5)
    ours[41:] = [record(i, 0x8000 + 4 * i, 1000 + 10 * i + 4, 1000 + 10 * i + 13) for i in range(41, 60)]
    found = json.loads(diff("".join(straight(60)), "".join(ours), "--json").stdout)
    assert (found["compared"], found["first"]["index"], found["first"]["stage"]) == (60, 40, "issue")
    ticks = [found["first"][one]["ticks"]["issue"] for one in ("first", "second")]
    assert ticks == [403, 405]
    assert found["first"]["first"]["text"] == "add x, y:z"
    # The four ticks are lost before micro-op 41 retires.
    assert found["longer"] == [{"address": 0x8000 + 164, "text": "add x, y:z", "times": 1, "ticks": 4}]
    text = diff("".join(straight(60)), "".join(ours)).stdout
    assert "first difference: issue of micro-op 40" in text and "0x80a0 add x, y:z" in text


def test_the_same_trace_later_with_wrong_paths_and_unordered_stores(diff):
    first = straight(60)
    second = straight(60, tick=777_000)
    second.insert(5, record(900, 0x4000, 777_031, 0))
    second[20], second[21] = second[21], second[20]
    found = json.loads(diff("".join(first), "warn: from gem5\n" + "".join(second), "--json").stdout)
    assert (found["compared"], found["first"], found["longer"]) == (60, None, [])


def test_a_trace_that_begins_later_and_one_that_is_cut(diff):
    found = json.loads(diff("".join(straight(80)), "".join(straight(60, start=20))[:-30], "--json").stdout)
    assert (found["begins"], found["compared"], found["first"]) == ([20, 0], 59, None)


def test_other_instructions(diff):
    other = straight(60)
    other[50] = record(50, 0x9000, 1500, 1509)
    found = json.loads(diff("".join(straight(60)), "".join(other), "--json").stdout)
    assert (found["compared"], found["parts"]["index"]) == (50, 50)
    assert (found["parts"]["first"]["address"], found["parts"]["second"]["address"]) == (0x8000 + 200, 0x9000)


def test_a_loop_is_aligned_where_most_is_common(diff):
    loop = [record(i, 0x8000 + 4 * (i % 4), 1000 + 10 * i, 1009 + 10 * i) for i in range(100)]
    tail = [record(i, 0xA000 + 4 * i, 1000 + 10 * i, 1009 + 10 * i) for i in range(100, 140)]
    found = json.loads(diff("".join(loop + tail), "".join(loop[40:] + tail), "--json").stdout)
    assert (found["begins"], found["compared"]) == ([40, 0], 100)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "b has no micro-op that retired: make it with --debug-flags=O3PipeView"),
        ("system.cpu: A0 T0\n", "has no micro-op that retired"),
        (record(1, 2, 3, 0), "has no micro-op that retired"),
        ("O3PipeView:fetch:x:0x1:0:1: nop\n", "line 1: this is no O3PipeView record: 'O3PipeView:fetch:x"),
        ("O3PipeView:fetch:1:0x1:0:1: nop\nO3PipeView:issue:2\n", "line 2: this is no O3PipeView record"),
        ("".join(straight(60, start=900)), "the traces have no 32 instructions in a row in common"),
    ],
)
def test_what_is_no_trace_is_named(diff, text, says):
    done = diff("".join(straight(60)), text)
    assert done.returncode == 1 and says in done.stderr and "Traceback" not in done.stderr


def test_files_that_cannot_be_read(breakeven, tmp_path):
    good = tmp_path / "good.gz"
    with gzip.open(good, "wt") as file:
        file.write("".join(straight(40)))
    assert "no tick differs" in breakeven("gem5-diff", str(good), str(good)).stdout
    bad = tmp_path / "bad.gz"
    bad.write_bytes(b"\x1f\x8b\x08\x00damaged")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (bad, binary):
        done = breakeven("gem5-diff", str(good), str(path))
        assert done.returncode == 1 and f"{path} is no trace that can be read" in done.stderr
    done = breakeven("gem5-diff", str(good), str(tmp_path / "none"))
    assert done.returncode == 1 and "no such file" in done.stderr
