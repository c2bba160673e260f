"""Lead changes on synthetic curves whose answers are known."""

import pytest

from breakeven.analysis.crossings import crossings_along, intervals, threshold
from breakeven.studies.overtaking import ahead_by, break_even

SIZES = list(range(1, 513))


def line(start, slope):
    return [start + slope * n for n in SIZES]


def test_one_crossing():
    slow_start, fast_start = line(100, 1.0), line(20, 2.0)  # equal at 80
    found = intervals(SIZES, {"big": slow_start, "small": fast_start})
    leads = [item for item in found if item.kind == "lead"]
    assert [item.leaders for item in leads] == [("small",), ("big",)]
    assert leads[0].first == 1
    assert leads[0].last in (77, 78)  # the tie of 1 % around 80 belongs to neither
    assert leads[1].first in (82, 83)
    assert leads[1].last == 512
    assert leads[0].best_gain == pytest.approx(101 / 22)


def test_break_even_of_one_crossing():
    found = break_even(SIZES, ("small", line(20, 2.0)), ("big", line(100, 1.0)), tie=0.0)
    assert (found.first, found.stays, found.threshold) == (81, 81, 81)
    assert found.loss == 0.0


def test_never_and_always():
    fast, slow = line(10, 1), line(20, 1)
    never = break_even(SIZES, ("fast", fast), ("slow", slow))
    assert (never.first, never.stays, never.threshold) == (None, None, None)
    always = break_even(SIZES, ("slow", slow), ("fast", fast))
    assert always.first == 1
    assert always.threshold == 1


def test_identical_curves_tie():
    curve = line(5, 1)
    found = intervals(SIZES, {"a": curve, "b": list(curve)})
    assert [(item.kind, item.first, item.last, item.gain) for item in found] == [("tie", 1, 512, 1.0)]
    same = break_even(SIZES, ("a", curve), ("b", list(curve)))
    assert (same.first, same.stays, same.threshold, same.loss) == (None, None, None, 0.0)


def test_sawtooth_is_one_alternating_zone():
    # b pays 3 cycles for each byte of its tail, a one cycle a byte: they alternate within each 64 bytes up to 256.
    a = list(SIZES)
    b = [n // 64 * 32 + 3 * (n % 64) for n in SIZES]
    found = intervals(SIZES, {"a": a, "b": b})
    zones = [item for item in found if item.kind == "alternating"]
    assert zones
    assert set(zones[0].leaders) == {"a", "b"}
    assert sum(zones[0].shares) <= 1.0
    assert len(found) < 8
    verdict = break_even(SIZES, ("a", a), ("b", b))
    assert verdict.first == 64
    assert verdict.stays > verdict.first
    assert verdict.loss > 0


def test_three_routines():
    curves = {"x": line(10, 3), "y": line(100, 1), "z": line(40, 2)}
    leads = [item.leaders[0] for item in intervals(SIZES, curves) if item.kind == "lead"]
    assert leads == ["x", "z", "y"]


def test_a_size_that_takes_nothing_has_no_relative_loss():
    """Native points less an empty call's time: 0 at size 0 for one routine, a cycle for the other."""
    assert threshold([0, 8, 64], [1, 10, 20], [0, 20, 10]) == (64, 0.0)
    assert threshold([0, 8, 64], [0, 10, 20], [5, 15, 15]) == (64, 0.0)
    assert threshold([0, 8], [0, 0], [5, 0]) == (None, 0.0)
    assert threshold([0, 8, 16, 64], [0, 20, 10, 20], [5, 10, 20, 10]) == (64, pytest.approx(1 / 3))


def test_threshold_minimises_loss():
    below, above = [1, 1, 1, 10, 1, 10, 10], [2, 2, 2, 1, 2, 1, 1]
    # From index 3 on `above` loses 100 % at one size; from index 5 on `below` loses 900 % at another.
    assert threshold(range(7), below, above) == (3, pytest.approx(1 / 7))


def test_stays_ignores_ties_but_not_losses():
    old = [10.0] * 6
    assert break_even(range(1, 7), ("o", old), ("n", [20, 5, 5, 10, 10, 5])).stays == 2
    assert break_even(range(1, 7), ("o", old), ("n", [20, 5, 5, 11, 5, 5])).stays == 5
    assert break_even(range(1, 7), ("o", old), ("n", [5, 5, 5, 5, 5, 11])).stays is None


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        ([0, 1, 2, 3], [1.5] * 4, [15.0]),
        ([0, 1, 2, 3], [9] * 4, []),
        ([0, 2, 0, 2], [1] * 4, [5.0, 15.0, 25.0]),
        ([0, 1, 1, 2], [1] * 4, [15.0]),
        ([0, 1, 0, 0], [1] * 4, []),
    ],
)
def test_crossings_along_a_parameter(a, b, found):
    assert crossings_along([0, 10, 20, 30], a, b) == pytest.approx(found)


@pytest.mark.parametrize("curves", [{"a": [1]}, {"a": [1, 2], "b": [1]}])
def test_bad_input_is_refused(curves):
    with pytest.raises(ValueError, match="curve"):
        intervals([1, 2], curves)
    with pytest.raises(ValueError, match="ascend"):
        intervals([2, 1], {"a": [1, 2], "b": [1, 2]})


def test_zero_cycles_do_not_divide():
    found = break_even([1, 2], ("a", [0, 5]), ("b", [0, 1]))
    assert found.threshold == 2


def test_ahead_by_a_factor():
    sizes, old = [1, 2, 3, 4], [10.0, 10.0, 10.0, 10.0]
    assert ahead_by(sizes, old, [9, 5, 5, 5], 2.0) == 2
    assert ahead_by(sizes, old, [5, 5, 6, 5], 2.0) == 4
    assert ahead_by(sizes, old, [5, 5, 5, 6], 2.0) is None
