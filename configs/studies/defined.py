"""What studies share whose definition is a .toml file beside them: grids, published numbers, the table of verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.blind import first_verdicts
from breakeven.studies.study import REPRODUCED, Contents, TableItem, Verdict
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
