"""gem5's trace options: `--debug-flags O3PipeView --debug-file FILE`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from breakeven.cli.options import MAX_U64, number
from breakeven.errors import UserError, say

DebugFlagsOption = Annotated[
    str, typer.Option("--debug-flags", metavar="FLAG", help="O3PipeView: the stages of each micro-op (O3 and Minor).")
]
DebugFileOption = Annotated[
    Path | None,
    typer.Option("--debug-file", metavar="FILE", help="Where the trace goes.", show_default="trace.out"),
]
DebugStartOption = Annotated[
    int, typer.Option("--debug-start", metavar="TICK", parser=number(0), help="Trace what is fetched from here on.")
]
DebugEndOption = Annotated[
    int, typer.Option("--debug-end", metavar="TICK", parser=number(0), help="... and before; 0: to the end.")
]
DebugLimitOption = Annotated[
    str, typer.Option("--debug-limit", metavar="BYTES", help="The trace ends after this much (a micro-op takes ~250).")
]
DEBUG_LIMIT = "1024MiB"
_FLAGS = ("O3PipeView",)


@dataclass(frozen=True)
class Trace:
    """A trace that was asked for."""

    file: Path
    limit: int

    def warn_if_truncated(self, whole: bool) -> None:
        """Says so when the trace was cut short."""
        if not whole:
            say(
                f"breakeven: the trace {str(self.file)!r} ends early, at {self.limit} bytes (--debug-limit)",
                file=sys.stderr,
            )


def parse_trace_options(flags: str, file: Path | None, limit: str) -> Trace | None:
    """The trace that the options ask for; None: none. Raises `UserError` for a flag that there is not."""
    names = [name for name in flags.split(",") if name]
    for name in names:
        if name not in _FLAGS:
            raise UserError(f"unknown debug flag {name!r}: there is {', '.join(_FLAGS)}")
    if not names:
        return None
    from breakeven.files.writing import check_target, default_place
    from breakeven.points.ranges import parse_number

    file = file or default_place("trace.out", "--debug-file")
    check_target(file)
    size = parse_number(limit, "--debug-limit")
    if not 0 < size <= MAX_U64:
        raise UserError(f"--debug-limit {limit} is out of range: at least 1 byte")
    return Trace(file, size)
