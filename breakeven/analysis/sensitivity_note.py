"""What the store keeps of a sensitivity, and its look-up. Loads nothing of the search: `compare` asks each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from breakeven.analysis.sensitivity_question import question, sizes_text
from breakeven.errors import UserError
from breakeven.files.reading import parsed_json

if TYPE_CHECKING:
    from breakeven.points.engine import SweepProgress
    from breakeven.sweeps.spec import SweepSpec


def rests_on(
    spec: SweepSpec, engine: Any, threads: int = 0, progress: SweepProgress | None = None, run: bool = False
) -> str:
    """What a sensitivity says of a comparison of two routines: an earlier one by a look-up, or (`run`) one of now.

    Empty: there is none, or the comparison is none of two routines along size.
    """
    if len(set(spec.routines)) != 2 or spec.parameters:
        if run:
            raise UserError("--confidence is of two routines along size")
        return ""
    if run:
        from breakeven.analysis.sensitivity import sensitivity

        found = sensitivity(spec, engine, threads, progress)
        return f"{found.sentence()} ({sizes_text(spec)})"
    text = engine.noted(spec.machines[0], question(spec))
    try:
        answer = parsed_json(text or "{}")
        return f"{answer['said']} ({answer['sizes']}; an earlier `breakeven sensitivity`)"
    except (ValueError, TypeError, LookupError):
        return ""  # none, or no answer of ours: a store says what its maker wrote
