"""Two or more routines on one machine: who leads where along size, or along one swept parameter at one size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from breakeven.analysis.comparison import Comparison
from breakeven.analysis.crossings import crossings_along, leads
from breakeven.errors import UserError
from breakeven.points import routine_in
from breakeven.points.engine import Engine, SweepProgress
from breakeven.points.table import failures
from breakeven.sweeps.run import run_sweep
from breakeven.sweeps.spec import SweepSpec, axis_of

if TYPE_CHECKING:
    import pandas as pd


def curves_of(
    table: pd.DataFrame, along: str = "size", column: str = "cycles_median", numbers: Mapping[str, float] | None = None
) -> tuple[list[float], dict[str, list[float]]]:
    """x and cycles per call of each routine in a table that varies only in routine and `along`; `numbers`: of a
    parameter's values."""
    per_call = table.assign(cycles=table[column] / table["calls"])
    wide = per_call.pivot(index=along, columns="routine", values="cycles")
    wide = wide[list(dict.fromkeys(table["routine"]))]
    if numbers:
        wide.index = [numbers[str(value)] for value in wide.index]
    wide = wide.sort_index()
    return list(wide.index), {str(name): [float(v) for v in wide[name]] for name in wide.columns}


def compare(spec: SweepSpec, engine: Engine, threads: int = 0, progress: SweepProgress | None = None) -> Comparison:
    """Runs the comparison that `spec` describes: one machine, one condition, sizes or one swept parameter."""
    if len(set(spec.routines)) < 2:
        raise UserError("compare needs at least two different routines")
    if len(spec.parameters) > 1:
        raise UserError("compare follows one swept parameter at a time: give --sweep once")
    along = next(iter(spec.parameters), "size")
    if along != "size" and len(spec.sizes) != 1:
        raise UserError("compare along a parameter needs one size: give --sizes N")
    numbers = dict(zip(spec.parameters[along], axis_of(spec, along)[0], strict=True)) if along != "size" else None
    table = run_sweep(spec, engine, threads, progress, one_job=True)
    x, curves = curves_of(table, along, numbers=numbers)
    least = curves_of(table, along, "cycles_min", numbers)[1]
    names, bad = list(curves), failures(table)
    if along == "size":
        sizes = [int(value) for value in x]
        half_iqrs = _half_iqrs(engine, spec, sizes, names)
        # Where one routine overtakes another along the working set is no threshold that a dispatcher could test.
        found = None if spec.mix else leads(sizes, curves)
        return Comparison(spec, table, along, [*sizes], curves, found, [], bad, least, half_iqrs)
    crossings = [(a, b, crossings_along(x, curves[a], curves[b])) for i, a in enumerate(names) for b in names[i + 1 :]]
    return Comparison(spec, table, along, x, curves, None, crossings, bad, least)


def _half_iqrs(engine: Engine, spec: SweepSpec, x: list[int], names: list[str]) -> dict[str, list[float]]:
    """Half the interquartile range of each point in cycles per call, where the engine measures in rounds (the host)."""
    found: dict[tuple[str, int], float] = {}
    for row in spec.records():
        half_iqr = engine.half_iqr_of(row.tobytes())
        if half_iqr is None:
            return {}
        found[routine_in(row["routine"]), int(row["size"])] = half_iqr / int(row["calls"])
    return {name: [found[name, size] for size in x] for name in names}
