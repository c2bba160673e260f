"""What a comparison has found: its curves, leads and break-evens; as JSON, as a page of a notebook, as a plot."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.analysis.crossings import TIE, BreakEven, Interval
from breakeven.analysis.verdict import (
    AHEAD,
    NARROWER,
    Confidence,
    break_even_dict,
    confidence,
    describe_break_even,
    describe_confidence,
    describe_interval,
    span,
)
from breakeven.output.html import table, wrong
from breakeven.points.measurements import Tally, again_words, measured_again
from breakeven.sweeps.spec import SweepSpec

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
    #: what went wrong, point by point; empty when every output was verified
    failures: list[str]
    #: least cycles per call of the measurements of a point, as `curves`
    least: dict[str, list[float]] = field(default_factory=dict)
    #: half the interquartile range of the rounds (the host's processor), as `curves`
    half_iqrs: dict[str, list[float]] = field(default_factory=dict)
    #: which parameter of the machine decides it, by a `sensitivity`; empty: not known
    rests_on: str = ""

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
        """Cycles per call at the `at`-th x, with how far the measurements differ where that is worth telling."""
        median = self.curves[routine][at]
        if self.half_iqrs:
            return f"{median:.0f} \u00b1{self.half_iqrs[routine][at]:.0f}"
        least = self.least[routine][at] if self.least else median
        return f"{least:.0f}..{median:.0f}" if least * (1 + TIE) < median else f"{median:.0f}"

    @property
    def dispersion_words(self) -> str:
        """What `cycles_text` puts beside a median; empty: nothing."""
        if self.half_iqrs:
            return "\u00b1 half the interquartile range"
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
            "measured_again": measured_again(self.table),
            "not_converged": Tally().add(self.table).not_converged,
            "intervals": [{**asdict(item), "kind": item.kind} for item in self.intervals],
            "least": self.least,
            "half_iqr": self.half_iqrs,
            "break_even": [
                {**break_even_dict(item, NARROWER), "confidence": sure and sure.as_dict()}
                for item, sure in zip(self.break_evens, self.confidences, strict=True)
            ],
            "crossings": [{"routines": [a, b], "at": at} for a, b, at in self.crossings],
            "sensitivity": self.rests_on or None,
            "ok": not self.failures,
            "first_failure": self.failures[0] if self.failures else None,
        }

    def plot(self, path: str | Path) -> Path:
        """Draws it as the command's ``--plot`` does: .png, .svg or .pdf."""

        plot_comparison(self, Path(path))
        return Path(path)

    def __repr__(self) -> str:
        said = "; ".join(describe_break_even(item, NARROWER) for item in self.break_evens)
        return f"Comparison({', '.join(self.curves)}; {self.conditions()}{said and '; '}{said})"

    def _repr_html_(self) -> str:

        return comparison_page(self)


def plot_comparison(found: Comparison, path: Path) -> None:
    """The comparison's curves with their crossings."""
    from breakeven.output import plots

    along_size = found.along == "size"
    wide = along_size and max(found.x) / max(min(found.x), 1) >= 256
    marks: list[Any] = [
        (item.stays_lower, item.stays, f"{span(item.stays_lower, item.stays)} B")
        for item in found.break_evens
        if item.stays is not None and item.stays_lower is not None
    ]
    marks += [(at, at, f"{at:.3g}") for _, _, where in found.crossings for at in where]
    plots.lines(
        path,
        found.x,
        found.curves,
        title=" / ".join(found.curves) if len(found.curves) < 4 else f"{len(found.curves)} routines",
        caption=f"{found.conditions()}."
        + (" Marked: where the lead changes for good." if marks else "")
        + (f" {again}." if (again := again_words(found.table)) else ""),
        xlabel="size (bytes)" if along_size else found.along,
        log_x=wide,
        log_y=wide,
        spans=marks,
    )


def comparison_page(found: Comparison) -> str:
    """A comparison's leads and its sentences."""
    rows = [describe_interval(item) for item in found.intervals]
    page = table((found.along, "fastest", AHEAD), rows, found.conditions())
    sentences = []
    for item, sure in zip(found.break_evens, found.confidences, strict=True):
        sentences.append(describe_break_even(item, NARROWER))
        sentences += [describe_confidence(item, sure)] if sure is not None else []
    said = "".join(f"<p>{escape(text)}</p>" for text in sentences)
    crossed = "".join(
        f"<p>{escape(a)} and {escape(b)} cross at {escape(found.along)} = "
        f"{', '.join(f'{at:.4g}' for at in where) or 'nowhere in this range'}</p>"
        for a, b, where in found.crossings
    )
    return wrong(found.failures) + page + said + crossed
