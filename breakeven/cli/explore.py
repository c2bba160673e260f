"""A page to change hardware on: `explore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breakeven.cli import completion
from breakeven.cli.app import app
from breakeven.cli.options import (
    DstOption,
    MachineOption,
    NoStoreOption,
    SetOption,
    SrcOption,
    StoreOption,
    ThreadsOption,
    number,
)
from breakeven.errors import UserError, say, shown_path


@app.command(short_help="A page on this machine: sliders for the hardware, curves and break-evens as they move.")
def explore(
    routines: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ROUTINE...|LINK",
            help="Routines (see `routines`), or a link to a view.",
            autocompletion=completion.routines,
        ),
    ] = None,  # fmt: skip
    machine: MachineOption = "u74",
    settings: SetOption = [],  # noqa: B006
    src: SrcOption = 0,
    dst: DstOption = 0,
    cache: Annotated[str, typer.Option("--cache", help="As of `compare`.")] = "warm",
    measure: Annotated[str, typer.Option("--measure", help="latency, throughput.")] = "latency",
    sizes: Annotated[str, typer.Option("--sizes", "-n", help="From which size to which: 1..2048.")] = "1..2048",
    port: Annotated[int, typer.Option(parser=number(0, 65535), help="On 127.0.0.1; 0: a free one.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the page with its numbers to this .html; serve nothing.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only.")] = False,
    store: StoreOption = None,
    no_store: NoStoreOption = False,
    threads: ThreadsOption = 0,
) -> int:
    """Serve a page on this machine that shows what a parameter of the hardware does to a break-even.

    Sliders, switches and choices for the machine's parameters; curves with their break-evens; where the cycles go; the
    command that gives the same numbers. It listens on 127.0.0.1 alone, for whoever has the printed address.
    """
    from breakeven.explorer.launch import serve
    from breakeven.explorer.state import State, from_link
    from breakeven.machine.presets import find_machine, is_file_name

    link = routines[0] if routines and len(routines) == 1 and "#" in routines[0] else ""
    if link:
        state = from_link(link)
        if is_file_name(state.machine) and state.machine != machine:
            said = f"the link names the machine file {state.machine!r}, which would be run: give it with -m, too"
            raise UserError(said)
    else:
        low, high = _ends(sizes)
        named = tuple(dict.fromkeys(routines or [])) or _usual(machine)
        state = State(machine, named, tuple(settings), src, dst, cache, measure, low, high)
        state.validate()
    find_machine(state.machine)
    if out is not None:
        from breakeven.explorer.snapshot import view
        from breakeven.files.writing import check_target

        check_target(out)
        found = view(state, store, no_store, threads)
        say("\n".join([*found.verdicts, f"page: {shown_path(found.save(out))}"]))
        return 0
    serve(state, port, not no_browser, store, no_store, threads, link.partition("#")[2])
    return 0


def _usual(machine: str) -> tuple[str, ...]:
    """Two routines to begin with on a machine."""
    from breakeven.points.machine_spec import MachineSpec
    from breakeven.routine.checks import isa_of_machine

    x86 = isa_of_machine(MachineSpec(machine)) == "x86"
    return ("x64-copy-unrolled", "x64-copy-erms") if x86 else ("rv-byte", "rv-word")


def _ends(text: str) -> tuple[int, int]:
    from breakeven.points.ranges import parse_number

    low, dots, high = text.partition("..")
    if not dots:
        raise UserError(f"--sizes {text}: from one size to another, such as 1..2048")
    return parse_number(low, "size"), parse_number(high, "size")
