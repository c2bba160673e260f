"""The cache states of the guests: what a buffer in the second level costs, and what it does not."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from breakeven.engines.embedded import EmbeddedEngine
from breakeven.engines.run_points import run_points
from breakeven.points import CACHE_STATES, OUT_OF_RANGE, PACKETS, STREAM, Point, PointError
from breakeven.points.machine_spec import MachineSpec

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

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
    points = [Point(core.routine, SIZE, cache_state=i, warmup=12) for i in range(PACKETS)]
    results = run_points(session, points)
    assert all(result.ok for result in results), [result.problem for result in results]
    return {state: result.cycles_median for state, result in zip(CACHE_STATES[:PACKETS], results, strict=True)}


@pytest.mark.parametrize("core", [U74, X86], ids=lambda core: core.name)
def test_the_second_level_lies_between(core: Core) -> None:
    """Each side costs its lines' latencies; memory more than the second level, on either side of either. The second
    level is a slow one: behind twelve cycles broadwell's stores hide the destination's lines whole."""
    at = cycles(core, core.slow_l2)
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
    session = EmbeddedEngine().open(MachineSpec("u74", ("l2.replacement_policy=LRURP()",)))
    states = [CACHE_STATES.index(state) for state in ("src-l2", "l2")]
    one, both = run_points(session, [Point("rv-do-csum-2024", SIZE, cache_state=state, warmup=12) for state in states])
    assert one.ok and both.ok and one.cycles_median == both.cycles_median


PACKET = 1448


def driven(*settings: str, state: str = "receive", size: int = PACKET, window: int = 128 << 10) -> int:
    """Cycles of a copy of words on u74, its buffers as a network driver and a program leave them."""
    session = EmbeddedEngine().open(MachineSpec("u74", settings))
    index = CACHE_STATES.index(state)
    point = Point("rv-word", size, cache_state=index, size2=window, repetitions=5, warmup=12)
    (result,) = run_points(session, [point])
    assert result.ok, result.problem
    assert run_points(session, [point]) == [result]
    return result.cycles_median


@pytest.mark.parametrize("state", ["receive", "send"])
def test_a_program_that_uses_one_buffer_finds_it_in_the_first_level(state: str) -> None:
    one, walked = (driven("l2.replacement_policy=LRURP()", state=state, window=window) for window in (0, 128 << 10))
    assert walked - one > 10 * (PACKET // LINE)
    # The other side is in the second level at any rate, nothing in memory.
    assert one > cycles(U74)["warm"]
    assert driven("l2.replacement_policy=LRURP()", U74.slow_memory, state=state) == pytest.approx(walked, rel=0.01)


@pytest.mark.parametrize(("state", "size"), [("receive", PACKET), ("send", PACKET), ("send", 32768)])
def test_a_drivers_pages_throw_lines_out_where_a_line_takes_any_way(state: str, size: int) -> None:
    """24 lines a packet into 32768, 90 packets between two uses: 6 % of the program's lines. A policy that fills free
    ways first throws out nothing: what is flushed makes room for what comes."""
    lru, free_first, any_way = (
        driven(*settings, state=state, size=size)
        for settings in (("l2.replacement_policy=LRURP()",), ("l2.replacement_policy.any_way=False",), ())
    )
    assert free_first == pytest.approx(lru, rel=0.01)
    lost = (any_way - lru) / 200 / (size / LINE)
    assert 0.03 < lost < 0.2


def test_what_a_driver_leaves_is_of_the_latency_measure() -> None:
    with pytest.raises(PointError, match="receive is not of the throughput measure"):
        Point("rv-word", 64, cache_state=CACHE_STATES.index("receive"), measure=1).pack()


def test_the_guest_refuses_what_it_does_not_know() -> None:
    """Whatever the host's own checks say."""
    session = EmbeddedEngine().open(MachineSpec("atomic"))
    refused = {STREAM: (CACHE_STATES.index("l2"), len(CACHE_STATES), 2**32 - 1), 1: range(1, len(CACHE_STATES)), 2: [1]}
    for measure, states in refused.items():
        known = Point("rv-word", 64, measure=measure, calls=1, repetitions=1, warmup=0).pack()
        for state in states:
            record = known[:56] + state.to_bytes(4, "little") + known[60:]
            assert int.from_bytes(session.run(record)[4:8], "little") == OUT_OF_RANGE
