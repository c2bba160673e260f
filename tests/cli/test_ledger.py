"""The ledger of verdicts: complete, counted by kind, and true to the repository's history."""

from __future__ import annotations

import csv
import io
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from breakeven.files.data import find_data
from breakeven.studies.ledger import CHOSEN_LATER, KINDS, PREDICTED, WITHDRAWN, Entry, count, load_ledger

REPO = Path(__file__).resolve().parents[2]


def git(*arguments: str) -> str:
    """What git says; skips where the history is not there."""
    try:
        run = subprocess.run(["git", *arguments], cwd=REPO, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no history of this repository here")
    return run.stdout


def rows(commit: str, path: str) -> Iterator[dict[str, str]]:
    return csv.DictReader(io.StringIO(git("show", f"{commit}:{path}")))


def test_every_claim_has_its_entry() -> None:
    with open(find_data("configs", "studies") / "claims.csv", newline="", encoding="utf-8") as file:
        claims = {(row["study"], row["claim"]) for row in csv.DictReader(file)}
    entries = load_ledger()
    assert {(entry.study, entry.claim) for entry in entries if entry.kind != WITHDRAWN} == claims
    assert len({(entry.study, entry.claim) for entry in entries}) == len(entries)
    for entry in entries:
        assert entry.kind in KINDS
        assert bool(entry.changed) == bool(entry.changed_by), entry
        assert entry.kind != CHOSEN_LATER or entry.changed, f"{entry.claim}: say what was chosen"


def test_kinds_are_counted_apart() -> None:
    def entry(claim: str, kind: str) -> Entry:
        return Entry("s", claim, kind, "", "", "", "", "", "")

    entries = [entry("a", PREDICTED), entry("b", PREDICTED), entry("c", CHOSEN_LATER), entry("d", PREDICTED)]
    verdicts = {
        "s": {"a": {"verdict": "reproduced"}, "b": {"verdict": "not reproduced"}, "c": {"verdict": "reproduced"}}
    }
    assert count(entries, verdicts, PREDICTED) == (1, 0, 1)
    assert count(entries, verdicts, CHOSEN_LATER) == (1, 0, 0)


def test_first_verdicts_are_those_that_were_committed() -> None:
    checked = 0
    for entry in load_ledger():
        if entry.first_commit and entry.study != "tsukamoto2021":  # whose first report had no table of verdicts
            path = f"results/{entry.study}/verdicts.csv"
            first = {row["claim"]: row for row in rows(entry.first_commit, path)}[entry.claim]
            assert (first["verdict"], first["simulated"]) == (entry.first_verdict, entry.first_simulated)
            checked += 1
    assert checked > 40


def test_a_verdict_that_changed_names_its_commits() -> None:
    for entry in load_ledger():
        table = REPO / "results" / entry.study / "verdicts.csv"
        if not table.is_file():
            continue
        with open(table, newline="", encoding="utf-8") as file:
            today = {row["claim"]: row["verdict"] for row in csv.DictReader(file)}
        if entry.first_verdict and today.get(entry.claim, entry.first_verdict) != entry.first_verdict:
            assert entry.changed_by, f"{entry.study} {entry.claim}: {entry.first_verdict} once"
