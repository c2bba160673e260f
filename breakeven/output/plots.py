"""Figures: lines with crossings marked, heat maps over offsets. Readable in greyscale, the same bytes every time.

matplotlib takes half a second to import, so this module is imported only where a figure is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from breakeven.output import own_settings  # noqa: F401

# isort: split
import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from breakeven.files.writing import replacing
from breakeven.output.plot_file import check_plot

matplotlib.use("Agg")
# Where a notebook has imported it with settings of its own, they change no figure.
matplotlib.rcdefaults()

# Dark to light with distinct dashes and markers: lines stay apart without colour (Okabe-Ito order by luminance).
_STYLES = (
    {"color": "#000000", "linestyle": "-", "marker": "o"},
    {"color": "#0072b2", "linestyle": "--", "marker": "s"},
    {"color": "#d55e00", "linestyle": "-.", "marker": "^"},
    {"color": "#009e73", "linestyle": ":", "marker": "D"},
    {"color": "#cc79a7", "linestyle": (0, (5, 1, 1, 1)), "marker": "v"},
    {"color": "#56b4e9", "linestyle": (0, (1, 1)), "marker": "x"},
    {"color": "#e69f00", "linestyle": (0, (3, 1)), "marker": "P"},
)
_PARAMETERS: Any = {
    # A file's or a routine's name may hold a `$`, which is no formula.
    "text.parse_math": False,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "figure.dpi": 120,
    "savefig.dpi": 120,
    "svg.hashsalt": "breakeven",
    "svg.fonttype": "path",
}
#: what a format keeps of the day and the program that made it: nothing
_METADATA = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def size_label(value: float, _: object = None) -> str:
    """1024 as 1 Ki."""
    for unit, step in (("Mi", 1 << 20), ("Ki", 1 << 10)):
        if value >= step and value % step == 0:
            return f"{int(value // step)} {unit}"
    return plain_label(value)


def plain_label(value: float, _: object = None) -> str:
    """A number as one writes it: no powers of ten."""
    return f"{value:.0f}" if value == int(value) else f"{value:.4g}"


def style(number: int) -> dict[str, Any]:
    """Line style of the `number`-th curve."""
    return dict(_STYLES[number % len(_STYLES)])


def save(figure: Any, path: Path) -> Path:
    """Writes the figure without dates or versions, so that the same data give the same bytes."""
    check_plot(path)
    try:
        with replacing(path) as beside:
            figure.savefig(beside, metadata=_METADATA[path.suffix])
    finally:
        plt.close(figure)
    return path


def _caption(figure: Any, text: str) -> None:
    figure.text(0.01, 0.01, text, fontsize=7, color="#444444", ha="left", va="bottom", wrap=True)


def _x_axis(axes: Any, log: bool, sizes: bool) -> None:
    base = 2 if sizes else 10
    if log:
        axes.set_xscale("log", base=base)
        axes.xaxis.set_major_locator(LogLocator(base=base, numticks=20))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(FuncFormatter(size_label if sizes else plain_label))


def _log_y(axes: Any) -> None:
    """A logarithmic y axis with plain numbers, also between powers of ten where there are few of those."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    steps = (1.0, 2.0, 5.0) if high / max(low, 1e-9) < 1e3 else (1.0,)
    axes.yaxis.set_major_locator(LogLocator(base=10, subs=steps, numticks=20))
    axes.yaxis.set_major_formatter(FuncFormatter(plain_label))
    axes.yaxis.set_minor_formatter(NullFormatter())


