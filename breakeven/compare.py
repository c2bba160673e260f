"""Two or more routines on one machine: who leads where along size, or along one swept parameter at one size."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.crossings import TIE, BreakEven, Interval, break_even, crossings_along, intervals
from breakeven.errors import UserError
from breakeven.measurements import Tally
from breakeven.runner import Engine
from breakeven.sweep import SweepProgress, SweepSpec, failures, run_sweep
from breakeven.verdict import NARROWER, Confidence, break_even_dict, confidence

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
    #: least cycles per call of the measurements of a point, as `curves`
    least: dict[str, list[float]] = field(default_factory=dict)
    #: half the distance between rounds of measurements (the host's processor), as `curves`
    spreads: dict[str, list[float]] = field(default_factory=dict)

    @property
    def confidences(self) -> list[Confidence | None]:
        """How sure each of `break_evens` is."""
        curves = self.curves
        return [
            confidence(
                [int(v) for v in self.x], (e.incumbent, curves[e.incumbent]), (e.challenger, curves[e.challenger]), e
            )
            for e in self.break_evens
        ]

    def cycles_text(self, routine: str, at: int) -> str:
        """Cycles per call at the `at`-th x, with their spread where there is one worth telling."""
        median = self.curves[routine][at]
        if self.spreads:
            return f"{median:.0f} \u00b1{self.spreads[routine][at]:.0f}"
        least = self.least[routine][at] if self.least else median
        return f"{least:.0f}..{median:.0f}" if least * (1 + TIE) < median else f"{median:.0f}"

    @property
    def spread_words(self) -> str:
        """What `cycles_text` puts beside a median; empty: nothing."""
        if self.spreads:
            return "\u00b1 half the distance between rounds"
        texts = (self.cycles_text(name, i) for name in self.curves for i in range(len(self.x)))
        return "least..median where they differ" if any(".." in text for text in texts) else ""

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
            "repetitions": self.spec.repetitions_of(self.spec.measures[0]),
            "not_converged": Tally().add(self.table).not_converged,
            "intervals": [{**asdict(item), "kind": item.kind} for item in self.intervals],
            "least": self.least,
            "spread": self.spreads,
            "break_even": [
                {**break_even_dict(item, NARROWER), "confidence": sure and sure.as_dict()}
                for item, sure in zip(self.break_evens, self.confidences, strict=True)
            ],
            "crossings": [{"routines": [a, b], "at": at} for a, b, at in self.crossings],
            "ok": not self.failures,
            "first_failure": self.failures[0] if self.failures else None,
        }

    def plot(self, path: str | Path) -> Path:
        """Draws it as the command's ``--plot`` does: .png, .svg or .pdf."""
        from breakeven.compare_cli import plot_comparison

        plot_comparison(self, Path(path))
        return Path(path)

    def _repr_html_(self) -> str:
        from breakeven.html import comparison_page

        return comparison_page(self)


def curves_of(
    table: pd.DataFrame, along: str = "size", column: str = "cycles_median"
) -> tuple[list[float], dict[str, list[float]]]:
    """x and cycles per call of each routine in a table that varies only in routine and `along`."""
    per_call = table.assign(cycles=table[column] / table["calls"])
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
    least = curves_of(table, along, "cycles_min")[1]
    names, bad = list(curves), failures(table)
    if along == "size":
        x = [int(value) for value in x]
        leads = intervals(x, curves)
        pairs = [break_even(x, (names[0], curves[names[0]]), (name, curves[name])) for name in names[1:]]
        spreads = _spreads(engine, spec, x, names)
        return Comparison(spec, table, along, x, curves, leads, pairs, [], bad, least, spreads)
    crossings = [(a, b, crossings_along(x, curves[a], curves[b])) for i, a in enumerate(names) for b in names[i + 1 :]]
    return Comparison(spec, table, along, x, curves, [], [], crossings, bad, least)


def _spreads(engine: Engine, spec: SweepSpec, x: list[int], names: list[str]) -> dict[str, list[float]]:
    """The spread of each point in cycles per call, where the engine measures rounds of its own (the host's)."""
    known = getattr(engine, "spreads", None)
    if not known:
        return {}
    found = {
        (row["routine"].decode(), int(row["size"])): known.get(row.tobytes(), 0.0) / int(row["calls"])
        for row in spec.records()
    }
    return {name: [found[name, size] for size in x] for name in names}
