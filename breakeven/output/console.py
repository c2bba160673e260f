"""What commands print: tables as text or markdown, a progress bar on stderr, JSON as one object on stdout."""

from __future__ import annotations

import itertools
import json
import math
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from breakeven.errors import printable

if TYPE_CHECKING:
    from breakeven.points.engine import SweepProgress


#: columns of a page that does not depend on the terminal
WIDTH = 100


def print_json(value: dict[str, Any]) -> None:
    """One JSON object and nothing else; a number that there is not (of a point that did not finish) is null."""
    print(json.dumps(_finite(value), allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_pairs(rows: Sequence[tuple[str, str]], indent: int = 2) -> None:
    """Names and values in two columns."""
    width = max((len(name) for name, _ in rows), default=0)
    for name, value in rows:
        print(printable(f"{' ' * indent}{name:<{width}}  {value}".rstrip()))


class Table(NamedTuple):
    """A table; the columns numbered in `right` are numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    right: Sequence[int] = ()


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "", right: Sequence[int] = ()
) -> None:
    """A table as wide as it needs: as the terminal at most, where cells wrap between words, never inside one."""
    print("\n".join(table_lines(Table(columns, rows, title, right), terminal_width())))


def print_parts(parts: Sequence[str | Table], markdown: bool = False) -> None:
    """Sentences and tables in their order; `markdown`: as GitHub's."""
    for part in parts:
        if isinstance(part, str):
            print(printable(f"{part}\n" if markdown else part))
        else:
            print("\n".join(markdown_lines(part) if markdown else table_lines(part, terminal_width())))


def terminal_width() -> int | None:
    """Columns of the terminal; None where stdout is none: what reads a pipe has no width."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


_GAP = 3


def fitted(table: Table, kept: int) -> list[Table]:
    """`table` in as many tables as the terminal's width asks for, one below the other; each has the first `kept`
    columns."""
    width = terminal_width()
    columns = list(zip(table.columns, *table.rows, strict=True))
    wide = [max(len(line) for cell in column for line in str(cell).splitlines()) + _GAP for column in columns]
    groups: list[list[int]] = [[]]
    for i in range(kept, len(columns)):
        if width is not None and groups[-1] and sum(wide[:kept]) + sum(wide[j] for j in [*groups[-1], i]) > width:
            groups.append([])
        groups[-1].append(i)
    found = []
    for n, group in enumerate(groups):
        shown = [*range(kept), *group]
        rows = [[row[i] for i in shown] for row in table.rows]
        right = [at for at, i in enumerate(shown) if i in table.right]
        found.append(Table([table.columns[i] for i in shown], rows, table.title if n == 0 else "", right))
    return found


def table_lines(table: Table, width: int | None = None) -> list[str]:
    """The table as text, an empty line after it; `width`: what it should fit (its longest words it holds anyway)."""
    heads = [printable(str(name)) for name in table.columns]
    rows = [[printable(str(cell)) for cell in row] for row in table.rows]
    columns = list(zip(heads, *rows, strict=True))
    widths = [max(len(line) for cell in column for line in cell.splitlines() or [""]) for column in columns]
    least = [max(len(word) for cell in column for word in cell.split() or [""]) for column in columns]
    room = None if width is None else width - 1 - _GAP * (len(widths) - 1)
    while room is not None and sum(widths) > room:
        at = max(range(len(widths)), key=lambda i: widths[i] - least[i])
        if widths[at] == least[at]:
            break
        widths[at] -= 1
    rule = "\u2500" if "utf" in (sys.stdout.encoding or "").lower() else "-"
    bold = table.title and sys.stdout.isatty()
    title = printable(table.title)
    lines = [f"\x1b[1m{title}\x1b[0m" if bold else title] if title else []
    body = [line for row in rows for line in _wrapped(row, widths, table.right)]
    return [
        *lines, "", *_wrapped(heads, widths, table.right), f" {rule * (sum(widths) + _GAP * (len(widths) - 1))}", *body,
        "",
    ]  # fmt: skip


def _wrapped(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> list[str]:
    """The lines of a row, wrapped between words."""
    cells = [
        [part for line in cell.splitlines() for part in _wrapped_line(line, width)]
        for cell, width in zip(row, widths, strict=True)
    ]
    lines = []
    for parts in itertools.zip_longest(*cells, fillvalue=""):
        texts = [
            f"{part:>{width}}" if number in right else f"{part:<{width}}"
            for number, (part, width) in enumerate(zip(parts, widths, strict=True))
        ]
        lines.append(f" {(' ' * _GAP).join(texts)}".rstrip())
    return lines


def _wrapped_line(line: str, width: int) -> list[str]:
    fits = len(line) <= width
    return [line] if fits else textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False)


def markdown_lines(table: Table) -> list[str]:
    """The table as GitHub's markdown, an empty line after it."""

    def line(cells: Sequence[Any]) -> str:
        return "| " + " | ".join(printable(str(cell)).strip().replace("|", "\\|") for cell in cells) + " |"

    marks = ["--:" if number in table.right else "---" for number in range(len(table.columns))]
    title = [f"**{table.title}**", ""] if table.title else []
    return [*title, line(table.columns), f"|{'|'.join(marks)}|", *(line(row) for row in table.rows), ""]


@contextmanager
def progress_bar(enabled: bool, what: str, counted: bool = True) -> Iterator[SweepProgress | None]:
    """A bar with rate and time left on stderr, when that is a terminal; yields a sweep's progress callback. `counted`
    false: what is done and the total are no numbers of points, so their share is shown."""
    if not enabled or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(f"{task.speed:.0f}/s" if task.speed else "-/s")

    class Screen(Console):
        def show_cursor(self, show: bool = True) -> bool:
            """Leaves it shown: a process that is killed could not show it again."""
            return False

    amounts = (MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    shares = (TaskProgressColumn(), TimeRemainingColumn(), TextColumn("left"))
    # A machine's name is no markup.
    columns = (TextColumn("{task.description}", markup=False), BarColumn(20), *(amounts if counted else shares))
    # A share's speed varies with the work at hand: it is taken over minutes.
    period = 30 if counted else 120
    with Progress(*columns, console=Screen(stderr=True), transient=True, speed_estimate_period=period) as bar:
        task = bar.add_task(what, total=None)

        def update(done: int, total: int, label: str) -> None:
            short = label if len(label) <= 40 else f"{label[:37]}..."
            bar.update(task, completed=done, total=total, description=printable(short))

        yield update