def lines(
    path: Path,
    x: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    *,
    title: str,
    caption: str,
    xlabel: str = "size (bytes)",
    ylabel: str = "cycles per call",
    log_x: bool = False,
    log_y: bool = False,
    legend: str = "best",
    marks: Sequence[tuple[float, str]] = (),
    levels: Sequence[tuple[float, str]] = (),
    probed: Sequence[int] | None = None,
    spans: Sequence[tuple[float, float, str]] = (),
    least: Mapping[str, Sequence[float]] | None = None,
    joined: bool = True,
) -> Path:
    """Curves over `x`. `marks`: vertical lines with a label; `levels`: horizontal ones.

    `spans`: stretches of x with a label; a line where the ends are no more than 1 apart.

    `probed`: the numbers of the points that were measured, which then bear the markers. `least`: of a curve of
    medians, the least that was measured; the stretch between is shaded. `joined` false: points without a line, where
    nothing can lie between two values of x.
    """
    with plt.rc_context(_PARAMETERS):
        figure, axes = plt.subplots(figsize=(7.6, 4.4))
        every = max(1, len(x) // 16)
        for number, (name, curve) in enumerate(curves.items()):
            look = style(number)
            # Staggered, so that markers of curves that coincide do not hide each other.
            start = number * every // max(len(curves), 1)
            where = (start, every) if probed is None else list(probed)
            size, width = (4, 1.3) if probed is None else (2.6, 0.8)
            if not joined:
                look, where, size = {**look, "linestyle": "none"}, (0, 1), 7
            axes.plot(x, curve, label=name, linewidth=width, markersize=size, markevery=where, **look)
            if least and name in least:
                axes.fill_between(x, least[name], curve, color=look["color"], alpha=0.2, linewidth=0)
        if log_y:
            _log_y(axes)
        else:
            axes.set_ylim(bottom=0)
        _x_axis(axes, log_x, sizes=xlabel.startswith("size"))
        for low, high, _ in spans:
            if high - low > 1:
                axes.axvspan(low, high, color="#777777", alpha=0.25, linewidth=0)
        _mark(axes, [*marks, *((high, text) for _, high, text in spans)], levels)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
        axes.legend(fontsize=8, loc=legend)
        _caption(figure, caption)
        figure.tight_layout(rect=(0, 0.06, 1, 1))
        return save(figure, path)


def _mark(axes: Any, marks: Sequence[tuple[float, str]], levels: Sequence[tuple[float, str]]) -> None:
    for number, (where, text) in enumerate(marks):
        axes.axvline(where, color="#777777", linewidth=0.9, linestyle=(0, (2, 2)))
        # A text near the right edge goes to the left of its line.
        at = axes.transAxes.inverted().transform(axes.transData.transform((where, 1)))[0]
        axes.annotate(
            text, (where, 0.02 + 0.06 * (number % 5)), xycoords=("data", "axes fraction"),
            xytext=(3 if at < 0.6 else -3, 0), ha="left" if at < 0.6 else "right",
            textcoords="offset points", fontsize=7.5, color="black",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.9},
        )  # fmt: skip
    for where, text in levels:
        axes.axhline(where, color="#777777", linewidth=0.9, linestyle=(0, (2, 2)))
        axes.annotate(
            text, (0.99, where), xycoords=("axes fraction", "data"), xytext=(0, 2), textcoords="offset points",
            fontsize=7, color="#333333", ha="right",
        )  # fmt: skip


def _cell(value: float, digits: int) -> str:
    """A number that fits a cell of a heat map."""
    return f"{value / 1000:.0f}k" if value >= 100_000 else f"{value:.{digits}f}"


