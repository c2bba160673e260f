"""The shape of the Python side: small files, packages that import from those below them (pyproject.toml)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]
LINT = Path(sys.executable).with_name("lint-imports")
MOST_LINES = 400


def test_no_module_is_long() -> None:
    files = sorted((REPO / "breakeven").rglob("*.py"))
    lengths = {str(path.relative_to(REPO)): len(path.read_text().splitlines()) for path in files}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


@pytest.mark.skipif(not LINT.exists(), reason="no import-linter: scripts/setup")
def test_an_import_back_up_is_found(tmp_path: Path) -> None:
    """The contracts hold for the files as they are, and do not for one that imports what lies above it."""
    check = [str(LINT), "--no-logo", "--no-cache", "--config", "pyproject.toml"]
    for name in ("pyproject.toml", "breakeven"):
        (tmp_path / name).symlink_to(REPO / name)
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    (tmp_path / "breakeven").unlink()
    for path in (REPO / "breakeven").rglob("*.py"):
        copy = tmp_path / path.relative_to(REPO)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text())
    with open(tmp_path / "breakeven" / "files" / "reading.py", "a") as file:
        file.write("\n\ndef later():\n    from breakeven.points import ranges\n    return ranges\n")
    done = subprocess.run(check, cwd=tmp_path, env={"PYTHONPATH": "."}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "breakeven.files.reading -> breakeven.points" in done.stdout, done.stdout
