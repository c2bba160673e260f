"""What studies share whose definition is a .toml file beside them: grids, published numbers, the table of verdicts;
`predicted`: the whole study, of claims that are rates or ratios of times."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
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
    Contents,
    Data,
    Study,
    TableItem,
    Verdict,
    judge_absolute,
    judge_ratio,
)
from breakeven.sweeps.spec import SweepSpec


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


def cycles(data: Data, point: list) -> float:
    """Cycles per call of a point ([grid, routine, {what else tells it apart}]): the mean over the grid's offsets."""
    grid, routine, where = point
    return float(data.select(grid, routine=routine, **where)["cycles"].mean())


def verdict(data: Data, claim: str, row: Mapping[str, Any], cause: str) -> Verdict:
    """A rate (``point``) in bytes a cycle, or a ratio of times (``over``, ``under``)."""
    published, _ = bounds(data.claims[claim].value)
    if row["judge"] == "rate":
        rate = row["point"][2]["size"] / cycles(data, row["point"])
        shown, simulated, came = f"{published:.3g} B/cycle", f"{rate:.2f} B/cycle", judge_absolute(published, rate)
    else:
        ratio = cycles(data, row["over"]) / cycles(data, row["under"])
        shown, simulated, came = f"{published:.2f} times", f"{ratio:.2f} times", judge_ratio(published, ratio)
    return Verdict(claim, shown, simulated, came, "" if came == REPRODUCED else cause)


def predicted(name: str, title: str, causes: Mapping[str, str]) -> Study:
    """The study that ``name.toml`` defines; `causes`: claim -> why it did not come out."""
    definition = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))
    claims = definition["claims"]
    machines = {grid: row["machine"] for grid, row in definition["grids"].items()}

    def judge(data: Data) -> list[Verdict]:
        had = definition["tolerances"]
        if had != {"ratio": RATIO_TOLERANCE, "absolute": ABSOLUTE_FACTOR, "tie": TIE}:
            raise UserError(f"study {name} was defined with other tolerances: {had}")
        return [verdict(data, claim, row, causes.get(claim, "")) for claim, row in claims.items()]

    def contents(data: Data) -> Contents:
        rows = {
            claim: {**row, "machine": machines[row.get("point", row.get("over"))[0]]} for claim, row in claims.items()
        }
        return ledger(name, rows, judge(data), "machine")

    grids = {grid: (row["for"], sweep(row)) for grid, row in definition["grids"].items()}
    return Study(name, f"{name}: {title}", grids, judge, contents)
