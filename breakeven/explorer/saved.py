"""All that a page without a server can be asked, simulated in advance."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from breakeven.analysis.traces import NO_PIPELINE
from breakeven.errors import UserError
from breakeven.explorer import views
from breakeven.explorer.curves import curves
from breakeven.explorer.process import LATER, Worker
from breakeven.explorer.state import State, as_row

Lines = AsyncIterator[dict[str, Any]]
#: accounts and cycles by instruction are of every size that is drawn up to this one, and of some beyond it: a long
#: point takes seconds
_LARGEST, _LARGER = 4096, 6
#: sizes whose pipelines a page has, and the micro-ops of each
_PIPELINES, _OPS = 5, 300


async def saved(worker: Worker, state: State) -> dict[str, list[dict[str, Any]]]:
    """Question -> the lines that answer it, of all that a page without a server can be asked."""
    drawn = await _all(curves(worker, state))
    sizes = sorted({size for line in drawn for size, _ in line.get("points", [])})
    # As the page chooses it (`viewSize` of main.js).
    centre = math.sqrt(max(state.least, 1) * state.most)
    middle = min(sizes, key=lambda size: abs(math.log(max(size, 0.5) / centre)))
    edges = [mark["size"] for line in drawn for mark in line.get("verdict", {}).get("marks", ())[:1]]
    found = {
        "describe": [await worker.ask("describe", LATER, name=state.machine, settings=())],
        "curves": drawn,
        "commands": [await worker.ask("commands", LATER, state=as_row(state), sizes=sizes)],
    }
    found["code"] = [await views.listing(worker, state, routine) for routine in state.routines]
    larger = [size for size in sizes if size > _LARGEST]
    looked_into = [size for size in sizes if size <= _LARGEST] + larger[:: max(1, -(-len(larger) // _LARGER))]
    some = {looked_into[round(i * (len(looked_into) - 1) / (_PIPELINES - 1))] for i in range(_PIPELINES)}
    with suppress(UserError):  # a core that keeps no account
        async for account, traced in views.looked(worker, state, looked_into):
            found.setdefault("account", []).append(account)
            if traced is None:
                continue
            shown = {f"{address:#x}" for line in found["code"] for address, _ in line.get("listing", [])}
            held = {address: row for address, row in traced.pop("by_address").items() if address in shown}
            places = {name: traced[name] for name in ("routine", "size", "whole")}
            found["code"].append({**places, "by_address": held})
            if traced["size"] in some | {middle, *edges}:
                found.setdefault("pipeline", []).append({**traced, "ops": traced["ops"][:_OPS]})
    if "pipeline" not in found:
        found["code"] += [{"routine": routine, "no_cycles": NO_PIPELINE} for routine in state.routines]
    if len(state.routines) > 1:
        question = {"size": middle, "offsets": list(range(8))}
        found["map"] = await _all(views.winners(worker, state, question))
    return found


async def _all(lines: Lines) -> list[dict[str, Any]]:
    return [line async for line in lines]
