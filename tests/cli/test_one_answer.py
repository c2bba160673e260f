"""Whoever asks the same thing twice gets the same number: the command line, the API, `find`, `surface` and a sweep;
with and without memoized execution, on any number of threads."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import breakeven
from breakeven.cli import load
from breakeven.points.measurements import AGAIN, REPETITIONS
from tests.cli.conftest import _engine_is_built

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built"),
]

#: machine -> pairs of routines to ask about; in-order and out-of-order cores of both instruction sets
PAIRS = {
    "u74": [("rv-byte", "rv-word"), ("rv-copy-user-2021", "rv-word-noalign"), ("rv-copy-user-2017", "rv-word")],
    "o3_small": [("rv-word", "rv-word-unrolled8"), ("rv-memcpy-croce-c", "rv-byte")],
    "skylake": [("x64-copy-unrolled", "x64-copy-erms"), ("x64-csum-old", "x64-csum-herbert")],
    "bonnell": [("x64-csum-old", "x64-csum-naive-adc"), ("x64-byte", "x64-copy-string")],
}


@cache
def a_parameter(machine: str) -> tuple[str, str]:
    """A parameter of the first-level cache and the value that it has: setting it changes nothing."""
    from breakeven.machine.presets import describe_machine

    for item in describe_machine(machine)["objects"]:
        if item["path"] == "system.cpu.dcache":
            return "cpu.dcache.mshrs", str(item["params"]["mshrs"])
    raise AssertionError(machine)


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    machine = draw(st.sampled_from(sorted(PAIRS)))
    old, new = draw(st.sampled_from(PAIRS[machine]))
    sizes = draw(st.lists(st.integers(1, 300), min_size=3, max_size=6, unique=True).map(sorted))
    offsets = {"src": draw(st.integers(0, 7)), "dst": draw(st.integers(0, 7))}
    return {"machine": machine, "old": old, "new": new, "sizes": sizes, **offsets}


def said(*arguments: object) -> Any:
    """What the command prints with ``--json``."""
    words = [str(word) for word in arguments]
    done = CliRunner().invoke(load(words[0]), [*words, "--no-store", "--json"], standalone_mode=False)
    assert done.exception is None, done.exception
    return json.loads(done.stdout)


def examples(count: int) -> settings:
    """So many questions, the same in every run."""
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])


@seed(18)
@examples(2)
@given(questions())
def test_the_same_question_has_one_answer(asked: dict[str, Any]) -> None:
    has_one_answer(asked)


@pytest.mark.long
@seed(19)
@examples(8)
@given(questions())
def test_more_questions_have_one_answer_each(asked: dict[str, Any]) -> None:
    has_one_answer(asked)


def has_one_answer(asked: dict[str, Any]) -> None:
    machine, old, new, sizes = asked["machine"], asked["old"], asked["new"], asked["sizes"]
    where = {"machine": machine, "src": asked["src"], "dst": asked["dst"], "store": False}
    words = ["-m", machine, "--src", asked["src"], "--dst", asked["dst"]]
    listed = ",".join(map(str, sizes))

    compared = breakeven.compare(old, new, sizes=sizes, **where)
    cycles = {(name, size): c for name in (old, new) for size, c in zip(sizes, compared.curves[name], strict=True)}

    size = sizes[len(sizes) // 2]
    assert breakeven.run(new, size, **where).cycles_median == cycles[new, size]
    assert said("run", old, "--size", size, *words)["cycles"] == cycles[old, size]

    table = breakeven.sweep([old, new], sizes, machines=machine, **{k: v for k, v in where.items() if k != "machine"})
    assert {(row.routine, row.size): row.cycles_median for row in table.itertuples()} == cycles
    assert table["repetitions"].isin((REPETITIONS, AGAIN)).all()

    on_the_line = said("compare", old, new, "--sizes", listed, *words)
    assert on_the_line["cycles"] == compared.curves
    assert {(row["routine"], row["size"]): row["cycles_median"] for row in said(
        "sweep", old, new, "--sizes", listed, *words)["rows"]} == cycles  # fmt: skip

    found = breakeven.find(old, new, sizes=sizes, budget=len(sizes), **where)
    for name, curve in found.leads.curves.items():
        assert all(curve[i] == cycles[name, int(found.leads.x[i])] for i in found.leads.probed)
    assert found.leads.answer == compared.leads
    even, keys = on_the_line["break_even"], ("intervals", "spikes", "break_even")
    narrowed, swapped = (said(verb, new, old, "--sizes", listed, *words) for verb in ("find", "compare"))
    assert [[each[key] for key in keys] for each in (narrowed, swapped)] == [[on_the_line[key] for key in keys]] * 2
    assert swapped["said"] == on_the_line["said"]

    path, value = a_parameter(machine)
    (cell,) = breakeven.surface(old, new, {path: [value]}, sizes=sizes, **where).found
    assert cell.leads.answer == compared.leads
    (row,) = said("surface", old, new, "--sweep", f"{path}={value}", "--sizes", listed, *words)["surface"]
    told = ("below", "above", "threshold")
    assert even is None or [row[name] for name in told] == [even[name] for name in told]


@seed(18)
@examples(1)
@given(questions(), st.integers(5, 40), st.integers(20, 40))
def test_a_search_on_a_coarse_grid_says_what_the_whole_grid_says(asked: dict[str, Any], step: int, count: int) -> None:
    says_what_the_whole_grid_says(asked, step, count)


@pytest.mark.long
@seed(19)
@examples(4)
@given(questions(), st.integers(5, 40), st.integers(20, 40))
def test_more_searches_say_what_the_whole_grid_says(asked: dict[str, Any], step: int, count: int) -> None:
    says_what_the_whole_grid_says(asked, step, count)


def says_what_the_whole_grid_says(asked: dict[str, Any], step: int, count: int) -> None:
    """`find` simulates some of a long grid's points; what it is certain of is what `compare` says of all."""
    sizes = [asked["sizes"][0] + step * i for i in range(count)]
    where = {"machine": asked["machine"], "src": asked["src"], "dst": asked["dst"], "store": False}
    whole = breakeven.compare(asked["old"], asked["new"], sizes=sizes, **where)
    found = breakeven.find(asked["old"], asked["new"], sizes=sizes, **where)
    for name, curve in found.leads.curves.items():
        assert all(curve[i] == whole.curves[name][i] for i in found.leads.probed)
    if found.leads.certain:
        here, there = found.leads.answer, whole.leads
        told = [
            ([(i.first, i.last, i.kind, i.leaders) for i in each.ranges], replace(each.choice, loss=0.0))
            for each in (here, there)
        ]
        assert told[0] == told[1]


