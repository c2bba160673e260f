"""One question to several engines: the simulator, the host's own processor, a real gem5; the error point by point.

The first engine is what is judged, the second what it is judged by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from breakeven.analysis.compare import compare
from breakeven.analysis.comparison import Comparison
from breakeven.engines.native import NativeEngine, host_name
from breakeven.errors import UserError
from breakeven.machine.resolve import resolve
from breakeven.points.engine import SweepProgress
from breakeven.points.machine_spec import HOST, MachineSpec
from breakeven.sweeps.spec import SweepSpec, described

if TYPE_CHECKING:
    import pandas as pd


#: a cycle more or less is no great share of so many: the summary counts these points apart
LONG = 50
#: user pages are not closed to a routine in a Linux program, so that stac and clac do nothing there (x86)
NO_SMAP = "cpu.isa.enable_smap=false"


def spec_for(engine: str, spec: SweepSpec, beside_host: bool) -> SweepSpec:
    """`spec` as `engine` runs it; `beside_host`: its numbers will stand beside those of the host's processor."""
    if engine == "native":
        if spec.parameters:
            raise UserError("the host's processor has no parameters to sweep")
        return replace(spec, machines=[MachineSpec(HOST)])
    if not beside_host:
        return spec
    return replace(spec, machines=[_as_on_a_host(machine) for machine in spec.machines])


def _as_on_a_host(machine: MachineSpec) -> MachineSpec:
    return machine.with_settings(NO_SMAP) if resolve(machine, unread=True).isa == "x86" else machine


@dataclass(frozen=True)
class EngineComparison:
    """The same comparison by several engines."""

    #: by engine
    found: dict[str, Comparison]
    #: what ran it, in words: a machine, or the host's processor
    on: dict[str, str]
    #: half the interquartile range of the host's rounds, in cycles per call, by routine and size
    half_iqrs: Mapping[tuple[str, int], float]

    def __repr__(self) -> str:
        return f"EngineComparison({'; '.join(f'{name}: {found!r}' for name, found in self.found.items())})"

    @property
    def table(self) -> pd.DataFrame:
        """The rows of every engine, with a column ``engine``."""
        import pandas as pd

        parts = [described(found.table, found.spec).assign(engine=name) for name, found in self.found.items()]
        return pd.concat(parts, ignore_index=True)

    def errors(self) -> pd.DataFrame:
        """A row for each routine and size: both engines' cycles per call, the error of the first (a share)."""
        import pandas as pd

        (judged, a), (by, b) = list(self.found.items())[:2]
        rows = []
        for name, curve in a.curves.items():
            for x, left, right in zip(a.x, curve, b.curves[name], strict=True):
                error = (left - right) / right if right else float("nan")
                half_iqr = self.half_iqrs.get((name, int(x)))
                rows.append(
                    {"routine": name, "size": int(x), judged: left, by: right, "half_iqr": half_iqr, "error": error}
                )
        return pd.DataFrame(rows)

    def summary(self) -> list[dict[str, Any]]:
        """For each routine, and for all (routine ""): points and median absolute error (a share) of all, and of those
        of `LONG` cycles and more also the median error and the greatest."""
        errors, by = self.errors(), list(self.found)[1]
        rows = []
        for name, group in [*errors.groupby("routine", sort=False), ("", errors)]:
            long = group[group[by] >= LONG]
            worst = long.loc[long["error"].abs().idxmax()] if len(long) else None
            rows.append({
                "routine": name, "points": len(group), "median": float(group["error"].abs().median()),
                "long_points": len(long), "long_median": float(long["error"].abs().median()),
                "long_bias": float(long["error"].median()),
                "long_worst": float("nan") if worst is None else float(worst["error"]),
                "long_worst_size": None if worst is None else int(worst["size"]),
            })  # fmt: skip
        return rows

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        rows = self.errors().replace({np.nan: None}).to_dict(orient="records")
        summary = [{key: None if value != value else value for key, value in row.items()} for row in self.summary()]
        engines = {name: {**found.as_dict(), "on": self.on[name]} for name, found in self.found.items()}
        return {"engines": engines, "points": rows, "summary": summary}


def compare_engines(
    spec: SweepSpec,
    names: list[str],
    open_named: Callable[[str], AbstractContextManager[Any]],
    threads: int = 0,
    progress: SweepProgress | None = None,
) -> EngineComparison:
    """Runs the comparison that `spec` describes on each engine that `open_named` opens."""
    found: dict[str, Comparison] = {}
    on: dict[str, str] = {}
    half_iqrs: dict[tuple[str, int], float] = {}
    if next(iter(spec.parameters), None):
        raise UserError("several engines are compared along size: leave out --sweep")
    for name in names:
        mine = spec_for(name, spec, "native" in names)
        with open_named(name) as engine:
            found[name] = compare(mine, engine, threads, progress)
            on[name] = host_name() if name == "native" else str(mine.machines[0])
            for routine, curve in found[name].half_iqrs.items():
                half_iqrs |= {(routine, int(x)): value for x, value in zip(found[name].x, curve, strict=True)}
            if isinstance(engine, NativeEngine):
                on[name] += f", CPU {engine.cpu}, {engine.counter}"
    return EngineComparison(found, on, half_iqrs)
