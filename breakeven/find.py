"""Where the lead changes between two routines on a machine: a search (`search`) whose points an `Engine` runs.

`find` goes along one axis; `surface` finds the break-even size for every value of one or two machine parameters.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from breakeven import points as pt
from breakeven.crossings import BreakEven, crossings_along
from breakeven.errors import UserError
from breakeven.measurements import Tally
from breakeven.ranges import parse_number
from breakeven.runner import Engine, MachineSpec, Session, check_routines
from breakeven.search import Leads, bisect, budget_of, search
from breakeven.sweep import SweepProgress, SweepSpec, failures, frame
from breakeven.verdict import Confidence, break_even_dict, confidence

if TYPE_CHECKING:
    import pandas as pd

#: axes of the machine's input; every other axis is a machine parameter's dotted path
AXES = {"size": "sizes", "src": "src_offsets", "dst": "dst_offsets"}
#: searches along one or two parameters
MAX_SEARCHES = 10_000


@dataclass(frozen=True)
class Found:
    """Where the lead changes, and the points that say so."""

    spec: SweepSpec
    #: "size", "src", "dst", or the dotted path of a machine parameter
    along: str
    leads: Leads
    #: the probed points, as a sweep's table
    table: pd.DataFrame
    failures: list[str]

    @property
    def confidence(self) -> Confidence | None:
        """How sure the break-even is (along size); of the curves, which are predicted where they were not probed."""
        if self.along != "size":
            return None
        (old, new), leads = self.leads.curves.items(), self.leads
        return confidence([int(v) for v in leads.x], old, new, leads.break_even)

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

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        leads = self.leads
        return {
            "machine": str(self.spec.machines[0]),
            "conditions": self.conditions(),
            "routines": list(leads.curves),
            "along": self.along,
            "grid": {"first": leads.x[0], "last": leads.x[-1], "points": len(leads.x)},
            "probed": [leads.x[i] for i in leads.probed],
            "cycles": {name: [curve[i] for i in leads.probed] for name, curve in leads.curves.items()},
            "repetitions": self.spec.repetitions_of(self.spec.measures[0]),
            "not_converged": self.tally.not_converged,
            "intervals": [{**asdict(item), "kind": item.kind} for item in leads.intervals],
            "break_even": break_even_dict(leads.break_even),
            "confidence": self.confidence and self.confidence.as_dict(),
            "crossings": self.crossings,
            "verified": leads.verified,
            "doubt": round(leads.doubt, 3),
            "certain": leads.certain,
            "ok": not self.failures,
            "first_failure": self.failures[0] if self.failures else None,
        }

    def plot(self, path: str | Path) -> Path:
        """Draws it as the command's ``--plot`` does: .png, .svg or .pdf."""
        from breakeven.find_cli import plot_find

        plot_find(self, Path(path))
        return Path(path)

    def __repr__(self) -> str:
        names = ", ".join(self.leads.curves)
        return f"Found({names}; {self.conditions()}; {len(self.leads.probed)} of {len(self.leads.x)} points probed)"

    def _repr_html_(self) -> str:
        from breakeven.html import found_page

        return found_page(self)


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
            times = self._run(self._session, replace(self.spec, **{AXES[self.along]: list(values)}), {})
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
        results = np.frombuffer(session.run(records.tobytes(), self.threads), pt.result_dtype())
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
) -> Found:
    """Searches along the axis of `spec` that has several values; `budget`: points to probe (of each routine)."""
    _checked(spec)
    along = axis_of(spec)
    single = {path: values[0] for path, values in spec.parameters.items() if path != along}
    machine = spec.machines[0].with_settings(*(f"{path}={value}" for path, value in single.items()))
    grid, values = _grid(spec, along)
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
    return Found(spec, along, leads, table, failures(table))


def _grid(spec: SweepSpec, along: str) -> tuple[list[Any], list[Any]]:
    """The axis as ascending numbers, and the values as the engine takes them."""
    if along in AXES:
        grid = sorted(set(getattr(spec, AXES[along])))
        return grid, grid
    pairs = sorted({_number(value, along): value for value in spec.parameters[along]}.items())
    return [number for number, _ in pairs], [text for _, text in pairs]


