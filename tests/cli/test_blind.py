"""Blind predictions: what was defined before the first simulation has not changed, and first verdicts are kept."""

from __future__ import annotations

import ast
import csv
import io
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from breakeven.errors import UserError
from breakeven.studies import finding
from breakeven.studies import study as st
from breakeven.studies.blind import First, first_verdicts, keep_first
from breakeven.studies.ledger import BLIND as BLIND_IN_LEDGER

REPO = Path(__file__).resolve().parents[2]
CLAIMS = "configs/studies/claims.csv"
#: study -> the file that defines it
BLIND = {
    "field2026": "configs/studies/field2026.py",
    "tables2026": "configs/studies/tables2026.toml",
    "rvv2026": "configs/studies/rvv2026.toml",
    "boards2026": "configs/studies/boards2026.toml",
    "vectors2026": "configs/studies/vectors2026.toml",
    "fsrm2026": "configs/studies/fsrm2026.toml",
}
each_study = pytest.mark.parametrize("study", BLIND)


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=REPO, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def history() -> None:
    if not (REPO / ".git").exists() or shutil.which("git") is None:
        pytest.skip("no history: not a checkout")
    if git("rev-parse", "--is-shallow-repository").strip() == "true":
        pytest.skip("no history: a shallow clone")


def first_commit(path: str) -> str | None:
    """The commit that added `path`, a file or a folder."""
    added = git("log", "--diff-filter=A", "--format=%H", "--reverse", "--", path).split()
    return added[0] if added else None


def definition(study: str) -> str:
    found = first_commit(BLIND[study])
    if found is None:
        pytest.skip(f"{BLIND[study]} is not committed yet")
    return found


def results(study: str) -> str:
    found = first_commit(f"results/{study}")
    if found is None:
        pytest.skip(f"{study} has not run yet")
    return found


def claims(text: str, study: str) -> list[dict[str, str]]:
    return [row for row in csv.DictReader(io.StringIO(text)) if row["study"] == study]


def meaning(text: str) -> tuple[list[str], str]:
    """The names that a study takes from breakeven, and all of its code but these imports."""
    tree = ast.parse(text)
    ours = [n for n in tree.body if isinstance(n, ast.ImportFrom) and str(n.module).partition(".")[0] == "breakeven"]
    tree.body = [node for node in tree.body if node not in ours]
    return sorted(each.name for node in ours for each in node.names), ast.dump(tree)


@each_study
def test_a_blind_study_was_defined_before_it_ran(study: str, history: None) -> None:
    defined, ran = definition(study), results(study)
    assert defined != ran
    assert git("merge-base", defined, ran).strip() == defined, f"{defined} is no ancestor of {ran}"


@each_study
def test_a_definition_does_not_change(study: str, history: None) -> None:
    """Grids, rules and expectations of today are those of the commit that defined them; of Python, but for comments
    and the modules that names are imported from."""
    before, now = git("show", f"{definition(study)}:{BLIND[study]}"), (REPO / BLIND[study]).read_text()
    if BLIND[study].endswith(".py"):
        before, now = (meaning(text) for text in (before, now))
    assert now == before


@each_study
def test_published_values_do_not_change(study: str, history: None) -> None:
    before = claims(git("show", f"{definition(study)}:{CLAIMS}"), study)
    now = claims((REPO / CLAIMS).read_text(), study)
    assert before
    assert [{column: row[column] for column in before[0]} for row in now] == before


@each_study
def test_first_verdicts_are_those_of_the_first_run(study: str, history: None) -> None:
    kept = first_verdicts(study)
    table = git("show", f"{results(study)}:results/{study}/verdicts.csv")
    ran = {row["claim"]: row for row in csv.DictReader(io.StringIO(table))}
    assert set(kept) == set(ran)
    for claim, row in ran.items():
        assert (kept[claim].simulated, kept[claim].verdict) == (row["simulated"], row["verdict"])


def test_the_ledger_and_this_test_know_the_same_studies() -> None:
    assert set(BLIND) == set(BLIND_IN_LEDGER)


