"""tables2026: more of today's tables, predicted. The definition is ``tables2026.toml``, which stood before anything of
it was simulated and does not change; this file runs it, judges by it, and says what came out."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

from breakeven.errors import UserError
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.blind import first_verdicts
from breakeven.studies.study import (
    NOT_SIMULATED,
    RATIO_TOLERANCE,
    REPRODUCED,
    TIE,
    WINNER_SHARE,
    Contents,
    Data,
    Study,
    TableItem,
    Verdict,
    judge_ratio,
    judge_winner,
)
from breakeven.sweeps.spec import SweepSpec

NAME = "tables2026"
DEFINITION = tomllib.loads(Path(__file__).with_name(f"{NAME}.toml").read_text(encoding="utf-8"))
ROWS = DEFINITION["claims"]
#: claim -> why it did not come out, in a sentence; written after the first run
CAUSES: dict[str, str] = {
    "distance-below-4096": (
        "The preset's slow way of REP MOVSB asks for the page offsets alone, not for a length: 2048 B take "
        "2061 cycles with the destination one byte on (`-d 1`) and 77 with it 16 bytes on (`-d 16`)."
    ),
    "both-off-256": (
        "The copy that aligns starts two or three string instructions for one (66 cycles for 33); what each "
        "start costs is assumed."
    ),
    "both-off-4096": (
        "With equal page offsets the preset's REP MOVSB is fast; with the destination one byte on (`-s 3 -d "
        "4`) it takes 7.3 times the other copy's time, as the published machine does with offsets that the "
        "table calls unaligned."
    ),
    "ucx-8192": (
        "Which of the C library's copies ran is not published: by 16-byte vectors it takes 518 cycles, by "
        "32-byte ones (`glibc-vec-erms-avx2`) 262, and 449 would come out."
    ),
    "nta-llc": (
        "Past the caches every line goes to memory here, 247 thousand cycles whether or not the last level "
        "has the destination (`--cache dst-cold`), against 156 thousand through it."
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


def sweep(grid: dict) -> SweepSpec:
    """A grid of the definition; what it does not say is the default, the number of measurements always."""
    given = {
        "offset_pairs": [tuple(pair) for pair in grid.get("offsets", [[0, 0]])],
        "cache_states": grid.get("states", ["warm"]),
        "measures": [grid["measure"]],
        "routine_parameter": grid.get("parameter", 0),
        **{name: grid[name] for name in ("calls", "warmup") if name in grid},
    }
    machine = MachineSpec(grid["machine"], tuple(grid.get("settings", ())))
    return SweepSpec(grid["routines"], [machine], grid["sizes"], **given)


GRIDS = {name: (grid["for"], sweep(grid)) for name, grid in DEFINITION["grids"].items()}


def times(data: Data, point: list, with_call: bool) -> list[float]:
    """Cycles a call of the points that `point` names; `with_call`: the empty call's too, as a benchmark measures."""
    grid, routine, where = point
    rows = data.select(grid, routine=routine, **where)
    empty = rows["overhead"] if with_call else 0
    return [float(value) for value in (rows["cycles_median"] + empty) / rows["calls"]]


def bounds(published: str) -> tuple[float, float]:
    """A published ratio as the least and the largest: a number, a quotient, or two numbers."""
    low, _, high = published.partition("..")
    above, _, below = low.partition("/")
    number = float(above) / float(below or 1)
    return number, float(high) if high else number


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
    today = {item.claim: item for item in judge(data)}
    first = first_verdicts(NAME)
    simulated = [claim for claim, row in ROWS.items() if row["judge"] != "none"]
    came = [claim for claim in simulated if today[claim].verdict == REPRODUCED]
    rows = []
    for claim in simulated:
        now, then = today[claim], first.get(claim)
        rows.append([
            claim, ROWS[claim]["table"], ROWS[claim]["expected"], ROWS[claim]["because"],
            *((then.simulated, then.verdict) if then else ("-", "-")), now.simulated, now.verdict,
        ])  # fmt: skip
    columns = ("claim", "table", "expected", "because", "first run", "first verdict", "today", "verdict today")
    ledger = TableItem("ledger", "Expected before, found first, found today", columns, rows)
    values = {
        "came": f"{len(came)}",
        "rows": f"{len(simulated)}",
        "first": f"{sum(item.verdict == REPRODUCED for item in first.values())}" if first else "none yet",
        "expected": f"{sum(ROWS[c]['expected'] == (first.get(c) or today[c]).verdict for c in simulated)}",
    }
    return Contents(values, [ledger], [])


STUDY = Study(NAME, "tables2026: more of today's tables, predicted", GRIDS, judge, contents)
