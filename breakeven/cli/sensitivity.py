"""Which parameters a break-even rests on: `sensitivity`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from breakeven.cli.app import app
from breakeven.cli.options import (
    DstOption,
    GuestOption,
    JsonOption,
    MachineOption,
    NoStoreOption,
    SetOption,
    SrcOption,
    StoreOption,
    ThreadsOption,
    kept_in,
    number,
)
from breakeven.cli.point_options import measuring_option_group
from breakeven.errors import UserError, say

#: sizes along which the break-even is looked for when none are named
SIZES = "1..2048"


@app.command("sensitivity", short_help="Which machine parameters the break-even rests on, ranked.")
@measuring_option_group
def sensitivity_(
    *,
    routines: Annotated[list[str], typer.Argument(metavar="A B", help="Two routines.")],
    machine: MachineOption = "u74",
    sizes: Annotated[
        str, typer.Option("--sizes", "--size", "-n", help="The grid along size; of one size the lead is looked at.")
    ] = SIZES,
    src: SrcOption = 0,
    dst: DstOption = 0,
    measuring: dict[str, Any],
    settings: SetOption = [],  # noqa: B006
    top: Annotated[int, typer.Option(parser=number(1), help="Parameters whose break-even is searched again.")] = 8,
    match: Annotated[
        str, typer.Option(metavar="PATTERN", help="Move only parameters with these words in path or source.")
    ] = "",
    rows: Annotated[int, typer.Option(parser=number(1), help="Rows of the table.")] = 20,
    threads: ThreadsOption = 0,
    guest: GuestOption = None,
    store: StoreOption = None,
    no_store: NoStoreOption = False,
    json: JsonOption = False,
) -> int:
    """Move every value of the machine a step down and up, and rank them by how far the break-even moves.

    All are looked at near the break-even; it is searched again for those that move the lead there most. Moved are
    numbers, switches and choices with a source mark, and the microcode's timing (docs/cli.md).
    """
    from breakeven.cli.search import quiet_threads

    quiet_threads()
    from breakeven import api
    from breakeven.output.console import progress_bar

    if len(routines) != 2:
        raise UserError("a sensitivity is of two different routines")
    with progress_bar(not json, "sensitivity") as progress:
        found = api.sensitivity(
            *routines, sizes=sizes, machine=machine, settings=settings, src=src, dst=dst, top=top, match=match,
            threads=threads, store=kept_in(store, no_store), guest=guest, progress=progress, **measuring,
        )  # fmt: skip
    return sensitivity_done(found, rows, json)


def sensitivity_done(found: Any, rows: int, json: bool) -> int:
    """The ranking as a table (or JSON); the exit status."""
    from breakeven.analysis.sensitivity import describe_sensitivity
    from breakeven.cli.summaries import print_failures
    from breakeven.output.console import print_json, print_table

    if json:
        print_json(found.as_dict())
    else:
        say(found.conditions())
        old, new = found.spec.routines
        what = "lead" if found.one_size else "threshold (B)"
        heads = ("parameter", "from", "value", f"moved to: {what}", "lead moves")
        shown = found.rows()
        print_table(heads, shown[:rows], f"what moves {new} against {old}", right=(4,))
        if len(shown) > rows:
            say(f"... and {len(shown) - rows} parameters more (--rows shows them)")
        say("\n".join(describe_sensitivity(found)))
    print_failures(found.failures, len(found.failures))
    return 1 if found.failures else 0
