"""scripts/setup where something is missing: one sentence with the fix, and the next run goes on. Every program that it
calls is a stand-in."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
#: what it needs of a system, as it is
REAL = ("bash", "cat", "chmod", "cut", "dirname", "env", "grep", "rm", "sed", "sha256sum", "sort", "tail")
#: what each program says where all is well
STAND_INS = {
    "gcc": "", "git": "", "riscv64-unknown-elf-gcc": "", "x86_64-linux-gnu-gcc": "", "python3": "", "apt-get": "",
    "cargo": "", "rustc": "rustc 1.95.0", "id": "0", "df": "Avail\n90000",
}  # fmt: skip


class Checkout:
    """A folder with scripts/setup and an environment whose programs note that they were called."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.programs, self.environment = folder, folder / "programs", folder / ".venv/bin"
        for each in (folder / "scripts", self.programs, self.environment):
            each.mkdir(parents=True)
        shutil.copy(REPO / "scripts/setup", folder / "scripts")
        shutil.copy(REPO / "requirements.lock", folder)
        for name in REAL:
            (self.programs / name).symlink_to(str(shutil.which(name)))
        for name, said in STAND_INS.items():
            self.program(name, said)
        for name in ("pip", "uv", "scons"):
            self.program(name, "", folder=self.environment)
        self.program("python", str(folder), folder=self.environment)

    def program(self, name: str, said: str, status: int = 0, folder: Path | None = None) -> None:
        path = (folder or self.programs) / name
        path.write_text(f"#!/bin/bash\necho {name} \"$@\" >> '{self.folder}/called'\necho '{said}'\nexit {status}\n")
        path.chmod(0o755)

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        (self.folder / "called").write_text("")
        command = [str(self.folder / "scripts/setup"), *options]
        variables = {"PATH": str(self.programs), "HOME": os.devnull}
        return subprocess.run(command, env=variables, capture_output=True, text=True)

    def fails(self, *words: str) -> None:
        """It ends with one sentence that has `words`."""
        done = self.run()
        assert done.returncode == 1
        sentence = done.stderr.splitlines()[-1]
        assert sentence.startswith("setup: ") and all(word in sentence for word in words), done.stderr

    @property
    def called(self) -> str:
        return (self.folder / "called").read_text()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_all_is_there(checkout: Checkout) -> None:
    assert checkout.run().returncode == 0
    assert "apt-get" not in checkout.called
    assert "uv pip install" in checkout.called and "scons -Q -s fastest=no engine guests" in checkout.called
    # The environment is as locked: nothing is installed again.
    assert checkout.run("--fastest").returncode == 1  # no llvm-profdata, and no rustup
    assert "uv" not in checkout.called
    assert checkout.run("--no-engine").returncode == 0
    assert "scons -Q -s guests" in checkout.called
    assert (checkout.folder / "breakeven.pth").read_text() == f"{checkout.folder}\n"
    assert "from breakeven.entry import main" in (checkout.environment / "breakeven").read_text()


def test_a_missing_compiler_without_a_network(checkout: Checkout) -> None:
    (checkout.programs / "riscv64-unknown-elf-gcc").unlink()
    checkout.program("apt-get", "Temporary failure resolving", 100)
    checkout.fails("network", "apt-get install gcc-riscv64-unknown-elf")
    assert "uv" not in checkout.called and "scons" not in checkout.called
    checkout.program("apt-get", "")
    assert checkout.run().returncode == 0
    assert "install" in checkout.called and "gcc-riscv64-unknown-elf" in checkout.called


def test_no_network_for_python(checkout: Checkout) -> None:
    checkout.program("pip", "No matching distribution found", 1, checkout.environment)
    checkout.fails("Python packages", "network", "run this again")
    checkout.program("pip", "", folder=checkout.environment)
    assert checkout.run().returncode == 0
    assert "uv pip install" in checkout.called


def test_where_uv_fails_pip_installs(checkout: Checkout) -> None:
    checkout.program("uv", "no such index", 2, checkout.environment)
    assert checkout.run().returncode == 0
    assert "pip --quiet --disable-pip-version-check install --require-hashes -r requirements.lock" in checkout.called


def test_a_full_disk(checkout: Checkout) -> None:
    checkout.program("df", "Avail\n3")
    checkout.program("scons", "No space left on device", 2, checkout.environment)
    checkout.fails("the disk is full (3 MB left)", "run this again")
    checkout.program("df", "Avail\n90000")
    checkout.fails("could not be built (above)")
    checkout.program("scons", "", folder=checkout.environment)
    assert checkout.run().returncode == 0
    assert "uv" not in checkout.called


def test_an_old_rust(checkout: Checkout) -> None:
    checkout.program("rustc", "rustc 1.63.0")
    checkout.fails("no Rust 1.85 or newer", "rustup")
    assert "install -y --no-install-recommends rustc-web cargo-web" in checkout.called


def test_an_unknown_option(checkout: Checkout) -> None:
    done = checkout.run("--fast")
    assert done.returncode == 2 and "--fastest" in done.stderr
    assert checkout.called == ""
