"""How results look in a notebook: small tables, no scripts, no styles of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from breakeven.compare import Comparison
    from breakeven.find import Found, Surface
    from breakeven.sensitivity import Sensitivity
    from breakeven.tune_run import Answer


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """An HTML table."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def wrong(failures: Sequence[str]) -> str:
    """A bold sentence when outputs were wrong."""
    return f"<p><b>Wrong output at {len(failures)} points; the first: {escape(failures[0])}</b></p>" if failures else ""


def found_page(found: Found) -> str:
    """A search's leads and its sentence."""
    from breakeven.verdict import AHEAD, describe_break_even, describe_interval

    leads = found.leads
    rows = [describe_interval(item) for item in leads.intervals]
    page = table((found.along, "fastest", AHEAD), rows, found.conditions())
    said = describe_break_even(leads.break_even) if found.along == "size" else ""
    share = f"{len(leads.probed)} of {len(leads.x)} points probed"
    doubt = "" if leads.certain else f"; about {max(leads.doubt, 1):.0f} points in doubt"
    return f"{wrong(found.failures)}{page}<p>{escape(said)}</p><p>{share}{doubt}</p>"


def surface_page(found: Surface) -> str:
    """A surface's table."""
    from breakeven.verdict import span

    old, new = found.spec.routines
    rows = [
        (*at, span(even.first_lower, even.first), span(even.stays_lower, even.stays),
         span(even.threshold_lower, even.threshold), f"{even.loss:.1%}", "yes" if item.leads.certain else "no")
        for at, item, even in zip(found.texts_of_all(), found.found, found.break_evens, strict=True)
    ]  # fmt: skip
    title = f"from which size on {new} beats {old} (bytes): {found.conditions()}"
    heads = (*found.parameters, "first ahead", "stays ahead", "dispatch at", "loses", "certain")
    return wrong(found.failures) + table(heads, rows, title)


def sensitivity_page(found: Sensitivity) -> str:
    """What moves the break-even, and the sentence."""
    from breakeven.sensitivity import describe_sensitivity

    heads = ("parameter", "from", "value", "moved to", "lead moves")
    said = "".join(f"<p>{escape(text)}</p>" for text in describe_sensitivity(found))
    return wrong(found.failures) + table(heads, found.rows(), found.conditions()) + said


def answer_page(answer: Answer) -> str:
    """What `tune` tried, what it chose, and the header."""
    found = answer.as_dict()
    rows = [
        (one["branches"], one["plan"], f"{one['expected']:.1f}", f"{one['near']}/{found['sizes']}")
        for one in found["plans"]
    ]
    page = table(("branches", "dispatch", "expected cycles", "sizes within 2 %"), rows, str(answer.question.machine))
    return f"{page}<p>chosen: {escape(found['chosen'])}</p><pre>{escape(answer.header)}</pre>"


def comparison_page(found: Comparison) -> str:
    """A comparison's leads and its sentences."""
    from breakeven.verdict import AHEAD, NARROWER, describe_break_even, describe_confidence, describe_interval

    rows = [describe_interval(item) for item in found.intervals]
    page = table((found.along, "fastest", AHEAD), rows, found.conditions())
    sentences = []
    for item, sure in zip(found.break_evens, found.confidences, strict=True):
        sentences.append(describe_break_even(item, NARROWER))
        sentences += [describe_confidence(item, sure)] if sure is not None else []
    said = "".join(f"<p>{escape(text)}</p>" for text in sentences)
    crossed = "".join(
        f"<p>{escape(a)} and {escape(b)} cross at {escape(found.along)} = "
        f"{', '.join(f'{at:.4g}' for at in where) or 'nowhere in this range'}</p>"
        for a, b, where in found.crossings
    )
    return wrong(found.failures) + page + said + crossed
