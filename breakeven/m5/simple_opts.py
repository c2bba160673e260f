"""``common.SimpleOpts``: options that every module of a script may add, parsed once (for scripts of gem5's tutorial
that are run without gem5's own ``configs/`` beside them)."""

from __future__ import annotations

from argparse import Action, ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any


class Options(Namespace):
    """What was given. Scripts for a gem5 before 21 take it apart as ``(opts, args)``: options, and other words."""

    def __init__(self, words: list[str]) -> None:
        super().__init__()
        self._words = words

    def __iter__(self) -> Iterator[Any]:
        return iter((self, self._words))


parser = ArgumentParser(formatter_class=ArgumentDefaultsHelpFormatter)
_parsed = False


def add_option(*names: str, **settings: Any) -> None:
    """As `ArgumentParser.add_argument`; too late after `parse_args`."""
    if _parsed:
        from breakeven.m5.util import fatal

        fatal("Can't add an option after calling SimpleOpts.parse_args")
    parser.add_argument(*names, **settings)


def parse_args() -> Options:
    """What was given to the options added so far; ends the script with a message for what none of them takes."""
    global _parsed
    _parsed = True
    words: list[str] = []
    options, rest = parser.parse_known_args(namespace=Options(words))
    if any(word.startswith("-") for word in rest) or (rest and any(not each.option_strings for each in _actions())):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    words += rest
    return options


def _actions() -> list[Action]:
    return parser._actions


def set_usage(usage: str) -> None:
    parser.usage = usage.removeprefix("usage: ").replace("%prog", "%(prog)s")


def print_help() -> None:
    parser.print_help()
