"""Results that somebody else made (a folder of reports, a table): they name no code, and lead to no file elsewhere."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from breakeven.errors import UserError
from breakeven.files import reading
from breakeven.studies import report
from breakeven.studies.published import dots
from breakeven.studies.results_page import write_results_page
from breakeven.web.page import page
from breakeven.web.report import write_report
from breakeven.web.results_site import write_site
from breakeven.web.sources import read_part

RESULTS = Path(__file__).resolve().parents[2] / "results"
STUDY = "herbert2016"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of results with a host's points, and a study's report without its data."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(RESULTS / "native" / "zen4", Path("results", "native", "zen4"))
    folder = Path("results", STUDY)
    folder.mkdir()
    (folder / "README.md").write_text("# A title\n")
    shutil.copy(RESULTS / STUDY / "verdicts.csv", folder)
    return Path("results")


@pytest.mark.parametrize("one", [True, False])
def test_a_folders_name_runs_no_file(results: Path, one: bool) -> None:
    Path("evil.py").write_text("open('was_run', 'w').close()\n")
    (results / STUDY).rename(results / "evil.py")
    with pytest.raises(UserError, match="no study 'evil.py'"):
        write_report([str(results / "evil.py")], Path("a.html")) if one else write_site(results)
    assert not Path("was_run").exists()


@pytest.mark.parametrize(
    "link",
    ["index.html", "native/zen4/index.html", "native/zen4/points.csv", f"{STUDY}/README.md", f"{STUDY}/data-a.csv",
     "more", "native/more"],
)  # fmt: skip
def test_links_that_lead_out_of_a_folder_of_results_are_refused(results: Path, link: str) -> None:
    folder = "more" in link
    outside = Path("outside")
    outside.mkdir() if folder else outside.write_text("mine")
    (results / link).unlink(missing_ok=True)
    (results / link).symlink_to(outside.absolute())
    with pytest.raises(UserError, match="leads out of"):
        write_site(results)
    assert list(outside.iterdir()) == [] if folder else outside.read_text() == "mine"
    if link.startswith(STUDY):
        with pytest.raises(UserError, match="leads out of"):
            write_report([str(results / STUDY)], Path("a.html"))


def test_links_within_a_folder_of_results_are_followed(results: Path) -> None:
    shutil.rmtree(results / STUDY)
    (results / "native" / "zen4").rename(results / "here")
    (results / "native" / "zen4").symlink_to("../here")
    write_site(results)
    assert (results / "here" / "index.html").is_file()


def test_a_folders_name_is_no_code_in_a_page(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link to a study's folder is no study; a name that is one is an address below the page."""
    from breakeven.web import results_site

    (results / "javascript:alert(1)").symlink_to(STUDY)
    assert [folder.name for folder in results_site._folders(results)] == [STUDY]
    (results / "javascript:alert(1)").unlink()
    (results / STUDY).rename(results / "javascript:alert(1)")
    (results / "native" / "zen4").rename(results / "native" / "a?b#c")
    page = results_site._index(results)
    assert 'href="javascript' not in page and 'href="./javascript%3Aalert%281%29/README.md"' in page
    assert 'href="./native/a%3Fb%23c/index.html"' in page


@pytest.mark.parametrize(
    "name",
    ["index.html", "README.md", f"{STUDY}/README.md", f"{STUDY}/verdicts.csv", "native/zen4/points.csv",
     "native/zen4/index.html", "native/more"],
)  # fmt: skip
def test_a_pipe_in_a_folder_of_results_is_refused(results: Path, name: str) -> None:
    """Who opened it would wait for somebody at its other end."""
    (results / name).unlink(missing_ok=True)
    os.mkfifo(results / name)
    for look in (write_site, report.check_reports):
        with pytest.raises(UserError, match=f"{name}' is neither a file nor a folder"):
            look(results)
    (results / name).rename("pipe")
    (results / name).symlink_to(Path(results.absolute(), "hidden", ".pipe"))
    (results / "hidden").mkdir()
    Path("pipe").rename(results / "hidden" / ".pipe")
    with pytest.raises(UserError, match="is neither a file nor a folder"):
        report.check_reports(results)


