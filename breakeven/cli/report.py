"""Results as one HTML page: `report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breakeven.cli.app import EXIT_WRONG, app
from breakeven.cli.options import JsonOption, StoreOption
from breakeven.errors import say, shown_path


@app.command(short_help="A sweep, a study or the store as one HTML page.")
def report(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            help="Tables of sweep (.csv, .json, .parquet), folders of studies' reports; none: the store. The folder of "
            "all reports (results): a page in each, and an index.html."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The page, .html.", show_default="report.html")
    ] = None,
    title: Annotated[str, typer.Option(help="Its title (default: the sources' names).")] = "",
    machine: Annotated[str | None, typer.Option("--machine", "-m", help="Of a store: only this machine.")] = None,
    settings: Annotated[
        list[str], typer.Option("--set", metavar="PATH=VALUE", help="What the tables' sweep had as --set.")
    ] = [],  # noqa: B006
    machine_files: Annotated[
        list[Path],
        typer.Option(
            "--machine-file", help="A machine file of yours that the tables name: it is run to show its parameters."
        ),
    ] = [],  # noqa: B006
    command: Annotated[str, typer.Option(help="The command that made the tables, if they do not tell.")] = "",
    store: StoreOption = None,
    json: JsonOption = False,
) -> int:
    """Write results as one HTML page without network: figures, sortable tables, the machines, the commands."""
    from breakeven import api
    from breakeven.cli import summaries
    from breakeven.output.console import print_json

    done = api.report(
        *(sources or []), out=out, title=title, machine=machine, settings=settings, machine_files=machine_files,
        command=command, store=store,
    )  # fmt: skip
    bad = list(done.failures)
    if json:
        print_json(
            {"file": str(done.file), "points": done.points, "wrong": len(bad), "first_wrong": bad[0] if bad else None}
        )
    else:
        say(f"{done.points} points: {shown_path(done.file)}")
    summaries.print_failures(bad, done.points)
    return EXIT_WRONG if bad else 0
