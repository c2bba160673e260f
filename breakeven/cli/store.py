"""The store of simulated points: `store`, `store export`, `store check`, `store repair`, `store prune`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from breakeven.cli.app import EXIT_WRONG, app
from breakeven.cli.options import JsonOption, StoreOption
from breakeven.errors import UserError, say, shown_path

store_app = typer.Typer(
    rich_markup_mode=None, help="What has been simulated so far; `store export FILE` takes it out.",
    invoke_without_command=True,
)  # fmt: skip
app.add_typer(store_app, name="store")


def _existing(path: Path | None) -> Path:
    from breakeven.store import default_path

    found = path or default_path()
    if not found.is_file():
        raise UserError(f"there is no store {str(found)!r}: run, sweep, compare and reproduce make one")
    return found


@store_app.callback()
def store(context: typer.Context, store: StoreOption = None, json: JsonOption = False) -> int | None:
    """What has been simulated so far: points by machine and engine."""
    if context.invoked_subcommand is not None:
        return None
    from breakeven.files.binaries import load_engine
    from breakeven.output.console import print_json, print_table
    from breakeven.store import Store

    with Store(_existing(store), reading=True) as opened, opened.telling("not shown"):
        statistics, contexts = opened.statistics(), opened.contexts()
    present = load_engine().fingerprint
    if json:
        rows = [
            {"machine": c.machine, **c.identity._asdict(), "points": c.points, "present": c.identity.engine == present}
            for c in contexts
        ]
        print_json({**statistics, "machines": rows})
        return 0
    rows = [
        (c.machine, c.points, c.identity.machine_hash[:12], "this" if c.identity.engine == present else "another")
        for c in contexts
    ]
    print_table(("machine", "points", "description", "engine"), rows, right=(1,))
    say(f"{statistics['points']} points, {statistics['bytes'] / 1e6:.1f} MB: {shown_path(statistics['file'])}")
    return 0


@store_app.command("export")
def export(
    out: Annotated[Path, typer.Argument(help="The table: .csv, .json or .parquet.")],
    machine: Annotated[
        str | None, typer.Option("--machine", "-m", help="Only this machine, with its settings.")
    ] = None,
    all_engines: Annotated[bool, typer.Option("--all-engines", help="Results of other engine versions too.")] = False,
    store: StoreOption = None,
    json: JsonOption = False,
) -> int:
    """Write the stored points as a table, one row each."""
    from breakeven.files.binaries import load_engine
    from breakeven.output.console import print_json
    from breakeven.points.table import check_output, write_table
    from breakeven.routine.checks import know_routines
    from breakeven.store import Store
    from breakeven.store.contents import frame

    check_output(out)
    know_routines()
    with Store(_existing(store), reading=True) as opened:
        with opened.telling("left out"):
            table = frame(opened, machine, None if all_engines else load_engine().fingerprint)
        names = sorted({context.machine for context in opened.contexts()}) if table.empty else []
    if table.empty:
        known = f"; there are: {', '.join(names)}" if names else ""
        raise UserError(f"the store has no such points{known}")
    write_table(table, out)
    if json:
        print_json({"points": len(table), "file": str(out)})
    else:
        say(f"{len(table)} points: {shown_path(out)}")
    return 0


@store_app.command("check")
def check(store: StoreOption = None, json: JsonOption = False) -> int:
    """Look for damage: SQLite's own check, and the checksum of every row. Status 1: there is some."""
    from breakeven.output.console import print_json
    from breakeven.store import Store
    from breakeven.store.contents import check as damage

    with Store(_existing(store), reading=True) as opened:
        wrong = damage(opened)
        try:
            statistics = opened.statistics()
        except UserError:  # what has no end cannot be counted
            if not wrong:
                raise
            statistics = {
                "file": str(opened.path),
                "bytes": opened.path.stat().st_size,
                "contexts": None,
                "points": None,
            }
    if json:
        print_json({**statistics, "damage": wrong})
    else:
        say(
            "\n".join(wrong)
            if wrong
            else f"{statistics['points']} points, none damaged: {shown_path(statistics['file'])}"
        )
    if wrong:
        print("breakeven: the store is damaged: `breakeven store repair` keeps what is whole", file=sys.stderr)
    return EXIT_WRONG if wrong else 0


@store_app.command("repair")
def repair(store: StoreOption = None, json: JsonOption = False) -> int:
    """Make a store of the whole rows of a damaged one, which stays beside it as FILE.damaged."""
    from breakeven.output.console import print_json
    from breakeven.store.repair import repair as repair_store

    path = _existing(store)
    done = repair_store(path)
    if json:
        print_json({**done._asdict(), "old": str(done.old), "file": str(path)})
    else:
        say(f"{done.kept} points kept, {done.lost} damaged, {done.unreadable} parts unreadable: {shown_path(path)}")
        say(f"the damaged store: {shown_path(done.old)}")
    return 0


@store_app.command("prune")
def prune(store: StoreOption = None, json: JsonOption = False) -> int:
    """Delete the points of other engine versions than this one."""
    from breakeven.files.binaries import load_engine
    from breakeven.output.console import print_json
    from breakeven.store import Store

    with Store(_existing(store)) as opened:
        gone = opened.prune(load_engine().fingerprint)
        statistics = opened.statistics()
    if json:
        print_json({**statistics, "deleted": gone})
    else:
        say(f"{gone} points deleted, {statistics['points']} left ({statistics['bytes'] / 1e6:.1f} MB)")
    return 0
