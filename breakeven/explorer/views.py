"""The answers beside the curves: where cycles went, the code, the pipeline, who wins where, what moves the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

from breakeven.errors import UserError
from breakeven.explorer.process import IDLE, LATER, SOON, Worker, WorkerDied
from breakeven.explorer.state import State

Lines = AsyncIterator[dict[str, Any]]
#: sizes of a map
_MAP_SIZES = 16
#: sizes at which a parameter's effect is looked at
_RANK_SIZES = 5
#: how far from a break-even they lie at most
_NEAR = 8
#: values along an axis of a map, and parameters in a ranking: ours are 12 and some hundred
_MOST_VALUES, _MOST_CONTROLS = 64, 1000


def _question(state: State, routine: str, size: int) -> dict[str, Any]:
    return {
        "name": state.machine, "settings": state.settings, "routine": routine, "place": (size, state.src, state.dst),
        "cache": state.cache, "measure": state.measure,
    }  # fmt: skip


async def accounts(worker: Worker, state: State, size: int) -> Lines:
    """The account of each routine at one size."""
    for routine in state.routines:
        found = await worker.ask("account", SOON, **_question(state, routine, size))
        yield {"routine": routine, "size": size, **found}


async def pipeline(worker: Worker, state: State, size: int) -> Lines:
    """The micro-ops of each routine's measurement at one size."""
    for routine in state.routines:
        found = await worker.ask("trace", SOON, **_question(state, routine, size))
        yield {"routine": routine, "size": size, **found}


async def listing(worker: Worker, state: State, routine: str) -> dict[str, Any]:
    """A routine's instructions, and what its file says of it."""
    found = await worker.ask("code", SOON, name=state.machine, settings=state.settings, routine=routine)
    return {"routine": routine, **found}


async def code(worker: Worker, state: State, size: int) -> Lines:
    """Each routine's listing, then the cycles of each instruction at one size where the core keeps a trace."""
    for routine in state.routines:
        yield await listing(worker, state, routine)
    for routine in state.routines:
        try:
            found = await worker.ask("trace", LATER, **_question(state, routine, size))
        except WorkerDied:
            raise
        except UserError as error:
            yield {"routine": routine, "no_cycles": str(error)}
            continue
        yield {"routine": routine, "size": size, "by_address": found["by_address"], "whole": found["whole"]}


async def looked(
    worker: Worker, state: State, sizes: Sequence[int]
) -> AsyncIterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Account and trace (None: the core keeps none) of each routine at each size, as lines of theirs."""
    for size in sizes:
        for routine in state.routines:
            found = await worker.ask("look", LATER, **_question(state, routine, size))
            named = {"routine": routine, "size": size}
            yield {**named, **found["account"]}, {**named, **found["trace"]} if found["trace"] else None


async def host(worker: Worker, state: State, trusted: Sequence[str]) -> Lines:
    """What this host's own processor takes at some of the sizes, the coarse ones first.

    `trusted`: routines of the user's whose code may run on it, which the page has asked for by name.
    """
    coarse = state.coarse()
    rest = [size for size in state.sizes() if size not in coarse]
    for sizes in (coarse, rest):
        found = await worker.ask(
            "host", LATER, routines=state.routines, places=state.places(sizes), cache=state.cache,
            measure=state.measure, trusted=trusted,
        )  # fmt: skip
        yield {"dots": found}


def few(values: Any, most: int = _MOST_VALUES) -> Any:
    """A list in a question, which our pages keep short; raises `UserError` for a longer one."""
    if len(values) > most:
        raise UserError(f"{len(values)} values are asked for: {most} at most")
    return values


async def winners(worker: Worker, state: State, question: dict[str, Any]) -> Lines:
    """Who wins over size and a parameter's values (``path``, ``values``), or over both offsets at one size."""
    if question.get("path"):
        path, values = str(question["path"]), [str(value) for value in few(question["values"])]
        every = state.sizes()
        sizes = sorted({every[round(i * (len(every) - 1) / (_MAP_SIZES - 1))] for i in range(_MAP_SIZES)})
        yield {"x": sizes, "y": values, "xlabel": "size (bytes)", "ylabel": path}
        for row, value in enumerate(values):
            others = tuple(text for text in state.settings if text.partition("=")[0] != path)
            changed = replace(state, settings=(*others, f"{path}={value}"))
            try:
                found = await _points(worker, changed, state.places(sizes))
            except WorkerDied:
                raise
            except UserError as error:
                # A value that this machine does not take: its row says so, the others are drawn.
                yield {"row": row, "cells": [], "refused": str(error)}
                continue
            idle = path in found["without_effect"]
            yield {"row": row, "cells": _cells(state, sizes, found["rows"]), "without_effect": idle}
        return
    size, offsets = int(question["size"]), [int(offset) for offset in few(question["offsets"])]
    axes = {"x": offsets, "y": [str(o) for o in offsets], "xlabel": "source offset", "ylabel": "destination offset"}
    yield {**axes, "size": size}
    for row, dst in enumerate(offsets):
        found = await _points(worker, state, [(size, src, dst) for src in offsets])
        yield {"row": row, "cells": _cells(state, offsets, found["rows"])}


