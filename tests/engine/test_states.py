"""The cache states of the guests: what a buffer in the second level costs, and what it does not."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from breakeven.points import CACHE_STATES, OUT_OF_RANGE, STREAM, Point
from breakeven.runner import EmbeddedEngine, MachineSpec, run_points

pytest.importorskip("breakeven._engine")

SIZE, LINE = 1536, 64
LINES = SIZE // LINE


class Core(NamedTuple):
    """A machine, a copy of words for it, what makes its memory and its second level slower."""

    name: str
    routine: str
    slow_memory: str
    slow_l2: str


U74 = Core("u74", "rv-word", "mem_ctrl.latency=400ns", "l2.data_latency=40")
X86 = Core("broadwell", "x64-copy-unrolled", "mem_ctrl.latency=400ns", "l2.data_latency=60")


def cycles(core: Core, *settings: str) -> dict[str, int]:
    """By cache state, of one aligned copy."""
    session = EmbeddedEngine().open(MachineSpec(core.name, settings))
    points = [Point(core.routine, SIZE, cache_state=i, warmup=12) for i in range(len(CACHE_STATES))]
    results = run_points(session, points)
    assert all(result.ok for result in results), [result.problem for result in results]
    return {state: result.cycles_median for state, result in zip(CACHE_STATES, results, strict=True)}


@pytest.mark.parametrize("core", [U74, X86], ids=lambda core: core.name)
def test_the_second_level_lies_between(core: Core) -> None:
    """Each side costs its lines' latencies; memory more than the second level, on either side of either."""
    at = cycles(core)
    assert at["warm"] < min(at["src-l2"], at["dst-l2"])
    assert max(at["src-l2"], at["dst-l2"]) <= at["l2"] < min(at["src-cold"], at["dst-cold"])
    assert at["l2"] < min(at["src-l2-dst-cold"], at["src-cold-dst-l2"])
    assert max(at["src-l2-dst-cold"], at["src-cold-dst-l2"]) < at["cold"]


@pytest.mark.parametrize("core", [U74, X86], ids=lambda core: core.name)
def test_nothing_of_it_comes_from_memory(core: Core) -> None:
    """Slower memory changes nothing of a copy within the second level, a slower second level nothing of a warm one."""
    usual, memory, second = cycles(core), cycles(core, core.slow_memory), cycles(core, core.slow_l2)
    for state in ("warm", "src-l2", "dst-l2", "l2"):
        assert memory[state] == pytest.approx(usual[state], rel=0.02), state
    for state in ("src-cold", "cold", "src-cold-dst-l2"):
        assert memory[state] > usual[state] + 20 * LINES, state
    assert second["warm"] == pytest.approx(usual["warm"], rel=0.02)
    assert second["src-l2"] > usual["src-l2"] + LINES


def test_what_has_no_destination_has_one_state() -> None:
    session = EmbeddedEngine().open(MachineSpec("u74"))
    states = [CACHE_STATES.index(state) for state in ("src-l2", "l2")]
    one, both = run_points(session, [Point("rv-do-csum-2024", SIZE, cache_state=state, warmup=12) for state in states])
    assert one.ok and both.ok and one.cycles_median == both.cycles_median


def test_the_guest_refuses_what_it_does_not_know() -> None:
    """Whatever the host's own checks say."""
    session = EmbeddedEngine().open(MachineSpec("atomic"))
    known = Point("rv-word", 64, measure=STREAM, calls=1, repetitions=1, warmup=0).pack()
    for state in (CACHE_STATES.index("l2"), len(CACHE_STATES), 2**32 - 1):
        record = known[:56] + state.to_bytes(4, "little") + known[60:]
        assert int.from_bytes(session.run(record)[4:8], "little") == OUT_OF_RANGE
