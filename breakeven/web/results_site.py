"""``results/`` as a web site: ``index.html`` in the folder of each study and of each measured host, and one on top.

They are made from the tables that lie there; a few points are simulated again for their accounts (`details`). A web
server needs nothing but the folder.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from breakeven.errors import UserError
from breakeven.files.reading import check_links
from breakeven.files.writing import write_text
from breakeven.output.html import escape
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.report import report_title
from breakeven.studies.study import DIRECTION_ONLY, NOT_REPRODUCED, NOT_SIMULATED, REPRODUCED
from breakeven.web import page as web_page
from breakeven.web.document import HERE, document
from breakeven.web.sources import Part, Shown, is_study, read_table, study_parts, study_verdicts

INDEX = "index.html"
_VERDICTS = (REPRODUCED, DIRECTION_ONLY, NOT_REPRODUCED, NOT_SIMULATED)
_HEADS = ("claim", "published", "simulated", "verdict", "note")


@dataclass(frozen=True)
class Site:
    """What was written."""

    index: Path
    points: int
    failures: tuple[str, ...]


def is_results(folder: Path) -> bool:
    """Whether a folder holds studies' reports."""
    return not is_study(str(folder)) and any(folder.glob("*/verdicts.csv"))


def write_site(results: Path) -> Site:
    """Writes the pages. Raises `UserError`."""
    check_links(results)
    points, failures = 0, []
    for folder in _folders(results):
        title, parts = study_parts(folder)
        again = f"breakeven reproduce {folder.name}"
        _write(folder / INDEX, web_page.page(title, parts, again, (), study_verdicts(folder), _LINKS))
        points += sum(len(part.table) for part in parts)
        failures += web_page.failures(parts)
    for path in _hosts(results):
        parts = _host(path)
        title = f"{path.parent.name} beside its processor"
        _write(path.with_name(INDEX), web_page.page(title, parts, parts[0].command, links=_LINKS_NATIVE))
        points += sum(len(part.table) for part in parts)
    _write(results / INDEX, _index(results))
    return Site(results / INDEX, points, tuple(failures))


_LINKS = [
    ("all results", "../index.html"),
    ("the report with figures", "README.md"),
    ("every verdict's note", "verdicts.csv"),
]
_LINKS_NATIVE = [("all results", "../../index.html"), ("errors and causes", "README.md"), ("every point", "points.csv")]


def _folders(results: Path) -> list[Path]:
    """The studies' folders; a link to one of them would be the same study once more, by any name."""
    return sorted(
        folder
        for folder in results.glob("*")
        if not folder.is_symlink() and is_study(str(folder)) and (folder / "README.md").is_file()
    )


def _hosts(results: Path) -> list[Path]:
    """The tables of the hosts that were measured."""
    return sorted(path for path in results.glob("native/*/points.csv") if path.is_file())


def _write(path: Path, text: str) -> None:
    try:
        write_text(path, text)
    except OSError as error:
        raise UserError(f"cannot write {str(path)!r}: {error.strerror or error}") from None


def _host(path: Path) -> list[Part]:
    """The points of a host as the preset has them, copies and checksums; the page adds the host's own as dots."""
    from breakeven.analysis.across_engines import NO_SMAP

    spec = MachineSpec(path.parent.name, (NO_SMAP,))
    table = read_table(path, {"offset": "src_offset", "embedded": "cycles_median"})
    table = table[["routine", "size", "src_offset", "cycles_median"]].assign(
        machine=str(spec), cache_state="warm", measure="latency", dst_offset=table["src_offset"]
    )
    is_checksum = table["routine"].str.contains("csum")
    about, command = "simulated; diamonds: the host's own processor", f"python scripts/native.py {spec.name}"
    return [
        Part(name, about, some.reset_index(drop=True), command, [Shown(spec)])
        for name, some in (("copies", table[~is_checksum]), ("checksums", table[is_checksum])) if len(some)
    ]  # fmt: skip


def _address(*names: str) -> str:
    """A file below the page, as a link's address: a folder may be called `javascript:...`."""
    return "./" + "/".join(quote(name, safe="") for name in names)


def _index(results: Path) -> str:
    summary, bodies = [], []
    for folder in _folders(results):
        rows = study_verdicts(folder)
        counts = Counter(row[3] for row in rows)
        title = report_title(folder)
        there = _address(folder.name, INDEX if (folder / INDEX).is_file() else "README.md")
        cells = "".join(f'<td class="number">{counts[verdict]}</td>' for verdict in _VERDICTS)
        summary.append(f'<tr><td><a href="{escape(there)}">{escape(title)}</a></td>{cells}</tr>')
        bodies.append(f'<h2 id="{escape(folder.name)}"><a href="{escape(there)}">{escape(title)}</a></h2>')
        bodies.append(f'<div class="rows whole">{web_page.verdict_table(rows)}</div>')
    presets = [path.parent.name for path in _hosts(results)]
    hosts = [
        f'<li><a href="{escape(_address("native", name, INDEX))}">{escape(name)}</a> beside its own processor</li>'
        for name in presets
    ]
    heads = "".join(f"<th>{name}</th>" for name in ("study", *_VERDICTS))
    ledger = ': <a href="ledger.md">the ledger</a> says which' if (results / "ledger.md").is_file() else ""
    body = (
        "<h1>Published claims, simulated</h1>\n"
        f"<p>Rows of each study by verdict, those that cannot fail among them{ledger}.</p>\n"
        f'<div class="rows whole"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(summary)}</tbody></table></div>\n"
        + (f"<h2>Presets beside hosts</h2><ul>{''.join(hosts)}</ul>\n" if hosts else "")
        + "\n".join(bodies)
    )
    return document("breakeven: published claims, simulated", body, {}, [HERE / "page.css"], [])
