"""The instruction at which a routine has ended: its text, and what a machine or a build must have for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from breakeven.files.binaries import load_engine
from breakeven.routine.code import Code

_ADDRESS = re.compile(r" at (0x[0-9a-f]+): ")
#: instructions that are there to trap, and what has put them there
_MEANT = {"ud2": "the compiler, or breakeven where the code reaches what a guest does not have"}
#: extensions that a routine may declare
_DECLARED = ("adx", "avx2", "avx512", "sse2", "v", "zbb")


def not_modelled(isa: str, elf: bytes, detail: str) -> str:
    """The instruction that ended a guest because the engine does not model it; `detail`: how the run ended."""
    found = _ADDRESS.search(detail)
    return _described(isa, Code(elf), int(found[1], 16)) if found else detail


def trapped(isa: str, elf: bytes, guest: Any, run: Callable[[], object]) -> str:
    """The instruction at which the one point of a guest traps; empty where that is not to be seen. `run` runs it."""
    code = Code(elf)
    guest.cover(*code.routines)
    run()
    executed = set(guest.coverage()[0])
    for at in sorted(executed):
        for _, size, text, _, target, indirect, ends in load_engine().instructions(code.at(at, 16), isa, at, 1):
            stays = not (ends or indirect or target is not None) and at + size not in executed
            if stays or text.startswith(".") or text.split()[0] in _MEANT:
                return _described(isa, code, at)
    return ""


def _described(isa: str, code: Code, at: int) -> str:
    for _, _, text, needs, *_ in load_engine().instructions(code.at(at, 16), isa, at, 1):
        name = text.split()[0]
        if name in _MEANT:
            return f"{name}, put there by {_MEANT[name]}"
        declared = [need for need in (each.lower() for each in needs) if need in _DECLARED]
        if declared:
            return f"{text} needs {', '.join(declared)}: declare it (--needs {','.join(declared)})"
        if needs:
            return f"{text} ({', '.join(needs)}): take a variant for machines without it"
        return text
    return f"the bytes {code.at(at, 4).hex(' ')}"