def _number(text: str, along: str) -> float:
    """A parameter's value as a number: ``2.5``, ``32KiB``."""
    try:
        value = float(text)
        return int(value) if value.is_integer() else value
    except ValueError:
        pass
    try:
        return parse_number(text, along)
    except UserError:
        raise UserError(f"a search needs numbers along {along}, not {text!r}: give LOW:HIGH:STEP") from None


@dataclass(frozen=True)
class Surface:
    """The break-even size over one or two machine parameters."""

    spec: SweepSpec
    #: dotted path -> values (numbers), first across, second down
    parameters: dict[str, list[float]]
    #: one search for each combination, in the order of `itertools.product(*parameters.values())`
    found: list[Found] = field(repr=False)

    @property
    def texts(self) -> dict[str, list[str]]:
        """`parameters` as they were given, with their units."""
        return {path: _grid(self.spec, path)[1] for path in self.parameters}

    def texts_of_all(self) -> list[tuple[str, ...]]:
        """The parameters' texts of each of `found`."""
        return list(itertools.product(*self.texts.values()))

    @property
    def break_evens(self) -> list[BreakEven]:
        return [item.leads.break_even for item in self.found]

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
        """One row for each combination of the parameters. Sizes are empty where the challenger is never ahead; the
        measured size before each is its ``..._lower``."""
        import pandas as pd

        rows = []
        for values, item in zip(itertools.product(*self.parameters.values()), self.found, strict=True):
            even = item.leads.break_even
            rows.append({
                **dict(zip(self.parameters, values, strict=True)), "first": even.first, "stays": even.stays,
                "threshold": even.threshold, "loss": even.loss, "probed": len(item.leads.probed),
                "grid": len(item.leads.x), "certain": item.leads.certain, "first_lower": even.first_lower,
                "stays_lower": even.stays_lower, "threshold_lower": even.threshold_lower,
            })  # fmt: skip
        sizes = [name + end for name in ("first", "stays", "threshold") for end in ("", "_lower")]
        return pd.DataFrame(rows).astype(dict.fromkeys(sizes, "Int64"))

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
            "not_converged": self.tally.not_converged,
            "ok": not self.failures,
            "first_failure": self.failures[0] if self.failures else None,
        }

    def plot(self, path: str | Path) -> Path:
        """Draws it as the command's ``--plot`` does: .png, .svg or .pdf."""
        from breakeven.find_cli import plot_surface

        plot_surface(self, Path(path))
        return Path(path)

    def _repr_html_(self) -> str:
        from breakeven.html import surface_page

        return surface_page(self)


def surface(spec: SweepSpec, engine: Engine, threads: int = 0, progress: SweepProgress | None = None) -> Surface:
    """The break-even size of the two routines of `spec` for every combination of its parameters' values."""
    _checked(spec)
    if not 1 <= len(spec.parameters) <= 2:
        raise UserError("a surface is over one or two machine parameters: give --sweep once or twice")
    if len(spec.sizes) < 2:
        raise UserError("a surface shows the break-even size: give a range of sizes, like 1..2048")
    grids = [_grid(spec, path) for path in spec.parameters]
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
    done: dict[tuple[int, ...], Found] = {}
    for at, machine in variants.items():
        before = [tuple(i - (k == axis) for k, i in enumerate(at)) for axis in range(len(at))]
        hints = sorted({hint for where in before if where in done for hint in lead_edges(done[where].leads)})
        done[at] = find(replace(spec, machines=[machine], parameters={}), engine, threads, None, hints=hints)
        if progress is not None:
            progress(len(done), searches, str(machine))
    parameters = {path: numbers for path, (numbers, _) in zip(spec.parameters, grids, strict=True)}
    return Surface(spec, parameters, [done[at] for at in variants])


def lead_edges(leads: Leads) -> list[float]:
    """Both sides of the changes that a neighbour may share; of many the outermost."""
    changes = list(zip(leads.intervals, leads.intervals[1:], strict=False))
    return [edge for before, after in [*changes[:2], *changes[-2:]] for edge in (before.last, after.first)]
