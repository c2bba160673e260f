"""The file of a plot. Loads no matplotlib: the name is checked before anything runs."""

from __future__ import annotations

from pathlib import Path

from breakeven.errors import UserError
from breakeven.files.writing import check_target

FORMATS = (".png", ".svg", ".pdf")


def check_plot(path: Path) -> None:
    """Raises `UserError` before anything runs when the plot could not be written."""
    if path.suffix not in FORMATS:
        raise UserError(f"cannot draw {str(path)!r}: the name must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    check_target(path)
