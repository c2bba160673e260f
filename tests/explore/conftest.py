"""The explorer in Debian's chromium, and its server without one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]


class Explorer:
    """A running `breakeven explore`."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.home = folder / "home"
        variables = {**os.environ, "BREAKEVEN_HOME": str(self.home), "BREAKEVEN_STORE": str(folder / "store.sqlite")}
        command = [sys.executable, "-m", "breakeven", "explore", *words, "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=variables)
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().partition(": ")[2].strip()
        assert self.address.startswith("http://127.0.0.1:"), "it did not start"

    @property
    def base(self) -> str:
        return self.address.partition("?")[0]

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2].partition("#")[0]

    def children(self) -> list[int]:
        """The processes that simulate."""
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        return [int(word) for word in found.stdout.split()]

    def interrupt(self) -> int:
        """Ctrl-C; the exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(10)


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explorer]:
    pytest.importorskip("breakeven._engine", reason="the engine is not built")
    question = ["rv-byte", "rv-copy-user-2021", "--src", "3", "--sizes", "1..256"]
    running = Explorer(tmp_path_factory.mktemp("explore"), *question)
    yield running
    if running.process.poll() is None:
        running.interrupt()


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="no playwright: scripts/setup installs it")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no chromium: scripts/setup --test-tools installs it")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield started
        started.close()
