"""What a web page of results is made from: a table that `sweep` wrote, the folder of a study's report, or the store.

Each source gives parts: a tidy table with the machines it is of, and the command that makes it again.
"""

from __future__ import annotations

import io
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.errors import UserError, say
from breakeven.files.binaries import load_engine
from breakeven.files.places import resolved
from breakeven.files.reading import csv_rows, parsed_json, read_bounded
from breakeven.output.shell import shell_command
from breakeven.points import FLAG_HUGE_PAGES, STREAM_FLAGS, stream_calls
from breakeven.points.machine_spec import HOST, MachineSpec
from breakeven.points.measurements import AGAIN, REPETITIONS, repetitions_of
from breakeven.points.ranges import ranges_text
from breakeven.points.record import RANGES
from breakeven.points.result import MOST_CYCLES
from breakeven.points.table import DESCRIBED, FORMATS, SETTINGS
from breakeven.sweeps.request import CALLS, MIX_CALLS

if TYPE_CHECKING:
    import pandas as pd

    from breakeven.sweeps.spec import SweepSpec


#: what every table must have
_NEEDED = ("routine", "size", "cycles_median")
#: rows times columns of a compressed table: ten times what a page holds
_MOST_CELLS = 1 << 26
#: each is made and described
_MOST_MACHINES = 200
#: bytes of its texts, and of all its columns as they are packed into pages
_MOST_UNPACKED = 1 << 28
#: characters of a machine's description, and of all of a page: ours have 200,000, and take ten times that in memory
_MOST_DESCRIPTION, _MOST_DESCRIBED = 1 << 21, 1 << 25
#: columns that must hold numbers, and names, where there are such columns
_LIMITS = {
    **{name: RANGES[name] for name in RANGES if name not in ("cache_state", "measure", "flags", "mix")},
    "cycles_median": (0, MOST_CYCLES), "cycles_min": (0, MOST_CYCLES),
}  # fmt: skip
_NUMBERS = ("calls", "src_offset", "dst_offset", "repetitions", "instructions")
_TEXTS = ("routine", "machine", "cache_state", "measure")
#: a sweep's own columns; any other is a machine parameter that was swept
_OWN = (
    "routine", "machine", "size", "src_offset", "dst_offset", "cache_state", "measure", "repetitions", "calls",
    "cycles", "cycles_min", "cycles_median", "cycles_total", "instructions", "overhead", "converged", "ok", "status",
    "detail",
    "machine_hash", "engine", "guest", SETTINGS, *DESCRIBED,
)  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """A machine of the page. `description`: as the results were simulated, when they say so."""

    spec: MachineSpec
    description: dict[str, Any] | None = None


@dataclass(frozen=True)
class Part:
    """One table of the page."""

    name: str
    #: what it is for, in a few words
    about: str
    table: pd.DataFrame
    #: makes the table again; empty: the table does not tell
    command: str
    machines: Sequence[Shown] = field(default_factory=tuple)
    #: what the reader has to know of it
    note: str = ""


def parameters(table: pd.DataFrame) -> list[str]:
    """The swept machine parameters of a table: dotted paths as column names."""
    return [str(name) for name in table.columns if name not in _OWN]


def read_part(path: Path, settings: Sequence[str] = ()) -> Part:
    """A table that `sweep`, `compare` or `store export` wrote; `settings`: more ``--set`` that it was made with."""
    table = read_table(path)
    own = [_split(text) for text in table[SETTINGS]] if SETTINGS in table else [()] * len(table)
    pairs = dict.fromkeys(zip(table["machine"], own, strict=True)) if "machine" in table else {}
    if len(pairs) > _MOST_MACHINES:
        raise UserError(f"{str(path)!r} has {len(pairs)} machines: a page can show {_MOST_MACHINES}")
    machines = [Shown(_spec(str(name), (*mine, *settings))) for name, mine in pairs]
    if len(set(own)) > 1:
        note = "Its rows are of sweeps with different --set: no one command makes them all."
        return Part(path.name, "", table, "", machines, note)
    return Part(path.name, "", table, _sweep_command(table, path, settings), machines)


def _split(text: object) -> tuple[str, ...]:
    """A row's settings; none where a row of another sweep has nothing."""
    try:
        return tuple(shlex.split(text)) if isinstance(text, str) else ()
    except ValueError:
        raise UserError(f"not a table of results: {text!r} are no settings") from None


