"""What studies have in common: ratios of two routines, where a parameter flips a conclusion, curves of a search."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from breakeven.analysis.search_result import SearchResult, Surface
from breakeven.config.overrides import get_parameter
from breakeven.machine.presets import load_machine
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.overtaking import BreakEven, break_even
from breakeven.studies.study import TIE, Data, Flip, TableItem


def machine_value(machine: MachineSpec, path: str) -> str:
    """The value that `machine` has at a parameter's dotted path."""
    return f"{get_parameter(load_machine(machine.name, machine.settings), path)}"


def ratio(data: Data, grid: str, routine: str, baseline: str, **where: Any) -> float:
    """Time of `routine` over that of `baseline` at one point of a grid."""
    return data.cycles(grid, routine=routine, **where) / data.cycles(grid, routine=baseline, **where)


def curves(data: Data, grid: str, routines: Sequence[str], **where: Any) -> tuple[list[int], dict[str, list[float]]]:
    """The sizes of a grid and each routine's cycles/call at them."""
    each = {name: data.curve(grid, routine=name, **where) for name in routines}
    sizes = next(iter(each.values()))[0]
    return sizes, {name: cycles for name, (_, cycles) in each.items()}


def overtaking(data: Data, grid: str, incumbent: str, challenger: str, **where: Any) -> BreakEven:
    """From which size on `challenger` is ahead of `incumbent`."""
    sizes, times = curves(data, grid, (incumbent, challenger), **where)
    return break_even(sizes, (incumbent, times[incumbent]), (challenger, times[challenger]))


def thresholds_of(found: Surface) -> list[float | None]:
    """The best size from which to use the second routine, at each combination of a surface's parameters."""
    answers: list[float | None] = []
    for item in found.found:
        (old, a), (new, b) = item.leads.curves.items()
        answers.append(break_even([int(size) for size in item.leads.x], (old, a), (new, b)).threshold)
    return answers


def cycles_table(
    data: Data, name: str, caption: str, grid: str, routines: Sequence[str], sizes: Sequence[int], **where: Any
) -> TableItem:
    """Cycles of several routines by size."""
    rows = [
        [size, *(round(data.cycles(grid, routine=routine, size=size, **where)) for routine in routines)]
        for size in sizes
    ]
    return TableItem(name, caption, ("bytes", *routines), rows)


def sizes_figure(
    data: Data, grid: str, routines: Sequence[str], title: str, caption: str, last: int = 0, **where: Any
) -> Callable[[Path], object]:
    """Draws cycles over size, up to `last` (0: all); where each routine overtakes the first, and by how much the least
    measurement is below the median."""

    def draw(path: Path) -> None:
        from breakeven.output import plots

        sizes, times = curves(data, grid, routines, **where)
        count = sum(size <= (last or sizes[-1]) for size in sizes)
        wide = not last and sizes[-1] / max(sizes[0], 1) >= 256
        shown = {name: cycles[:count] for name, cycles in times.items()}
        least = {name: data.curve(grid, column="least", routine=name, **where)[1][:count] for name in routines}
        marks = [
            mark
            for routine in routines[1:]
            if (mark := threshold_mark(data, grid, routines[0], routine, **where)) and mark[0] <= sizes[count - 1]
        ]
        shaded = " Shaded: down to the least of the measurements." if _differ(shown, least) else ""
        plots.lines(
            path, sizes[:count], shown, title=title, caption=caption + shaded, log_x=wide, log_y=wide, least=least,
            marks=marks,
        )  # fmt: skip

    return draw


def _differ(curves: Mapping[str, Sequence[float]], others: Mapping[str, Sequence[float]]) -> bool:
    """Whether a curve is anywhere off another by more than a tie."""
    pairs = ((a, b) for name, curve in curves.items() for a, b in zip(curve, others[name], strict=True))
    return any(a > b * (1 + TIE) for a, b in pairs)


def threshold_mark(data: Data, grid: str, incumbent: str, challenger: str, **where: Any) -> tuple[int, str] | None:
    """The break-even that texts, tables and figures of a report name: the best threshold, in bytes; None: never, or
    the smallest size already."""
    found = overtaking(data, grid, incumbent, challenger, **where)
    if found.threshold is None or found.threshold == found.smallest:
        return None
    return found.threshold, f"{challenger} from {found.threshold} B"


