"""The committed results are whole and fit their studies; simulated again, a sample of every grid gives them exactly.

One point a study is simulated by tests/test_identity.py, too.
"""

from __future__ import annotations

import csv
import importlib
from pathlib import Path

import pytest

from breakeven.files.data import find_data
from breakeven.files.importing import importable
from breakeven.studies.finding import find_studies
from breakeven.studies.report import markdown_table, measured_text
from breakeven.studies.results_page import write_results_page
from breakeven.studies.study import Study
from breakeven.sweeps.spec import SweepSpec

RESULTS = Path(__file__).resolve().parents[2] / "results"
#: points of each grid or search; none that simulates longer than this (cycles of one call)
SAMPLE, LONGEST = 2, 60_000

#: the column of `grids.csv` that says how a grid was measured
MEASURED = "measure, warm-up + measured calls"


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def evenly_spaced(numbers: list[int], count: int) -> list[int]:
    """`count` of them, evenly, with neither end."""
    return sorted({numbers[(2 * k + 1) * len(numbers) // (2 * count)] for k in range(count)}) if numbers else []


def grids_of(study: Study) -> dict[str, tuple[SweepSpec, list[dict[str, str]]]]:
    """The grids of a study that have run, with their committed rows."""
    found = {}
    for name, (_, spec) in study.grids.items():
        path = RESULTS / study.name / f"data-{name}.csv"
        if path.is_file():  # a definition is committed before it runs for the first time
            found[name] = (spec, rows_of(path))
    return found


def test_what_a_report_reads_from_statistics_is_simulated_again() -> None:
    studies = find_data("configs", "studies")
    with importable(studies):
        report = importlib.import_module("anand2002_report")
    first = rows_of(RESULTS / "anand2002" / "bus.csv")[0]
    found = report.crossings(report.bus_session(), report.MOVSL, 0)
    assert [f"{times:.2f}" for times in found.values()] == list(first.values())[2:6]


STUDIES = pytest.mark.parametrize("study", find_studies([]), ids=lambda study: study.name)


@STUDIES
def test_the_committed_rows_are_the_points_of_their_grids(study: Study) -> None:
    for name, (spec, rows) in grids_of(study).items():
        again = f"{name} was run with other points: run scripts/reproduce {study.name}"
        assert len(rows) == spec.count(), again
        points = [point for _ in spec.variants() for point in spec.records()]
        for row, point in zip(rows, points, strict=True):
            said = {"routine": point["routine"].decode(), "size": point["size"], "src_offset": point["src_offset"]}
            said["dst_offset"] = point["dst_offset"]
            # A column that is the same in all rows is left out.
            assert all(row.get(column, str(value)) == str(value) for column, value in said.items()), again
            assert row["ok"] == "True" and int(row["instructions"]) > 0
            assert 0 <= int(row["cycles_min"]) <= int(row["cycles_median"])


@pytest.mark.long
@STUDIES
def test_a_sample_of_every_grid_gives_the_committed_numbers(study: Study) -> None:
    pytest.importorskip("breakeven._engine")
    from breakeven.engines.embedded import EmbeddedEngine
    from breakeven.points import unpack_results

    find_data("guests", "riscv.elf")
    engine, differing = EmbeddedEngine(), []
    grids = grids_of(study)
    measured = {row["grid"]: row[MEASURED] for row in rows_of(RESULTS / study.name / "grids.csv")} if grids else {}
    stale = [name for name, (spec, _) in grids.items() if measured[name] != measured_text(spec)]
    if stale:
        pytest.skip(f"run the study again: other numbers of measurements than now in {', '.join(stale)}")
    for name, (spec, rows) in grids.items():
        variants, records = [machine for machine, _ in spec.variants()], spec.records()
        short = [i for i, row in enumerate(rows) if int(row["cycles_median"]) < LONGEST * spec.calls]
        for index in evenly_spaced(short, SAMPLE):
            variant, record = divmod(index, len(records))
            (result,) = unpack_results(engine.open(variants[variant]).run(records[record : record + 1].tobytes(), 1))
            now, row = (result.cycles_median, result.instructions), rows[index]
            if now != (int(row["cycles_median"]), int(row["instructions"])):
                differing.append(f"{name}: {row}, now {now}")
    again = f"results of {study.name} were computed by another engine: run scripts/reproduce {study.name}"
    assert not differing, "\n".join([again, *differing])


def test_the_page_of_all_verdicts_is_of_the_studies_as_they_are(tmp_path: Path) -> None:
    for folder in sorted(path.parent for path in RESULTS.glob("*/verdicts.csv")):
        (tmp_path / folder.name).symlink_to(folder)
    assert write_results_page(tmp_path).read_bytes() == (RESULTS / "README.md").read_bytes()
    assert (tmp_path / "ledger.md").read_bytes() == (RESULTS / "ledger.md").read_bytes()


def test_the_page_counts_verdicts(tmp_path: Path) -> None:
    for name, verdicts in {"a": ("reproduced", "not simulated"), "b": ("not reproduced",)}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "README.md").write_text(f"# Title of {name}\n\ntext\n")
        lines = ["claim,published,simulated,verdict,note", *(f"c{i},1,2,{v},n" for i, v in enumerate(verdicts))]
        (tmp_path / name / "verdicts.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "b/flips.csv").write_text("conclusion,parameter,the machine has,flips at\nB wins,cpu.x,3,7\n")
    page = write_results_page(tmp_path).read_text()
    assert "| [a](a/README.md) | 1 | 0 | 0 | 1 |" in page
    assert "## [Title of a](a/README.md)" in page
    assert markdown_table(("study", "conclusion"), [("b", "B wins")]).splitlines()[-1][:-1] in page
