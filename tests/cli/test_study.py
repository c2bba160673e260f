"""The study framework and the study that ships: judging, rendering, completeness."""

import re
from dataclasses import replace

import pytest

from breakeven.errors import UserError
from breakeven.files.data import find_data
from breakeven.points.engine import Routine
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies import finding
from breakeven.studies import study as st
from breakeven.studies.report import first_sentence, markdown_table, render, write_report
from breakeven.sweeps.spec import SweepSpec


def test_shares_become_time_ratios():
    # 50 % before, 25 % after: the copy went from w to w/3.
    assert st.time_ratio_of_shares(0.5, 0.25) == pytest.approx(1 / 3)
    assert 1 / st.time_ratio_of_shares(0.3309, 0.1376) == pytest.approx(3.10, abs=0.005)
    assert st.time_ratio_of_shares(0.2, 0.2) == pytest.approx(1)


@pytest.mark.parametrize(
    ("published", "simulated", "verdict"),
    [
        (3.0, 3.44, st.REPRODUCED),
        (3.0, 2.56, st.REPRODUCED),
        (3.0, 3.46, st.DIRECTION_ONLY),
        (3.0, 1.1, st.DIRECTION_ONLY),
        (3.0, 0.9, st.NOT_REPRODUCED),
        (0.5, 0.9, st.DIRECTION_ONLY),
        (0.5, 1.2, st.NOT_REPRODUCED),
        (1.08, 1.02, st.REPRODUCED),
        (1.08, 0.99, st.NOT_REPRODUCED),  # near enough, and on the wrong side
        (1.08, 1.005, st.NOT_REPRODUCED),  # near enough, and a tie
        (0.95, 0.995, st.NOT_REPRODUCED),
        (1.0, 0.9, st.REPRODUCED),
        (1.0, 1.2, st.NOT_REPRODUCED),
        (3.0, float("nan"), st.NOT_REPRODUCED),
    ],
)
def test_ratios(published, simulated, verdict):
    assert st.judge_ratio(published, simulated) == verdict


def test_other_judges():
    assert st.judge_absolute(100, 124) == st.REPRODUCED
    assert st.judge_absolute(100, 79) == st.NOT_REPRODUCED
    assert st.judge_absolute(100, 0) == st.NOT_REPRODUCED
    assert st.judge_size(64, 128) == st.REPRODUCED
    assert st.judge_size(64, 129) == st.NOT_REPRODUCED  # at 64 to 129 the published winner loses
    assert st.judge_size(64, 31) == st.DIRECTION_ONLY
    assert st.judge_size(64, None) == st.NOT_REPRODUCED
    assert st.judge_winner(1.0, 2.0) == st.REPRODUCED
    assert st.judge_winner(1.0, 1.005) == st.NOT_REPRODUCED  # a tie
    assert st.judge_winner(0.6, 2.0) == st.DIRECTION_ONLY
    assert st.judge_winner(0.4, 2.0) == st.NOT_REPRODUCED
    assert st.judge_saving(0.20, 0.17) == st.REPRODUCED
    assert st.judge_saving(0.20, 0.149) == st.DIRECTION_ONLY
    assert st.judge_saving(0.20, 0.005) == st.NOT_REPRODUCED


def test_render_refuses_what_does_not_fit():
    assert render("a {{x}} {{ table t }}", {"x": "1"}, {"table t": "T"}) == "a 1 T"
    with pytest.raises(UserError, match="'y'"):
        render("{{y}}", {}, {})
    with pytest.raises(UserError, match="figure f"):
        render("nothing", {}, {"figure f": "F"})


def test_markdown_tables_escape():
    text = markdown_table(("a", "b"), [("x|y", 1), ("z", 2.5)])
    assert text.splitlines()[1] == "|---|---:|"
    assert "x\\|y" in text


def small(name, judge=None):
    spec = SweepSpec(["fast", "slow"], [MachineSpec("u74")], [1, 2])
    verdicts = [st.Verdict("c", "1", "1", st.REPRODUCED)]
    table = st.TableItem("t", "caption", ("n", "v"), [(1, 2.0)])
    contents = st.Contents({"v": "42"}, [table], [])
    text = "{{verdicts}}\n\n{{table t}}\n\n{{v}}\n\n{{conditions}}"
    return st.Study(
        name, "A title", {"g": ("test", spec)}, judge or (lambda data: verdicts), lambda data: contents, text
    )


def cost(routine, size, row, machine):
    return 10 * size


