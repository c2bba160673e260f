"""What a search has found: the leads along an axis, or a surface of break-evens; as JSON, in a notebook, as a plot."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.analysis.crossings import Choice, crossings_along
from breakeven.analysis.search import Lead
from breakeven.analysis.trust import trust_line
from breakeven.analysis.verdict import (
    AHEAD,
    Confidence,
    chosen,
    confidence,
    cost,
    describe_crossings,
    describe_interval,
    leads_dict,
    marks_of,
    sentences,
)
from breakeven.output.html import escape, table, wrong
from breakeven.points.measurements import Tally, again_words, measured_again
from breakeven.sweeps.spec import SweepSpec, axis_label, axis_of

if TYPE_CHECKING:
    import pandas as pd


#: axes of the machine's input; every other axis is a machine parameter's dotted path
AXES = {"size": "sizes", "src": "src_offsets", "dst": "dst_offsets"}
#: what narrows a threshold that a search has between two sizes of its grid
NARROWER = "a smaller step of --sizes narrows it"
#: heads of a surface's table, behind its parameters
HEADS = ("ship", "below it", "from it on", "costs", "measured", "certain")


@dataclass(frozen=True)
class SearchResult:
    """Where the lead changes, and the points that say so."""

    spec: SweepSpec
    #: "size", "src", "dst", or the dotted path of a machine parameter
    along: str
    leads: Lead
    #: the probed points, as a sweep's table
    table: pd.DataFrame
    failures: list[str]
    #: points that were not taken from a store; None: not counted
    simulated: int | None = None

    @property
    def confidence(self) -> Confidence | None:
        """What the choice would be if the times were off (along size); of curves that are predicted between the points
        that were measured."""
        leads = self.leads
        return confidence([int(v) for v in leads.x], leads.curves, leads.answer) if self.along == "size" else None

    def sentences(self) -> list[str]:
        """All that is said below the table."""
        leads = self.leads
        if self.along == "size":
            return sentences([int(v) for v in leads.x], leads.curves, leads.answer, NARROWER)
        first, second = leads.curves
        if self.along in AXES:
            return []
        axis = axis_label(self.spec, self.along)
        return [describe_crossings(first, second, axis, self.crossings, self.leads.curves)]

    @property
    def tally(self) -> Tally:
        """Of the probed points."""
        return Tally().add(self.table)

    @property
    def crossings(self) -> list[float]:
        """Along a parameter: its values at which the two are equal, interpolated."""
        return [] if self.along in AXES else crossings_along(self.leads.x, *self.leads.curves.values())

    def conditions(self) -> str:
        """Machine, offsets, cache state and measure in a line."""
        src, dst = self.spec.pairs()[0]
        parts = [str(self.spec.machines[0])]
        parts += [] if self.along == "size" else [f"{self.spec.sizes[0]} B"]
        parts += [] if self.along == "src" else [f"src+{src}"]
        parts += [] if self.along == "dst" else [f"dst+{dst}"]
        return ", ".join([*parts, self.spec.cache_states[0], self.spec.measures[0]])

    def trust(self) -> str:
        """How near the machine is to silicon, in a line."""
        return trust_line(self.spec.machines[0], self.spec.routines)

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        leads = self.leads
        return {
            "machine": str(self.spec.machines[0]),
            "trust": self.trust() or None,
            "conditions": self.conditions(),
            "routines": list(leads.curves),
            "along": self.along,
            "grid": {"first": leads.x[0], "last": leads.x[-1], "points": len(leads.x)},
            "probed": [leads.x[i] for i in leads.probed],
            "cycles": {name: [curve[i] for i in leads.probed] for name, curve in leads.curves.items()},
            "repetitions": self.spec.repetitions_of(self.spec.measures[0]),
            "measured_again": measured_again(self.table),
            "not_converged": self.tally.not_converged,
            **leads_dict(leads.answer, self.confidence, NARROWER),
            "crossings": self.crossings,
            "verified": leads.verified,
            "expected_errors": round(leads.expected_errors, 3),
            "certain": leads.certain,
            "ok": not self.failures,
            "first_failure": self.failures[0] if self.failures else None,
        }

    def plot(self, path: str | Path) -> Path:
        """Draws it as the command's ``--plot`` does: .png, .svg or .pdf."""

        plot_find(self, Path(path))
        return Path(path)

    def __repr__(self) -> str:
        names = ", ".join(self.leads.curves)
        probed = f"{len(self.leads.probed)} of {len(self.leads.x)} points measured"
        return f"SearchResult({names}; {self.conditions()}; {probed})"

    def _repr_html_(self) -> str:

        return found_page(self)


