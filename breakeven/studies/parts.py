"""What studies have in common: ratios of two routines, the turning value of a parameter, curves of a search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from breakeven.analysis.crossings import BreakEven, break_even
from breakeven.analysis.search_result import SearchResult, Surface
from breakeven.config.overrides import get_parameter
from breakeven.machine.presets import load_machine
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.study import Data, TableItem, Turn


def machine_value(machine: MachineSpec, path: str) -> str:
    """The value that `machine` has at a parameter's dotted path."""
    return f"{get_parameter(load_machine(machine.name, machine.settings), path)}"


def ratio(data: Data, grid: str, routine: str, baseline: str, **where: Any) -> float:
    """Time of `routine` over that of `baseline` at one point of a grid."""
    return data.cycles(grid, routine=routine, **where) / data.cycles(grid, routine=baseline, **where)


def curves(data: Data, grid: str, routines: Sequence[str], **where: Any) -> tuple[list[int], dict[str, list[float]]]:
    """The sizes of a grid and each routine's cycles a call at them."""
    each = {name: data.curve(grid, routine=name, **where) for name in routines}
    sizes = next(iter(each.values()))[0]
    return sizes, {name: cycles for name, (_, cycles) in each.items()}


def overtaking(data: Data, grid: str, incumbent: str, challenger: str, **where: Any) -> BreakEven:
    """From which size on `challenger` is ahead of `incumbent`."""
    sizes, times = curves(data, grid, (incumbent, challenger), **where)
    return break_even(sizes, (incumbent, times[incumbent]), (challenger, times[challenger]))


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
    """Draws cycles over size, up to `last` (0: all)."""

    def draw(path: Path) -> None:
        from breakeven.output import plots

        sizes, times = curves(data, grid, routines, **where)
        count = sum(size <= (last or sizes[-1]) for size in sizes)
        wide = not last and sizes[-1] / max(sizes[0], 1) >= 256
        shown = {name: cycles[:count] for name, cycles in times.items()}
        plots.lines(path, sizes[:count], shown, title=title, caption=caption, log_x=wide, log_y=wide)

    return draw


def found_turn(found: SearchResult, conclusion: str, figure: str) -> Turn:
    """What a search along a parameter says about a conclusion: where the two routines are equal."""
    low, high = found.leads.x[0], found.leads.x[-1]
    at = ", ".join(f"{value:.3g}" for value in found.crossings) or f"nowhere in {low:g}..{high:g}"
    return Turn(conclusion, found.along, machine_value(found.spec.machines[0], found.along), at, figure)


def found_figure(found: SearchResult, title: str, log: bool = False) -> Callable[[Path], object]:
    """Draws both routines' cycles over the searched parameter, the crossings marked.

    `log`: both axes logarithmic; a first value of 0 is then left out.
    """

    def draw(path: Path) -> None:
        from breakeven.output import plots

        leads = found.leads
        at = [i for i in leads.probed if not log or leads.x[i] > 0]
        plots.lines(
            path, [leads.x[i] for i in at], {name: [curve[i] for i in at] for name, curve in leads.curves.items()},
            title=title, caption=f"{found.conditions()}.", xlabel=found.along, log_x=log, log_y=log,
            marks=[(value, f"{value:.3g}") for value in found.crossings if value > 0 or not log],
        )  # fmt: skip

    return draw


def surface_figure(found: Surface, title: str, caption: str = "") -> Callable[[Path], object]:
    """Draws the break-even size over one or two parameters."""

    def draw(path: Path) -> None:
        from breakeven.output import plots

        sizes: Mapping[str, list[float | None]] = {"best dispatch size": [even.threshold for even in found.break_evens]}
        plots.surface(
            path, found.parameters, sizes, title=title, caption=f"{found.conditions()}. {caption}".strip()
        )  # fmt: skip

    return draw


def largest_at_most(found: Surface, size: int) -> float | None:
    """The largest value of a surface's one parameter at which the best dispatch size is at most `size`."""
    ((_, values),) = found.parameters.items()
    below = [
        value
        for value, even in zip(values, found.break_evens, strict=True)
        if even.threshold is not None and even.threshold <= size
    ]
    return max(below, default=None)
