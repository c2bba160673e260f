"""Static Linux programs under syscall emulation print what they print natively, or under qemu-user."""

import json
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from breakeven.machine.process import emulated
from tests.tiers import long_after

pytestmark = pytest.mark.slow

_engine = pytest.importorskip("breakeven._engine")

ROOT = Path(__file__).parents[1]
PROGRAMS = ROOT / "build/guests/process"
ARGUMENTS = ["one", "two words"]
INPUT = b"a line\nand another one\nand the rest"
ENVIRONMENT = {"CHECKS": "yes", "LANG": "C"}

# Every C library, and every core at least once.
RUNS = [
    ("riscv-glibc", "atomic"),
    ("riscv-glibc", "o3"),
    ("x86-glibc", "x86_timing"),
    ("x86-glibc-pie", "x86_minor"),
    pytest.param("x86-musl", "x86_o3", marks=pytest.mark.long),
]


def description(machine: str, program: str, arguments: list[str] = ARGUMENTS) -> str:
    """The stored description `machine` with one process."""
    stored = json.loads((ROOT / f"tests/data/descriptions/{machine}.json").read_text())
    return json.dumps(emulated(stored, [program, *arguments], ENVIRONMENT))


def program(library: str, name: str = "checks") -> Path:
    """The program linked with `library`; skips where its compiler was not there."""
    path = PROGRAMS / f"{name}-{library}"
    if not path.exists():
        pytest.skip(f"no compiler for {library} (scripts/setup --test-tools)")
    return path


