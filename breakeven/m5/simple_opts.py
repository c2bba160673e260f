"""``common.SimpleOpts``: options that every module of a script may add, parsed once (for scripts of gem5's tutorial
that are run without gem5's own ``configs/`` beside them)."""

from __future__ import annotations

from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from typing import Any

parser = ArgumentParser(formatter_class=ArgumentDefaultsHelpFormatter)
_parsed = False


def add_option(*names: str, **settings: Any) -> None:
    """As `ArgumentParser.add_argument`; too late after `parse_args`."""
    if _parsed:
        from breakeven.m5.util import fatal

        fatal("Can't add an option after calling SimpleOpts.parse_args")
    parser.add_argument(*names, **settings)


def parse_args() -> Namespace:
    global _parsed
    _parsed = True
    return parser.parse_args()


def set_usage(usage: str) -> None:
    parser.usage = usage


def print_help() -> None:
    parser.print_help()