def test_report_is_the_same_every_time(tmp_path, fake):
    written = []
    for folder in ("a", "b"):
        outcome = st.run_study(small("nobody"), fake(cost))
        path = write_report(outcome, tmp_path / folder)
        written.append({p.name: p.read_bytes() for p in sorted(path.parent.iterdir())})
    assert written[0] == written[1]
    assert set(written[0]) == {"README.md", "t.csv", "data-g.csv", "verdicts.csv", "grids.csv"}
    report = written[0]["README.md"].decode()
    assert "# A title" in report
    assert "42" in report
    assert "all were right" in report
    assert not re.search(r"20\d\d-\d\d-\d\dT", report)


def test_files_of_a_report_that_it_no_longer_has_are_removed(tmp_path, fake):
    def draw(path):
        path.write_bytes(b"png")

    study = small("nobody")
    old = replace(
        study,
        grids={**study.grids, "old": study.grids["g"]},
        contents=lambda data: st.Contents(
            {"v": "[mine](mine.csv)"}, [st.TableItem(name, "caption", ("n",), [(1,)]) for name in ("t", "gone")],
            [st.FigureItem("gone", "caption", draw), st.FigureItem("kept", "caption", draw)],
        ),
        text=f"{study.text} {{{{table gone}}}}\n\n{{{{figure gone}}}}\n\n{{{{figure kept}}}}",
    )  # fmt: skip
    new = replace(
        study,
        contents=lambda data: st.Contents(
            {"v": ""}, [st.TableItem("t", "caption", ("n",), [(1,)])], [st.FigureItem("kept", "caption", draw)]
        ),
        text=f"{study.text}\n\n{{{{figure kept}}}}",
    )
    tmp_path = tmp_path / "nobody"
    write_report(st.run_study(old, fake(cost)), tmp_path)
    # The user's own, though the report links to one and another is named as a grid's would be.
    mine = {"mine.csv", "data-mine.csv", "notes.md"}
    for name in mine:
        (tmp_path / name).write_text("mine")
    write_report(st.run_study(new, fake(cost)), tmp_path)
    ours = {"README.md", "t.csv", "data-g.csv", "verdicts.csv", "grids.csv", "kept.png"}
    assert {path.name for path in tmp_path.iterdir()} == ours | mine
    # A README that is no report's says nothing.
    (tmp_path / "grids.csv").unlink()
    (tmp_path / "README.md").write_text("*a caption ([mine.csv](mine.csv))*\n")
    write_report(st.run_study(new, fake(cost)), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == ours | mine


def test_a_report_names_no_file_elsewhere_to_remove(tmp_path, fake):
    """Somebody else may have made the folder that a report is written into."""
    elsewhere, folder = tmp_path / "precious.csv", tmp_path / "nobody"
    elsewhere.write_text("mine")
    write_report(st.run_study(small("nobody"), fake(cost)), folder)
    (folder / "data-x").mkdir()
    (folder / "grids.csv").write_text("grid\nx/../../precious\n")
    write_report(st.run_study(small("nobody"), fake(cost)), folder)
    assert elsewhere.read_text() == "mine"


def test_searches_run_beside_the_grids(tmp_path, fake):
    def model(routine, size, row, machine):
        start = next((int(s.split("=")[1]) for s in machine.settings if "cpu.start" in s), 100)
        return 2 * size if routine == "fast" else start + size

    both, sizes = ["fast", "slow"], list(range(1, 200))
    machine = MachineSpec("u74")
    searches = {
        "along": ("a parameter", SweepSpec(both, [machine], [50], parameters={"cpu.start": ["0", "20", "80"]})),
        "over": ("a surface", SweepSpec(both, [machine], sizes, parameters={"cpu.start": ["20", "80"]})),
    }
    flip = st.Flip("fast wins", "cpu.start", "100", "50", "t")
    study = replace(
        small("nobody"),
        searches=searches,
        contents=lambda data: st.Contents({}, [], [], [flip]),
        text="{{verdicts}} {{flips}} {{conditions}}",
    )
    outcome = st.run_study(study, fake(model))
    assert outcome.data.found["along"].crossings == [pytest.approx(50)]
    # 1 % is a tie: ahead from 1.01 * start on
    assert [choice.threshold for choice in outcome.data.surfaces["over"].choices] == [21, 82]
    assert set(outcome.data.tables["over"]["cpu.start"]) == {20, 80}
    report = write_report(outcome, tmp_path).read_text()
    assert "| fast wins | `cpu.start` | 100 | 50 |" in report
    assert (tmp_path / "flips.csv").read_text().count("\n") == 2
    assert (tmp_path / "data-over.csv").is_file()


def test_wrong_outputs_shout(tmp_path, fake):
    outcome = st.run_study(small("nobody"), fake(cost, wrong={("slow", 2)}))
    assert len(outcome.failures) == 1
    assert "wrong output" in write_report(outcome, tmp_path).read_text()


def test_every_claim_needs_a_verdict(fake):
    with pytest.raises(UserError, match="tcp-recv-share"):
        st.run_study(small("tsukamoto2021", lambda data: []), fake(cost))


def test_unknown_study_has_near_matches():
    with pytest.raises(UserError, match="did you mean 'tsukamoto2021'"):
        finding.find_studies(["tsukamoto2012"])


def test_shipped_studies_load_and_their_claims_exist():
    studies = finding.find_studies([])
    assert "tsukamoto2021" in [study.name for study in studies]
    for study in studies:
        assert st.load_claims(study.name)
        for _, spec in study.grids.values():
            spec.validate()


@pytest.mark.parametrize(
    ("name", "left_out", "judged"),
    [
        ("field2026", "left-shift", "one-past-a-power"),
        ("tables2026", "probe-unnamed", "both-off-4096"),
        ("vectors2026", None, "brpc-64"),
        ("fsrm2026", None, "left-shift"),
    ],
)
def test_predictions_run_to_their_report(name, left_out, judged, tmp_path, fake):
    """On a made-up machine, so that a definition can be tried before it is simulated."""
    (study,) = finding.find_studies([name])

    class Engine(fake):
        def open(self, machine):
            session = super().open(machine)
            names = {name for _, spec in study.grids.values() for name in spec.routines}
            session.routines = lambda: [Routine(name, "copy", 0) for name in names]
            return session

    outcome = st.run_study(study, Engine(lambda routine, size, row, machine: 100 + size + 40 * int(row["src_offset"])))
    verdicts = {v.claim: v.verdict for v in outcome.verdicts}
    assert left_out is None or verdicts[left_out] == st.NOT_SIMULATED
    assert verdicts[judged] == st.NOT_REPRODUCED
    assert f"| {judged} |" in write_report(outcome, tmp_path).read_text()


@pytest.mark.slow
def test_shipped_study_runs_to_its_report(tmp_path, fake):
    """The study on a made-up machine: every claim judged, every table and figure of its text there."""

    def made_up(routine, size, row, machine):
        src, dst = int(row["src_offset"]), int(row["dst_offset"])
        miss = 3 * size if row["cache_state"] else 0
        if routine == "rv-word-noalign":
            trap = next((int(s.split("=")[1]) for s in machine.settings if "emulate_cycles" in s), 700)
            sides = (src % 8 > 0) + (dst % 8 > 0)
            return 10 + 7 * (size // 8) + (0 if "hardware" in str(machine) else trap * (size // 8) * sides) + miss
        if routine == "rv-copy-user-2021" and size >= 72:
            return 100 + size + miss
        return 20 + (6 * size if src % 8 != dst % 8 else size if routine != "rv-word-unrolled8" else size // 2) + miss

    class Engine(fake):
        def open(self, machine):
            session = super().open(machine)
            names = {name for _, spec in study.grids.values() for name in spec.routines}
            session.routines = lambda: [Routine(name, "copy", 0) for name in names]
            run = session.run

            def with_instructions(records, threads=0, progress=None):
                import numpy as np

                from breakeven import points as pt

                table = np.frombuffer(run(records, threads), pt.result_dtype()).copy()
                points = np.frombuffer(records, pt.point_dtype())
                alike = points["src_offset"] % 8 == points["dst_offset"] % 8
                table["instructions"] = points["size"] * np.where(alike, 1, 5)
                return table.tobytes()

            session.run = with_instructions
            return session

    (study,) = finding.find_studies(["tsukamoto2021"])
    outcome = st.run_study(study, Engine(made_up))
    assert {v.claim for v in outcome.verdicts} == set(st.load_claims("tsukamoto2021"))
    verdicts = {v.claim: v.verdict for v in outcome.verdicts}
    assert verdicts["misaligned-traps"] == st.REPRODUCED
    assert verdicts["unroll-needed"] == st.REPRODUCED
    report = write_report(outcome, tmp_path).read_text()
    assert "{{" not in report
    for name in re.findall(r"\]\(([^)]+\.(?:png|csv))\)", report):
        assert (tmp_path / name).stat().st_size > 0


def test_claims_are_the_published_rows():
    text = (find_data("configs", "studies") / "claims.csv").read_text()
    assert text.count("\ntsukamoto2021,") == len(st.load_claims("tsukamoto2021")) == 10


def test_a_note_is_one_sentence_and_the_rest_is_folded():
    assert first_sentence("Both aligned, 1.5 GHz. Cold 2.1 times.") == ("Both aligned, 1.5 GHz.", "Cold 2.1 times.")
    assert first_sentence("Both aligned.") == ("Both aligned.", "")
    assert first_sentence("") == ("", "")
