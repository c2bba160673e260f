"""Who leads where is one answer: whatever the order of the routines, and whatever single sizes stand out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from breakeven.analysis.compare import compare
from breakeven.analysis.crossings import leads, ranking
from breakeven.analysis.verdict import describe_leads, describe_spikes, leads_dict, marks_of, sentences
from breakeven.cli.comparison_output import comparison_done
from breakeven.points.machine_spec import MachineSpec
from breakeven.sweeps.spec import SweepSpec
from tests.cli.conftest import _engine_is_built

SIZES = list(range(1, 513))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[int], list[float], list[float]]:
    """Two curves with sawtooths, steps, spikes and ties."""
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    sizes = sorted(random.choice(2048, draw(st.integers(2, 200)), replace=False) + 1)
    found = []
    for _ in range(2):
        n = np.array(sizes)
        curve = random.integers(0, 60) + random.integers(1, 8) * (n // random.choice([1, 8, 64])) + n % 8
        curve = curve + (random.random(len(n)) < draw(st.sampled_from([0, 0.05, 0.5]))) * random.integers(1, 40)
        found.append([float(v) for v in curve])
    if draw(st.booleans()):
        found[1] = [a if random.random() < 0.3 else b for a, b in zip(*found, strict=True)]
    return [int(v) for v in sizes], found[0], found[1]


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(pairs())
def test_the_order_of_two_routines_changes_nothing(pair) -> None:
    sizes, a, b = pair
    one, other = {"a": a, "b": b}, {"b": b, "a": a}
    assert leads(sizes, one) == leads(sizes, other)
    assert sentences(sizes, one, leads(sizes, one), "narrower") == sentences(
        sizes, other, leads(sizes, other), "narrower"
    )
    exchanged = leads(sizes, {"a": b, "b": a})
    found, names = leads(sizes, one), {"a": "b", "b": "a"}
    assert (found.changes, found.ties, found.edges) == (exchanged.changes, exchanged.ties, exchanged.edges)
    assert [(each.sizes, names[each.leader]) for each in found.spikes] == [
        (each.sizes, each.leader) for each in exchanged.spikes
    ]
    if found.choice is not None:
        assert names[found.choice.below], names[found.choice.above] == (exchanged.choice.below, exchanged.choice.above)
        assert (found.choice.threshold, found.choice.loss) == (exchanged.choice.threshold, exchanged.choice.loss)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(pairs())
def test_no_rule_of_one_size_costs_less(pair) -> None:
    """Against every rule, one after the other: at sizes without spikes none is better."""
    sizes, a, b = pair
    found = leads(sizes, {"a": a, "b": b})
    if found.choice is None or found.spikes:
        return
    best = [min(x, y) for x, y in zip(a, b, strict=True)]
    curves = {"a": a, "b": b}

    def loss(below: str, above: str, cut: int) -> float:
        times = [curves[below if size < cut else above][i] for i, size in enumerate(sizes)]
        lost = [t / m - 1 if 0 < m * 1.01 < t else 0.0 for t, m in zip(times, best, strict=True)]
        return sum(lost) / max(sum(m > 0 for m in best), 1)

    every = [loss(*names, cut) for names in (("a", "b"), ("b", "a")) for cut in (*sizes, sizes[-1] + 1)]
    assert found.choice.loss == pytest.approx(min(every), abs=1e-9)


def below_and_above(spiked=(), by=400.0):
    """`a` leads to 99 B, `b` from 100 B on; `a` takes `by` more at some sizes."""
    a = [100.0 + n + by * (n in spiked) for n in SIZES]
    return {"a": a, "b": [150.0 + n / 2 for n in SIZES]}


def test_a_spike_is_told_and_sets_no_threshold() -> None:
    plain, spiked = (leads(SIZES, below_and_above(sizes)) for sizes in ((), (20, 51, 52)))
    assert [item.leaders for item in spiked.ranges if item.kind == "lead"] == [("a",), ("b",)]
    assert [(each.sizes, each.leader) for each in spiked.spikes] == [((20,), "b"), ((51, 52), "b")]
    assert (spiked.choice.below, spiked.choice.threshold) == (plain.choice.below, plain.choice.threshold)
    assert spiked.changes == 1 and spiked.choice.loss > 0 == plain.choice.loss
    assert describe_spikes(spiked) == ["at 20, 51 and 52 B alone b leads, by up to 3.25x"]
    assert describe_spikes(leads(SIZES, below_and_above((20,)))) == ["at 20 B alone b leads, by 3.25x"]


def test_three_neighbours_are_no_spike() -> None:
    found = leads(SIZES, below_and_above((20, 21, 22)))
    assert not found.spikes and found.changes == 3
    assert describe_leads(found).startswith("a leads to 19 B, b at 20..22 B, a at 23..")


def test_what_alternates_is_no_row_of_spikes() -> None:
    found = leads(SIZES, {"a": [10.0 + 5 * (n % 2) for n in SIZES], "b": [13.0] * 512})
    assert not found.spikes and found.changes == 511
    assert describe_leads(found).startswith("the lead changes 511 times (1..512 B); no single threshold is within 2%")


def test_one_routine_with_a_spike_leads_at_every_other_size() -> None:
    curves = {"a": [10.0 + 90 * (n == 211) for n in SIZES], "b": [20.0] * 512}
    assert sentences(SIZES, curves, leads(SIZES, curves), "")[:2] == [
        "a leads at every size tried but 1 (1..512 B)", "at 211 B alone b leads, by 5.00x",
    ]  # fmt: skip
    assert marks_of(leads(SIZES, curves)) == []


def test_a_choice_that_is_not_worth_shipping_says_so() -> None:
    curves = {"a": [100.0 + 60 * (n // 32 % 2) for n in SIZES], "b": [130.0] * 512}
    said = describe_leads(leads(SIZES, curves))
    assert "no single threshold is within 2% of always choosing right; the best, " in said
    assert "ship" not in said and "always a" not in said and "dispatch" not in said


def test_of_more_than_two_routines_the_changes_are_told_and_marked() -> None:
    sizes = [1, 8, 64, 512]
    found = leads(sizes, {"x": [1, 9, 9, 9], "y": [5, 2, 9, 9], "z": [7, 7, 7, 7]})
    assert describe_leads(found).startswith("x leads to 1 B, y at 8 B, z from 64 B on; no single routine is within 2%")
    assert [(mark.lower, mark.size, mark.leader) for mark in marks_of(found)] == [(1, 8, "y"), (8, 64, "z")]
    json.dumps(leads_dict(found, None), allow_nan=False)


def test_several_routines_are_ranked_against_the_fastest_not_the_first() -> None:
    curves = {"first": [8.0, 8.0], "late": [4.0, 1.0], "early": [1.0, 2.0]}
    found = ranking(curves)
    assert [(rank.routine, rank.least, rank.most, rank.fastest_at) for rank in found] == [
        ("early", 1.0, 2.0, 1), ("late", 1.0, 4.0, 1), ("first", 8.0, 8.0, 0),
    ]  # fmt: skip
    assert found[0].mean == pytest.approx(2**0.5)
    assert ranking(dict(reversed(curves.items()))) == found
    assert ranking({"a": [0.0, 2.0], "b": [5.0, 2.0]})[0].mean == 1.0  # no ratio where the fastest takes nothing


def test_a_comparison_of_many_shows_the_times_of_those_that_win(fake, capsys) -> None:
    routines = ["slow", "fast", "rv-word"]
    spec = SweepSpec(routines, [MachineSpec("u74")], [1, 10, 100])
    found = compare(spec, fake(lambda name, size, *_: {"slow": 900, "fast": 20, "rv-word": size}[name]))
    assert comparison_done(found, None, None, False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[lines.index("ranked by how far behind the fastest") + 4 :][:3]] == [
        "rv-word", "fast", "slow",
    ]  # fmt: skip
    assert "rv-word leads to 10 B, fast from 100 B on" in " ".join(lines)
    assert [row["routine"] for row in found.as_dict()["ranking"]] == ["rv-word", "fast", "slow"]


def test_along_a_parameter_the_crossings_are_told(fake) -> None:
    def model(name, size, row, machine):
        (delay,) = (int(text.partition("=")[2]) for text in machine.settings)
        return 10 + delay if name == "slow" else 15

    spec = SweepSpec(["slow", "fast"], [MachineSpec("u74")], [64], parameters={"cpu.x": ["0", "4", "10"]})
    told = compare(spec, fake(model)).as_dict()
    assert told["said"] == ["slow and fast cross at cpu.x = 5"] and told["break_even"] is None
    told = compare(spec, fake(lambda name, *_: 10 if name == "slow" else 15)).as_dict()
    assert told["said"] == ["slow leads at every value of cpu.x tried, by 1.50x"]


@pytest.mark.slow
@pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")
@pytest.mark.parametrize(
    ("pair", "where"),
    [
        (("rv-copy-user-2021", "rv-word-noalign"), ("-m", "u74", "--src", "3", "--sizes", "1..16,64")),
        (("x64-copy-erms", "x64-copy-unrolled"), ("-m", "broadwell", "--sizes", "32..480:32")),
    ],
)
def test_real_pairs_say_the_same_in_either_order(breakeven, pair, where) -> None:
    said = []
    for names in (pair, pair[::-1]):
        for verb in ("compare", "find"):
            done = breakeven(verb, *names, *where, "--json")
            assert done.returncode == 0, done.stderr
            told = json.loads(done.stdout)
            said.append([told[key] for key in ("intervals", "spikes", "break_even")])
        text = breakeven("compare", *names, *where).stdout
        assert "ship " in text and "always choosing right" in text
        assert not any(word in text for word in ("dispatch", "ends probed", "nowhere in this range"))
    assert said[0][0] and said == [said[0]] * 4
