"""The commands of docs/tutorial.md, in their order, in one folder."""

from __future__ import annotations

import platform
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from breakeven.files.data import find_data

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PAGE = Path(__file__).resolve().parent.parent / "docs" / "tutorial.md"


def steps() -> list[tuple[str, str]]:
    """Files as (name, contents), commands as ("", line). A file's name stands last in backquotes before its block."""
    found: list[tuple[str, str]] = []
    text = PAGE.read_text()
    for match in re.finditer(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        language, body = match.groups()
        if language == "sh":
            found += [("", line) for line in body.splitlines()]
        else:
            found.append((re.findall(r"`([\w.]+\.(?:S|c|py))`", text[: match.start()])[-1], body))
    return found


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("breakeven._engine")
    if (
        shutil.which("riscv64-unknown-elf-gcc") is None
        or not find_data("guests").joinpath("riscv-recipe.json").is_file()
    ):
        pytest.skip("no RISC-V compiler, or the guests are not built with it")
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path / "home"))
    files, commands = 0, 0
    for name, text in steps():
        if name:
            (tmp_path / name).write_text(text)
            files += 1
            continue
        line, _, comment = text.partition("  # ")
        program, *arguments = shlex.split(line)
        assert program == "breakeven"
        if "native" in line and platform.machine() != "x86_64":
            continue
        command = [sys.executable, "-m", "breakeven", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == (1 if comment == "refused" else 0), f"{line}\n{done.stdout}\n{done.stderr}"
        commands += 1
        if comment == "refused":
            assert "is wrong at size 1" in done.stderr and "byte 0 is 0xa5 (what was there before)" in done.stderr
    assert files == 3 and commands > 12
    assert "always_inline)) void tuned_copy(" in (tmp_path / "my_copy.h").read_text()