def read_table(path: Path, named: Mapping[str, str] | None = None) -> pd.DataFrame:
    """The results in a file; raises `UserError` for one that is no such table. `named`: what the file calls a column
    that it must have, and its name."""
    import numpy as np
    import pandas as pd

    if path.suffix not in FORMATS:
        raise UserError(f"cannot read {str(path)!r}: the name must end in {', '.join(FORMATS)}")
    try:
        if path.suffix == ".parquet":
            table = _parquet(path)
        else:
            data = read_bounded(path)
            text = io.BytesIO(data)
            # Names stay text: a routine may be called 123 or NA.
            if path.suffix == ".csv":
                ends = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
                _check_cells(ends + 1, len(pd.read_csv(io.BytesIO(data), nrows=0).columns), data)
                names = dict.fromkeys(_TEXTS, str)
                table = pd.read_csv(text, low_memory=False, dtype=names, keep_default_na=False, na_values=[""])
            else:
                _check_records(data)
                table = pd.read_json(text, orient="records", dtype=dict.fromkeys(_TEXTS, "str"))
    except OSError as error:
        raise UserError(f"cannot read {str(path)!r}: {(error.strerror or str(error)).lower()}") from None
    except ImportError:
        raise UserError(f"reading {str(path)!r} needs the package pyarrow: install it, or write .csv") from None
    except ValueError as error:
        raise UserError(f"{str(path)!r} is not a table of results: {str(error).splitlines()[0]}") from None
    named = {name: name for name in _NEEDED if name not in (named or {}).values()} | dict(named or {})
    missing = [name for name in named if name not in table]
    if missing:
        raise UserError(f"{str(path)!r} is not a table of results: it has no column {missing[0]}")
    table = table.drop(columns=[*set(named.values()) - set(named)], errors="ignore").rename(columns=named)
    if table.empty:
        raise UserError(f"{str(path)!r} is not a table of results: it has no rows")
    for name in ("size", "cycles_median", *(each for each in (*_NUMBERS, *DESCRIBED) if each in table)):
        # A row of another sweep has nothing where this one says what it had otherwise than by default.
        column = table[name].dropna() if name in DESCRIBED else table[name]
        if len(column) and not (pd.api.types.is_numeric_dtype(column) and np.isfinite(column).all()):
            raise UserError(f"{str(path)!r} is not a table of results: not every {name} is a number")
    for name, (least, most) in _LIMITS.items():
        if name in table and not _within(table[name].dropna(), least, most):
            raise UserError(f"{str(path)!r} is not a table of results: not every {name} is between {least} and {most}")
    for name in (each for each in _TEXTS if each in table):
        if not all(isinstance(value, str) and value for value in table[name]):
            raise UserError(f"{str(path)!r} is not a table of results: not every {name} is a name")
    return table


def _within(column: pd.Series, least: float, most: float) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_numeric_dtype(column) and column.between(least, most).all()) if len(column) else True


def _check_cells(rows: int, columns: int, data: bytes) -> None:
    """Raises `ValueError` for rows that leave most cells of a wide table out: as a table they would take the square of
    what the file takes."""
    if rows * columns > 2 * len(data):
        raise ValueError(f"its rows are shorter than its {columns} columns")


def _check_records(data: bytes) -> None:
    found = parsed_json(data)
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise ValueError("it is no list of records")
    if any(isinstance(value, (list, dict)) for row in found for value in row.values()):
        raise ValueError("a value is a list or a record of its own")
    _check_cells(len(found), len({name for row in found for name in row}), data)


