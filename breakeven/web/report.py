"""Writes the web page of tables, studies' reports or the store: what `report` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from breakeven.errors import UserError
from breakeven.files.reading import check_links
from breakeven.files.writing import check_target, write_text
from breakeven.output.shell import shell_command
from breakeven.web import page as web_page
from breakeven.web import sources as web_sources


@dataclass(frozen=True)
class Report:
    """A page that was written. `failures`: a sentence for each point whose output was wrong."""

    file: Path
    points: int
    failures: tuple[str, ...]


def write_report(
    sources: Sequence[str],
    out: Path,
    *,
    title: str = "",
    machine: str | None = None,
    settings: Sequence[str] = (),
    machine_files: Sequence[Path] = (),
    command: str = "",
    store: Path | None = None,
) -> Report:
    """The page `out` of `sources` (tables, folders of studies' reports); of none: of the store.

    `machine`: of a store only this machine. `settings`: what the tables' sweep had as ``--set``. `machine_files`: the
    user's machine files that may be run to show their parameters. `command`: what made the tables, if they do not
    tell. Raises `UserError` for a source that is none, and for a page that cannot be written.
    """
    from breakeven.store import default_path

    if out.suffix != ".html":
        raise UserError(f"cannot write {str(out)!r}: the name must end in .html")
    check_target(out)
    for path in machine_files:
        if not path.is_file():
            raise UserError(f"there is no machine file {str(path)!r}")
    again = _again(
        sources,
        {"out": out.name, "title": title, "machine": machine, "command": command, "store": store},
        [("--machine-file", str(path)) for path in machine_files] + [("--set", setting) for setting in settings],
    )
    parts, titles, verdicts = [], [], []
    for source in sources:
        if web_sources.is_study(source):
            check_links(Path(source))
            name, found = web_sources.study_parts(Path(source))
            parts += found
            verdicts += web_sources.study_verdicts(Path(source))
            titles.append(name)
            continue
        part = web_sources.read_part(Path(source), settings)
        parts.append(replace(part, command=command, note="") if command else part)
        titles.append(part.name)
    if not sources:
        parts = web_sources.store_parts(store or default_path(), machine, again)
        titles = ["what has been simulated"]
    write_text(out, web_page.page(title or ", ".join(titles), parts, again, machine_files, verdicts))
    return Report(out, sum(len(part.table) for part in parts), tuple(web_page.failures(parts)))


def _again(sources: Sequence[str], options: dict[str, object], repeated: list[tuple[str, str]]) -> str:
    """The command line of this page."""
    words = [word for name, value in options.items() if value for word in (f"--{name}", str(value))]
    return shell_command("report", sources, [*words, *(word for pair in repeated for word in pair)])