def grid_of(spec: SweepSpec, along: str) -> tuple[list[Any], list[Any]]:
    """The axis as ascending numbers, and the values as the engine takes them."""
    if along in AXES:
        grid = sorted(set(getattr(spec, AXES[along])))
        return grid, grid
    numbers, _ = axis_of(spec, along)
    pairs = sorted(dict(zip(numbers, spec.parameters[along], strict=True)).items())
    return [int(number) if number.is_integer() else number for number, _ in pairs], [text for _, text in pairs]


@dataclass(frozen=True)
class Surface:
    """The break-even size over one or two machine parameters."""

    spec: SweepSpec
    #: dotted path -> values (numbers), first across, second down
    parameters: dict[str, list[float]]
    #: one search for each combination, in the order of `itertools.product(*parameters.values())`
    found: list[SearchResult] = field(repr=False)

    @property
    def texts(self) -> dict[str, list[str]]:
        """`parameters` as they were given, with their units."""
        return {path: grid_of(self.spec, path)[1] for path in self.parameters}

    def texts_of_all(self) -> list[tuple[str, ...]]:
        """The parameters' texts of each of `found`."""
        return list(itertools.product(*self.texts.values()))

    @property
    def choices(self) -> list[Choice | None]:
        """What to ship at each combination of the parameters."""
        return [item.leads.answer.choice for item in self.found]

    @property
    def failures(self) -> list[str]:
        return [text for item in self.found for text in item.failures]

    @property
    def tally(self) -> Tally:
        """Of all probed points."""
        tally = Tally()
        for item in self.found:
            tally.add(item.table)
        return tally

    def table(self) -> pd.DataFrame:
        """One row for each combination of the parameters: `below` is faster under `threshold`, `above` from it on. No
        threshold: `above` for all sizes; neither: they tie everywhere."""
        import pandas as pd

        rows = []
        for values, item in zip(itertools.product(*self.parameters.values()), self.found, strict=True):
            answer = item.leads.answer
            choice = answer.choice or Choice("", "", None, None, 0.0)
            rows.append({
                **dict(zip(self.parameters, values, strict=True)), "threshold": choice.threshold, "below": choice.below,
                "above": choice.above, "loss": choice.loss, "changes": answer.changes, "probed": len(item.leads.probed),
                "grid": len(item.leads.x), "certain": item.leads.certain, "threshold_lower": choice.threshold_lower,
            })  # fmt: skip
        return pd.DataFrame(rows).astype(dict.fromkeys(("threshold", "threshold_lower"), "Int64"))

    def rows(self) -> list[tuple[str, ...]]:
        """For a table, under `HEADS` behind the parameters."""
        rows = []
        for at, item in zip(self.texts_of_all(), self.found, strict=True):
            choice, leads = item.leads.answer.choice, item.leads
            told = (
                (chosen(choice), choice.below, choice.above, cost(choice.loss)) if choice else ("-", "tie", "tie", "-")
            )
            rows.append((*at, *told, f"{len(leads.probed)}", "yes" if leads.certain else "no"))
        return rows

    def title(self) -> str:
        """What is shown over the parameters."""
        return f"the threshold between {' and '.join(self.spec.routines)} (bytes)"

    def conditions(self) -> str:
        src, dst = self.spec.pairs()[0]
        return (
            f"{self.spec.machines[0]}, sizes {min(self.spec.sizes)} to {max(self.spec.sizes)} B, src+{src}, dst+{dst}, "
            f"{self.spec.cache_states[0]}, {self.spec.measures[0]}"
        )

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        rows = self.table().astype(object).where(lambda t: t.notna(), None).to_dict(orient="records")
        return {
            "machine": str(self.spec.machines[0]),
            "conditions": self.conditions(),
            "routines": list(self.spec.routines),
            "parameters": self.parameters,
            "texts": self.texts,
            "surface": rows,
            "repetitions": self.spec.repetitions_of(self.spec.measures[0]),
            "measured_again": measured_again(*(item.table for item in self.found)),
            "not_converged": self.tally.not_converged,
            "ok": not self.failures,
            "first_failure": self.failures[0] if self.failures else None,
        }

    def plot(self, path: str | Path) -> Path:
        """Draws it as the command's ``--plot`` does: .png, .svg or .pdf."""

        plot_surface(self, Path(path))
        return Path(path)

    def __repr__(self) -> str:
        found = f"{len(self.found)} searches over {' and '.join(self.parameters)}"
        return f"Surface({', '.join(self.spec.routines)}; {self.conditions()}; {found})"

    def _repr_html_(self) -> str:

        return surface_page(self)


