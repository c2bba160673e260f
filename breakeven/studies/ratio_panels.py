"""Two routines on several machines: a panel each with the ratio of their times, coloured by who is faster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from breakeven.output import own_settings  # noqa: F401

# isort: split
import matplotlib.pyplot as plt
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

from breakeven.output.plots import _PARAMETERS, _caption, _x_axis, save

#: light colours that differ in grey, too: of the routine above the line, of the one below
_ABOVE, _BELOW = "#6baed6", "#f7c98b"


def ratio_panels(
    path: Path,
    sizes: Sequence[int],
    ratios: Mapping[str, Sequence[float]],
    routines: tuple[str, str],
    breaks: Mapping[str, tuple[int, str]],
    *,
    title: str,
    caption: str,
) -> Path:
    """Per machine (a panel, with a size to mark in `breaks`) the time of `routines`' first over that of the second."""
    with plt.rc_context(_PARAMETERS):
        height = 1.05 * len(ratios) + 1.5
        figure, panels = plt.subplots(len(ratios), 1, figsize=(7.6, height), sharex=True, squeeze=False)
        values = [value for curve in ratios.values() for value in curve]
        for panel, (name, curve) in zip(panels[:, 0], ratios.items(), strict=True):
            _panel(panel, sizes, curve, name)
            panel.set_ylim(min(values) / 1.1, max(values) * 1.1)
            if name in breaks:
                _mark(panel, *breaks[name])
        last = panels[-1, 0]
        _x_axis(last, True, sizes=True)
        last.set_xlabel("size (bytes)")
        keys = [Patch(facecolor=_ABOVE, label=f"{routines[1]} is faster"),
                Patch(facecolor=_BELOW, label=f"{routines[0]} is faster")]  # fmt: skip
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
        figure.legend(handles=keys, loc="lower left", bbox_to_anchor=(0.01, 0.28 / height), ncols=2, fontsize=8)
        _caption(figure, caption)
        figure.tight_layout(rect=(0, 0.6 / height, 1, 1 - 0.05 / height))
        return save(figure, path)


def _panel(panel: Any, sizes: Sequence[int], curve: Sequence[float], name: str) -> None:
    level = [1.0] * len(curve)
    for colour, above in ((_ABOVE, True), (_BELOW, False)):
        where = [(value > 1) == above for value in curve]
        panel.fill_between(sizes, curve, level, where=where, color=colour, interpolate=True, linewidth=0)
    panel.plot(sizes, curve, color="black", linewidth=0.8)
    panel.axhline(1.0, color="#333333", linewidth=0.8)
    panel.set_yscale("log")
    panel.yaxis.set_major_locator(FixedLocator([0.25, 0.5, 1, 2]))
    panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    panel.yaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_minor_formatter(NullFormatter())
    panel.set_title(name, loc="left", fontsize=9, pad=3)


def _mark(panel: Any, at: int, text: str) -> None:
    panel.axvline(at, color="#333333", linewidth=1.0, linestyle=(0, (2, 2)))
    panel.annotate(
        text, (at, 0.1), xycoords=("data", "axes fraction"), xytext=(3, 0), textcoords="offset points", fontsize=8,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.9},
    )  # fmt: skip