#: out-of-order machines, each with routines of its instruction set
OUT_OF_ORDER = {
    **dict.fromkeys(["o3", "o3_small", "o3_large", "c910", "x100"], ["rv-do-csum-2024", "rv-copy-user-2021"]),
    **dict.fromkeys(["skylake", "zen3", "pentium3", "x86_o3"], ["x64-csum-old", "x64-copy-unrolled", "x64-byte"]),
}
DELAYS = [
    *("decodeToFetch", "commitToFetch", "renameToDecode", "commitToDecode", "fetchToDecode", "iewToRename"),
    *("commitToRename", "decodeToRename", "commitToIEW", "issueToExecute", "iewToCommit", "renameToROB"),
]


@st.composite
def slow_wires(draw: st.DrawFn) -> dict[str, Any]:
    """An out-of-order machine with some of its stages further apart."""
    machine = draw(st.sampled_from(sorted(OUT_OF_ORDER)))
    delays = draw(st.dictionaries(st.sampled_from(DELAYS), st.integers(1, 6), min_size=1, max_size=len(DELAYS)))
    if "renameToROB" in delays:
        delays["renameToIEW"] = delays["renameToROB"]
    return {
        "routines": draw(st.sampled_from(OUT_OF_ORDER[machine])),
        "machines": machine,
        "settings": {f"cpu.{name}Delay": str(cycles) for name, cycles in delays.items()},
        "sizes": draw(st.lists(st.integers(1, 500), min_size=2, max_size=4, unique=True).map(sorted)),
        "src": draw(st.integers(0, 7)),
        "measure": draw(st.sampled_from(["latency", "throughput", "stream"])),
    }


@seed(18)
@examples(3)
@given(slow_wires())
def test_a_machine_with_slow_wires_is_the_same_without_memoization(asked: dict[str, Any]) -> None:
    is_the_same_without_memoization(asked)


@pytest.mark.long
@seed(19)
@examples(150)
@given(slow_wires())
def test_more_machines_with_slow_wires_are_the_same_without_memoization(asked: dict[str, Any]) -> None:
    is_the_same_without_memoization(asked)


@pytest.mark.parametrize(
    ("machine", "delay", "cycles"),
    [
        ("o3_large", "iewToRename", 3),
        ("x100", "iewToRename", 3),
        ("o3_small", "commitToRename", 5),
        ("c910", "commitToRename", 3),
    ],
)
def test_machines_that_stopped_or_had_two_answers_have_one(machine: str, delay: str, cycles: int) -> None:
    at = {"sizes": [200, 300, 448], "src": 3, "settings": {f"cpu.{delay}Delay": str(cycles)}}
    for routine, measure in [("rv-copy-user-2021", "latency"), ("rv-do-csum-2024", "throughput")]:
        is_the_same_without_memoization({"routines": routine, "machines": machine, "measure": measure, **at})


def is_the_same_without_memoization(asked: dict[str, Any]) -> None:
    options: dict[str, Any] = {"total": 4000} if asked["measure"] == "stream" else {}

    def rows(memoize: str, threads: int) -> list[dict[str, Any]]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("BREAKEVEN_MEMOIZE", memoize)
            table = breakeven.sweep(**asked, **options, threads=threads, store=False)
        return table.to_dict("records")

    once = rows("on", 1)
    assert once == rows("on", 2) == rows("off", 2)
    assert all(row["ok"] for row in once)
