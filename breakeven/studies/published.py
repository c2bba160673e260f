"""Times of single calls that were measured on hardware: the published rows of ``claims.csv`` that have one, those of
``measurements.csv``, and the hosts of ``results/native``. A page draws them as dots beside simulated curves.

A ratio, a share or a throughput of something else than calls is no such time and is left out.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from breakeven.files.data import DataNotFound, find_data

#: metric of a claim -> routines that its two numbers are of
_PAIRS = {
    "ns_old/ns_new": ("routine", "baseline"), "ns_loop/ns_unrolled": ("routine", "baseline"),
    "time_ratio": ("baseline", "routine"), "rate_ratio": ("routine", "baseline"),
    "cycles_unaligned/cycles_aligned": ("routine", "routine"), "cycles_per_call": ("routine",),
}  # fmt: skip
#: units of a time of one call, and of bytes in a time: nanoseconds, or bytes a nanosecond
_TIMES = {"ns": 1.0}
_RATES = {"GB/s": 1.0, "MB/s": 1e-3, "B/ns": 1.0}
_MISALIGNED = re.compile(r"misaligned to (\d+)|unaligned")


#: what a preset needs to be beside a host's numbers
IN_A_PROGRAM = "in a Linux program, as with cpu.isa.enable_smap=false"


class Dot(NamedTuple):
    """One measured time."""

    routine: str
    size: int
    #: core cycles of a call
    cycles: float
    #: the number as it was published, its conditions, its source
    said: str


class _Row(NamedTuple):
    """One measured number with what it holds for."""

    routine: str
    size: int
    #: offsets as the source has them: a number, "misaligned to 8", "unaligned"; empty or "any": all
    src: str
    dst: str
    #: "" where the source does not say
    measure: str
    value: float
    unit: str
    #: clock of the hardware, where it is told
    ghz: float | None
    said: str


def dots(
    machine: str, routines: Sequence[str], src: int, dst: int, cache_state: str, measure: str,
    period: Callable[[], int],
) -> list[Dot]:  # fmt: skip
    """What was measured of these routines, at these offsets (bytes), on the hardware that the preset `machine` is of.

    `period`: picoseconds of a cycle of the preset; asked for where a number in nanoseconds comes without its clock.
    """
    found = []
    for row in _rows(machine):
        if row.routine not in routines or row.measure not in ("", measure):
            continue
        if cache_state != "warm" or not (_fits(row.src, src) and _fits(row.dst, dst)):
            continue
        cycles, said = row.value, row.said
        if row.unit != "cycles":
            time = row.value * _TIMES[row.unit] if row.unit in _TIMES else row.size / (row.value * _RATES[row.unit])
            ghz = row.ghz or 1000 / period()
            cycles, said = time * ghz, f"{said}: {time * ghz:.4g} cycles at {ghz:.4g} GHz"
        found.append(Dot(row.routine, row.size, cycles, said))
    return found


def has(machine: str, routines: Sequence[str]) -> bool:
    """Whether anything was measured of one of these routines, under whatever conditions."""
    return any(row.routine in routines for row in _rows(machine))


def _fits(published: str, offset: int) -> bool:
    if published in ("", "any", "all"):
        return True
    if published.isdigit():
        return int(published) == offset
    if words := _MISALIGNED.fullmatch(published):
        return offset % int(words[1] or 2) != 0
    return False


@cache
def _rows(machine: str) -> list[_Row]:
    return [*_claimed(machine), *_measured(machine), *_hosts(machine)]


def _read(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a file; "same" stands for what the row before has."""
    before: dict[str, str] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for name in ("source", "hardware", "condition"):
                if row.get(name) == "same":
                    row[name] = before[name]
            before = row
            yield row


def load_measurements() -> list[dict[str, str]]:
    """The rows of ``measurements.csv``: times published for a preset's hardware that no claim is judged by."""
    return list(_read(find_data("configs", "studies") / "measurements.csv"))


def _claimed(machine: str) -> Iterator[_Row]:
    for row in _read(find_data("configs", "studies") / "claims.csv"):
        names = [row[which] for which in _PAIRS.get(row["metric"], ())]
        numbers = row["value"].split("/")
        if row["cpu"] != machine or not row["size"].isdigit() or len(numbers) != len(names) or not all(names):
            continue
        if row["unit"] != "cycles" and row["unit"] not in _TIMES and row["unit"] not in _RATES:
            continue
        # Both of one routine: unaligned, then aligned.
        starts = [row["src_offset"]] * len(names)
        if len(names) == 2 and names[0] == names[1]:
            starts[1] = "0"
        measure = "throughput" if row["condition"].startswith("back-to-back") else ""
        for name, number, start in zip(names, numbers, starts, strict=True):
            what = ", ".join(filter(None, (row["claim"], row["condition"])))
            said = f"published: {number} {row['unit']} ({what}; {row['source']})"
            yield _Row(
                name, int(row["size"]), start, row["dst_offset"], measure, float(number), row["unit"], None, said
            )  # fmt: skip


def _measured(machine: str) -> Iterator[_Row]:
    for row in load_measurements():
        if row["machine"] == machine:
            said = f"published: {row['value']} {row['unit']} ({row['hardware']}; {row['source']})"
            yield _Row(
                row["routine"], int(row["size"]), row["src_offset"], row["dst_offset"], row["measure"],
                float(row["value"]), row["unit"], float(row["ghz"]), said,
            )  # fmt: skip


def _hosts(machine: str) -> Iterator[_Row]:
    """The points that ``scripts/native.py`` has measured: warm, one call at a time."""
    if not machine.isidentifier():
        return  # no preset's name: a table may hold any path
    try:
        path = find_data("native", f"{machine}/points.csv")
    except DataNotFound:
        return
    host = next(line for line in path.with_name("README.md").read_text().splitlines() if line.startswith("Host: "))
    host = host.removeprefix("Host: ").partition(". ")[0]
    for row in _read(path):
        if float(row["native"]) > 0:
            said = f"measured: {float(row['native']):g} cycles ({host}; {IN_A_PROGRAM}; results/native/{machine})"
            offset = row["offset"]
            yield _Row(
                row["routine"], int(row["size"]), offset, offset, "latency", float(row["native"]), "cycles", None, said
            )  # fmt: skip