async def _points(
    worker: Worker, state: State, places: list[tuple[int, int, int]], priority: int = LATER
) -> dict[str, Any]:
    return await worker.ask(
        "points", priority, name=state.machine, settings=state.settings, routines=state.routines, places=places,
        cache=state.cache, measure=state.measure,
    )  # fmt: skip


def _cells(state: State, across: list[int], rows: list[list[Any]]) -> list[list[float]]:
    """Cycles per call of each routine, a cell for each value across."""
    wide = len(state.routines)
    return [[row[1] for row in rows[i * wide : (i + 1) * wide]] for i in range(len(across))]


def _rank_sizes(state: State, around: int | None) -> list[int]:
    """Sizes over the whole range, or within a factor of `_NEAR` of a break-even."""
    every = state.sizes()
    if around is not None:
        every = [size for size in every if around / _NEAR <= size <= around * _NEAR] or every
    return sorted({every[int((i + 0.5) * len(every) / _RANK_SIZES)] for i in range(_RANK_SIZES)})


async def rank(worker: Worker, state: State, question: dict[str, Any]) -> Lines:
    """How much each parameter (``controls``: path and the values to try) moves the second routine's time against the
    first one's: the greatest change of that ratio over some sizes, near the break-even (``around``) if there is one.

    A first look (``coarse``) takes one value and one size each, but of those that it was taken of before (``looked``,
    path and change); then come all values and sizes, the strongest first.
    """
    around = question.get("around")
    sizes = _rank_sizes(state, None if around is None else int(around))
    places, pair = state.places(sizes), replace(state, routines=state.routines[:2])
    if len(pair.routines) < 2:
        raise UserError("what moves a break-even is asked of two routines")
    before = _ratios((await _points(worker, pair, places))["rows"])

    async def moved(path: str, values: Sequence[str], some: slice) -> float:
        most = 0.0
        for value in values:
            changed = replace(pair, settings=(*pair.settings, f"{path}={value}"))
            try:
                found = await _points(worker, changed, places[some], IDLE)
            except WorkerDied:
                raise
            except UserError:
                continue  # a value that this machine does not take says nothing of the parameter
            after = _ratios(found["rows"])
            most = max([most, *(abs(x / y - 1) for x, y in zip(after, before[some], strict=True) if y)])
            if not most:
                break  # what changes nothing one way is not tried the other way
        return most

    looked = {str(path): float(change) for path, change in question.get("looked", ())}
    middle = len(places) // 2
    for path, values in few(question["controls"], _MOST_CONTROLS):
        if path not in looked:
            looked[path] = await moved(path, values[:1], slice(middle, middle + 1))
            yield {"path": path, "moved": looked[path], "coarse": True}
    for path, values in sorted(question["controls"], key=lambda each: -looked[each[0]]):
        yield {"path": path, "moved": await moved(path, values, slice(None))}


def _ratios(rows: Sequence[Sequence[Any]]) -> list[float]:
    """The first routine's time over the second one's, place by place."""
    return [a[1] / b[1] if b[1] else 1.0 for a, b in zip(rows[::2], rows[1::2], strict=True)]
