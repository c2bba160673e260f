"""What is known of a routine: what it does, where it comes from, its code."""

from __future__ import annotations

import csv
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from breakeven.errors import UserError
from breakeven.files.binaries import guest_elf, load_engine
from breakeven.files.data import DataNotFound, find_data
from breakeven.routine.code import Code

#: the end of a sentence: no initial of a name, no number
_SENTENCE = re.compile(r"(?<=[a-z0-9)]{2})\.(?= [A-Z0-9])")
#: characters of what is no sentence but a year or a version
_YEAR = 13
#: instructions of a listing
_MOST = 2000


class Text(NamedTuple):
    """What a routine's file says of it."""

    text: str = ""
    file: str = ""

    @property
    def line(self) -> str:
        """The first sentence."""
        ends = (end.end() for end in _SENTENCE.finditer(self.text))
        return self.text[: next((end for end in ends if end > _YEAR), None)]


@cache
def texts(isa: str) -> dict[str, Text]:
    """Of breakeven's routines, from the headers of their files (the build of the guests collects them)."""
    try:
        rows: dict[str, dict[str, str]] = json.loads(find_data("guests", f"{isa}-routines.json").read_text())
    except (DataNotFound, OSError, ValueError):
        return {}
    return {name: Text(row["text"], row["file"]) for name, row in rows.items()}


def publications(name: str) -> list[str]:
    """Where a routine or what was measured of it was published, as the collected claims have it."""
    with find_data("configs", "studies").joinpath("claims.csv").open(newline="") as file:
        last, found = "", []
        for row in csv.DictReader(file):
            last = last if row["source"] == "same" else row["source"]
            if row["routine"] == name:
                found.append(last)
    return list(dict.fromkeys(filter(None, found)))


def listing(isa: str, guest: bytes, name: str) -> list[tuple[int, str]]:
    """The instructions of a routine of a guest: address and text."""
    from breakeven.routine.build import registered_in

    engine = load_engine()
    routine = registered_in(guest, "the guest")[name]
    starts = {value: size for _, value, size, *_ in engine.elf_contents(guest)["local_symbols"] if size}
    size = starts.get(routine.address, 0)
    lines = engine.instructions(Code(guest).at(routine.address, size or 4096), isa, routine.address, _MOST)
    if not size:
        # Without a size: up to where the next symbol or nothing is reached.
        behind = min((at for at in starts if at > routine.address), default=1 << 64)
        lines = _block([line for line in lines if line[0] < behind])
    return [(line[0], line[2]) for line in lines]


def _block(lines: list[Any]) -> list[Any]:
    """Up to the first jump behind which no earlier jump goes."""
    last, found = 0, []
    for line in lines:
        found.append(line)
        last = max(last, line[4] or 0)
        if line[6] and last <= line[0]:
            break
    return found


def page(isa: str, name: str, guest: Path | None) -> dict[str, Any]:
    """All that is known of a routine; `guest`: the one that holds it, None: breakeven's. Raises `UserError`."""

    known = texts(isa).get(name, Text())
    try:
        code = listing(isa, guest_elf(isa, guest), name)
    except KeyError:
        raise UserError(f"the guest has no routine {name!r}") from None
    return {"text": known.text, "file": known.file, "published": publications(name), "listing": code}
