"""Routines of the user's own: `add`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from breakeven.cli.app import app
from breakeven.cli.options import JsonOption
from breakeven.errors import UserError


@app.command("add", short_help="Make your own .S or .c file a routine like all others.")
def add_(
    source: Annotated[Path | None, typer.Argument(metavar="FILE", help="A .S or .c file.")] = None,
    isa: Annotated[str, typer.Option(help="riscv or x86.")] = "",
    kind: Annotated[str, typer.Option(help="copy, checksum, user-copy, copy-checksum.")] = "copy",
    name: Annotated[str, typer.Option(help="The routine's name; else the file's.")] = "",
    needs: Annotated[str, typer.Option(help="riscv: zbb, misaligned; x86: adx, avx2, sse2 (a,b,...).")] = "",
    flags: Annotated[str, typer.Option(help="More compiler flags, in one argument.")] = "",
    remove: Annotated[str, typer.Option(metavar="NAME", help="Remove a routine that you have added.")] = "",
    json: JsonOption = False,
) -> int:
    """Build a file of yours, check it against the contract, and keep it as a routine (docs/add-a-routine.md).

    A file registers its routines with ROUTINE of routine.h, or defines one global function. Adding it again replaces
    it.
    """
    from breakeven.console import print_json

    if remove:
        from breakeven.api import remove as remove_routine

        gone = remove_routine(remove)
        if json:
            print_json({"removed": gone})
        else:
            print(f"removed: {', '.join(gone)}")
        return 0
    if source is None:
        raise UserError("add needs a .S or .c file, or --remove NAME")
    if not isa:
        raise UserError("add needs --isa riscv or --isa x86")
    from breakeven.api import add

    needed = list(filter(None, needs.split(",")))
    done = add(source, isa, kind=kind, name=name, needs=needed, flags=shlex.split(flags))
    names = ", ".join(done.own.routines)
    if json:
        print_json({
            "routines": list(done.own.routines), "isa": isa, "points": done.points,
            "folder": str(done.own.folder), "host_seconds": round(done.host_seconds, 3),
        })  # fmt: skip
    else:
        print(f"{names} ({isa}): right at all {done.points} points, {done.host_seconds:.1f} s")
    return 0
