"""Names for the elements of a vector of objects, so that a path need not count: ``rep_movs.backwards``.

An operation is called by its class, an instruction by any of its mnemonics, a mode of REP MOVS or STOS by its
conditions (`mode_name`), everything else by its own class, where no other element has that name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

#: the value of one parameter of an object, by the parameter's name
Get = Callable[[str], Any]

_ANY = (1 << 32) - 1
_ELEMENTS = {2: "words", 4: "dwords", 8: "qwords"}


def mode_name(get: Get) -> str:
    """An `X86StringMode` by its conditions.

    ``zero`` (a count of nothing), ``words_up_to_12`` (elements of two bytes and more, at most twelve), ``up_to_128B``,
    ``coaligned_from_64``, ``page_offset``; ``forward``: no condition but the direction; ``backwards``: none at all.
    """
    if get("max_count") == 0:
        return "zero"
    parts = [_ELEMENTS.get(get("min_element"), "")]
    parts.append("coaligned" if get("co_alignment") > 1 else "")
    parts.append("to_aligned" if get("destination_alignment") > 1 else "")
    parts.append("page_offset" if get("equal_page_offset") or get("min_page_offset") else "")
    parts.append(f"from_{get('min_count')}" if get("min_count") else "")
    parts.append(f"up_to_{get('max_count')}" if get("max_count") != _ANY else "")
    parts.append(f"up_to_{get('max_bytes')}B" if get("max_bytes") != _ANY else "")
    parts.append("backwards" if get("backwards") else "")
    return "_".join(filter(None, parts)) or "forward"


def names_of(kind: str, own: str, get: Get) -> list[str]:
    """What an element may be called, the name to show first; `kind`: gem5's class of it, `own`: its own class."""
    if kind == "X86StringMode":
        return [mode_name(get)]
    if kind in ("OpDesc", "MinorOpClass"):
        return [str(get("opClass"))]
    if kind == "X86Instruction":
        return [str(name) for name in get("mnemonics")]
    return [own]


def unique_names(elements: Sequence[Sequence[str]]) -> list[str]:
    """The name to show of each element; empty where another element has it, too."""
    every = [name for names in elements for name in names]
    return [names[0] if names and every.count(names[0]) == 1 else "" for names in elements]
