"""Where the lead changes between two routines on a machine: a search (`search`) whose points an `Engine` runs.

`find` goes along one axis; `surface` finds the break-even size for every value of one or two machine parameters.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from breakeven import points as pt
from breakeven.analysis.crossings import intervals
from breakeven.analysis.search import Lead, bisect, budget_of, search
from breakeven.analysis.search_result import AXES, SearchResult, Surface, grid_of
from breakeven.errors import UserError
from breakeven.points.converged import run_until_converged
from breakeven.points.engine import Engine, Session, SweepProgress
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.table import failures, frame
from breakeven.routine.checks import check_routines
from breakeven.sweeps.spec import SweepSpec

if TYPE_CHECKING:
    import pandas as pd


#: searches along one or two parameters
MAX_SEARCHES = 10_000


class _Points:
    """Runs the probed points of one search and keeps their table."""

    def __init__(
        self, spec: SweepSpec, along: str, engine: Engine, threads: int, progress: SweepProgress | None, budget: int
    ) -> None:
        self.spec, self.along, self.engine, self.threads = spec, along, engine, threads
        self.progress, self.budget = progress, budget
        self.frames: list[pd.DataFrame] = []
        self.done = 0
        self._session: Session | None = None

    def _open(self, machine: MachineSpec) -> Session:
        session = self.engine.open(machine)
        check_routines(session, list(self.spec.routines), one_job=True)
        return session

    def probe(self, values: Sequence[Any]) -> tuple[list[float], list[float]]:
        """The two routines' cycles per call at each value of the axis."""
        if self.along in AXES:
            self._session = self._session or self._open(self.spec.machines[0])
            changed: dict[str, Any] = {AXES[self.along]: list(values)}
            times = self._run(self._session, replace(self.spec, **changed), {})
        else:
            each = [self._at_parameter(str(value)) for value in values]
            times = [[pair[side][0] for pair in each] for side in (0, 1)]
        self.done += len(values)
        if self.progress is not None:
            self.progress(self.done, self.budget, str(self.spec.machines[0]))
        return times[0], times[1]

    def _at_parameter(self, value: str) -> list[list[float]]:
        machine = self.spec.machines[0].with_settings(f"{self.along}={value}")
        return self._run(self._open(machine), self.spec, {self.along: value})

    def _run(self, session: Session, spec: SweepSpec, chosen: dict[str, str]) -> list[list[float]]:
        spec = replace(spec, parameters={})
        records = spec.records()
        taken, found = run_until_converged(session, records.tobytes(), spec.by_rule, self.threads)
        records, results = np.frombuffer(taken, pt.point_dtype()), np.frombuffer(found, pt.result_dtype())
        if len(results) != len(records):
            raise UserError(f"the guest left {len(results)} results for {len(records)} points on {session.machine}")
        self.frames.append(frame(self.spec.machines[0].name, chosen, records, results))
        cycles = results["cycles_median"].astype(float) / records["calls"]
        return [list(map(float, side)) for side in cycles.reshape(2, -1)]


def axis_of(spec: SweepSpec) -> str:
    """The one axis of `spec` with several values. Raises `UserError` when there is none, or more than one."""
    longer = [name for name, axis in AXES.items() if len(getattr(spec, axis)) > 1]
    longer += [path for path, values in spec.parameters.items() if len(values) > 1]
    if len(longer) > 1:
        raise UserError(f"a search goes along one axis, not along {' and '.join(longer)}: give the others one value")
    return longer[0] if longer else "size"


def _checked(spec: SweepSpec) -> None:
    if len(spec.routines) != 2:
        raise UserError("a search compares two different routines")
    if len(spec.machines) != 1 or len(spec.cache_states) != 1 or len(spec.measures) != 1:
        raise UserError("a search looks at one machine, one cache state and one measure at a time")
    spec.validate()


def find(
    spec: SweepSpec,
    engine: Engine,
    threads: int = 0,
    progress: SweepProgress | None = None,
    budget: int | None = None,
    hints: Sequence[float] = (),
) -> SearchResult:
    """Searches along the axis of `spec` that has several values; `budget`: points to probe (of each routine)."""
    _checked(spec)
    along = axis_of(spec)
    single = {path: values[0] for path, values in spec.parameters.items() if path != along}
    machine = spec.machines[0].with_settings(*(f"{path}={value}" for path, value in single.items()))
    grid, values = grid_of(spec, along)
    spec = replace(spec, machines=[machine], parameters={along: values} if along not in AXES else {})
    ends = [machine] if along in AXES else [machine.with_settings(f"{along}={v}") for v in (values[0], values[-1])]
    for end in ends:
        engine.check(end, spec.routines)
    run = _Points(spec, along, engine, threads, progress, budget or budget_of(len(grid)))
    names = (spec.routines[0], spec.routines[1])
    method = search if along in AXES else bisect
    leads = method(grid, names, lambda at: run.probe([values[i] for i in at]), budget, hints=hints)  # type: ignore
    import pandas as pd

    table = pd.concat(run.frames, ignore_index=True)
    return SearchResult(spec, along, leads, table, failures(table))


def surface(spec: SweepSpec, engine: Engine, threads: int = 0, progress: SweepProgress | None = None) -> Surface:
    """The break-even size of the two routines of `spec` for every combination of its parameters' values."""
    _checked(spec)
    if not 1 <= len(spec.parameters) <= 2:
        raise UserError("a surface is over one or two machine parameters: give --sweep once or twice")
    if len(spec.sizes) < 2:
        raise UserError("a surface shows the break-even size: give a range of sizes, like 1..2048")
    grids = [grid_of(spec, path) for path in spec.parameters]
    searches = int(np.prod([len(numbers) for numbers, _ in grids], dtype=object))
    if searches > MAX_SEARCHES:
        raise UserError(f"the surface has {searches} searches, more than {MAX_SEARCHES}: take fewer values")
    texts = [values for _, values in grids]
    variants = {
        at: spec.machines[0].with_settings(
            *(f"{path}={values[i]}" for path, values, i in zip(spec.parameters, texts, at, strict=True))
        )
        for at in itertools.product(*(range(len(values)) for values in texts))
    }
    for machine in variants.values():
        engine.check(machine, spec.routines)
    done: dict[tuple[int, ...], SearchResult] = {}
    for at, machine in variants.items():
        before = [tuple(i - (k == axis) for k, i in enumerate(at)) for axis in range(len(at))]
        hints = sorted({hint for where in before if where in done for hint in lead_edges(done[where].leads)})
        done[at] = find(replace(spec, machines=[machine], parameters={}), engine, threads, None, hints=hints)
        if progress is not None:
            progress(len(done), searches, str(machine))
    parameters = {path: numbers for path, (numbers, _) in zip(spec.parameters, grids, strict=True)}
    return Surface(spec, parameters, [done[at] for at in variants])


def lead_edges(leads: Lead) -> list[float]:
    """Both sides of the changes that a neighbour may share; of many the outermost."""
    changes = list(itertools.pairwise(intervals([int(v) for v in leads.x], leads.curves)))
    return [edge for before, after in [*changes[:2], *changes[-2:]] for edge in (before.last, after.first)]
