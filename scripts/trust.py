"""Writes configs/machines/trust.csv: for each preset what is known of how near it is to silicon.

`python scripts/trust.py` after results, presets or the ledger have changed; tests/cli/test_trust.py holds the file to
them. `breakeven.analysis.trust` makes the line of trust from it that stands below an answer.
"""

from __future__ import annotations

import csv
import re
import statistics
import sys
from collections import Counter
from pathlib import Path

from breakeven.analysis.across_engines import LONG
from breakeven.analysis.trust import FIELDS, Known
from breakeven.errors import UserError
from breakeven.machine.parameters import parameters
from breakeven.machine.presets import list_presets
from breakeven.machine.resolve import resolve
from breakeven.machine.sources import Sources
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.ledger import CHOSEN_LATER, PREDICTED, load_ledger
from breakeven.studies.study import REPRODUCED, load_claims

sys.path.insert(0, str(Path(__file__).resolve().parent))
from native_mixes import MIXES, pairs, read_native, read_simulated  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
RESULTS, FILE = ROOT / "results", ROOT / "configs" / "machines" / "trust.csv"


def known(preset: str, host: str, claims: Counter[tuple[str, str, bool]]) -> Known:
    """What the results and the preset's file say of it."""
    return Known(
        preset, host, *_calls(preset, "csum", False), *_calls(preset, "csum", True), *_mixes(preset),
        sum(n for (cpu, kind, _), n in claims.items() if (cpu, kind) == (preset, PREDICTED)),
        claims[preset, PREDICTED, True],
        sum(n for (cpu, kind, _), n in claims.items() if (cpu, kind) == (preset, CHOSEN_LATER)),
        claims[preset, CHOSEN_LATER, True], *_values(preset),
    )  # fmt: skip


def _calls(preset: str, word: str, has: bool) -> tuple[float | None, float | None]:
    """Median error in per cent of calls of `LONG` cycles and more, and median difference in cycles of the others: of
    the routines whose name has a word, or of those whose name has not."""
    path = RESULTS / "native" / preset / "points.csv"
    if not path.is_file():
        return None, None
    with path.open(newline="") as file:
        kept = [row for row in csv.DictReader(file) if (word in row["routine"]) == has]
    rows = [(float(row["embedded"]), float(row["native"])) for row in kept]
    long = [abs(ours / theirs - 1) for ours, theirs in rows if theirs >= LONG]
    short = [abs(ours - theirs) for ours, theirs in rows if theirs < LONG]
    return round(100 * statistics.median(long), 1), round(statistics.median(short), 1)


def _mixes(preset: str) -> tuple[int, float | None, float | None]:
    """Pairs of routines of which the host has one ahead in a mix, and the shares that the preset names: least and most,
    in per cent."""
    path = RESULTS / "native" / preset / "mixes.csv"
    if not path.is_file():
        return 0, None, None
    native, model = read_native(path), read_simulated(path)
    found = [pairs(native, model, mix) for mix in MIXES]
    shares = [100 * right / decided for decided, right, _ in found]
    return sum(decided for decided, _, _ in found), round(min(shares), 1), round(max(shares), 1)


def _values(preset: str) -> tuple[int, int]:
    """Values of the preset's file that have a mark, and those that are assumed."""
    machine = resolve(MachineSpec(preset))
    marks = [row.mark.lstrip("*") for row in parameters(machine.description, Sources(machine.root))]
    return sum(mark in {"u", "c", "a", "m"} for mark in marks), marks.count("a")


def claimed() -> Counter[tuple[str, str, bool]]:
    """(preset, kind of the ledger, whether it is reproduced today) -> published rows."""
    found: Counter[tuple[str, str, bool]] = Counter()
    verdicts: dict[str, dict[str, str]] = {}
    for entry in load_ledger():
        if entry.study not in verdicts:
            with (RESULTS / entry.study / "verdicts.csv").open(newline="") as file:
                verdicts[entry.study] = {row["claim"]: row["verdict"] for row in csv.DictReader(file)}
        claim = load_claims(entry.study).get(entry.claim)
        if claim and entry.claim in verdicts[entry.study]:
            found[claim.cpu, entry.kind, verdicts[entry.study][entry.claim] == REPRODUCED] += 1
    return found


def table() -> list[Known]:
    """A row for each preset."""
    claims = claimed()
    return [known(preset.name, _host(preset.name), claims) for preset in list_presets()]


def _host(preset: str) -> str:
    """The core that was measured beside the preset."""
    page = RESULTS / "native" / preset / "README.md"
    text = page.read_text() if page.is_file() else ""
    found = re.search(r"^Host: .*?, family \d+, model \d+ \((.*?)\)\.", text, re.M)
    return found[1] if found else ""


def main() -> None:
    try:
        rows = table()
    except UserError as error:
        sys.exit(str(error))
    with FILE.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(FIELDS)
        out.writerows(["" if value is None else value for value in row] for row in rows)


if __name__ == "__main__":
    main()
