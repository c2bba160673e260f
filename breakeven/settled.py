"""Whether a median is one of predictors that know the routine.

Branch predictors that go by the branches before learn a routine within some ten measurements, and unmeasured calls
before these teach them little: the harness's code between two measurements is part of what they go by. With the few
repetitions of a quick look a short call may be charged mispredictions that it soon loses. The same points with
`REPETITIONS` tell; `run` and `compare` take those where nobody asked for another number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from breakeven import points as pt
from breakeven.runner import Engine, Session, run_points

if TYPE_CHECKING:
    import pandas as pd

    from breakeven.sweep import SweepSpec

#: in the simulator the harness runs between two measurements: predictors must meet a routine this often, and the median
#: is then one of those that know it
REPETITIONS = 21
#: a median that is off by no more than this share, or by so few cycles, is left alone
SHARE, CYCLES = 0.05, 2
#: bytes of the longest call that is looked at: of a longer one mispredictions are no great share, and it takes long
MOST_BYTES = 1 << 14
#: sizes of a comparison that are looked at, its ends among them
SAMPLE = 9


@dataclass(frozen=True)
class Unsettled:
    """The point that is furthest off, by its share of the settled cycles; cycles are per call."""

    where: str
    cycles: float
    settled: float
    #: points that are off, and points looked at
    off: int
    of: int

    def __str__(self) -> str:
        many = f"; {self.off} of the {self.of} points looked at are off by over {SHARE:.0%}" if self.of > 1 else ""
        return (
            f"{self.where} takes {self.settled:.0f} cycles, not {self.cycles:.0f}, once predictors know the routine"
            f"{many}: give --repetitions {REPETITIONS}"
        )


def _is_off(cycles: float, settled: float) -> bool:
    return abs(cycles - settled) > max(SHARE * settled, CYCLES)


def settled_point(session: Session, point: pt.Point, result: pt.Result) -> tuple[pt.Point, pt.Result]:
    """The point and its result, or where that median is off those with `REPETITIONS`."""
    if point.repetitions >= REPETITIONS or point.measure == pt.STREAM or point.size > MOST_BYTES:
        return point, result
    longer = replace(point, repetitions=REPETITIONS)
    (again,) = run_points(session, [longer])
    if not again.ok or not _is_off(result.cycles_median, again.cycles_median):
        return point, result
    return longer, again


def unsettled_point(session: Session, point: pt.Point, result: pt.Result) -> Unsettled | None:
    """What is to be said of a point's median; None: nothing. Cycles of a result are those of all calls together."""
    longer, again = settled_point(session, point, result)
    if longer is point:
        return None
    before, after = result.cycles_median / point.calls, again.cycles_median / point.calls
    return Unsettled(f"{point.routine} at {point.size} B", before, after, 1, 1)


def unsettled_comparison(spec: SweepSpec, table: pd.DataFrame, engine: Engine, threads: int = 0) -> Unsettled | None:
    """What is to be said of the medians in the table of a comparison, by a sample of its sizes (or of the values of its
    parameter); None: nothing."""
    # Here: `run` needs none of it, and it takes as long as all the rest.
    from breakeven.sweep import run_sweep

    sizes = _sample([size for size in sorted(set(spec.sizes)) if size <= MOST_BYTES])
    if spec.repetitions >= REPETITIONS or "stream" in spec.measures or not sizes or not table["ok"].all():
        return None
    # A machine is built for each value of a parameter: the ends alone.
    ends = {path: list(dict.fromkeys((values[0], values[-1]))) for path, values in spec.parameters.items()}
    settled = run_sweep(replace(spec, sizes=sizes, parameters=ends, repetitions=REPETITIONS), engine, threads)
    keys = ["routine", "size", *ends]
    both = table.merge(settled, on=keys, suffixes=("", "_settled"))
    both = both[both["ok_settled"]]
    off = both[[_is_off(a, b) for a, b in zip(both["cycles_median"], both["cycles_median_settled"], strict=True)]]
    if off.empty:
        return None
    share = (off["cycles_median"] - off["cycles_median_settled"]).abs() / off["cycles_median_settled"].clip(lower=1)
    worst = off.loc[share.idxmax()]
    where = f"{worst['routine']} at {worst['size']} B" + "".join(f", {path}={worst[path]}" for path in ends)
    calls = worst["calls"]
    return Unsettled(where, worst["cycles_median"] / calls, worst["cycles_median_settled"] / calls, len(off), len(both))


def settled_spec(spec: SweepSpec) -> SweepSpec | None:
    """The comparison with `REPETITIONS`; None where calls are so long that it would take too long."""
    return replace(spec, repetitions=REPETITIONS) if max(spec.sizes) <= MOST_BYTES else None


def _sample(values: list[int]) -> list[int]:
    """At most `SAMPLE` of them, evenly, the ends among them."""
    if len(values) <= SAMPLE:
        return values
    return [values[i * (len(values) - 1) // (SAMPLE - 1)] for i in range(SAMPLE)]
