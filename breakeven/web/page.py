"""Results as one HTML file that needs no network: figures to hover over, tables to sort and filter, the machines.

The data stand in the page as JSON; ``web/page.js`` draws them. A page of the same results is the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence, Set
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.analysis.crossings import leads
from breakeven.analysis.verdict import chosen, cost, describe_leads, describe_spikes, marks_of
from breakeven.config.describe import describe
from breakeven.errors import UserError
from breakeven.files.places import resolved
from breakeven.m5 import machine_hash
from breakeven.machine.clock import core_period
from breakeven.machine.diff import parameters_of
from breakeven.machine.page import Page, legend
from breakeven.machine.presets import MachineError, find_machine, is_file_name, load_machine, preset_at
from breakeven.machine.resolve import resolve, resolving
from breakeven.machine.sources import Sources, Unmarked
from breakeven.output import html
from breakeven.output.html import escape
from breakeven.points.machine_spec import HOST, MachineSpec
from breakeven.points.measurements import again_words, one_number
from breakeven.points.table import DESCRIBED
from breakeven.routine.checks import jobs_of
from breakeven.studies.published import dots
from breakeven.web.details import Details
from breakeven.web.document import HERE, document
from breakeven.web.sources import Part, Shown, parameters

if TYPE_CHECKING:
    import pandas as pd

    from breakeven.config.simobject import SimObject


#: rows in one page: some 60 bytes each
MAX_ROWS = 200_000
#: conditions whose leads are told
_MAX_LEADS = 5000
#: of them those that are also told as a sentence, some 100 bytes each
_MAX_SAID = 500
#: what makes a condition, besides the machine parameters that were swept
_CONDITION = (
    "engine", "guest", "machine", "src_offset", "dst_offset", "cache_state", "measure", "calls", "repetitions",
)  # fmt: skip
#: of these what follows from the rest of a condition says nothing
_FOLLOWING = ("engine", "guest", "calls", "repetitions")
_COLUMNS = ("routine", "size", *_CONDITION)


def failures(parts: Sequence[Part]) -> list[str]:
    """A sentence for each point whose output was wrong."""
    found = []
    for part in parts:
        if "ok" in part.table:
            for row in part.table[~part.table["ok"].astype(bool)].itertuples():
                found.append(f"{part.name}: {row.routine}, size {row.size}")
    return found


def page(
    title: str, parts: Sequence[Part], again: str, machine_files: Iterable[Path] = (),
    verdicts: Sequence[Sequence[str]] = (), links: Sequence[tuple[str, str]] = (),
) -> str:  # fmt: skip
    """The HTML text. `again`: the command that writes this page from its sources. `verdicts`: of studies
    (`sources.study_verdicts`). `links`: text and address of each page that stands beside this one.

    `machine_files`: the user's machine files that may be run to show their parameters. A table or a store that names
    another file gets no parameters: data must not choose code that is run.
    """
    rows = sum(len(part.table) for part in parts)
    if rows > MAX_ROWS:
        raise UserError(f"{rows} points are more than a page holds ({MAX_ROWS}): take one machine, or fewer sizes")
    trusted = {resolved(path) for path in machine_files}
    machines = _once([_machine(one, trusted) for one in _machines(parts)])
    with resolving(), Details(lambda spec: _may_be_run(spec, trusted), len(parts)) as details:
        shown = [_part(part, details) for part in parts]
        _look_further(parts, shown, details)
        data = {"parts": shown, "machines": machines, "code": details.listings}
    commands = dict.fromkeys([*(part.command for part in parts if part.command), again])
    body = (
        f"{_links(links)}<h1>{escape(title)}</h1>\n{html.wrong(failures(parts))}{_verdicts(verdicts)}"
        f'<p>{rows} points. Made again by</p>\n<pre class="command">{_lines(commands)}</pre>\n{_left_out(parts)}'
        '<div id="parts"></div>\n<h2>Machines</h2>\n<div id="machines"></div>\n'
    )
    return document(title, body, data, [HERE / "page.css"], [HERE / "page.js"])


def _verdicts(verdicts: Sequence[Sequence[str]]) -> str:
    """What studies found of their claims: claim, published, simulated, verdict, note."""
    if not verdicts:
        return ""
    held, rows = sum(row[3] == "reproduced" for row in verdicts), verdict_table(verdicts)
    said = f"{held} of {len(verdicts)} claims reproduced"
    return f'<details open><summary class="said">{said}</summary><div class="rows">{rows}</div></details>\n'


def verdict_table(rows: Sequence[Sequence[str]]) -> str:
    """Claim, published, simulated, verdict and note of each row as an HTML table."""
    return html.table(("claim", "published", "simulated", "verdict", "note"), rows)


def _links(links: Sequence[tuple[str, str]]) -> str:
    shown = " &middot; ".join(f'<a href="{escape(to)}">{escape(text)}</a>' for text, to in links)
    return f"<nav>{shown}</nav>\n" if links else ""


def _lines(commands: Iterable[str]) -> str:
    return "\n".join(map(escape, commands))


def _left_out(parts: Iterable[Part]) -> str:
    """What the reader of the curves must know besides."""
    unknown = [part.name for part in parts if not part.command]
    said = [f"The command that made {', '.join(unknown)} cannot be told from its table."] if unknown else []
    for part in parts:
        again = again_words(part.table) if "repetitions" in part.table else ""
        said += [f"{part.name}: {again}."] if again else []
    return "".join(f"<p>{escape(text)}</p>\n" for text in said)


def _look_further(parts: Sequence[Part], shown: list[dict[str, Any]], details: Details) -> None:
    """Gives parts of long points alone one that was looked into (``points``), or says why not (``without``)."""
    left = [(one, part) for one, part in zip(shown, parts, strict=True) if not one["points"]]
    asked = [(part, *_table(part)[::2]) for _, part in left]
    for (one, _), found in zip(left, details.of_long(asked), strict=True):
        if isinstance(found, str):
            one["without"] = found
        else:
            one["points"] = [_looked_at(found)]


def _looked_at(one: dict[str, Any]) -> dict[str, Any]:
    return {**one, "where": {name: _plain(value) for name, value in one["where"].items()}}


def _table(part: Part) -> tuple[pd.DataFrame, list[str], list[str]]:
    """A part's table with cycles of a call, the columns that a page shows, and those of them with several values."""
    swept = parameters(part.table)
    table = one_number(part.table, ("routine", "size", *_CONDITION, *DESCRIBED, *swept, "machine_hash"))
    calls = table.get("calls", 1)
    cycles = table["cycles_median"] / calls
    table = table.assign(cycles=cycles, bytes_a_cycle=(table["size"] / cycles.where(cycles > 0)).round(4))
    names = [name for name in (*_COLUMNS, *DESCRIBED, *swept) if name in table]
    varying = [name for name in names if name in ("routine", "size") or table[name].nunique() > 1]
    for name in _FOLLOWING:
        # As a host's engine from its machine, and a stream's calls from its size.
        others = [other for other in varying if other not in (name, "routine")]
        if name in varying and others and table.groupby(others, dropna=False)[name].nunique().max() == 1:
            varying.remove(name)
    return table, names, varying


