"""The curves of a state, coarse sizes first, and what is said of them: the same words as `breakeven compare` has.

After the sizes of the log axis come single sizes in between, where the lead changes, until every break-even is known to
the byte or `state.PROBES` are used up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from breakeven.analysis.crossings import Leads, leads
from breakeven.analysis.verdict import (
    confidence,
    describe_confidence,
    describe_interval,
    describe_leads,
    describe_spikes,
    marks_of,
)
from breakeven.errors import UserError
from breakeven.explorer.process import IDLE, LATER, NOW, SOON, Worker, WorkerDied
from breakeven.explorer.state import PROBES, State

#: up to this size all that are left are asked for at once: they take less than the pictures in between would; of larger
#: ones so many
_AT_ONCE, _PART = 4096, 17


class Curves:
    """Cycles per call by size, as far as they are known."""

    def __init__(self, routines: Sequence[str]) -> None:
        self.routines = list(routines)
        #: size -> of each routine [least, median, instructions, converged, problem]
        self.rows: dict[int, list[list[Any]]] = {}

    def add(self, sizes: Sequence[int], rows: Sequence[list[Any]]) -> None:
        """Rows in the order of `Simulator.points`."""
        wide = len(self.routines)
        for i, size in enumerate(sizes):
            self.rows[size] = list(rows[i * wide : (i + 1) * wide])

    def of(self, routine: int) -> list[float]:
        """Cycles per call (median) of a routine, in the order of the sizes."""
        return [self.rows[size][routine][1] for size in sorted(self.rows)]

    @property
    def failures(self) -> list[str]:
        """A sentence for each wrong output."""
        return [
            f"{name}, size {size}: {row[4]}"
            for size in sorted(self.rows)
            for name, row in zip(self.routines, self.rows[size], strict=True)
            if row[4]
        ]

    def leads(self) -> Leads:
        """Who leads at the sizes that are known."""
        return leads(sorted(self.rows), {name: self.of(i) for i, name in enumerate(self.routines)})

    def said(self) -> dict[str, Any]:
        """The verdict for the page: sentences, marks, who leads where."""
        sizes = sorted(self.rows)
        if len(sizes) < 2 or len(self.routines) < 2 or self.failures:
            return {"sentences": [], "sure": "", "marks": [], "leads": [], "failures": self.failures}
        curves = {name: self.of(i) for i, name in enumerate(self.routines)}
        found = self.leads()
        sure = confidence(sizes, curves, found)
        learning = sum(row[3] is False for rows in self.rows.values() for row in rows)
        note = f"{learning} of {len(sizes) * len(curves)} points have not converged: predictors still learning"
        return {
            "sentences": [describe_leads(found), *describe_spikes(found)],
            "sure": describe_confidence(found, sure) if sure else "",
            "marks": [asdict(mark) for mark in marks_of(found)],
            "leads": [describe_interval(item) for item in found.ranges],
            "break_even": found.choice and asdict(found.choice),
            "failures": [],
            "note": note if learning else "",
        }

    def wanted(self) -> list[int]:
        """The middles of the gaps in which a lead changes; none: every break-even is known to the byte."""
        return sorted({(lower + size) // 2 for lower, size in self.leads().edges if size - lower > 1})


async def curves(
    worker: Worker, state: State, coming: Sequence[str] | None = None, moving: bool = False
) -> AsyncIterator[dict[str, Any]]:
    """Points and verdicts as they come; the machine as it is without settings comes beside them, as `ghost`.

    `coming`: the settings that the next step of a slider would make: that machine's first sizes are simulated
    behind all of the axis; of a slider that is `moving` behind the first ones.
    """
    known, ghosts = Curves(state.routines), Curves(state.routines)
    plain = replace(state, settings=())
    coarse = state.coarse()
    async for line in _part(worker, state, known, coarse, NOW):
        yield line
    yield {"verdict": known.said(), "done": False}
    if coming is not None and moving:
        await ahead(worker, replace(state, settings=tuple(coming)))
    if state.settings:
        async for line in _part(worker, plain, ghosts, coarse, NOW, "ghost"):
            yield line
    dots = await worker.ask(
        "published", SOON, name=state.machine, routines=state.routines, src=state.src, dst=state.dst,
        cache=state.cache, measure=state.measure,
    )  # fmt: skip
    yield {"dots": [dot for dot in dots if state.least <= dot[1] <= state.most]}
    async for line in _rest(worker, state, known, SOON):
        yield line
    yield {"verdict": known.said(), "done": False}
    if coming is not None and not moving:
        await ahead(worker, replace(state, settings=tuple(coming)))
    async for line in _between(worker, state, known, SOON):
        yield line
    yield {"verdict": known.said(), "done": True}
    if state.settings:
        for part in (_rest, _between):
            async for line in part(worker, plain, ghosts, LATER, "ghost"):
                yield line
    yield {"ghost_verdict": ghosts.said() if state.settings else None, "end": True}


async def ahead(worker: Worker, state: State, priority: int = SOON) -> bool:
    """Simulates the first sizes of a machine that is likely to be asked for next; whether there is one. Of what is
    `IDLE` the points are kept, the booted guest only as long as nothing else needs its place."""
    try:
        await worker.ask("ahead", priority, **_question(state, state.coarse()), keep=priority != IDLE)
    except WorkerDied:
        raise
    except UserError:
        return False  # the slider's end: who goes there is told
    return True


def _question(state: State, sizes: list[int]) -> dict[str, Any]:
    return {
        "name": state.machine, "settings": state.settings, "routines": state.routines, "places": state.places(sizes),
        "cache": state.cache, "measure": state.measure,
    }  # fmt: skip


async def _rest(
    worker: Worker, state: State, known: Curves, priority: int, called: str = "points"
) -> AsyncIterator[dict[str, Any]]:
    """The sizes of the axis that are not known yet."""
    rest = [size for size in state.sizes() if size not in known.rows]
    step = 1 if state.most <= _AT_ONCE else -(-len(rest) // _PART)
    # Each part is spread over the whole range, so that the curve is filled everywhere at once.
    for start in range(step):
        async for line in _part(worker, state, known, rest[start::step], priority, called):
            yield line


async def _between(
    worker: Worker, state: State, known: Curves, priority: int, called: str = "points"
) -> AsyncIterator[dict[str, Any]]:
    """The sizes that a break-even lies between."""
    probes = 0
    while len(state.routines) > 1 and not known.failures and (wanted := known.wanted()) and probes < PROBES:
        probes += len(wanted)
        async for line in _part(worker, state, known, wanted, priority, called):
            yield line


async def _part(
    worker: Worker, state: State, known: Curves, sizes: list[int], priority: int, called: str = "points"
) -> AsyncIterator[dict[str, Any]]:
    if not sizes:
        return
    found = await worker.ask("points", priority, **_question(state, sizes))
    known.add(sizes, found["rows"])
    yield {called: [[size, known.rows[size]] for size in sizes], "without_effect": found["without_effect"]}
