"""Routines of the user's: `add`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from breakeven.cli.app import app
from breakeven.cli.options import JsonOption
from breakeven.errors import UserError, say
from breakeven.machine.resolve import resolve

if TYPE_CHECKING:
    from breakeven.routine.add import Added


@app.command("add", short_help="Make a file of yours, or a function of compiled code, a routine like all others.")
def add_(
    source: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...", help="A .S, .s or .c file; or .o, .a, .so: more than one for what the first lacks."
        ),
    ] = None,
    isa: Annotated[str, typer.Option(help="riscv or x86; compiled code says its own.")] = "",
    kind: Annotated[
        str, typer.Option(help="copy, checksum, user-copy, copy-checksum, set, move, clear; crc32c, adler32.")
    ] = "copy",
    reference: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Of another checksum than the Internet's: a C function NAME_reference of what is right.",
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="The routine's name; else the file's or the symbol's.")] = "",
    needs: Annotated[
        str,
        typer.Option(help="riscv: zbb, zbc, zicboz, v, misaligned; x86: adx, avx2, avx512, sse2, sse4_2 (a,b,...)."),
    ] = "",
    flags: Annotated[str, typer.Option(help="More compiler flags, in one argument.")] = "",
    symbol: Annotated[str, typer.Option(help="The function, of a file that has several.")] = "",
    define: Annotated[
        list[str], typer.Option(metavar="SYMBOL=VALUE", help="A variable that the code reads; may be repeated.")
    ] = [],  # noqa: B006
    machine: Annotated[str, typer.Option("--machine", "-m", help="Also say what this machine lacks for it.")] = "",
    remove: Annotated[str, typer.Option(metavar="NAME", help="Remove a routine that you have added.")] = "",
    json: JsonOption = False,
) -> int:
    """Build a file of yours, or take a function out of compiled code, check it against the contract, and keep it as a
    routine (docs/add-a-routine.md).

    A .S, .s or .c file registers its routines with ROUTINE of routine.h, or defines one function, or several of which
    --symbol names one. Adding a routine again replaces it. --remove removes it for every instruction set, or for that
    of --isa.
    """
    from breakeven.output.console import print_json

    if remove:
        from breakeven.routine.registry import remove as remove_files

        gone = remove_files(remove, isa)
        if json:
            print_json({"removed": [routine for own in gone for routine in own.routines]})
        else:
            say(f"removed: {', '.join(f'{routine} ({own.isa})' for own in gone for routine in own.routines)}")
        return 0
    if not source:
        raise UserError("add needs a file (.S, .s, .c, .o, .a or .so), or --remove NAME")
    from breakeven.api import add

    try:
        more_flags = shlex.split(flags)
    except ValueError as error:
        raise UserError(f"--flags {flags!r} cannot be split into words: {str(error).lower()}") from None
    missing_for = _missing_on(machine)
    done = add(
        source[0], isa, kind=kind, name=name, needs=list(filter(None, needs.split(","))), flags=more_flags,
        symbol=symbol, defines=dict(map(_definition, define)), more=source[1:], reference=reference,
    )  # fmt: skip
    lacking = missing_for(done)
    if json:
        print_json({
            "routines": list(done.file.routines), "isa": done.file.isa, "points": done.points,
            "extensions": list(done.file.extensions), "notes": list(done.notes),
            **({"machine": machine, "missing_extensions": [name for name, _ in lacking]} if machine else {}),
            "folder": str(done.file.folder), "host_seconds": round(done.host_seconds, 3),
        })  # fmt: skip
        return 0
    names = ", ".join(done.file.routines)
    say(f"{names} ({done.file.isa}): verified at all {done.points} points, {done.host_seconds:.1f} s")
    say(f"  uses: {', '.join(done.file.extensions) or 'the base instruction set alone'}")
    for note in done.notes:
        say(f"  {note}")
    for extension, setting in lacking:
        say(f"  {machine} lacks {extension}: --set {setting}")
    return 0


def _definition(text: str) -> tuple[str, int]:
    from breakeven.points.ranges import parse_number

    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UserError(f"--define {text!r}: write SYMBOL=VALUE, as __x86_shared_non_temporal_threshold=0xc0000")
    number = parse_number(value, f"--define {name}")
    if number >= 1 << 64:
        raise UserError(f"--define {name}: {value} does not fit into 8 bytes")
    return name, number


def _missing_on(machine: str):  # noqa: ANN202
    """What tells the extensions that a machine lacks; the machine is read first, so that a mistake in it ends early."""
    if not machine:
        return lambda _: []
    from breakeven.points.machine_spec import MachineSpec
    from breakeven.routine.extensions import lacking

    resolved = resolve(MachineSpec(machine))

    def missing(done: Added) -> list[tuple[str, str]]:
        if resolved.isa != done.file.isa:
            raise UserError(f"{done.file.routines[0]} was added; {machine} is a machine of another instruction set")
        return lacking(resolved.description, done.file.extensions)

    return missing
