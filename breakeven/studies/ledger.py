"""How each verdict came about: ``configs/studies/ledger.csv`` beside today's verdicts.

*Predicted*: nothing that the row rests on was chosen after its first verdict. *Chosen later*: a model, a state, a
definition or a calibrated value was, with the published number known. *Cannot fail*: hardly any simulation could give
another verdict. *Withdrawn*: judged once, and replaced.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from breakeven.files.data import find_data
from breakeven.studies.blind import First, first_verdicts
from breakeven.studies.study import DIRECTION_ONLY, NOT_REPRODUCED, NOT_SIMULATED, REPRODUCED, Claim, load_claims

PREDICTED, CHOSEN_LATER, CANNOT_FAIL = "predicted", "chosen later", "cannot fail"
WITHDRAWN, NOT_SIMULATED_ROW = "withdrawn", "not simulated"
KINDS = (PREDICTED, CHOSEN_LATER, CANNOT_FAIL, NOT_SIMULATED_ROW, WITHDRAWN)


@dataclass(frozen=True)
class Entry:
    """One row's history."""

    study: str
    claim: str
    kind: str
    #: of the first run, with the commit of its results; empty: the row has not run before
    first_verdict: str
    first_simulated: str
    first_commit: str
    #: what changed since: model, state, definition, rule, calibrated value; and the commits
    changed: str
    changed_by: str
    why: str


#: studies of predictions alone: what the file does not name of their rows is predicted, and its first verdict is kept
#: by `breakeven.studies.blind`
BLIND = ("field2026", "tables2026", "rvv2026", "boards2026", "vectors2026", "fsrm2026")


def load_ledger() -> list[Entry]:
    """Every entry: the file's, in its order, and those of blind studies."""
    with open(find_data("configs", "studies") / "ledger.csv", newline="", encoding="utf-8") as file:
        entries = [Entry(**row) for row in csv.DictReader(file)]
    named = {(entry.study, entry.claim) for entry in entries}
    for study in BLIND:
        kept = first_verdicts(study)
        entries += [
            _blind(claim, kept.get(name)) for name, claim in load_claims(study).items() if (study, name) not in named
        ]
    return entries


def _blind(claim: Claim, first: First | None) -> Entry:
    """The entry of a prediction; one that names no processor to answer it is not simulated."""
    if not claim.cpu or (first and first.verdict == NOT_SIMULATED):
        return Entry(claim.study, claim.claim, NOT_SIMULATED_ROW, "", "", "", "", "", "")
    verdict, simulated = (first.verdict, first.simulated) if first else ("", "")
    return Entry(claim.study, claim.claim, PREDICTED, verdict, simulated, "", "", "", "")


#: study -> claim -> the row of its ``verdicts.csv``
Verdicts = Mapping[str, Mapping[str, Mapping[str, str]]]


def count(entries: Iterable[Entry], verdicts: Verdicts, kind: str) -> tuple[int, int, int]:
    """Of the rows of a kind that have run: reproduced, right in direction only, not reproduced."""
    found = [
        verdicts.get(entry.study, {}).get(entry.claim, {}).get("verdict") for entry in entries if entry.kind == kind
    ]
    return found.count(REPRODUCED), found.count(DIRECTION_ONLY), found.count(NOT_REPRODUCED)


LEDGER_COLUMNS = (
    "study", "claim", "kind", "first verdict", "first simulated", "today", "simulated", "changed since", "why",
)  # fmt: skip


def ledger_rows(entries: Sequence[Entry], verdicts: Verdicts) -> list[list[str]]:
    """The rows of the ledger's page."""
    rows = []
    for entry in entries:
        today = verdicts.get(entry.study, {}).get(entry.claim, {})
        by = f" ({entry.first_commit})" if entry.first_commit else ""
        first = f"{entry.first_verdict}{by}" if entry.first_verdict else "-"
        changed = f"{entry.changed} ({entry.changed_by.replace(' ', ', ')})" if entry.changed else "-"
        rows.append([
            entry.study, entry.claim, entry.kind, first, entry.first_simulated or "-", today.get("verdict", "-"),
            today.get("simulated", "-"), changed, entry.why,
        ])  # fmt: skip
    return rows
