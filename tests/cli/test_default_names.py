"""A folder that was downloaded may hold links: an output that nobody named goes through none of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from breakeven.calibration import measurements
from breakeven.m5.options import Options
from breakeven.points.table import write_table
from tests.cli.test_report import table
from tests.cli.test_reproduce import TINY

#: what is written under a name that nobody gave: the name, the command, the option that names it
OUTPUTS = [
    ("report.html", ("report", "t.csv"), "--out"),
    ("sweep.csv", ("sweep", "rv-word", "-m", "atomic", "--sizes", "8", "--no-store"), "--out"),
    ("trace.out", ("run", "rv-word", "--size", "8", "--debug-flags", "O3PipeView", "--no-store"), "--debug-file"),
    ("my_cpu.py", ("calibrate",), "--out"),
    ("results", ("reproduce", "tiny.py", "--no-store"), "--out"),
    *[
        (name, ("gem5", "script.py"), option)
        for name, option in (
            ("m5out", "--outdir"), ("m5out/stats.txt", "--stats-file"), ("m5out/config.ini", "--dump-config"),
            ("m5out/config.json", "--json-config"), ("m5out/simout.txt", "--stdout-file"),
            ("m5out/simerr.txt", "--stderr-file"),
        )
    ],
]  # fmt: skip


@pytest.fixture
def outside(tmp_path: Path, tmp_path_factory, monkeypatch) -> Path:
    """The test's folder is the one that was downloaded; this one lies elsewhere."""
    monkeypatch.chdir(tmp_path)
    table().to_csv("t.csv", index=False)
    Path("tiny.py").write_text(TINY)
    Path("script.py").write_text("import m5\n")
    return tmp_path_factory.mktemp("outside")


@pytest.mark.parametrize("name, command, option", OUTPUTS)
def test_no_output_goes_through_a_link_that_nobody_named(
    breakeven: Callable, outside: Path, monkeypatch, name: str, command: tuple[str, ...], option: str
) -> None:
    def measured(*_: object, **__: object) -> None:
        pytest.fail("it has measured before it looked where the file goes")

    monkeypatch.setattr("breakeven.calibration.workflow.base_preset", lambda _: "skylake")
    monkeypatch.setattr("breakeven.calibration.workflow.read_or_measure", measured)
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).symlink_to(outside if name in ("m5out", "results") else outside / "new")
    done = breakeven(*command)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{name!r} is a symbolic link" in done.stderr and option in done.stderr
    assert Path(name).is_symlink() and not list(outside.iterdir())


@pytest.mark.parametrize("name, command, option", OUTPUTS)
def test_no_output_waits_for_who_reads_a_pipe_that_nobody_named(
    breakeven: Callable, outside: Path, monkeypatch, name: str, command: tuple[str, ...], option: str
) -> None:
    monkeypatch.setattr("breakeven.calibration.workflow.base_preset", lambda _: "skylake")
    Path(name).parent.mkdir(exist_ok=True)
    os.mkfifo(name)
    done = breakeven(*command)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"{name!r} is neither a file nor a folder" in done.stderr and option in done.stderr
    assert Path(name).is_fifo()


def test_no_plot_goes_through_a_link_at_the_name_of_its_question(breakeven: Callable, outside: Path) -> None:
    words = ("find", "rv-byte", "rv-word", "-m", "atomic", "--sizes", "1..8", "--no-store", "--plot")
    assert breakeven(*words, "svg").returncode == 0
    (plot,) = Path().glob("*.svg")
    plot.unlink()
    plot.symlink_to(outside / "new.svg")
    done = breakeven(*words, "svg")
    assert done.returncode == 1 and f"'{plot}' is a symbolic link" in done.stderr and "--plot FILE" in done.stderr
    assert not list(outside.iterdir())
    assert breakeven(*words, plot).returncode == 0 and (outside / "new.svg").is_file()


def test_every_default_name_of_the_launcher_is_looked_at() -> None:
    """A new option with a file's name must not be forgotten: its default has a suffix, or is the folder."""
    names = [name for name in vars(Options()).values() if isinstance(name, str) and ("." in name or name == "m5out")]
    assert sorted(names) == sorted(name.rpartition("/")[2] for name, words, _ in OUTPUTS if words[0] == "gem5")


def test_a_link_that_was_named_is_followed(breakeven: Callable, outside: Path) -> None:
    Path("report.html").symlink_to(outside / "page.html")
    assert breakeven("report", "t.csv", "-o", "report.html").returncode == 0
    assert "<html" in (outside / "page.html").read_text() and Path("report.html").is_symlink()
    Path("m5out").symlink_to(outside)
    (outside / "stats.txt").symlink_to("page.html")
    done = breakeven("gem5", "-d", "m5out", "--stats-file", "stats.txt", "script.py")
    assert done.returncode == 0, done.stderr


def test_calibrate_keeps_a_machine_file_that_may_have_been_edited(
    breakeven: Callable, outside: Path, monkeypatch
) -> None:
    monkeypatch.setattr("breakeven.calibration.workflow.base_preset", lambda _: "skylake")
    monkeypatch.setattr(measurements, "read", lambda _: pytest.fail("it has measured first"))
    Path("my_cpu.py").write_text("mine")
    Path("m.json").write_text("{}")
    done = breakeven("calibrate", "--measurements", "m.json")
    assert done.returncode == 1 and "'my_cpu.py' is there already" in done.stderr and "--out my_cpu.py" in done.stderr
    assert Path("my_cpu.py").read_text() == "mine"


def test_names_in_pages_and_tables_have_no_control_characters(breakeven: Callable, outside: Path) -> None:
    evil = "x\nimport os\r\x1b[2J\u202e"
    made = table().assign(ok=False, machine=evil, **{f"cpu.{evil}": evil})
    made["routine"] = made["routine"].replace("fast", evil)
    made.to_csv("e.csv", index=False)
    breakeven("report", "e.csv", "--title", evil, "-o", "page.html")
    for name in ("again.csv", "again.json"):
        write_table(made, Path(name))
    for name in ("page.html", "again.csv", "again.json"):
        text = Path(name).read_text()
        assert not [line for line in text.split("\n") if line.startswith("import os")], name
        assert not {"\r", "\x1b", "\u202e"} & set(text), name
