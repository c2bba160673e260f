"""Sweeps: routines x machines x swept parameters x sizes x offsets x cache states x measures, to a tidy table.

A sweep's rows are in the order of that product whatever the number of threads, and the table written for a given sweep
is the same bytes every time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from breakeven import points as pt
from breakeven.errors import UserError
from breakeven.points.converged import run_until_converged
from breakeven.points.engine import Engine, SweepProgress
from breakeven.points.table import frame
from breakeven.routine.checks import check_routines
from breakeven.sweeps.spec import SweepSpec

if TYPE_CHECKING:
    import pandas as pd


def run_sweep(
    spec: SweepSpec, engine: Engine, threads: int = 0, progress: SweepProgress | None = None, one_job: bool = False
) -> pd.DataFrame:
    """Runs every point of `spec`; one row each (see `frame` for the columns). `one_job`: its routines are compared, so
    that they must be of one kind."""
    import pandas as pd

    records = spec.records()
    data = records.tobytes()
    total, done = spec.count(), 0
    # All machines are built before the first point runs: a wrong parameter fails at once, not after minutes.
    variants = list(spec.variants())
    for machine, _ in variants:
        engine.check(machine, spec.routines)
    frames = []
    for machine, chosen in variants:
        session = engine.open(machine)
        check_routines(session, list(spec.routines), one_job)
        report = None
        if progress is not None:
            start, label = done, str(machine)
            progress(start, total, label)

            def report(count: int, _: int, start: int = start, label: str = label) -> None:
                progress(start + count, total, label)

        taken, found = run_until_converged(session, data, spec.by_rule, threads, report)
        results = np.frombuffer(found, pt.result_dtype())
        if len(results) != len(records):
            raise UserError(f"the guest left {len(results)} results for {len(records)} points on {machine}")
        frames.append(frame(machine.name, chosen, np.frombuffer(taken, pt.point_dtype()), results))
        done += len(records)
    if progress is not None:
        progress(total, total, "done")
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
