"""``m5.util``: the helpers that gem5 scripts use."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NoReturn

from breakeven.m5 import convert

__all__ = [
    "Singleton", "addToPath", "attrdict", "convert", "crossproduct", "fatal", "flatten", "inform", "isInteractive",
    "panic", "printList", "warn",
]  # fmt: skip


def addToPath(path: str) -> None:
    """Let the script import from `path` (relative to the script's folder)."""
    if not os.path.isabs(path) and sys.path[0]:
        path = os.path.join(sys.path[0], path)
    sys.path.insert(1, os.path.realpath(path))


def repoPath() -> str:
    """gem5's own checkout, which is not needed here."""
    return os.path.dirname(sys.path[0])


def _say(kind: str, text: str, args: tuple[object, ...]) -> None:
    sys.stdout.flush()
    print(f"{kind}: {text % args if args else text}", file=sys.stderr)


def inform(text: str, *args: object) -> None:
    _say("info", text, args)


def warn(text: str, *args: object) -> None:
    _say("warn", text, args)


def fatal(text: str, *args: object) -> NoReturn:
    """The script's user made a mistake: says so and ends it with status 1."""
    _say("fatal", text, args)
    sys.exit(1)


def panic(text: str, *args: object) -> NoReturn:
    """The script is wrong: as `fatal`, under another name."""
    _say("panic", text, args)
    sys.exit(1)


def isInteractive() -> bool:
    """Whether somebody types at the script."""
    return sys.stdin is not None and sys.stdin.isatty()


class Singleton(type):
    """A class with this metaclass has one object."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if "_instance" not in cls.__dict__:
            cls._instance = super().__call__(*args, **kwargs)
        return cls._instance


class attrdict(dict):  # type: ignore[type-arg]
    """A dictionary whose items are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError:
            raise AttributeError(name) from None


def crossproduct(items: Iterable[Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
    """Every combination of one of each."""
    return product(*items)


def flatten(items: Iterable[Any]) -> Iterator[Any]:
    """The members of nested lists and tuples, in order."""
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from flatten(item)
        else:
            yield item


def printList(items: Iterable[Any], indent: str = "    ") -> None:
    """`items` on lines of at most 79 characters."""
    line = indent
    for item in items:
        text = f"{item}"
        if len(line) + len(text) > 79 and line != indent:
            print(line)
            line = indent
        line += text + " "
    print(line)
