"""What studies share whose definition is a .toml file beside them: grids, published numbers, the table of verdicts;
`predicted`: the whole study, of claims that are rates or ratios of times."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from breakeven.errors import UserError
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.blind import first_verdicts
from breakeven.studies.study import (
    ABSOLUTE_FACTOR,
    RATIO_TOLERANCE,
    REPRODUCED,
    TIE,
    WINNER_SHARE,
    Contents,
    Data,
    Study,
    TableItem,
    Verdict,
    judge_absolute,
    judge_ratio,
    judge_winner,
)
from breakeven.sweeps.spec import SweepSpec


def sweep(grid: dict) -> SweepSpec:
    """A grid of the definition; what it does not say is the default, the number of measurements always."""
    given = {
        "offset_pairs": [tuple(pair) for pair in grid.get("offsets", [[0, 0]])],
        "cache_states": grid.get("states", ["warm"]),
        "measures": [grid["measure"]],
        "routine_parameter": grid.get("parameter", 0),
        **{name: grid[name] for name in ("calls", "warmup", "distance") if name in grid},
    }
    machine = MachineSpec(grid["machine"], tuple(grid.get("settings", ())))
    return SweepSpec(grid["routines"], [machine], grid["sizes"], **given)


def bounds(published: str) -> tuple[float, float]:
    """A published ratio as the least and the largest: a number, a quotient, or two numbers."""
    low, _, high = published.partition("..")
    above, _, below = low.partition("/")
    number = float(above) / float(below or 1)
    return number, float(high) if high else number


def ledger(name: str, claims: Mapping[str, Mapping[str, Any]], verdicts: list[Verdict], of: str) -> Contents:
    """What was expected of each claim, found first, and found today; the counts of these for the text.

    `of`: the field of a claim that says what it belongs to; the table's second column.
    """
    today = {item.claim: item for item in verdicts}
    first = first_verdicts(name)
    simulated = [claim for claim, row in claims.items() if row["judge"] != "none"]
    came = [claim for claim in simulated if today[claim].verdict == REPRODUCED]
    rows = []
    for claim in simulated:
        now, then = today[claim], first.get(claim)
        rows.append([
            claim, claims[claim][of], claims[claim]["expected"], claims[claim]["because"],
            *((then.simulated, then.verdict) if then else ("-", "-")), now.simulated, now.verdict,
        ])  # fmt: skip
    columns = ("claim", of, "expected", "because", "first run", "first verdict", "today", "verdict today")
    table = TableItem("ledger", "Expected before, found first, found today", columns, rows)
    values = {
        "came": f"{len(came)}",
        "rows": f"{len(simulated)}",
        "first": f"{sum(item.verdict == REPRODUCED for item in first.values())}" if first else "none yet",
        "expected": f"{sum(claims[c]['expected'] == (first.get(c) or today[c]).verdict for c in simulated)}",
    }
    return Contents(values, [table], [])


def cycles(data: Data, point: list, with_call: bool = False) -> float:
    """Cycles per call of a point ([grid, routine, {what else tells it apart}]): the mean over the grid's offsets;
    `with_call`: the empty call's too, as a benchmark measures."""
    grid, routine, where = point
    rows = data.select(grid, routine=routine, **where)
    if with_call:
        return float(((rows["cycles_median"] + rows["overhead"]) / rows["calls"]).mean())
    return float(rows["cycles"].mean())


def leads(data: Data, row: Mapping[str, Any]) -> list[float]:
    """``over``'s time by ``under``'s at each point of a grid that both names hold (sizes, offsets)."""
    times = []
    for grid, routine, where in (row["over"], row["under"]):
        rows = data.select(grid, routine=routine, **where)
        times.append({(r["size"], r["src_offset"], r["dst_offset"]): r["cycles"] for r in rows.to_dict("records")})
    over, under = times
    if set(over) != set(under):
        raise UserError(
            f"{row['over'][0]} and {row['under'][0]} have other points: give them the same sizes and offsets"
        )
    return [over[point] / under[point] for point in over]


def won(data: Data, claim: str, row: Mapping[str, Any], cause: str) -> Verdict:
    """Whether the routine of ``under`` wins at the points, as published."""
    ratios = leads(data, row)
    share, least = sum(ratio > 1 + TIE for ratio in ratios) / len(ratios), min(ratios)
    came = judge_winner(share, sorted(ratios)[len(ratios) // 2])
    simulated = f"wins {share:.0%} of {len(ratios)} points, {least:.2f} to {max(ratios):.2f} times"
    return Verdict(claim, f"{row['under'][1]} wins", simulated, came, "" if came == REPRODUCED else cause)


def verdict(data: Data, claim: str, row: Mapping[str, Any], cause: str) -> Verdict:
    """A rate (``point``) in bytes a cycle, a ratio of times (``over``, ``under``), or a winner (``under``)."""
    if row["judge"] == "winner":
        return won(data, claim, row, cause)
    published, _ = bounds(data.claims[claim].value)
    with_call = row.get("with_call", False)
    if row["judge"] == "rate":
        rate = row["point"][2]["size"] / cycles(data, row["point"], with_call)
        shown, simulated, came = f"{published:.3g} B/cycle", f"{rate:.2f} B/cycle", judge_absolute(published, rate)
    else:
        ratio = cycles(data, row["over"], with_call) / cycles(data, row["under"], with_call)
        shown, simulated, came = f"{published:.2f} times", f"{ratio:.2f} times", judge_ratio(published, ratio)
    return Verdict(claim, shown, simulated, came, "" if came == REPRODUCED else cause)


def predicted(
    name: str, title: str, causes: Mapping[str, str], more: Callable[[Data], Contents] | None = None
) -> Study:
    """The study that ``name.toml`` defines; `causes`: claim -> why it did not come out; `more`: what its report has
    beside the verdicts."""
    definition = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    claims = definition["claims"]
    machines = {grid: row["machine"] for grid, row in definition["grids"].items()}

    def judge(data: Data) -> list[Verdict]:
        had = definition["tolerances"]
        now = {"ratio": RATIO_TOLERANCE, "absolute": ABSOLUTE_FACTOR, "tie": TIE, "winner_share": WINNER_SHARE}
        if had != {name: now[name] for name in had}:
            raise UserError(f"study {name} was defined with other tolerances: {had}")
        return [verdict(data, claim, row, causes.get(claim, "")) for claim, row in claims.items()]

    def contents(data: Data) -> Contents:
        rows = {
            claim: {**row, "machine": machines[row.get("point", row.get("over"))[0]]} for claim, row in claims.items()
        }
        kept = ledger(name, rows, judge(data), "machine")
        if more is None:
            return kept
        also = more(data)
        return Contents({**kept.values, **also.values}, [*kept.tables, *also.tables], [*kept.figures, *also.figures])

    grids = {grid: (row["for"], sweep(row)) for grid, row in definition["grids"].items()}
    return Study(name, f"{name}: {title}", grids, judge, contents)
