"""A Python process of ours takes no module from the current folder, PYTHONPATH or the user's own packages."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from breakeven.explorer.process import Worker

REPO = Path(__file__).resolve().parents[2]


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file into which each module of the current folder and of PYTHONPATH writes its name when it is taken."""
    taken = tmp_path / "taken"
    taken.write_text("")
    names = [*sys.stdlib_module_names, "breakeven", "numpy", "pandas", "sitecustomize", "usercustomize"]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folders = [tmp_path / "here", tmp_path / "path", tmp_path / "base" / "lib" / version / "site-packages"]
    for folder in folders:
        folder.mkdir(parents=True)
        for name in names:
            (folder / f"{name}.py").write_text(f"open({str(taken)!r}, 'a').write({name + chr(10)!r})\n")
    monkeypatch.chdir(folders[0])
    monkeypatch.setenv("PYTHONPATH", str(folders[1]))
    monkeypatch.setenv("PYTHONUSERBASE", str(tmp_path / "base"))
    return taken


def test_the_explorers_process_takes_none(evil: Path) -> None:
    worker = Worker(no_store=True)
    try:
        found = asyncio.run(worker.ask("describe", name="u74", settings=()))
    finally:
        worker.close()
    assert found["isa"] == "riscv" and evil.read_text() == ""


@pytest.mark.slow
@pytest.mark.parametrize("module", ["output.plots", "studies.ratio_panels", "studies.winner_map"])
@pytest.mark.parametrize("settings", [b"lines.linewidth: 40\n", b"\xff\n", None], ids=["text", "no text", "pipe"])
@pytest.mark.parametrize("place", ["current", "named", "config"])
def test_figures_follow_no_settings_of_a_folder(
    tmp_path: Path, place: str, settings: bytes | None, module: str
) -> None:
    for name in ("current", "named", "config/matplotlib"):
        (tmp_path / name).mkdir(parents=True)
    file = tmp_path / ("config/matplotlib" if place == "config" else place) / "matplotlibrc"
    if settings is None:
        os.mkfifo(file)
    else:
        file.write_bytes(settings)
    named = str(tmp_path / "named")
    drawn = (
        f"import os, breakeven.{module}, matplotlib; print(matplotlib.rcParams['lines.linewidth']);"
        "print(os.getcwd()); print(os.environ['MATPLOTLIBRC'])"
    )
    environment = {
        **os.environ, "PYTHONPATH": str(REPO), "MATPLOTLIBRC": named, "XDG_CONFIG_HOME": str(tmp_path / "config")
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-P", "-c", drawn], cwd=tmp_path / "current", env=environment, capture_output=True, text=True,
        timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["1.5", str(tmp_path / "current"), named]


def test_there_is_one_way_to_start_a_python() -> None:
    starts = [path for path in (REPO / "breakeven").rglob("*.py") if "sys.executable" in path.read_text()]
    assert [path.name for path in starts] == ["isolated.py"]
    # Those of the checkout's own scripts take nothing from the current folder.
    for path in (REPO / "scripts").glob("*"):
        for line in path.read_text().splitlines() if path.is_file() else []:
            if 'sys.executable, "' in line and "scripts/" not in line:
                assert 'sys.executable, "-P"' in line, (path.name, line)