def _parquet(path: Path) -> pd.DataFrame:
    """Raises `ValueError` for a file that is damaged or too large: what reads it raises errors of every kind."""
    from importlib.util import find_spec

    import pandas as pd

    options = {"page_checksum_verification": True} if find_spec("pyarrow") else {}
    try:
        if options:
            _check_sizes(path, options)
        return pd.read_parquet(path, **options)
    except (ImportError, UserError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the system's: data that are damaged have no number
        raise ValueError(f"it is damaged ({type(error).__name__}: {str(error).strip()})") from None


def _check_sizes(path: Path, options: dict[str, Any]) -> None:
    """Raises `UserError` for a table of Parquet that is larger than a page can hold: what it says of itself, and its
    texts, each of which may stand in the file once and in the table for every row."""
    from importlib import import_module

    parquet, compute = import_module("pyarrow.parquet"), import_module("pyarrow.compute")
    types = import_module("pyarrow.types")
    if any(types.is_nested(field.type) for field in parquet.read_schema(path)):
        raise UserError(f"{str(path)!r} is not a table of results: a column holds neither numbers nor texts")
    found = parquet.read_metadata(path)
    if found.num_rows * found.num_columns > _MOST_CELLS:
        raise UserError(f"{str(path)!r} has {found.num_rows} rows: more than a page can hold")
    columns = [found.schema.column(i) for i in range(found.num_columns)]
    if any(column.max_repetition_level or column.physical_type == "FIXED_LEN_BYTE_ARRAY" for column in columns):
        raise UserError(f"{str(path)!r} is not a table of results: a column holds neither numbers nor texts")
    groups = [found.row_group(i) for i in range(found.num_row_groups)]
    size = sum(group.column(i).total_uncompressed_size for group in groups for i in range(group.num_columns))
    texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
    if max(size, path.stat().st_size) <= _MOST_UNPACKED:
        for column in parquet.read_table(path, columns=texts, read_dictionary=texts, **options).columns:
            for chunk in column.chunks:
                size += compute.sum(compute.binary_length(chunk.dictionary).take(chunk.indices)).as_py() or 0
    if max(size, path.stat().st_size) > _MOST_UNPACKED:
        raise UserError(f"{str(path)!r} unpacks to more than {_MOST_UNPACKED} bytes: more than a page can hold")


def _spec(text: str, settings: Sequence[str] = ()) -> MachineSpec:
    """A machine by what a table calls it: its name (a file's may have spaces), and in a store's its settings."""
    name, *own = re.split(r" (?=[\w.\[\]]+=)", text)
    return MachineSpec(name, (*own, *settings))


def _sweep_command(table: pd.DataFrame, path: Path, settings: Sequence[str]) -> str:
    """The sweep that has this table; empty when its rows are not the product of their axes."""
    if not {"machine", "src_offset", "dst_offset", "cache_state", "measure"} <= set(table.columns):
        return ""
    swept = [name for name in parameters(table) if name not in ("mix", "align")]
    axes = {
        name: list(dict.fromkeys(table[name]))
        for name in ("routine", "machine", "size", "src_offset", "dst_offset", "cache_state", "measure", *swept)
    }
    product = 1
    for values in axes.values():
        product *= len(values)
    machines = [str(name) for name in axes["machine"]]
    # Of several engines, or of machines with settings of their own: no one sweep has such a table.
    several = "engine" in table or (HOST in machines and len(machines) > 1)
    if product != len(table) or several or any(" " in name for name in machines):
        return ""
    words: list[str] = []
    for name in machines:
        words += ["--engine", "native"] if name == HOST else ["--machine", name]
    for option, name in (("--sizes", "size"), ("--src", "src_offset"), ("--dst", "dst_offset")):
        words += [option, ranges_text([int(value) for value in axes[name]])]
    words += ["--cache", ",".join(axes["cache_state"])]
    if "mix" in table:
        # A store's table has the name of its list of calls in place of what it was drawn from.
        if table["mix"].nunique() != 1 or not isinstance(table["mix"].iloc[0], str):
            return ""
        words += ["--mix", table["mix"].iloc[0]]
        words += ["--align", str(int(table["align"].iloc[0]))] if "align" in table else []
    else:
        words += ["--measure", ",".join(axes["measure"])]
    calls = set(table.get("calls", ())) - {1}
    if len(calls) == 1 and (value := int(calls.pop())) != (MIX_CALLS if "mix" in table else CALLS):
        words += ["--calls", str(value)]
    taken = {(measure, int(n)) for measure, n in zip(table["measure"], table.get("repetitions", []), strict=False)}
    # By rule, those that had not converged.
    taken -= {(measure, AGAIN) for measure, n in taken if n == REPETITIONS}
    if any(n != repetitions_of(measure) for measure, n in taken):
        if len({n for _, n in taken}) > 1:
            return ""
        words += ["--repetitions", str(taken.pop()[1])]
    for setting in (*(_split(table[SETTINGS].iloc[0]) if SETTINGS in table else ()), *settings):
        words += ["--set", setting]
    words += _described_words(table)
    for name in swept:
        words += ["--sweep", f"{name}={','.join(str(value) for value in axes[name])}"]
    return shell_command("sweep", [str(name) for name in axes["routine"]], [*words, "--out", path.name])


#: the options of the columns that `described` adds
_OPTIONS = {
    "warmup": "--warmup", "seed": "--seed", "parameter": "--parameter", "size2": "--size2", "src_offset2": "--src2",
    "dst_offset2": "--dst2", "distance": "--distance",
}  # fmt: skip


def _described_words(table: pd.DataFrame) -> list[str]:
    """Options for what the sweep had otherwise than by default."""
    words = []
    for name, option in _OPTIONS.items():
        if name in table and table[name].notna().all() and table[name].nunique() == 1:
            words += [option, str(int(table[name].iloc[0]))]
    flags = int(table["flags"].iloc[0]) if "flags" in table and table["flags"].notna().all() else 0
    words += ["--huge-pages"] if flags & FLAG_HUGE_PAGES else []
    streams = [word for word, bit in STREAM_FLAGS.items() if flags & bit]
    words += ["--stream", ",".join(streams)] if streams else []
    return words


def is_study(source: str) -> bool:
    """Whether a source is the folder of a study's report."""
    return (Path(source) / "verdicts.csv").is_file()


def study_parts(folder: Path) -> tuple[str, list[Part]]:
    """The title and the tables of a study's report; what a table leaves out as constant comes from the study that the
    folder is called after."""
    from breakeven.studies.finding import shipped_study

    study = shipped_study(resolved(folder).name)
    command = shell_command("reproduce", [study.name])
    parts = []
    for name, (about, spec) in {**study.grids, **study.searches}.items():
        path = folder / f"data-{name}.csv"
        if path.is_file():
            table = _with_constants(read_table(path), spec)
            parts.append(Part(name, about, table, command, [Shown(machine) for machine in spec.machines]))
    if not parts:
        raise UserError(f"{str(folder)!r} has no data of {study.name}: run `{command}` first")
    return study.title, parts


def study_verdicts(folder: Path) -> list[list[str]]:
    """Claim, published, simulated, verdict and note of each claim of a study's report."""
    rows = csv_rows(folder / "verdicts.csv")
    return [[row.get(name) or "" for name in ("claim", "published", "simulated", "verdict", "note")] for row in rows]


def _with_constants(table: pd.DataFrame, spec: SweepSpec) -> pd.DataFrame:
    (src, dst), *more = dict.fromkeys(spec.pairs())
    constants: dict[str, Sequence[Any]] = {
        "machine": spec.machines, "cache_state": spec.cache_states, "measure": spec.measures,
        "src_offset": [src] if len({a for a, _ in [(src, dst), *more]}) == 1 else [],
        "dst_offset": [dst] if len({b for _, b in [(src, dst), *more]}) == 1 else [],
    }  # fmt: skip
    missing = {name: str(values[0]) for name, values in constants.items() if name not in table and len(values) == 1}
    offsets = {name: int(value) for name, value in missing.items() if name.endswith("offset")}
    calls: dict[str, Any] = {}
    if "calls" not in table and set(spec.measures) <= {"throughput", "interleaved"}:
        calls = {"calls": spec.calls}
    elif "calls" not in table and set(spec.measures) == {"stream"}:
        calls = {"calls": [stream_calls(spec.total, int(size)) for size in table["size"]]}
    asked = {column: getattr(spec, name) for column, name in DESCRIBED.items() if column not in table}
    usual = {column: type(spec).__dataclass_fields__[DESCRIBED[column]].default for column in asked}
    described = {column: value for column, value in asked.items() if value != usual[column]}
    if "repetitions" not in table and len(spec.measures) == 1:
        described["repetitions"] = spec.repetitions_of(spec.measures[0])
    return table.assign(**{**missing, **offsets, **calls, **described})


def _described(text: str, most: int) -> dict[str, Any] | None:
    """A machine's description as the store has it; None where it is none of this engine's, or has too many characters:
    whoever made the store may have written anything."""
    with suppress(ValueError, RecursionError):
        if len(text) <= min(most, _MOST_DESCRIPTION) and not load_engine().check_description(text):
            found = parsed_json(text)
            return found if isinstance(found, dict) else None
    return None


def store_parts(path: Path, machine: str | None, again: str) -> list[Part]:
    """The points that this engine has simulated, a part for each machine; `again`: the command that shows them."""
    from breakeven.routine.checks import know_routines
    from breakeven.store import Store
    from breakeven.store.contents import tables, without_defaults

    know_routines()
    if not path.is_file():
        raise UserError(f"there is no store {str(path)!r}: run, sweep, compare and reproduce make one")
    present = load_engine().fingerprint
    parts, left, lost = [], _MOST_DESCRIBED, 0
    with Store(path, reading=True) as store, store.telling("left out"):
        for context, rows in tables(store, machine, present):
            table = without_defaults(rows.drop(columns=["machine_hash", "engine", "guest"]))
            said = store.description(context.id)
            description = None if said is None else _described(said, left)
            left -= len(said or "") if description else 0
            lost += said is not None and description is None
            shown = Shown(_spec(context.machine), description)
            parts.append(Part(context.machine, "from the store", table, again, [shown]))
        contexts = () if parts else store.contexts()
    if lost:
        text = f"{lost} descriptions of machines in the store {str(path)!r} are none, or too long"
        say(f"breakeven: {text}: left out", file=sys.stderr)
    if not parts:
        known = sorted({item.machine for item in contexts if item.identity.engine == present and item.points})
        raise UserError(
            f"the store has no points of {machine}; there are: {', '.join(known)}"
            if machine and known
            else f"the store {str(path)!r} has no points of this engine: simulate some"
        )
    return parts
