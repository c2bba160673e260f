"""`reproduce`: which studies run, what it prints, what it refuses, and what a full disk leaves."""

from __future__ import annotations

import errno
import json
import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from breakeven import api
from breakeven.cli.summaries import studies_done
from breakeven.engines.stored import StoredEngine
from breakeven.errors import UserError
from breakeven.output import console
from breakeven.points.engine import Identity, Routine
from breakeven.points.machine_spec import MachineSpec
from breakeven.store import Store
from breakeven.studies import ahead, finding, report
from breakeven.studies import study as st
from breakeven.studies.ahead import run_studies
from breakeven.sweeps.spec import SweepSpec

FIVE = ["anand2002", "herbert2016", "axboe2018", "tsukamoto2021", "copydd2009"]
TINY = """
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.study import Contents, Study
from breakeven.sweeps.spec import SweepSpec

GRID = SweepSpec(["rv-byte"], [MachineSpec("u74", ())], [8, 16])
TEXT = "{{verdicts}} {{conditions}}"
STUDY = Study("tiny", "Tiny", {"sizes": ("both", GRID)}, lambda data: [], lambda data: Contents({}, [], []), TEXT)
"""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The studies that each call of `reproduce` wants to run; none runs."""
    calls: list[list[str]] = []

    def run(studies, *_: object):
        calls.append([study.name for study in studies])
        return iter(())

    monkeypatch.setattr(ahead, "run_studies", run)
    monkeypatch.setattr("breakeven.api.listing.opened_engine", lambda *_, **__: nullcontext())
    return calls


def test_the_founding_studies_run_when_none_is_named(asked: list[list[str]], tmp_path: Path) -> None:
    api.reproduce(out=tmp_path)
    api.reproduce(every=True, out=tmp_path)
    api.reproduce("rvv2026", "anand2002", out=tmp_path)
    assert asked[0] == FIVE and asked[2] == ["rvv2026", "anand2002"]
    assert len(asked[1]) == 11 and set(FIVE) < set(asked[1])


def test_what_cannot_be_meant_is_refused_before_anything_runs(asked: list[list[str]], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="leave out --all or the names"):
        api.reproduce("anand2002", every=True, out=tmp_path)
    with pytest.raises(UserError, match="no study 'tsukamoto2012'; did you mean 'tsukamoto2021'"):
        api.reproduce("anand2002", "tsukamoto2012", "herbert2016", out=tmp_path)
    (tmp_path / "file").write_text("")
    for bad in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/none")):
        with pytest.raises(UserError, match="cannot write reports into .*: give a folder that can be written"):
            api.reproduce("anand2002", out=bad)
    assert not asked


def test_every_study_has_a_question_and_a_claim_that_stands_for_it() -> None:
    listed = [study.name for study in finding.find_studies([])]
    assert [row["study"] for row in finding._listed()][:5] == FIVE == finding.founding_studies()
    assert {row["study"] for row in finding._listed()} == set(listed) and len(listed) == 11
    for study in finding.find_studies([]):
        assert study.question.endswith("?") and len(study.question) <= 90, study.name
        assert study.headline in st.load_claims(study.name), study.name
        assert study.answer is not None or study.name not in FIVE


def copy_engine(fake, past: int):
    """A machine on which `sol-bcopy` takes 4 cycles a byte and `sol-kcopy-nta` `past` quarters of one."""

    class Engine(fake):
        def open(self, machine):
            session = super().open(machine)
            session.routines = lambda: [Routine(name, "copy", 0) for name in ("sol-bcopy", "sol-kcopy-nta")]
            return session

    return Engine(lambda routine, size, row, machine: size * (16 if routine == "sol-bcopy" else past) // 4)


def test_an_answer_follows_the_numbers_of_the_run(fake) -> None:
    (study,) = finding.find_studies(["copydd2009"])
    won, lost = (st.run_study(study, copy_engine(fake, past)) for past in (8, 32))
    assert won.answer == "From 256 bytes on; at 128 KiB the copy past the caches is 2.00 times as fast."
    assert lost.answer == "From no size on; at 128 KiB the copy past the caches is 0.50 times as fast."
    assert won.headline and won.headline.claim == "128k" and won.headline.simulated == "2.00 times"
    assert lost.headline and lost.headline.verdict == st.NOT_REPRODUCED
    counted = replace(won, study=replace(study, answer=None))
    came = sum(verdict.verdict == st.REPRODUCED for verdict in won.verdicts)
    assert counted.answer.startswith(f"{came} of 6 published claims come out")
    with pytest.raises(UserError, match="no verdict on 'nothing', the claim that stands for it"):
        st.run_study(replace(study, headline="nothing"), copy_engine(fake, 8))


@pytest.mark.parametrize("width", [80, 120])
def test_the_table_at_the_end_fits_the_terminal(fake, monkeypatch, capsys, width: int) -> None:
    (study,) = finding.find_studies(["copydd2009"])
    outcome = st.run_study(study, copy_engine(fake, 8))
    monkeypatch.setattr(console, "terminal_width", lambda: width)
    done = [(outcome, Path("results/copydd2009/README.md"))] * 2
    assert studies_done(done, Path("results"), json=False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    assert "results/copydd2009/README.md" in text and "reproduced" in text and "2.0 times" in text
    assert sum("results/copydd2009/README.md" in line for line in lines) == 2
    # Neither the other claims nor their title: they stand in the report.
    assert "large-pages" not in text and lines[-1].endswith("results/README.md")
    assert studies_done(done, Path("results"), json=True) == 0
    told = json.loads(capsys.readouterr().out)["studies"][0]
    assert told["question"] == study.question and told["answer"] == outcome.answer and told["headline"] == "128k"
    assert len(told["claims"]) == len(outcome.verdicts)


def test_where_no_bar_is_shown_a_line_tells_of_each_study(breakeven, tmp_path: Path) -> None:
    (tmp_path / "tiny.py").write_text(TINY)
    done = breakeven("reproduce", "tiny.py", "--no-store")
    assert (done.returncode, done.stderr) == (0, "breakeven: tiny is done: results/tiny/README.md\n")
    assert "Tiny" in done.stdout and "results/tiny/README.md" in done.stdout
    done = breakeven("reproduce", "tiny.py", "--no-store", "--json")
    assert done.stderr == "" and json.loads(done.stdout)["studies"][0]["headline"] is None
    done = breakeven("reproduce", "--all", "tiny.py")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "--all" in done.stderr


class OnFake(StoredEngine):
    """A store before a fake machine."""

    def __init__(self, inner, store: Store) -> None:
        inner.identity = lambda machine: (Identity("engine", str(machine), "guest"), str(machine))
        inner.routines = lambda machine: inner.open(machine).routines()
        opened = inner.open

        def open_kept(machine):
            session = opened(machine)
            session.machine_hash = str(machine)
            return session

        inner.open = open_kept
        super().__init__(inner, store)


def one_grid() -> st.Study:
    spec = SweepSpec(["fast", "slow"], [MachineSpec("u74")], range(1, 200))
    contents = st.Contents({}, [], [])
    return st.Study("nobody", "t", {"a": ("one", spec)}, lambda data: [], lambda data: contents,
                    "{{verdicts}} {{conditions}}")  # fmt: skip


def test_a_full_disk_ends_in_a_sentence_and_a_second_run_goes_on(fake, tmp_path: Path, monkeypatch) -> None:
    def cost(routine, size, row, machine) -> int:
        return 10 * size

    def no_room(path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store._connection.execute("PRAGMA max_page_count=16")
        with pytest.raises(UserError, match="full: make room; every point stored so far is still there"):
            list(run_studies([one_grid()], OnFake(fake(cost), store), 1))
    with Store(path) as store:
        engine = OnFake(fake(cost), store)
        (outcome,) = run_studies([one_grid()], engine, 1)
        assert 0 < engine.simulated < outcome.points == 398
    with Store(path) as store, monkeypatch.context() as full:
        full.setattr("breakeven.files.writing._flush", no_room)
        with pytest.raises(UserError, match="no space left on device: make room and run it again"):
            report.write_report(outcome, tmp_path / "nobody")
    with Store(path) as store:
        engine = OnFake(fake(cost), store)
        (outcome,) = run_studies([one_grid()], engine, 1)
        report.write_report(outcome, tmp_path / "nobody")
        assert engine.simulated == 0 and (tmp_path / "nobody" / "README.md").is_file()