def _part(part: Part, details: Details) -> dict[str, Any]:
    table, names, varying = _table(part)
    measured = [name for name in ("cycles", "bytes_a_cycle", "instructions") if name in table]
    if "ok" in table and not table["ok"].all():
        measured.append("ok")
    constants = {
        name: _plain(table[name].iloc[0]) for name in names if name not in varying and table[name].nunique() == 1
    }
    return {
        "name": part.name,
        "about": part.about,
        "note": part.note,
        "constants": constants,
        "axes": varying,
        "measured": [name for name in measured if name != "ok"],
        "columns": [{"name": name, **_packed(table[name])} for name in (*varying, *measured)],
        "dots": _dots(table, varying),
        "points": [_looked_at(one) for one in details.of(part, table, varying)],
        "leads": _leads(table, [name for name in varying if name not in ("routine", "size")]),
    }


def _period(machine: str) -> int:
    return core_period(resolve(MachineSpec(machine)))


def _dots(table: pd.DataFrame, varying: list[str]) -> list[dict[str, Any]]:
    """What was measured on the hardware of the table's presets: ``where``, the values of the axes it stands beside."""

    names = ["machine", "src_offset", "dst_offset", "cache_state", "measure"]
    if not {"routine", *names} <= set(table):
        return []
    found = []
    routines, least, most = sorted(set(table["routine"])), table["size"].min(), table["size"].max()
    for condition in table[names].drop_duplicates().itertuples(index=False):
        machine = str(condition[0]).partition(" ")[0]
        where = {name: _plain(value) for name, value in zip(names, condition, strict=True) if name in varying}
        measured = dots(
            machine, routines, int(condition[1]), int(condition[2]), str(condition[3]), str(condition[4]),
            partial(_period, machine),
        )  # fmt: skip
        found += [
            {"where": where, "routine": dot.routine, "size": dot.size, "cycles": _plain(dot.cycles), "said": dot.said}
            for dot in measured if least <= dot.size <= most
        ]  # fmt: skip
    return found


def _plain(value: Any) -> Any:
    """A cell as JSON has it: numbers without needless digits, NaN as null."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return None if value != value or value in (float("inf"), -float("inf")) else float(f"{value:.6g}")
    return value if isinstance(value, (int, str)) else str(value)


def _packed(column: pd.Series) -> dict[str, Any]:
    """A column's values; of few different texts the texts once and their numbers."""
    values = [_plain(value) for value in column]
    if any(isinstance(value, str) for value in values):
        texts = list(dict.fromkeys(map(str, values)))
        number = {text: i for i, text in enumerate(texts)}
        return {"texts": texts, "values": [number[str(value)] for value in values]}
    return {"values": values}


