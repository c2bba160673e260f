"""`--engine detailed` gives the converged numbers of the default engine, which executes functionally elsewhere."""

from __future__ import annotations

import pytest

from breakeven import api
from breakeven.engines.embedded import EmbeddedEngine
from breakeven.errors import UserError
from breakeven.points.machine_spec import MachineSpec
from tests.tiers import some_or_all

SIZES = range(4, 1500, 34)
#: gem5's cores, and two of silicon: in-order and out-of-order
MACHINES = [
    ("minor", "rv-word"),
    ("o3", "rv-copy-user-2021"),
    ("u74", "rv-word-noalign"),
    ("zen4", "x64-csum-herbert"),
    ("x86_minor", "x64-copy-unrolled"),
]


@pytest.mark.slow
@some_or_all(4)
@pytest.mark.parametrize(("machine", "routine"), MACHINES)
def test_settled_numbers_are_those_with_everything_in_detail(machine: str, routine: str, every: int) -> None:
    sizes = SIZES[::every]
    some, all_ = (
        api.sweep(routine, sizes, machines=machine, repetitions=61, store=False, engine=engine)
        for engine in ("embedded", "detailed")
    )
    assert some["ok"].all() and all_["ok"].all()
    pairs = zip(sizes, some["cycles_median"], all_["cycles_median"], strict=True)
    assert [pair for pair in pairs if pair[1] != pair[2]] == []


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["u74", "c910", "p550", "x86_o3"])
def test_what_an_empty_call_takes_is_settled(machine: str) -> None:
    """The predictor has learnt it. In detail it saw more of it: that changes nothing any more."""
    routine = "x64-byte" if machine.startswith("x86") else "rv-byte"
    some, all_ = (
        api.sweep(routine, [8], machines=machine, measure="throughput", store=False, engine=engine)
        for engine in ("embedded", "detailed")
    )
    assert list(some["overhead"]) == list(all_["overhead"])


def test_it_is_settled_where_a_misprediction_is_found_late() -> None:
    some, all_ = (
        api.sweep("rv-byte", [1, 8], machines="u74", settings={"cpu.executeBranchDelay": 6}, store=False, engine=engine)
        for engine in ("embedded", "detailed")
    )
    assert list(some["cycles_median"]) == list(all_["cycles_median"])


@pytest.mark.slow
@pytest.mark.parametrize("cache", ["cold", "l2", "src-cold", "receive"])
def test_a_state_of_the_caches_is_the_same_without_detail(cache: str) -> None:
    """Not to the cycle: in detail what a flush wrote back may still be under way, and lines lie in another order. The
    memory of `u74` has no write queue: out of one a line that has just been flushed is read in detail."""
    some, all_ = (
        api.sweep("rv-copy-user-2021", [64, 700, 1448], machines="u74", cache=cache, store=False, engine=engine)
        for engine in ("embedded", "detailed")
    )
    for one, other in zip(some["cycles_median"], all_["cycles_median"], strict=True):
        assert one == pytest.approx(other, rel=0.05, abs=2), cache


def test_results_of_one_are_not_taken_for_the_others() -> None:
    machine = MachineSpec("minor")
    plain, detailed = (EmbeddedEngine(detailed=detailed).identity(machine) for detailed in (False, True))
    assert plain[0] != detailed[0] and plain[1] == detailed[1]


def test_it_runs_on_this_machine_only() -> None:
    with pytest.raises(UserError, match="--engine detailed runs on this machine only"):
        api.sweep("rv-word", [8], machines="minor", store=False, engine="detailed", scheduler="tcp://127.0.0.1:1")
