"""Studies of published claims: `reproduce`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from breakeven.cli.app import app
from breakeven.cli.options import JsonOption, NoStoreOption, StoreOption, ThreadsOption, kept_in
from breakeven.errors import say, shown_path

if TYPE_CHECKING:
    from breakeven.studies.study import Outcome


@app.command(short_help="Run studies of published claims; writes results/STUDY/.")
def reproduce(
    studies: Annotated[
        list[str] | None, typer.Argument(help="Studies, or study .py files (default: the five founding studies).")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="The later studies, too.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder of the reports.", show_default="results")] = None,
    threads: ThreadsOption = 0,
    store: StoreOption = None,
    no_store: NoStoreOption = False,
    json: JsonOption = False,
) -> int:
    """Run studies of published claims: tables, figures and a report in results/STUDY/; all verdicts in results/.

    A run that was stopped goes on where it was: the store keeps every point that was simulated.
    """
    from breakeven import api
    from breakeven.cli import summaries
    from breakeven.output.console import progress_bar

    def tell(outcome: Outcome, report: Path) -> None:
        say(f"breakeven: {outcome.study.name} is done: {shown_path(report)}", file=sys.stderr)

    with progress_bar(not json, "reproduce", counted=False) as progress:
        done = api.reproduce(
            *(studies or []), every=every, out=out, threads=threads, store=kept_in(store, no_store), progress=progress,
            on_report=None if json or progress else tell,
        )  # fmt: skip
    return summaries.studies_done(done, out or Path("results"), json)
