"""What a comparison has found: its curves and who leads where; as JSON, as a page of a notebook, as a plot."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.analysis.crossings import TIE, Leads, Rank, leaders_of, ranking
from breakeven.analysis.trust import trust_line
from breakeven.analysis.verdict import (
    AHEAD,
    NARROWER,
    Confidence,
    confidence,
    describe_crossings,
    describe_interval,
    describe_leads,
    leads_dict,
    marks_of,
    sentences,
)
from breakeven.output.html import escape, table, wrong
from breakeven.points import STREAM_FLAGS
from breakeven.points.measurements import Tally, again_words, measured_again
from breakeven.sweeps.spec import SweepSpec, axis_label, axis_of

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
    #: who leads where (along size)
    leads: Leads | None
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
    def confidence(self) -> Confidence | None:
        """What the choice between two routines would be if the times were off."""
        return None if self.leads is None else confidence([int(v) for v in self.x], self.curves, self.leads)

    def ranking(self) -> list[Rank]:
        """The routines by how far behind the fastest they are."""
        return ranking(self.curves)

    def sentences(self) -> list[str]:
        """All that is said below the tables."""
        if self.spec.mix and self.along == "size":
            return [_fastest_by_working_set(self.x, self.curves)]
        if self.leads is None:
            return [
                describe_crossings(a, b, axis_label(self.spec, self.along), where, self.curves)
                for a, b, where in self.crossings
            ]
        return sentences([int(v) for v in self.x], self.curves, self.leads, NARROWER)

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

    def trust(self) -> str:
        """How near the machine is to silicon, in a line; empty for a host's own numbers."""
        return trust_line(self.spec.machines[0], self.spec.routines)

    def conditions(self) -> str:
        """Machine, offsets, cache state and measure in a line."""
        if self.spec.mix:
            reader = ", each read after it" if self.spec.flags & STREAM_FLAGS["reader"] else ""
            within = "" if self.along == "size" else f" in {self.spec.sizes[0]} B"
            return f"{self.spec.machines[0]}, a mix of {self.spec.mix}{within}{reader}"
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
            "unit": axis_of(self.spec, self.along)[1] if self.along != "size" else "B",
            "x": self.x,
            "cycles": self.curves,
            "repetitions": self.spec.repetitions_of(self.spec.measures[0]),
            "measured_again": measured_again(self.table),
            "not_converged": Tally().add(self.table).not_converged,
            "least": self.least,
            "half_iqr": self.half_iqrs,
            "ranking": [asdict(rank) for rank in self.ranking()],
            **(
                leads_dict(self.leads, self.confidence, NARROWER)
                if self.leads
                else {"intervals": [], "spikes": [], "break_even": None, "said": self.sentences()}
            ),
            "crossings": [{"routines": [a, b], "at": at} for a, b, at in self.crossings],
            "sensitivity": self.rests_on or None,
            "trust": self.trust() or None,
            "ok": not self.failures,
            "first_failure": self.failures[0] if self.failures else None,
        }

    def plot(self, path: str | Path) -> Path:
        """Draws it as the command's ``--plot`` does: .png, .svg or .pdf."""

        plot_comparison(self, Path(path))
        return Path(path)

    def __repr__(self) -> str:
        said = describe_leads(self.leads, NARROWER) if self.leads else ""
        return f"Comparison({', '.join(self.curves)}; {self.conditions()}{said and '; '}{said})"

    def _repr_html_(self) -> str:

        return comparison_page(self)


def _fastest_by_working_set(x: list[float], curves: dict[str, list[float]]) -> str:
    """Who is ahead in the working sets of a mix, in a sentence."""
    ahead = [leaders_of({name: curve[i] for name, curve in curves.items()}, TIE) for i in range(len(x))]
    if len({names for names, _ in ahead}) == 1:
        names, leads = ahead[0][0], [lead for _, lead in ahead]
        where = (
            f"in a working set of {x[0]:.0f} B"
            if len(x) == 1
            else f"in every working set tried ({x[0]:.0f} to {x[-1]:.0f} B)"
        )
        by = f"{min(leads):.2f}" if len(x) == 1 else f"{min(leads):.2f} to {max(leads):.2f}"
        if len(names) > 1:
            return f"{' and '.join(names)} tie {where}"
        return f"{names[0]} leads {where}: {by} times as fast as the next"
    each = (
        f"{size:.0f} B {' = '.join(names)}" + (f" ({lead:.2f}x)" if len(names) == 1 else "")
        for size, (names, lead) in zip(x, ahead, strict=True)
    )
    return f"the fastest by working set: {'; '.join(each)}"


def plot_comparison(found: Comparison, path: Path) -> None:
    """The comparison's curves with their crossings."""
    from breakeven.output import plots

    along_size = found.along == "size"
    wide = along_size and max(found.x) / max(min(found.x), 1) >= 256
    marks: list[Any] = [(mark.lower, mark.size, mark.text) for mark in marks_of(found.leads)] if found.leads else []
    marks += [(at, at, f"{at:.3g}") for _, _, where in found.crossings for at in where]
    what = "the threshold" if found.leads and len(found.curves) == 2 else "where the lead changes"
    plots.lines(
        path,
        found.x,
        found.curves,
        title=" / ".join(found.curves) if len(found.curves) < 4 else f"{len(found.curves)} routines",
        caption=f"{found.conditions()}."
        + (f" Marked: {what}." if marks else "")
        + (f" {again}." if (again := again_words(found.table)) else ""),
        xlabel=_axis(found) if along_size else axis_label(found.spec, found.along),
        log_x=wide,
        log_y=wide,
        spans=marks,
    )


def _axis(found: Comparison) -> str:
    return "working set (bytes)" if found.spec.mix else "size (bytes)"


def comparison_page(found: Comparison) -> str:
    """A comparison's leads and its sentences."""
    rows = [describe_interval(item) for item in found.leads.ranges] if found.leads else []
    page = table((found.along, "fastest", AHEAD), rows, found.conditions()) if rows else ""
    said = "".join(f"<p>{escape(text)}</p>" for text in found.sentences())
    return wrong(found.failures) + page + said
