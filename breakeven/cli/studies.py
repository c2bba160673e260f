"""Studies of published claims: `reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breakeven.cli.app import app
from breakeven.cli.options import JsonOption, NoStoreOption, StoreOption, ThreadsOption
from breakeven.engines.open import open_engine


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
    from breakeven.cli import summaries
    from breakeven.output.console import progress_bar
    from breakeven.studies.report import write_report
    from breakeven.studies.results_page import write_results_page
    from breakeven.studies.study import find_studies, run_study

    done = []
    with open_engine(None, store, no_store) as engine:
        for study in find_studies(studies or []):
            with progress_bar(not json, study.name) as progress:
                outcome = run_study(study, engine, threads, progress)
            done.append((outcome, write_report(outcome, out / study.name)))
    write_results_page(out)
    return summaries.studies_done(done, json)
