"""Studies of published claims: `reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breakeven.cli.app import app
from breakeven.cli.options import JsonOption, NoStoreOption, StoreOption, ThreadsOption, kept_in


@app.command(short_help="Run studies of published claims; writes results/STUDY/.")
def reproduce(
    studies: Annotated[list[str] | None, typer.Argument(help="Studies (default: all), or study .py files.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the reports.")] = Path("results"),
    threads: ThreadsOption = 0,
    store: StoreOption = None,
    no_store: NoStoreOption = False,
    json: JsonOption = False,
) -> int:
    """Run studies of published claims: tables, figures and a report in results/STUDY/; all verdicts in results/."""
    from breakeven import api
    from breakeven.cli import summaries
    from breakeven.output.console import progress_bar

    with progress_bar(not json, "reproduce") as progress:
        done = api.reproduce(
            *(studies or []), out=out, threads=threads, store=kept_in(store, no_store), progress=progress
        )
    return summaries.studies_done(done, json)
