"""The shape of the Python side: small files, packages that import from those below them (pyproject.toml)."""

from __future__ import annotations

import ast
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


#: what an import inside a function may name, a library or a package of ours, and why it is not at the top.
#: `breakeven.cli` and `breakeven.api` say in their docstrings that a command and a verb load what they use. Any other
#: needs a comment.
WHY_LATE = {
    "pandas": "0.4 s: only where a table is asked for",
    "numpy": "0.1 s: a single run does without",
    "matplotlib": "0.5 s: only where a figure is drawn",
    "rich": "0.05 s: only where a terminal is drawn on",
    "distributed": "0.6 s, and optional",
    "uvicorn": "0.1 s: only `explore`",
    "webbrowser": "only `explore`",
    "concurrent": "only with dask",
    "importlib": "a run needs neither versions nor plugins",
    "ast": "a preset that is named by its file only",
    **dict.fromkeys(
        ("csv", "gzip", "hashlib", "platform", "runpy", "select", "shlex", "shutil"), "few commands use it"
    ),
    "breakeven": "the public names load what is behind them when they are used",
    "breakeven.analysis": "numpy, or a table that a page shows only at times",
    "breakeven.cli": "a short gem5 script is over before it would be loaded",
    "breakeven.config": "the configuration language: an answer from the store does without it",
    "breakeven.engines": "one engine of five is used",
    "breakeven.explorer": "the page's process and the one that simulates load different halves",
    "breakeven.m5": "a module of gem5's that few scripts name",
    "breakeven.machine": "runs the machine's file: an answer from the store does without",
    "breakeven.output": "rich or matplotlib",
    "breakeven.points": "numpy in some of its modules: only where there are points",
    "breakeven.routine": "compilers and ELF files: only for routines of the user's",
    "breakeven.store": "sqlite3: not with --no-store",
    "breakeven.studies": "numpy; only a study's report",
    "breakeven.sweeps": "numpy: a single run does without",
    "breakeven.web": "numpy; only a page",
}


def late_imports(file: Path) -> list[tuple[int, str]]:
    """Line and module of each import inside a function that bears no comment."""
    source = file.read_text()
    lines, found = source.splitlines(), set()
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for node in ast.walk(function):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
                    found.add((node.lineno, module or ""))
    said = (f"{lines[line - 2]}{lines[line - 1]}" for line, _ in sorted(found))
    return [each for each, text in zip(sorted(found), said, strict=True) if "#" not in text]


def reason(module: str) -> str | None:
    library, *rest = module.split(".")
    return WHY_LATE.get(f"breakeven.{rest[0]}" if library == "breakeven" and rest else library)


@pytest.mark.slow
def test_imports_inside_functions_have_a_reason() -> None:
    silent = [
        f"{file.relative_to(REPO)}:{line}: {module}"
        for file in sorted((REPO / "breakeven").rglob("*.py"))
        # What a built wheel carries beside is no module of the package.
        if file.parent.name not in ("cli", "api") and "_data" not in file.parts
        for line, module in late_imports(file)
        if reason(module) is None
    ]
    assert silent == [], "move them to the top, or say why not in a comment"


def test_an_import_without_a_reason_is_found(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text("import os\ndef f():\n    import cmd\n    # slow\n    import sched\n    import wave  # why not\n")
    assert late_imports(file) == [(3, "cmd")] and reason("cmd") is None
    assert reason("breakeven.store.rows") == WHY_LATE["breakeven.store"]
    assert reason("breakeven.tuning.run") is None