def _again(*found: SearchResult) -> str:
    said = again_words(*(item.table for item in found))
    return said and f" {said}."


def plot_find(found: SearchResult, path: Path) -> None:
    """The two curves, the changes of the lead, and the probed points."""
    from breakeven.output import plots

    leads = found.leads
    wide = found.along == "size" and max(leads.x) / max(min(leads.x), 1) >= 256
    if found.along in AXES:
        marks: list[tuple[float, float, str]] = [(mark.lower, mark.size, mark.text) for mark in marks_of(leads.answer)]
    else:
        marks = [(at, at, f"{at:.3g}") for at in found.crossings]
    names = list(leads.curves)
    labels = {"size": "size (bytes)", "src": "source offset (bytes)", "dst": "destination offset (bytes)"}
    plots.lines(
        path, leads.x, leads.curves, title=f"{names[0]} / {names[1]}",
        caption=f"{found.conditions()}. Markers: the {len(leads.probed)} measured of {len(leads.x)} points; "
        f"lines between them are predicted. Marked: the threshold.{_again(found)}",
        xlabel=labels.get(found.along, found.along), log_x=wide, log_y=wide, spans=marks, probed=leads.probed,
    )  # fmt: skip


def plot_surface(found: Surface, path: Path) -> None:
    """Over one parameter a line, over two a heat map."""
    from breakeven.output import plots

    thresholds = [choice.threshold if choice else None for choice in found.choices]
    plots.surface(
        path, found.parameters, {"threshold": thresholds},
        cells={"threshold": [chosen(choice) for choice in found.choices]}, title=found.title(),
        caption=f"{found.conditions()}.{_again(*found.found)}", texts=found.texts,
        never="one routine for all sizes",
    )  # fmt: skip


def found_page(found: SearchResult) -> str:
    """A search's leads and its sentence."""

    leads = found.leads
    rows = [describe_interval(item) for item in leads.answer.ranges]
    page = table((found.along, "fastest", AHEAD), rows, found.conditions())
    said = "".join(f"<p>{escape(text)}</p>" for text in found.sentences())
    share = f"{len(leads.probed)} of {len(leads.x)} points measured"
    doubt = "" if leads.certain else f"; about {max(leads.expected_errors, 1):.0f} points in doubt"
    return f"{wrong(found.failures)}{page}{said}<p>{share}{doubt}</p>"


def surface_page(found: Surface) -> str:
    """A surface's table."""
    heads = (*found.parameters, *HEADS)
    return wrong(found.failures) + table(heads, found.rows(), f"{found.title()}: {found.conditions()}")
