"""What commands print: tables at 100 columns, a progress bar on stderr, JSON as one object on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from breakeven.sweep import SweepProgress

WIDTH = 100


def print_json(value: dict[str, Any]) -> None:
    """One JSON object and nothing else."""
    print(json.dumps(value, allow_nan=False))


def print_pairs(rows: Sequence[tuple[str, str]], indent: int = 2) -> None:
    """Names and values in two columns."""
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        print(f"{' ' * indent}{name:<{width}}  {value}".rstrip())


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "", right: Sequence[int] = ()
) -> None:
    """A table; the columns numbered in `right` are numbers. Rich is imported only here: a single run needs none."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # A pipe has no width of its own; a terminal may be narrower or wider than what reads well.
    console = Console(width=min(WIDTH, Console().width) if sys.stdout.isatty() else WIDTH, highlight=False)
    table = Table(box=SIMPLE_HEAD, title=title or None, title_justify="left", title_style="bold", pad_edge=False)
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console.print(table)


@contextmanager
def progress_bar(enabled: bool, what: str) -> Iterator[SweepProgress | None]:
    """A bar with rate and time left on stderr, when that is a terminal; yields a sweep's progress callback."""
    if not enabled or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(f"{task.speed:.0f}/s" if task.speed else "-/s")

    columns = (
        TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), Rate(), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def update(done: int, total: int, label: str) -> None:
            short = label if len(label) <= 40 else f"{label[:37]}..."
            bar.update(task, completed=done, total=total, description=short)

        yield update
