"""A map of who wins: one panel a condition, each cell coloured by the fastest routine, with its lead over the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from breakeven.output import own_settings  # noqa: F401

# isort: split
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from breakeven.output.plots import _PARAMETERS, _caption, save
from breakeven.studies.study import TIE

#: light colours that differ in grey, too; the last is a tie's
_COLOURS = ("#9ecae1", "#f7c98b", "#a8d8a8", "#e6b3cc", "#d9d9d9", "#c2b5e0", "#f2ef9e")
_TIE = "#ffffff"
_LETTERS = "ABCDEFG"


def winners(times: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Per cell the number of the fastest routine (-1: a tie) and how many times faster it is than the next."""
    stack = np.sort(np.stack(list(times.values())), axis=0)
    lead = stack[1] / stack[0]
    best = np.argmin(np.stack(list(times.values())), axis=0)
    return np.where(lead > 1 + TIE, best, -1), lead


def winner_map(
    path: Path,
    panels: Mapping[str, Mapping[str, np.ndarray]],
    *,
    title: str,
    caption: str,
    labels: tuple[str, str] = ("destination offset (bytes)", "source offset (bytes)"),
    ticks: tuple[Sequence[str], Sequence[str]] | None = None,
    columns: int = 2,
) -> Path:
    """One panel per condition: routine -> its times, rows down and columns across. All panels have the same routines,
    at most seven. A cell bears its winner's letter and lead; a lead of 1 % or less is a tie."""
    names = list(next(iter(panels.values())))
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    colours = ListedColormap([_TIE, *_COLOURS[: len(names)]])
    with plt.rc_context({**_PARAMETERS, "axes.grid": False}):
        height = 3.7 * rows + 1.1
        figure, axes = plt.subplots(rows, columns, figsize=(4.1 * columns, height), squeeze=False)
        for panel in axes.ravel()[len(panels) :]:
            panel.axis("off")
        seen: set[int] = set()
        for panel, (name, times) in zip(axes.ravel(), panels.items(), strict=False):
            best, lead = winners(times)
            seen |= set(best.ravel().tolist())
            panel.imshow(best, cmap=colours, vmin=-1.5, vmax=len(names) - 0.5)
            for (i, j), who in np.ndenumerate(best):
                text = "=" if who < 0 else f"{_LETTERS[who]}\n{_times(float(lead[i, j]))}"
                panel.text(j, i, text, ha="center", va="center", fontsize=6.5, linespacing=1.0)
            panel.set_title(name, loc="left", fontsize=9)
            panel.set_xticks(range(best.shape[1]), ticks[0] if ticks else None)
            panel.set_yticks(range(best.shape[0]), ticks[1] if ticks else None)
            panel.set_xlabel(labels[0])
            panel.set_ylabel(labels[1])
        keys = [
            Patch(facecolor=_COLOURS[i], edgecolor="#777777", label=f"{_LETTERS[i]}  {names[i]}")
            for i in range(len(names))
            if i in seen
        ]
        keys += [Patch(facecolor=_TIE, edgecolor="#777777", label="=  a tie (1 %)")] if -1 in seen else []
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
        figure.legend(handles=keys, loc="lower left", bbox_to_anchor=(0.01, 0.32 / height), ncols=4, fontsize=8)
        _caption(figure, caption)
        figure.tight_layout(rect=(0, (0.9 + 0.25 * (len(keys) > 4)) / height, 1, 1 - 0.1 / height))
        return save(figure, path)


def _times(lead: float) -> str:
    return f"{lead:.0f}" if lead >= 10 else f"{lead:.2f}" if lead < 1.1 else f"{lead:.1f}"