def heat_maps(
    path: Path,
    grids: Mapping[str, np.ndarray],
    *,
    title: str,
    caption: str,
    unit: str = "cycles per call",
    digits: int = 0,
    log: bool = False,
    columns: int = 3,
    ticks: tuple[Sequence[str], Sequence[str]] | None = None,
    labels: tuple[str, str] = ("destination offset (bytes)", "source offset (bytes)"),
    cells: Mapping[str, np.ndarray] | None = None,
    contrast: float = 1.0,
) -> Path:
    """One panel per name: value over source offset (down) and destination offset (across), each cell with its number.

    All panels share one scale; darker is more. `ticks` and `labels` (across, down) are of other axes than offsets; a
    cell without a value bears a cross. `cells`: texts in place of the numbers. `contrast`: the scale ends at no less
    than so many times the least value, so that nearly equal cells look so.
    """
    from matplotlib.colors import LogNorm, Normalize

    values = np.concatenate([grid.ravel() for grid in grids.values()])
    values = values[~np.isnan(values)]
    least, most = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    constant = most <= least
    # A scale needs two ends, also when every cell is the same: then the cells are its light one.
    most = least + 1 if constant else max(most, least * contrast)
    norm = LogNorm(max(least, 1e-9), most) if log else Normalize(least, most)
    columns = min(columns, len(grids))
    rows = -(-len(grids) // columns)
    with plt.rc_context({**_PARAMETERS, "axes.grid": False}):
        height = 3.5 * rows + 0.9
        figure, panels = plt.subplots(rows, columns, figsize=(3.7 * columns + 0.8, height), squeeze=False)
        for axes in panels.ravel()[len(grids) :]:
            axes.axis("off")
        image = None
        for axes, (name, grid) in zip(panels.ravel(), grids.items(), strict=False):
            image = axes.imshow(grid, cmap="Greys", norm=norm)
            for (i, j), value in np.ndenumerate(grid):
                dark = not np.isnan(value) and norm(value) > 0.55
                text = str(cells[name][i, j]) if cells else _cell(value, digits)
                axes.text(
                    j, i, "\u00d7" if np.isnan(value) else text, ha="center", va="center", fontsize=6,
                    color="white" if dark else "black",
                )  # fmt: skip
            axes.set_title(name, loc="left", fontsize=9)
            axes.set_xticks(range(grid.shape[1]), ticks[0] if ticks else None)
            axes.set_yticks(range(grid.shape[0]), ticks[1] if ticks else None)
            axes.set_xlabel(labels[0])
            axes.set_ylabel(labels[1])
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
        _caption(figure, f"{caption} Every cell has the same value." if constant and len(values) > 1 else caption)
        # Title and caption keep their height in inches whatever the number of rows.
        right = 0.93 if ticks is None else 0.89
        figure.tight_layout(rect=(0, 0.3 / height, right, 1 - 0.1 / height))
        if not constant:
            bar = figure.add_axes((right + 0.01, 0.15, 0.012, 0.7))
            figure.colorbar(image, cax=bar, label=unit)
        return save(figure, path)


def surface(
    path: Path,
    parameters: Mapping[str, Sequence[float]],
    sizes: Mapping[str, Sequence[float | None]],
    *,
    title: str,
    caption: str,
    texts: Mapping[str, Sequence[str]] | None = None,
    cells: Mapping[str, Sequence[str]] | None = None,
    never: str = "never stays ahead",
) -> Path:
    """Break-even sizes over one parameter (lines) or two (a heat map of each kind). None: there is none, which `never`
    says.

    `texts`: the parameters' values as they were given, with their units; `cells`: the sizes in words, for a heat map.
    """
    labels = texts or {name: [plain_label(v) for v in values] for name, values in parameters.items()}
    if len(parameters) == 1:
        return _surface_lines(path, parameters, sizes, title, caption, labels, never)
    (across, x), (down, y) = parameters.items()
    grids = {
        name: np.array([np.nan if v is None else v for v in values], float).reshape(len(x), len(y)).T
        for name, values in sizes.items()
    }
    crossed = " A cross: never." if any(np.isnan(grid).any() for grid in grids.values()) else ""
    words = {name: np.array(list(each), object).reshape(len(x), len(y)).T for name, each in (cells or {}).items()}
    return heat_maps(
        path, grids, title=title, caption=f"{caption}{crossed}", unit="size (bytes)", columns=2,
        ticks=(labels[across], labels[down]), labels=(across, down), cells=words or None, contrast=1.25,
    )  # fmt: skip


def _surface_lines(
    path: Path,
    parameters: Mapping[str, Sequence[float]],
    sizes: Mapping[str, Sequence[float | None]],
    title: str,
    caption: str,
    labels: Mapping[str, Sequence[str]],
    never: str,
) -> Path:
    ((name, x),) = parameters.items()
    with plt.rc_context(_PARAMETERS):
        figure, axes = plt.subplots(figsize=(7.6, 4.4))
        for number, (label, values) in enumerate(sizes.items()):
            y = [np.nan if value is None else value for value in values]
            axes.plot(x, y, label=label, linewidth=1.3, markersize=5, **style(number))
        nowhere = [at for at, value in zip(x, next(iter(sizes.values())), strict=True) if value is None]
        if nowhere:
            place = axes.get_xaxis_transform()
            axes.plot(nowhere, [0.03] * len(nowhere), "x", color="black", markersize=6, transform=place, label=never)
        axes.set_ylim(bottom=0)
        if any(text != plain_label(value) for text, value in zip(labels[name], x, strict=True)):
            # Values with units: as they were given, at most a dozen of them.
            every = -(-len(x) // 12)
            axes.set_xticks(x[::every], labels[name][::every])
        axes.set_xlabel(name)
        axes.set_ylabel("break-even size (bytes)")
        axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
        axes.legend(fontsize=8)
        _caption(figure, caption)
        figure.tight_layout(rect=(0, 0.06, 1, 1))
        return save(figure, path)
