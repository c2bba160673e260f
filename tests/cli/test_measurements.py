"""How many measurements a point takes, and whether its median has converged: one rule for every verb and engine."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from breakeven import points as pt
from breakeven.analysis.compare import compare
from breakeven.analysis.find import find, surface
from breakeven.cli.comparison_output import comparison_done
from breakeven.cli.search_output import find_done, surface_done
from breakeven.engines.embedded import EmbeddedEngine
from breakeven.engines.run_points import run_points
from breakeven.points import Point
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.measurements import AGAIN, LEAST, REPETITIONS, STREAM_REPETITIONS, Tally, has_converged
from breakeven.sweeps.run import run_sweep
from breakeven.sweeps.spec import SweepSpec
from breakeven.web.page import page
from breakeven.web.sources import Part
from tests.page_data import data_of

U74 = MachineSpec("u74")


def learning(routine, size, row, machine):
    """Learned after 40 measurements only."""
    return 40 + (0 if row["repetitions"] > 40 else 30 if routine == "slow" else 1)


def test_one_number_for_every_size_and_state():
    for size in (0, 8, pt.MAX_SIZE):
        for measure in range(3):
            assert Point("x", size, measure=measure).repetitions == REPETITIONS
        assert {Point("x", size, measure=each).repetitions for each in (pt.STREAM, pt.MIX)} == {STREAM_REPETITIONS}
    warm = SweepSpec(["x"], [U74], [8, 1 << 16], measures=pt.MEASURES[:4], size2=8)
    cold = SweepSpec(["x"], [U74], [8, 1 << 16], cache_states=pt.CACHE_STATES[1:4], measures=["latency", "stream"])
    rows = [row for spec in (warm, cold) for row in spec.records()]
    by_measure = {pt.MEASURES[row["measure"]]: int(row["repetitions"]) for row in rows}
    assert by_measure == {"latency": 21, "throughput": 21, "interleaved": 21, "stream": 3}
    asked = SweepSpec(["x"], [U74], [8], measures=["latency", "stream"], repetitions=7)
    assert set(asked.records()["repetitions"]) == {7} and Point("x", 8, repetitions=7).repetitions == 7


@pytest.mark.parametrize(
    ("repetitions", "median", "later", "answer"),
    [
        (21, 47, 47, True), (21, 8, 6, True), (21, 89, 47, False), (21, 1000, 990, True), (21, 1000, 989, False),
        (LEAST - 1, 47, 47, None), (21, 47, 0, None), (21, 0, 0, True), (LEAST, 47, 47, True),
    ],
)  # fmt: skip
def test_when_a_median_has_converged(repetitions, median, later, answer):
    assert has_converged(repetitions, median, later) is answer
    assert pt.Result(0, 0, 0, median, 0, 0, 0, later, 0, repetitions).converged is answer


def test_a_wrong_output_has_no_median():
    assert pt.Result(0, 1, 0, 47, 0, 0, 0, 47, 0, 21).converged is None


@pytest.fixture
def later(monkeypatch):
    """Sessions of a fake engine whose guest reports 40 cycles for the later half of the readings."""

    def patched(engine):
        session = type(engine.open(U74))
        plain = session.run

        def run(self, records, *rest):
            results = np.frombuffer(plain(self, records, *rest), pt.result_dtype()).copy()
            results["detail"][results["status"] == 0] = 40
            return results.tobytes()

        monkeypatch.setattr(session, "run", run)
        return engine

    return patched


def test_tables_say_what_has_converged(fake, later):
    engine = later(fake(learning, wrong={("fast", 16)}))
    spec = SweepSpec(["fast", "slow"], [U74], [8, 16], again=False)
    table = run_sweep(spec, engine)
    assert table["converged"].astype(object).where(table["ok"], None).tolist() == [True, None, False, False]
    assert table["converged"].isna().sum() == 1 and table["repetitions"].eq(21).all()
    assert table["detail"].tolist() == [0, 5, 0, 0]
    tally = Tally().add(table)
    assert str(tally) == (
        "2 of 4 points have not converged after 21 measurements: predictors still learning; give --repetitions 85"
    )
    found = compare(spec, engine).as_dict()
    assert (found["repetitions"], found["not_converged"], found["measured_again"]) == (21, 2, None)
    more = run_sweep(SweepSpec(["fast", "slow"], [U74], [8], repetitions=85), engine)
    assert str(Tally().add(more)) == "" and more["converged"].all()


def test_a_point_that_has_not_converged_is_measured_again(fake, later):
    engine = later(fake(learning, wrong={("fast", 16)}))
    spec = SweepSpec(["fast", "slow"], [U74], [8, 16])
    table = run_sweep(spec, engine)
    assert table["repetitions"].tolist() == [21, 21, AGAIN, AGAIN]
    assert table["cycles_median"].tolist() == [41, 41, 40, 40] and table["converged"][[0, 2, 3]].all()
    asked = run_sweep(SweepSpec(["slow"], [U74], [8], repetitions=21), engine)
    assert asked["repetitions"].tolist() == [21] and asked["cycles_median"].tolist() == [70]
    for found in (compare(spec, engine).as_dict(), find(spec, engine).as_dict()):
        assert (found["repetitions"], found["not_converged"]) == (21, 0)
        assert found["measured_again"] == {"points": 2, "repetitions": 85}
    session = engine.open(U74)
    points = [Point("slow", 8), Point("fast", 8)]
    assert [(r.repetitions, r.cycles_median) for r in run_points(session, points, by_rule=True)] == [(85, 40), (21, 41)]
    assert [r.repetitions for r in run_points(session, points)] == [21, 21]
    # What never converges is told of its last number.
    endless = later(fake(lambda routine, *_: 70))
    assert "after 85 measurements" in str(Tally().add(run_sweep(spec, endless)))


@pytest.mark.slow
def test_tables_figures_and_pages_say_how_many_points_took_more(fake, later, tmp_path, capsys):
    engine = later(fake(learning))
    spec = SweepSpec(["fast", "slow"], [U74], [8, 16])
    over = replace(spec, parameters={"cpu.executeBranchDelay": ["1", "2"]})
    said = "2 of 4 points took 85 measurements each, as 21 did not converge"
    compared, found, searched = compare(spec, engine), find(spec, engine), surface(over, engine)
    assert comparison_done(compared, None, None, False) == 0 and said in capsys.readouterr().out
    assert find_done(found, None, None, 1.0, False) == 0 and said in capsys.readouterr().out
    over_all = said.replace("2 of 4", "4 of 8")
    assert surface_done(searched, None, None, 1.0, False) == 0 and over_all in capsys.readouterr().out
    for name, drawn, words in (("c", compared, said), ("f", found, said), ("s", searched, "4 of 8 points took 85")):
        texts = re.findall(r"<!-- (.*?) -->", drawn.plot(tmp_path / f"{name}.svg").read_text(), re.DOTALL)
        assert words in " ".join(" ".join(texts).split()), texts
    assert said in page("t", [Part("p", "", run_sweep(spec, engine), "")], "again")
    same = compare(replace(spec, repetitions=85), engine)
    assert comparison_done(same, None, None, False) == 0 and "took 85" not in capsys.readouterr().out
    assert "took 85" not in same.plot(tmp_path / "same.svg").read_text()


def test_a_page_has_one_number_for_what_the_rule_measured(fake, later):
    import pandas as pd

    engine = later(fake(learning))
    ruled = run_sweep(SweepSpec(["fast", "slow"], [U74], [8, 16]), engine)

    def axes(table):
        text = page("t", [Part("p", "", table, "")], "again")
        part = data_of(text)["parts"][0]
        return part["axes"], len(part["columns"][0].get("values", part["columns"][0].get("codes", [])))

    assert axes(ruled)[0] == ["routine", "size"]
    # As a store has them: of a point that was measured again both, and what was asked for with a number of its own.
    first = run_sweep(SweepSpec(["slow"], [U74], [8, 16], again=False), engine)
    both = pd.concat([first, ruled], ignore_index=True)
    assert axes(both) == axes(ruled)
    asked = run_sweep(SweepSpec(["fast"], [U74], [8], repetitions=AGAIN), engine)
    assert axes(pd.concat([both, asked], ignore_index=True))[0] == ["routine", "size", "repetitions"]


def test_a_page_never_mixes_numbers_of_measurements(fake):
    import pandas as pd

    some = [run_sweep(SweepSpec(["slow"], [U74], [8, 16], repetitions=n), fake(learning)) for n in (3, 85)]
    table = pd.concat(some, ignore_index=True)

    def part_of(table):
        text = page("t", [Part("p", "", table, "")], "again")
        return data_of(text)["parts"][0]

    assert part_of(table)["axes"] == ["routine", "size", "repetitions"]
    part = part_of(some[0])
    assert part["axes"] == ["routine", "size"] and part["constants"]["repetitions"] == 3


@pytest.mark.parametrize(("routine", "machine"), [("rv-word-unrolled8", "o3"), ("x64-copy-unrolled", "skylake")])
def test_the_guest_reports_the_later_median(routine, machine):
    pytest.importorskip("breakeven._engine")
    session = EmbeddedEngine().open(MachineSpec(machine))
    least, asked = run_points(session, [Point(routine, 200, repetitions=n) for n in (LEAST - 1, REPETITIONS)])
    assert least.ok and least.detail == 0 and least.converged is None
    assert asked.ok and asked.detail == asked.cycles_median and asked.converged
    # The first readings are of predictors that learn: they are in the first half alone.
    assert asked.cycles_total > REPETITIONS * asked.cycles_median
    few = run_points(session, [Point(routine, 200, repetitions=LEAST, warmup=0)])[0]
    assert few.detail <= few.cycles_median and few.cycles_total >= few.detail * 3


def test_every_verb_measures_such_a_point_again(breakeven):
    """One that learns after the 11th measurement, by the engine itself."""
    words = ("rv-copy-user-2021", "-m", "u74", "--src", "3", "--json", "--no-store")
    point = json.loads(breakeven("run", *words, "-n", "72").stdout)
    assert (point["repetitions"], point["converged"]) == (85, True)
    told = json.loads(breakeven("explain", *words[:-1], "-n", "72").stdout)["points"][0]
    assert (told["repetitions"], told["cycles_median"]) == (85, point["cycles"])
    row = json.loads(breakeven("sweep", *words, "-n", "16,72").stdout)["rows"][1]
    assert (row["repetitions"], row["cycles_median"]) == (85, point["cycles"])
    asked = json.loads(breakeven("run", *words, "-n", "72", "--repetitions", "21").stdout)
    assert (asked["repetitions"], asked["converged"]) == (21, False) and asked["cycles"] > point["cycles"]


def test_run_says_that_it_has_converged(breakeven):
    done = breakeven("run", "rv-byte", "-m", "u74", "-n", "8")
    assert "47  (median of 21; converged; least 47)" in done.stdout and "verified" in done.stdout and not done.stderr
    done = breakeven("run", "rv-byte", "-n", "8", "--repetitions", "3", "--json")
    quick = json.loads(done.stdout)
    assert (quick["repetitions"], quick["converged"]) == (3, None) and quick["cycles"] > 47
