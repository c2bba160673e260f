"""Results as one HTML page: `report`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from breakeven.cli.app import EXIT_WRONG, app
from breakeven.cli.options import JsonOption, StoreOption
from breakeven.errors import UserError


@app.command(short_help="A sweep, a study or the store as one HTML page.")
def report(
    sources: Annotated[
        list[str] | None,
        typer.Argument(help="Tables of sweep (.csv, .json, .parquet), folders of studies' reports; none: the store."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page, .html.")] = Path("report.html"),
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
    from dataclasses import replace

    from breakeven import report_cli, web_page, web_sources
    from breakeven.console import print_json
    from breakeven.output_file import write_text
    from breakeven.paths import check_target
    from breakeven.store import default_path

    if out.suffix != ".html":
        raise UserError(f"cannot write {str(out)!r}: the name must end in .html")
    check_target(out)
    for path in machine_files:
        if not path.is_file():
            raise UserError(f"there is no machine file {str(path)!r}")
    again = _again(
        sources or [],
        {"out": out.name, "title": title, "machine": machine, "command": command, "store": store},
        [("--machine-file", str(path)) for path in machine_files] + [("--set", setting) for setting in settings],
    )
    parts, titles = [], []
    for source in sources or []:
        if web_sources.is_study(source):
            name, found = web_sources.study_parts(Path(source))
            parts += found
            titles.append(name)
            continue
        part = web_sources.read_part(Path(source), settings)
        parts.append(replace(part, command=command, note="") if command else part)
        titles.append(part.name)
    if not sources:
        parts = web_sources.store_parts(store or default_path(), machine, again)
        titles = ["what has been simulated"]
    text = web_page.page(title or ", ".join(titles), parts, again, machine_files)
    write_text(out, text)
    points, bad = sum(len(part.table) for part in parts), web_page.failures(parts)
    if json:
        print_json({"file": str(out), "points": points, "wrong": len(bad), "first_wrong": bad[0] if bad else None})
    else:
        print(f"{points} points: {out}")
    report_cli.loud(bad, points)
    return EXIT_WRONG if bad else 0


def _again(sources: list[str], options: dict[str, object], repeated: list[tuple[str, str]]) -> str:
    """The command line of this page."""
    words = ["breakeven", "report", *sources]
    for name, value in options.items():
        words += [f"--{name}", str(value)] if value else []
    return shlex.join([*words, *(word for pair in repeated for word in pair)])