def _leads(table: pd.DataFrame, conditions: list[str]) -> dict[str, Any] | None:
    """Who leads where, for every condition and job; None where there is nothing to compare."""

    rows: list[list[Any]] = []
    said: list[list[str]] = []
    marks: list[list[list[Any]]] = []
    jobs = jobs_of(set(table["routine"]))
    by = [*conditions, table["routine"].map(lambda name: jobs.get(name, ""))]
    for key, group in table.groupby(by, sort=False):
        if len(rows) >= _MAX_LEADS:
            break
        wide = group.pivot_table(index="size", columns="routine", values="cycles", aggfunc="median", sort=True).dropna()
        if len(wide.columns) < 2 or len(wide) < 2:
            continue
        sizes = [int(size) for size in wide.index]
        found = leads(sizes, {str(name): list(wide[name]) for name in wide})
        choice, told = found.choice, len(rows) < _MAX_SAID
        where = [_plain(value) for value in (key if isinstance(key, tuple) else (key,))[: len(conditions)]]
        rule = (
            [chosen(choice), choice.below, choice.above, cost(choice.loss)] if choice else ["either", "", "", "nothing"]
        )
        rows.append([*where, len(wide.columns), *rule])
        said.append([describe_leads(found), *describe_spikes(found)] if told else [])
        marks.append([[mark.leader, mark.lower, mark.size] for mark in marks_of(found)])
    if not rows:
        return None
    heads = ["routines", "ship", "below it", "from it on", "costs"]
    return {"columns": [*conditions, *heads], "conditions": len(conditions), "rows": rows, "said": said, "marks": marks}


def _machines(parts: Iterable[Part]) -> list[Shown]:
    """Each machine once, in the order in which the parts name them."""
    found: dict[tuple[str, str], Shown] = {}
    for part in parts:
        for shown in part.machines:
            found.setdefault((str(shown.spec), json.dumps(shown.description, sort_keys=True)), shown)
    return list(found.values())


def _may_be_run(spec: MachineSpec, trusted: Set[Path]) -> bool:
    """Whether a machine's file may be run: a preset's, or one that the user named."""
    try:
        path = find_machine(spec.name)
    except MachineError:
        return False
    return not is_file_name(spec.name) or resolved(path) in trusted


def _once(machines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The machines, of which a further variant of a preset has only what differs: ``like``, the place of the first;
    None for a section as there, and the parameters whose values differ."""
    first: dict[str, int] = {}
    found = []
    for place, each in enumerate(machines):
        base = machines[first.setdefault(each["name"].partition(" ")[0], place)]
        before = dict(base.get("parameters", ()))
        # A host, or a machine of which only the name is known, has neither sections nor parameters.
        if base is not each and before and before.keys() == dict(each.get("parameters", ())).keys():
            pairs = zip(each["sections"], [*base["sections"], *([None] * len(each["sections"]))], strict=False)
            each = {
                **each, "like": first[each["name"].partition(" ")[0]],
                "sections": [None if own == other else own for own, other in pairs],
                "parameters": [pair for pair in each["parameters"] if before[pair[0]] != pair[1]],
            }  # fmt: skip
        found.append(each)
    return found


#: of a machine that only its name is known of
_UNKNOWN = "no preset of this name: name its file with --machine-file to see its parameters"


def _machine(shown: Shown, trusted: Set[Path]) -> dict[str, Any]:

    loaded = _loaded(shown, trusted)
    description = shown.description or (loaded and loaded[0])
    if shown.spec.name == HOST:
        return {"name": HOST, "about": "the processor of the host that the points were measured on"}
    if description is None:
        return {"name": str(shown.spec), "about": _UNKNOWN}
    digest = machine_hash(description)
    if loaded and machine_hash(loaded[0]) == digest:
        sources: Sources | Unmarked = loaded[1]
        about, marks = loaded[2], legend()
    else:
        about = "as it was when the points were simulated" + ("; its file says otherwise now" if loaded else "")
        sources, marks = Unmarked(description), ""
    sections = [[heading, lines] for heading, lines in Page(description, sources).sections()]
    cited = [f"{row}  {says}" for row, says in sources.rows()]
    if cited:
        sections.append(["rows of configs/machines/uarch.csv", cited])
    return {
        "name": str(shown.spec), "about": about, "hash": digest, "marks": marks, "sections": sections,
        "parameters": [list(pair) for pair in parameters_of(description)],
    }  # fmt: skip


def _loaded(shown: Shown, trusted: Set[Path]) -> tuple[dict[str, Any], Sources, str] | None:
    """Description, sources and a line about the machine as its file has it; None for no preset of ours and no file
    that the user named."""

    if not _may_be_run(shown.spec, trusted):
        return None
    path = find_machine(shown.spec.name)
    root: SimObject = load_machine(shown.spec.name, shown.spec.settings)
    preset = preset_at(path)
    about = preset.description if preset else "a machine of your own"
    return describe(root), Sources(root, tuple(shown.spec.settings)), about
