"""How many measurements a point takes, and whether their median has converged.

A branch predictor that goes by the branches before it learns a routine within 3 to 12 measurements, a few points
within 40; unmeasured calls teach it little, as the harness's code between two measurements is part of what it goes by.
Meanwhile up to eight readings may be equal, so that a rule which stops at equal readings stops too early. So every
verb, on every engine, takes the same number, `repetitions_of`, and the points whose median has not converged then are
measured once more with `AGAIN` (`converged.run_until_converged`). Readings repeat to the cycle.

The guest reports the median of the later half of the readings beside that of all. A median that these two agree on has
converged; readings that repeat with a period do so, too.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from breakeven.errors import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


#: measurements of a point
REPETITIONS = 21
#: of a point whose median has not converged after those
AGAIN = 4 * REPETITIONS + 1
#: of a stream or a mix: each holds many calls
STREAM_REPETITIONS = 3
#: of fewer measurements half of them say nothing (LEAST_HALVED in workloads/harness/stats.h)
LEAST = 5
#: a median has converged when that of the later half is this near: cycles per measurement, or a share of it
CYCLES, SHARE = 2, 0.01


def repetitions_of(measure: str) -> int:
    """Measurements of a point of `measure` where nobody asks for another number."""
    return STREAM_REPETITIONS if measure in ("stream", "mix") else REPETITIONS


def has_converged(repetitions: int, median: int, later: int) -> bool | None:
    """Whether a median has converged, by that of the later half of the readings (cycles per measurement).

    None: not known, of fewer than `LEAST` measurements, or by a guest that reports no later median (0).
    """
    near = max(CYCLES, SHARE * median)
    if repetitions < LEAST or (later == 0 and median > near):
        return None
    return abs(median - later) <= near


@dataclass
class Tally:
    """Points, those of them whose median has not converged, and the most measurements that one of those took."""

    points: int = 0
    not_converged: int = 0
    repetitions: int = 0

    def add(self, table: pd.DataFrame) -> Tally:
        """Counts the points of a sweep's table."""
        learning = table[table["converged"].eq(False).fillna(False).astype(bool)]
        self.points += len(table)
        self.not_converged += len(learning)
        if len(learning):
            self.repetitions = max(self.repetitions, int(learning["repetitions"].max()))
        return self

    def count(self, repetitions: int, converged: bool | None) -> None:
        """Counts a point."""
        self.points += 1
        if converged is False:
            self.not_converged += 1
            self.repetitions = max(self.repetitions, repetitions)

    def __str__(self) -> str:
        """One sentence on the medians that have not converged; empty: there is none."""
        if not self.not_converged:
            return ""
        what = f"{self.not_converged} of {self.points} points have" if self.points > 1 else "the median has"
        return (
            f"{what} not converged after {self.repetitions} measurements: predictors still learning; "
            f"give --repetitions {4 * self.repetitions + 1}"
        )

    def say(self) -> None:
        """Says so on the standard error, in one line."""
        if text := str(self):
            say(f"breakeven: {text}", file=sys.stderr)


def converged_column(records: Any, results: Any) -> Any:
    """`has_converged` of many points (structured arrays of the point and result records): true, false or missing."""
    import numpy as np
    import pandas as pd

    median, later = results["cycles_median"].astype("f8"), results["detail"].astype("f8")
    near = np.maximum(CYCLES, SHARE * median)
    unknown = (records["repetitions"] < LEAST) | (results["status"] != 0) | ((later == 0) & (median > near))
    return pd.array(np.where(unknown, None, np.abs(median - later) <= near), dtype="boolean")


def measured_again(*tables: pd.DataFrame) -> dict[str, int] | None:
    """How many points of a request's tables took `AGAIN` measurements by rule; None where all took one number."""
    taken = [int(n) for table in tables for n in table["repetitions"]]
    again = taken.count(AGAIN)
    return {"points": again, "repetitions": AGAIN} if again and REPETITIONS in taken else None


def again_words(*tables: pd.DataFrame) -> str:
    """A sentence on the points that took `AGAIN` measurements, for tables and figures that show others beside them;
    empty where all took one number."""
    found = measured_again(*tables)
    if found is None:
        return ""
    points = sum(len(table) for table in tables)
    return f"{found['points']} of {points} points took {AGAIN} measurements each, as {REPETITIONS} did not converge"


def one_number(table: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """`table` with a point's numbers of measurements by rule as one: of a point that was measured again only that, and
    its ``repetitions`` are the rule's. Points that were asked for with other numbers stay apart.

    `names`: the columns that tell points apart.
    """
    if "repetitions" not in table or not {REPETITIONS, AGAIN} <= set(table["repetitions"]):
        return table
    others = [name for name in names if name in table and name != "repetitions"]
    first, again = table["repetitions"] == REPETITIONS, table["repetitions"] == AGAIN
    learning = first & table["converged"].eq(False).fillna(False).astype(bool)

    def among(rows: pd.Series) -> pd.Series:
        """Which points are among those of `rows`."""
        return table.merge(table.loc[rows, others].drop_duplicates(), how="left", indicator=True)["_merge"] == "both"

    # One that had converged was asked for with the other number.
    ruled = again & ~among(first & ~learning).set_axis(table.index)
    superseded = learning & among(again).set_axis(table.index)
    return table.assign(repetitions=table["repetitions"].where(~ruled, REPETITIONS))[~superseded]
