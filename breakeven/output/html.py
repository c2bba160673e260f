"""How results look in a notebook: small tables, no scripts, no styles of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape as _escape

from breakeven.errors import printable


def escape(text: str) -> str:
    """Text as HTML, on one line: names come from tables and stores."""
    return _escape(printable(text, keep=""))


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """An HTML table."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def wrong(failures: Sequence[str]) -> str:
    """A bold sentence when outputs were wrong."""
    return f"<p><b>Wrong output at {len(failures)} points; the first: {escape(failures[0])}</b></p>" if failures else ""
