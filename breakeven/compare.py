"""Two or more routines on one machine: who leads where along size, or along one swept parameter at one size."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.crossings import BreakEven, Interval, break_even, crossings_along, intervals
from breakeven.errors import UserError
from breakeven.runner import Engine
from breakeven.sweep import SweepProgress, SweepSpec, failures, run_sweep

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Comparison:
    """The curves and what was found on them."""

    spec: SweepSpec
    table: pd.DataFrame
    #: "size", or the dotted path of the swept parameter
    along: str
    x: list[float]
    #: routine -> cycles per call at each x
    curves: dict[str, list[float]]
    intervals: list[Interval]
    #: of each later routine against the first (along size)
    break_evens: list[BreakEven]
    #: (routine, routine, values at which they cross) (along a parameter)
    crossings: list[tuple[str, str, list[float]]]
    #: what went wrong, point by point; empty when every output was right
    failures: list[str]

    def conditions(self) -> str:
        """Machine, offsets, cache state and measure in a line."""
        src, dst = self.spec.pairs()[0]
        size = "" if self.along == "size" else f"{self.spec.sizes[0]} B, "
        return (
            f"{self.spec.machines[0]}, {size}src+{src}, dst+{dst}, {self.spec.cache_states[0]}, {self.spec.measures[0]}"
        )

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "machine": str(self.spec.machines[0]),
            "conditions": self.conditions(),
            "along": self.along,
            "x": self.x,
            "cycles": self.curves,
            "intervals": [{**asdict(item), "kind": item.kind} for item in self.intervals],
            "break_even": [asdict(item) for item in self.break_evens],
            "crossings": [{"routines": [a, b], "at": at} for a, b, at in self.crossings],
            "ok": not self.failures,
            "first_failure": self.failures[0] if self.failures else None,
        }

    def _repr_html_(self) -> str:
        from breakeven.html import comparison_page

        return comparison_page(self)


def curves_of(table: pd.DataFrame, along: str = "size") -> tuple[list[float], dict[str, list[float]]]:
    """x and cycles per call of each routine in a table that varies only in routine and `along`."""
    per_call = table.assign(cycles=table["cycles_median"] / table["calls"])
    wide = per_call.pivot(index=along, columns="routine", values="cycles")
    wide = wide[list(dict.fromkeys(table["routine"]))]
    if along != "size":
        wide.index = wide.index.astype(float)
    wide = wide.sort_index()
    return list(wide.index), {str(name): [float(v) for v in wide[name]] for name in wide.columns}


def compare(spec: SweepSpec, engine: Engine, threads: int = 0, progress: SweepProgress | None = None) -> Comparison:
    """Runs the comparison that `spec` describes: one machine, one condition, sizes or one swept parameter."""
    if len(set(spec.routines)) < 2:
        raise UserError("compare needs at least two different routines")
    if len(spec.parameters) > 1:
        raise UserError("compare follows one swept parameter at a time: give --sweep once")
    along = next(iter(spec.parameters), "size")
    if along != "size":
        if len(spec.sizes) != 1:
            raise UserError("compare along a parameter needs one size: give --sizes N")
        try:
            [float(value) for value in spec.parameters[along]]
        except ValueError:
            raise UserError(f"compare needs numbers along {along}; use the sweep command for other values") from None
    table = run_sweep(spec, engine, threads, progress, one_job=True)
    x, curves = curves_of(table, along)
    names = list(curves)
    if along == "size":
        found = intervals([int(v) for v in x], curves)
        pairs = [break_even([int(v) for v in x], (names[0], curves[names[0]]), (n, curves[n])) for n in names[1:]]
        return Comparison(spec, table, along, x, curves, found, pairs, [], failures(table))
    crossings = [(a, b, crossings_along(x, curves[a], curves[b])) for i, a in enumerate(names) for b in names[i + 1 :]]
    return Comparison(spec, table, along, x, curves, [], [], crossings, failures(table))


def describe_interval(item: Interval) -> tuple[str, str, str]:
    """Sizes, who leads, and by how much, in words."""
    where = f"{item.first}" if item.first == item.last else f"{item.first}..{item.last}"
    if item.kind == "alternating":
        shares = zip(item.leaders, item.shares, strict=True)
        who = "alternating: " + ", ".join(f"{name} {share:.0%}" for name, share in shares)
    else:
        who = item.leaders[0] if item.kind == "lead" else "tie: " + ", ".join(item.leaders)
    gain = "-" if item.kind == "tie" else f"{item.gain:.2f}x (up to {item.best_gain:.2f}x)"
    return where, who, gain


def describe_break_even(item: BreakEven) -> str:
    """One sentence on where the challenger overtakes."""
    if item.first is None:
        return f"{item.challenger} never beats {item.incumbent} at these sizes"
    parts = [f"{item.challenger} first beats {item.incumbent} at {item.first} B"]
    if item.stays is None:
        parts.append("does not stay ahead")
    elif item.stays != item.first:
        parts.append(f"stays ahead from {item.stays} B on")
    else:
        parts.append("and stays ahead")
    if item.threshold is not None:
        parts.append(f"dispatch at {item.threshold} B (loses {item.loss:.1%} against always choosing right)")
    return "; ".join(parts).replace("; and", " and")


def default_plot(comparison: Comparison) -> Path:
    """Where the plot goes when the user names no file."""
    return Path(f"compare-{comparison.spec.machines[0].name.rsplit('/')[-1].removesuffix('.py')}.png")