HEADS = "routine,offset,size,embedded,native"


@pytest.mark.parametrize(
    "data",
    [b"a,b\n1,2\n", b"\xff\xfe", b"", HEADS.encode(), f"{HEADS}\nx\n".encode(),
     *(f"{HEADS}\nrv-byte,{numbers}\n".encode() for numbers in (
         "0,abc,1,1", "0,8,nan,1", "0,8,inf,1", "nan,8,1,1", f"0,{'9' * 5000},1,1", ",8,1,1", "0,8,,1"))],
)  # fmt: skip
def test_a_hosts_points_are_a_table_of_numbers(results: Path, data: bytes) -> None:
    shutil.rmtree(results / STUDY)
    (results / "native" / "zen4" / "points.csv").write_bytes(data)
    with pytest.raises(UserError, match="points.csv"):
        write_site(results)


@pytest.mark.parametrize("write", [write_site, write_results_page])
@pytest.mark.parametrize("name", ["README.md", "verdicts.csv", "flips.csv"])
@pytest.mark.parametrize("data", [b"\xff\xfe", b"\0" * 5000, b"conclusion\nx\n"], ids=["no text", "long", "short"])
def test_a_studys_files_are_read_within_bounds(
    results: Path, monkeypatch: pytest.MonkeyPatch, write: Callable, name: str, data: bytes
) -> None:
    shutil.rmtree(results / "native")
    (results / STUDY / "verdicts.csv").write_text("claim,published,simulated,verdict,note\na,1,1,reproduced,b\n")
    monkeypatch.setattr("breakeven.web.results_site.study_parts", lambda _: ("A title", []))
    (results / STUDY / name).write_bytes(data)
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 4999)
    unread = name == "flips.csv" and write == write_site
    if unread or (data[:1] == b"c" and (name == "README.md" or write == write_site)):
        write(results)  # of a row of verdicts the site shows what there is
        return
    with pytest.raises(UserError, match=name):
        write(results)


def test_a_report_that_is_too_long_names_no_files(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (results / STUDY / "README.md").write_text("![x](a.png)\n" + "x" * 5000)
    (results / STUDY / "grids.csv").write_text("grid\na\n")
    assert report.written(results / STUDY) == {"a.png", "data-a.csv"}
    monkeypatch.setattr(reading, "MAX_FILE_BYTES", 4999)
    assert report.written(results / STUDY) == set()


def test_a_hosts_points_may_be_of_one_kind(results: Path) -> None:
    shutil.rmtree(results / STUDY)
    path = results / "native" / "zen4" / "points.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *(line for line in lines[1:] if "csum" not in line)]) + "\n")
    assert 0 < write_site(results).points < len(lines)


def test_a_tables_machine_leads_to_no_file(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("routine,size,offset,embedded,native\nrv-byte,8,0,42,31337\n")
    (tmp_path / "README.md").write_text("Host: a secret. More\n")
    outside = f"{'../' * 20}{tmp_path}"
    assert (RESULTS / "native" / outside / "points.csv").is_file()
    assert dots(outside, ["rv-byte"], 0, 0, "warm", "latency", lambda: 1000) == []


def test_a_table_need_not_say_how_many_calls_there_were(tmp_path: Path) -> None:
    table = pd.DataFrame({
        "routine": ["rv-byte", "rv-word"] * 2, "machine": "u74", "size": [8, 8, 16, 16], "src_offset": 0,
        "dst_offset": 0, "cache_state": "warm", "measure": "latency", "repetitions": 21, "cycles_median": 40,
    })  # fmt: skip
    table.to_csv(tmp_path / "a.csv", index=False)
    assert "rv-word" in page("A title", [read_part(tmp_path / "a.csv")], "again")