def native(path: Path, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """What the program does on this host, or under qemu-user; skips where neither can run it."""
    command = [str(path)]
    if "riscv" in path.name:
        if not shutil.which("qemu-riscv64"):
            pytest.skip("no qemu-riscv64 (scripts/setup --test-tools)")
        command = ["qemu-riscv64", *command]
    elif platform.machine() != "x86_64":
        pytest.skip("the host is not an x86-64")
    # In a process group of its own: Linux drops SIGTSTP in an orphaned one, as pytest's is under setsid.
    return subprocess.run(
        [*command, *ARGUMENTS],
        input=INPUT, capture_output=True, cwd=folder, env=ENVIRONMENT, timeout=60, process_group=0,
    )  # fmt: skip


@pytest.mark.parametrize(("library", "machine"), RUNS)
def test_a_program_prints_what_it_prints_natively(library: str, machine: str, tmp_path: Path) -> None:
    path = program(library)
    folders = [tmp_path / "native", tmp_path / "simulated"]
    for folder in folders:
        folder.mkdir()
    expected = native(path, folders[0])
    m = _engine.Machine(
        description(machine, path.name), path.read_bytes(), stdin=INPUT, directory=str(folders[1]), writable=True
    )
    end = m.run(max_insts=50_000_000)
    assert m.stdout().decode().splitlines() == expected.stdout.decode().splitlines(), end
    assert m.stderr() == expected.stderr
    assert m.console() == m.stdout() + m.stderr()
    assert (end["cause"], end["code"]) == ("exiting with last active thread context", expected.returncode)
    assert not any("not implemented" in warning for warning in m.warnings()), m.warnings()
    assert list(folders[1].iterdir()) == []


@pytest.fixture(scope="module", params=["children", "control", "shared"])
def processes(request, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes, int]:
    """A program of several processes, and what it prints natively. qemu-user does not execute itself."""
    done = native(program("x86-glibc", request.param), tmp_path_factory.mktemp(request.param))
    return request.param, done.stdout, done.returncode


@pytest.mark.parametrize(
    ("library", "machine"),
    [
        ("riscv-glibc", "atomic"),
        pytest.param("riscv-glibc", "o3", marks=pytest.mark.long),
        ("x86-glibc", "x86_minor"),
        pytest.param("x86-musl", "x86_o3", marks=pytest.mark.long),
    ],
)
def test_processes_and_signals_are_as_natively(library: str, machine: str, processes, tmp_path: Path) -> None:
    name, output, status = processes
    path = program(library, name)
    m = _engine.Machine(description(machine, path.name, []), path.read_bytes(), directory=str(tmp_path), writable=True)
    end = m.run(max_insts=200_000_000)
    assert m.stdout().decode().splitlines() == output.decode().splitlines(), (end, m.warnings())
    assert (end["cause"], end["code"]) == ("exiting with last active thread context", status)
    assert m.stderr() == b"" and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("machine", ["atomic", pytest.param("o3", marks=pytest.mark.long)])
@pytest.mark.parametrize("call", ["readv", "fork"])
def test_a_limit_is_seen_between_calls_that_take_long(machine: str, call: str) -> None:
    path = program("riscv-glibc", "endless")
    m = _engine.Machine(description(machine, path.name, [call]), path.read_bytes())
    end = m.run(max_seconds=0.2)
    assert end["cause"] == "host time limit reached"
    # Readings alone would take minutes until so many instructions are over.
    assert call == "fork" or end["insts"] < 1 << 19


@pytest.mark.parametrize("machine", long_after(2, ["x86_o3", "x86_timing", "x86_minor"]))
def test_code_that_changes_is_executed_as_natively(machine: str, tmp_path: Path) -> None:
    path = program("x86-glibc", "rewritten")
    folders = [tmp_path / "native", tmp_path / "simulated"]
    for folder in folders:
        folder.mkdir()
    expected = native(path, folders[0]).stdout
    m = _engine.Machine(
        description(machine, path.name, []), path.read_bytes(), directory=str(folders[1]), writable=True
    )
    end = m.run(max_insts=50_000_000)
    assert m.stdout() == expected and expected.count(b"\n") == 24, end


@pytest.mark.parametrize("machine", long_after(1, ["x86_timing", "x86_o3"]))
def test_a_database_is_written_as_natively(machine: str, tmp_path: Path) -> None:
    """Debian's SQLite: journals, locks, and files that are the same byte for byte."""
    path = PROGRAMS / "database-x86-glibc"
    if not path.exists():
        pytest.skip("no libsqlite3-dev (scripts/setup --test-tools)")
    folders = [tmp_path / "native", tmp_path / "simulated"]
    for folder in folders:
        folder.mkdir()
    expected = native(path, folders[0])
    m = _engine.Machine(
        description(machine, path.name, []), path.read_bytes(), directory=str(folders[1]), writable=True
    )
    end = m.run(max_insts=200_000_000)
    assert (end["code"], m.stdout()) == (0, expected.stdout), (end, m.warnings())
    kept = [{file.name: file.read_bytes() for file in folder.iterdir()} for folder in folders]
    assert kept[0].keys() == {"delete.db", "wal.db"} and kept[0] == kept[1]


def test_a_program_that_may_use_no_directory_gets_none(tmp_path: Path) -> None:
    path = program("x86-musl")
    m = _engine.Machine(description("x86_timing", path.name), path.read_bytes())
    end = m.run(max_insts=50_000_000)
    assert end["code"] == 42
    assert b"files: No such file or directory" in m.stdout()
    assert b"input: 0 lines" in m.stdout()
    assert any("may use no directory" in warning for warning in m.warnings())
    with pytest.raises(_engine.EngineError, match="the kernel's own files"):
        _engine.Machine(description("x86_timing", path.name), path.read_bytes(), directory="/proc")


def test_exec_runs_a_linux_program(tmp_path: Path) -> None:
    path = program("x86-musl")
    folder = tmp_path / "allowed"
    folder.mkdir()
    command = [sys.executable, "-m", "breakeven", "exec", str(path), "-m", "x86_timing"]
    allowed = ["--linux", "--dir", str(folder), "--writable"]
    done = subprocess.run([*command, *allowed, "one", "two words"], input=INPUT, capture_output=True, timeout=120)
    assert done.returncode == 42, done.stderr
    assert b"argv[2] = two words\n" in done.stdout and b"1000 lines" in done.stdout
    assert b"input: 3 lines" in done.stdout
    assert b"exiting with last active thread context" in done.stderr
    wrong = subprocess.run([*command, "--linux", "--dir", "/nowhere"], capture_output=True, timeout=60)
    assert wrong.returncode == 1 and b"/nowhere" in wrong.stderr and b"Traceback" not in wrong.stderr
    wrong = subprocess.run([*command, "one"], capture_output=True, timeout=60)
    assert wrong.returncode == 1 and b"--linux" in wrong.stderr
