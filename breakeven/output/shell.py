"""Commands that are printed to be pasted into a shell."""

from __future__ import annotations

import shlex
from collections.abc import Sequence


def shell_command(verb: str, names: Sequence[str], options: Sequence[str] = ()) -> str:
    """``breakeven VERB NAMES OPTIONS``, each word quoted where a shell needs it. No name is taken for an option: where
    one begins with ``-``, the names stand last, behind ``--``."""
    words = [*options, "--", *names] if any(name.startswith("-") for name in names) else [*names, *options]
    return " ".join(["breakeven", verb, *map(quoted, words)])


def quoted(word: str) -> str:
    """A word as a shell takes it; what is no printable character is written as its bytes (``$'\\x1b'``)."""
    if word.isprintable():
        return shlex.quote(word)
    return "$'" + "".join(each if each.isprintable() and each not in "\\'" else _escaped(each) for each in word) + "'"


def _escaped(character: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogateescape"))
