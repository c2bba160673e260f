"""tables2026: more of today's tables, predicted. The definition is ``tables2026.toml``, which stood before anything of
it was simulated and does not change; this file runs it, judges by it, and says what came out."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

from defined import bounds, ledger, sweep

from breakeven.errors import UserError
from breakeven.studies.study import (
    NOT_SIMULATED,
    RATIO_TOLERANCE,
    REPRODUCED,
    TIE,
    WINNER_SHARE,
    Contents,
    Data,
    Study,
    Verdict,
    judge_ratio,
    judge_winner,
)

NAME = "tables2026"
DEFINITION = tomllib.loads(Path(__file__).with_name(f"{NAME}.toml").read_text(encoding="utf-8"))
ROWS = DEFINITION["claims"]
#: claim -> why it did not come out, in a sentence; written after the first run
CAUSES: dict[str, str] = {
    "distance-below-4096": (
        "The preset's slow way of REP MOVSB asks for the page offsets alone, not for a length: 2048 B take "
        "2203 cycles with the destination one byte on (`-d 1`) and 113 with it 16 bytes on (`-d 16`)."
    ),
    "both-off-256": (
        "The copy that aligns starts two or three string instructions for one (62 cycles for 45); what each "
        "start costs was measured on a Zen 3."
    ),
    "both-off-4096": (
        "With equal page offsets the preset's REP MOVSB is fast; with the destination one byte on (`-s 3 -d "
        "4`) it takes 6.2 times the other copy's time, as the published machine does with offsets that the "
        "table calls unaligned."
    ),
    "ucx-32768": (
        "Both come out of the second level and take the same time; stores that the cache refused go behind the "
        "cycle's loads. With gem5's order (`--set cpu.gem5RefusedStoreFirst=true`) REP MOVSB takes 2 % less."
    ),
    "ucx-65536": "As at 32768.",
    "nta-llc": (
        "Past the caches every line goes to memory here, 247 thousand cycles whether or not the last level "
        "has the destination (`--cache dst-cold`), against 141 thousand through it."
    ),
    "class-128": (
        "One call at a time the moved limit gains (73 cycles for 78, `--measure latency`); back to back both "
        "are bound by their stores."
    ),
    "word-across-lines": (
        "A load that takes its data from the store before it costs the same across two lines: with 5 cycles "
        "on such a store (`--set cpu.misaligned.line_cross_store=5`) the ratio is 1.004, and no parameter "
        "prices the forwarding."
    ),
}


GRIDS = {name: (grid["for"], sweep(grid)) for name, grid in DEFINITION["grids"].items()}


def times(data: Data, point: list, with_call: bool) -> list[float]:
    """Cycles a call of the points that `point` names; `with_call`: the empty call's too, as a benchmark measures."""
    grid, routine, where = point
    rows = data.select(grid, routine=routine, **where)
    empty = rows["overhead"] if with_call else 0
    return [float(value) for value in (rows["cycles_median"] + empty) / rows["calls"]]


def judge(data: Data) -> list[Verdict]:
    had = DEFINITION["tolerances"]
    if had != {"ratio": RATIO_TOLERANCE, "tie": TIE, "winner_share": WINNER_SHARE}:
        raise UserError(f"study {NAME} was defined with other tolerances: {had}")
    return [verdict(data, claim, row) for claim, row in ROWS.items()]


def verdict(data: Data, claim: str, row: dict) -> Verdict:
    published = data.claims[claim].value
    if row["judge"] == "none":
        return Verdict(claim, f"{published} {data.claims[claim].unit}", "-", NOT_SIMULATED, row["because"])
    over, under = (times(data, row[side], row.get("with_call", False)) for side in ("over", "under"))
    ratios = [a / b for a, b in zip(over, under, strict=True)]
    if row["judge"] == "winner":
        shown, simulated = f"{published} stores win", " and ".join(f"{ratio:.2f} times" for ratio in ratios)
        came = judge_winner(sum(ratio > 1 for ratio in ratios) / len(ratios), min(ratios))
    else:
        (ratio,) = ratios
        low, high = bounds(published)
        shown = f"{low:.3g} times" if low == high else f"{low:g} to {high:g} times"
        simulated = f"{ratio:.3g} times"
        came = judge_ratio(min(max(ratio, low), high), ratio) if math.isfinite(ratio) else judge_ratio(low, ratio)
    return Verdict(claim, shown, simulated, came, "" if came == REPRODUCED else CAUSES.get(claim, ""))


def contents(data: Data) -> Contents:
    return ledger(NAME, ROWS, judge(data), "table")


STUDY = Study(NAME, "tables2026: more of today's tables, predicted", GRIDS, judge, contents)