def test_first_verdicts_are_kept_once(tmp_path: Path) -> None:
    assert first_verdicts("mine", tmp_path) == {}
    with pytest.raises(UserError, match="mine has no verdicts"):
        keep_first("mine", tmp_path, tmp_path)
    (tmp_path / "verdicts.csv").write_text("claim,published,simulated,verdict,note\na,1,2,not reproduced,why\n")
    keep_first("mine", tmp_path, tmp_path)
    keep_first("yours", tmp_path, tmp_path)
    kept = {"a": First("mine", "a", "1", "2", "not reproduced")}
    assert first_verdicts("mine", tmp_path) == kept
    (tmp_path / "verdicts.csv").write_text("claim,published,simulated,verdict,note\na,1,1,reproduced,\n")
    with pytest.raises(UserError, match="kept already"):
        keep_first("mine", tmp_path, tmp_path)
    assert first_verdicts("mine", tmp_path) == kept
    assert set(first_verdicts("yours", tmp_path)) == {"a"}


def test_a_winner_is_judged_over_the_points_of_both() -> None:
    """Matched by size and offsets; a lead below 1 % wins nothing."""
    (study,) = finding.find_studies(["fsrm2026"])
    won = study.judge.__globals__["won"]
    row = {"judge": "winner", "over": ["g", "slow", {}], "under": ["g", "fast", {}]}

    def judged(*ratios: float) -> tuple[str, str]:
        at = {"size": range(len(ratios)), "src_offset": 0, "dst_offset": 0}
        tables = {"slow": pd.DataFrame({**at, "cycles": ratios}), "fast": pd.DataFrame({**at, "cycles": 1.0})[::-1]}

        class Points:
            def select(self, grid: str, routine: str) -> pd.DataFrame:
                return tables[routine]

        found = won(Points(), "claim", row, "why")
        return found.simulated, found.verdict

    assert judged(1.5, 2.0) == ("wins 100% of 2 points, 1.50 to 2.00 times", st.REPRODUCED)
    assert judged(1.5, 1.5, 0.5)[1] == st.DIRECTION_ONLY
    assert judged(1.005, 1.005)[1] == st.NOT_REPRODUCED
    assert judged(0.5, 0.5, 2.0)[1] == st.NOT_REPRODUCED


def test_tables2026_judges_as_it_was_defined(fake) -> None:
    """On a made-up machine: each way of judging, and a refusal where the tolerances of all studies have changed."""
    (study,) = finding.find_studies(["tables2026"])
    verdict = study.judge.__globals__["verdict"]
    rows = study.judge.__globals__["ROWS"]
    published = st.load_claims("tables2026")

    def judged(claim: str, *ratios: float) -> tuple[str, str]:
        parts = {"over": list(ratios), "under": [1.0] * len(ratios)}
        judge_globals = study.judge.__globals__
        original = judge_globals["times"]
        judge_globals["times"] = lambda data, point, with_call: parts[
            "over" if point is rows[claim]["over"] else "under"
        ]
        try:
            found = verdict(st.Data(published), claim, rows[claim])
        finally:
            judge_globals["times"] = original
        return found.simulated, found.verdict

    assert judged("class-64", 1.25) == ("1.25 times", st.REPRODUCED)  # 1.24 published
    assert judged("class-64", 1.5)[1] == st.DIRECTION_ONLY
    assert judged("word-across-lines", 1.7)[1] == st.REPRODUCED  # 1.5 to 2
    assert judged("word-across-lines", 2.2)[1] == st.REPRODUCED
    assert judged("word-across-lines", 2.4)[1] == st.DIRECTION_ONLY
    assert judged("word-across-lines", 1.0)[1] == st.NOT_REPRODUCED
    assert judged("probe-u74", 0.03)[1] == st.DIRECTION_ONLY
    assert judged("distance-below-4096", 1.0)[1] == st.REPRODUCED
    assert judged("distance-below-4096", 20.0)[1] == st.NOT_REPRODUCED
    assert judged("nta-cold", 1.2, 1.1) == ("1.20 times and 1.10 times", st.REPRODUCED)
    assert judged("nta-cold", 1.2, 0.9)[1] == st.NOT_REPRODUCED
    study.judge.__globals__["DEFINITION"]["tolerances"]["ratio"] = 0.5
    with pytest.raises(UserError, match="other tolerances"):
        study.judge(st.Data(published))
