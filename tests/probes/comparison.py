"""What was measured on hardware, beside what the presets do: one file a preset in `x86_rows/`.

```toml
what = "one line: which part, at which clock"
not_modelled = "what of the hardware is left out"
cpu = "pentium3"                        # whose rows of uarch.csv; left out: the file's name
like = "nehalem"                        # the preset that it is made of: its rows of the same names were used

[rows]
lat_imul = 3                            # a probe's name (x86.py) and the number in its row
branch_mispredict = "15..16"            # anything between
"rep_movs_align_sensitivity both" = "109/73"
l2_copy_gbps = {value = 29.9, because = "why the preset is more than a tenth off"}
"rep_movs_startup movsq" = ""           # no number: shown

[left_out]                              # high and medium rows that have a probe which is not used here
lat_lea = "why"
```

The numbers must be in their row's text. A row that is sure (high, medium) is held within `WITHIN` unless it says why
it is not; one that is not sure (low, assumed) is shown.
"""

from __future__ import annotations

import csv
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from breakeven.files.data import find_data
from tests.probes.x86 import PROBES

ROWS = Path(__file__).parent / "x86_rows"
PRESETS = sorted(path.stem for path in ROWS.glob("*.toml"))
SURE = ("high", "medium")
WITHIN = 0.10
#: cycles, ratios and so on: what a difference of nothing may come out as
NOTHING = 0.1


class RowError(ValueError):
    """A preset's file that says something that cannot be: names the file, the row and the fix."""


@cache
def uarch() -> dict[str, dict[str, str]]:
    """The rows of uarch.csv by `cpu/parameter`."""
    with find_data("configs", "machines/uarch.csv").open(newline="", encoding="utf-8") as file:
        return {f"{row['cpu']}/{row['parameter']}": row for row in csv.DictReader(file)}


class Sourced(NamedTuple):
    """A probe with the number of its row: `low` and `high` are the ends of a range, or equal."""

    preset: str
    probe: str
    low: float
    high: float
    text: str
    confidence: str
    because: str

    @property
    def compared(self) -> bool:
        return bool(self.text)

    @property
    def held(self) -> bool:
        return self.compared and self.confidence in SURE and not self.because

    def agrees(self, measured: float) -> bool:
        slack = max(WITHIN * self.low, NOTHING if self.low == 0 else 0)
        return self.low - slack <= measured <= self.high + max(WITHIN * self.high, slack)


class Comparison(NamedTuple):
    """A preset's file."""

    preset: str
    cpu: str
    like: str
    what: str
    not_modelled: str
    rows: list[Sourced]
    left_out: dict[str, str]


def _number(text: str) -> float:
    over, _, under = text.partition("/")
    return float(over) / float(under or 1)


def _sourced(preset: str, cpu: str, probe: str, entry: object) -> Sourced:
    where = f"{preset}.toml: {probe}"
    if probe not in PROBES:
        raise RowError(f"{where}: there is no such probe; tests/probes/x86.py has them")
    because = entry.get("because", "") if isinstance(entry, dict) else ""
    value = str(entry["value"] if isinstance(entry, dict) else entry)
    if not value:
        return Sourced(preset, probe, 0, 0, "", "", because)
    parameter = probe.partition(" ")[0]
    row = uarch().get(f"{cpu}/{parameter}")
    if row is None:
        raise RowError(f"{where}: uarch.csv has no row {cpu}/{parameter}")
    numbers = set(map(float, re.findall(r"\d+(?:\.\d+)?", row["value"])))
    missing = [each for each in re.findall(r"\d+(?:\.\d+)?", value) if float(each) not in numbers]
    if missing:
        raise RowError(f"{where}: {', '.join(missing)} is not in the row, which says: {row['value']}")
    low, _, high = value.partition("..")
    return Sourced(preset, probe, _number(low), _number(high or low), value, row["confidence"], because)


@cache
def comparison(preset: str) -> Comparison:
    """Reads a preset's file. `RowError`: a probe or row that does not exist, or a number that is not in its row."""
    said = tomllib.loads((ROWS / f"{preset}.toml").read_text(encoding="utf-8"))
    cpu = said.get("cpu", preset)
    rows = [_sourced(preset, cpu, probe, entry) for probe, entry in said["rows"].items()]
    like, left_out = said.get("like", cpu), said.get("left_out", {})
    return Comparison(preset, cpu, like, said["what"], said["not_modelled"], rows, left_out)


def forgotten(preset: str) -> list[str]:
    """High and medium rows with a probe that the preset's file neither uses nor leaves out."""
    said = comparison(preset)
    known = {each.probe.partition(" ")[0] for each in said.rows if each.compared} | set(said.left_out)
    probed = {probe.partition(" ")[0] for probe in PROBES}
    sure = {row["parameter"] for row in uarch().values() if row["cpu"] == said.cpu and row["confidence"] in SURE}
    return sorted((sure & probed) - known)