def changes(x: Sequence[float], first: Sequence[float], second: Sequence[float]) -> list[tuple[float, float]]:
    """Neighbouring values of x between which two curves change places."""
    ahead = [(at, a - b) for at, a, b in zip(x, first, second, strict=True) if a != b]
    return [(low, high) for (low, a), (high, b) in itertools.pairwise(ahead) if (a > 0) != (b > 0)]


def change_text(change: tuple[float, float]) -> str:
    """``40 to 45``: between these; ``4`` where nothing lies between 3 and 4."""
    low, high = change
    return f"{high:g}" if high - low == 1 else f"{low:g} to {high:g}"


def flips_of(found: SearchResult) -> list[tuple[float, float]]:
    """Neighbouring values of the searched parameter that were simulated, between which the lead changes."""
    probed = found.leads.probed
    return changes([found.leads.x[i] for i in probed], *([c[i] for i in probed] for c in found.leads.curves.values()))


def found_flip(found: SearchResult, conclusion: str, figure: str) -> Flip:
    """What a search along a parameter says about a conclusion: the value nearest the machine's at which the lead has
    changed, as far as it was simulated."""
    low, high = found.leads.x[0], found.leads.x[-1]
    has = machine_value(found.spec.machines[0], found.along)
    at = ", ".join(_flipped(below, above, float(has)) for below, above in flips_of(found))
    return Flip(conclusion, found.along, has, at or f"nowhere in {low:g}..{high:g}", figure)


def _flipped(below: float, above: float, has: float) -> str:
    return f"{below:g} or less" if has >= above else f"{above:g} or more"


def found_figure(found: SearchResult, title: str, log: bool = False) -> Callable[[Path], object]:
    """Draws both routines' cycles over the searched parameter, the stretches in which the lead changes marked.

    `log`: both axes logarithmic; a first value of 0 is then left out.
    """

    def draw(path: Path) -> None:
        from breakeven.machine.words import axis_words, has_gaps
        from breakeven.output import plots

        leads, machine = found.leads, found.spec.machines[0]
        at = [i for i in leads.probed if not log or leads.x[i] > 0]
        has = float(machine_value(machine, found.along))
        gaps = has_gaps(found.along)  # of powers of two a grey stretch would show what cannot be
        where = [f"between {low:g} and {high:g}" for low, high in flips_of(found)]
        spans = [] if gaps else [(*flip, f"flips {at}") for flip, at in zip(flips_of(found), where, strict=True)]
        changes = f" The lead changes {', '.join(where)}." if gaps and where else ""
        plots.lines(
            path, [leads.x[i] for i in at], {name: [curve[i] for i in at] for name, curve in leads.curves.items()},
            title=title, caption=f"{found.conditions()}.{changes}", xlabel=axis_words(machine, found.along), log_x=log,
            log_y=log, spans=[span for span in spans if span[0] > 0 or not log], joined=not gaps,
            marks=[(has, f"the machine has {has:g}")] if leads.x[at[0]] <= has <= leads.x[at[-1]] else [],
        )  # fmt: skip

    return draw


def surface_figure(found: Surface, title: str, caption: str = "") -> Callable[[Path], object]:
    """Draws the break-even size over one or two parameters."""

    def draw(path: Path) -> None:
        from breakeven.machine.words import axis_words
        from breakeven.output import plots

        words = {axis_words(found.spec.machines[0], name): values for name, values in found.parameters.items()}
        sizes: Mapping[str, list[float | None]] = {"break-even": thresholds_of(found)}
        plots.surface(path, words, sizes, title=title, caption=f"{found.conditions()}. {caption}".strip())

    return draw


def largest_at_most(found: Surface, size: int) -> float | None:
    """The largest value of a surface's one parameter at which the best threshold is at most `size`."""
    ((_, values),) = found.parameters.items()
    below = [
        value
        for value, threshold in zip(values, thresholds_of(found), strict=True)
        if threshold is not None and threshold <= size
    ]
    return max(below, default=None)
