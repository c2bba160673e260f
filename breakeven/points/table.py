"""The tidy table of points and their results, and the files it is written to."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from breakeven.errors import UserError, printable
from breakeven.files.writing import check_target, default_place, replacing
from breakeven.points import record as pt
from breakeven.points.measurements import converged_column
from breakeven.points.result import describe_status

if TYPE_CHECKING:
    import pandas as pd


def frame(machine: str, parameters: dict[str, str], records: np.ndarray, results: np.ndarray) -> pd.DataFrame:
    """The tidy table of one machine's points.

    `cycles_*` are of `calls` calls together, without `overhead`: an empty call's cycles (a stream's: of its loop).
    Nothing is subtracted from throughput and interleaved: their overhead is 0.
    """
    import pandas as pd

    names = [pt.routine_in(name) for name in records["routine"]]
    columns: dict[str, object] = {
        "routine": pd.Categorical(names, categories=list(dict.fromkeys(names))),
        "machine": machine,
        "size": records["size"].astype("i8"),
        "src_offset": records["src_offset"].astype("i8"),
        "dst_offset": records["dst_offset"].astype("i8"),
        "cache_state": np.array(pt.CACHE_STATES)[records["cache_state"]],
        "measure": np.array(pt.MEASURES)[records["measure"]],
        "repetitions": records["repetitions"].astype("i8"),
        "calls": records["calls"].astype("i8"),
    }
    for name in ("cycles_min", "cycles_median", "cycles_total", "instructions", "overhead"):
        columns[name] = results[name].astype("i8")
    columns["converged"] = converged_column(records, results)
    columns["ok"] = results["status"] == 0
    columns["status"] = results["status"].astype("i8")
    # Unsigned: a wrong return value may be any 64 bits. Of a right result it is what `converged` is told by.
    columns["detail"] = np.where(results["status"] == 0, 0, results["detail"]).astype("u8")
    if records["mix"].any():
        columns["mix"] = records["mix"].astype("i8")
    columns.update(parameters)
    table = pd.DataFrame(columns)
    table["routine"] = table["routine"].astype(str)
    return table


#: what `described` tells of a sweep: a column's name and the field of `SweepSpec`
SETTINGS = "settings"
DESCRIBED = {
    "warmup": "warmup", "seed": "seed", "flags": "flags", "parameter": "routine_parameter", "distance": "distance",
    "size2": "size2", "src_offset2": "src_offset2", "dst_offset2": "dst_offset2",
}  # fmt: skip


def failures(table: pd.DataFrame) -> list[str]:
    """One sentence per point whose output was wrong, in order."""
    bad = table[~table["ok"]]
    return [
        f"{row.routine} on {row.machine}, size {row.size}, src {row.src_offset}, dst {row.dst_offset}, "
        f"{row.cache_state}: {describe_status(int(row.status), int(row.detail))}"
        for row in bad.itertuples()
    ]


FORMATS = (".csv", ".json", ".parquet")


def _has_pyarrow() -> bool:
    return importlib.util.find_spec("pyarrow") is not None


def check_output(path: Path) -> None:
    """Raises `UserError` before the sweep runs when its table could not be written to `path`."""
    if path.suffix not in FORMATS:
        raise UserError(f"cannot write {str(path)!r}: the name must end in {', '.join(FORMATS)}")
    if path.suffix == ".parquet" and not (_has_pyarrow() or importlib.util.find_spec("fastparquet")):
        raise UserError("writing .parquet needs the package pyarrow: install it, or write .csv")
    check_target(path)


def check_replaces_table(path: Path) -> None:
    """Raises `UserError` where a table that no option names would take the place of anything but a table."""
    default_place(str(path), "--out")
    if path.exists() and not (path.is_file() and _is_table(path)):
        raise UserError(f"{str(path)!r} is no table of results, and would be replaced: give it with --out")


def _is_table(path: Path) -> bool:
    """Whether a file looks like a table of ours: names of columns stand at its beginning, in .parquet at its end."""
    most = 1 << 16
    with path.open("rb") as file:
        text = file.read(most)
        file.seek(max(file.seek(0, 2) - most, 0))
        text += file.read(most)
    return b"routine" in text and b"cycles_median" in text


def _with_plain_names(table: pd.DataFrame) -> pd.DataFrame:
    """The table without control characters, which could begin a line of a file in another language."""
    import pandas as pd

    def plain(value: object) -> object:
        return printable(value, keep="") if isinstance(value, str) else value

    texts = [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    return table.assign(**{name: table[name].map(plain) for name in texts}).rename(columns=plain)


def write_table(table: pd.DataFrame, path: Path) -> None:
    """The table as .csv, .json (a list of rows) or .parquet."""
    table = _with_plain_names(table)
    with replacing(path) as beside:
        if path.suffix == ".csv":
            table.to_csv(beside, index=False, lineterminator="\n")
        elif path.suffix == ".json":
            table.to_json(beside, orient="records", indent=1)
        else:
            # Whoever reads it can tell damage then.
            table.to_parquet(beside, index=False, **({"write_page_checksum": True} if _has_pyarrow() else {}))
