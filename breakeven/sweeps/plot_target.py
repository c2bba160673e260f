"""Where a plot goes. Loads no matplotlib: the name is checked before anything runs."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from breakeven.files.writing import default_place
from breakeven.output.plot_file import FORMATS, check_plot

if TYPE_CHECKING:
    from breakeven.sweeps.spec import SweepSpec


def check_plot_asked(asked: Path | None) -> None:
    """Raises `UserError`, before anything runs, for what ``--plot`` cannot mean."""
    if asked is not None:
        check_plot(Path(f"plot.{asked}") if f".{asked}" in FORMATS else asked)


def plot_target(asked: Path | None, verb: str, spec: SweepSpec) -> Path | None:
    """The file that ``--plot`` means: the one named, or for a bare format (``png``) one named after the question.

    The name of another question is another one, so that its plot stays.
    """
    if asked is None:
        return None
    named = f".{asked}" not in FORMATS
    path = asked if named else default_place(f"{plot_name(verb, spec)}.{asked}", "--plot FILE")
    check_plot(path)
    return path


def plot_name(verb: str, spec: SweepSpec) -> str:
    """Verb, machine, routines and offsets, and a few letters that stand for everything else that was asked."""
    machine = spec.machines[0].name.rsplit("/")[-1].removesuffix(".py")
    # Sequences are longer than any file's name should be.
    routines = [name.replace(":", "-")[:60] for name in spec.routines[:2]]
    routines += [f"{len(spec.routines) - 2}more"] if len(spec.routines) > 2 else []
    (src, dst), *_ = spec.pairs()
    asked = repr([(name, str(value)) for name, value in sorted(vars(spec).items())])
    offsets = [f"src{src}"] * bool(src) + [f"dst{dst}"] * bool(dst)
    return "-".join([verb, machine, *routines, *offsets, hashlib.sha256(asked.encode()).hexdigest()[:6]])
