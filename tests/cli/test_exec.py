"""`exec --linux`: what a program prints arrives whole, apart and in time, and its surroundings are the caller's."""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TextIO

import pytest

from breakeven import cli

_engine = pytest.importorskip("breakeven._engine")


@pytest.fixture(scope="module")
def busybox() -> str:
    """Debian's static busybox; skips where there is none (scripts/setup --test-tools)."""
    path = shutil.which("busybox")
    if path is None or platform.machine() != "x86_64":
        pytest.skip("no x86-64 busybox (scripts/setup --test-tools)")
    # A program header of type PT_INTERP names a dynamic loader.
    head = Path(path).read_bytes()[:4096]
    first, size, count = (int.from_bytes(head[at : at + n], "little") for at, n in ((32, 8), (54, 2), (56, 2)))
    if any(head[first + n * size] == 3 for n in range(count)):
        pytest.skip(f"{path} is not static (scripts/setup --test-tools)")
    return path


@pytest.fixture
def run(busybox, monkeypatch, capfdbinary):
    """Runs an applet in this process: exit status, output, errors."""

    def run_(*words: str, options: tuple[str, ...] = (), machine: str = "x86_atomic", stdin: TextIO | None = None):
        command = ["breakeven", "exec", "--linux", "-m", machine, *options, busybox, "--", *words]
        monkeypatch.setattr(sys, "argv", command)
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code, *capfdbinary.readouterr()

    return run_


def test_nothing_of_a_long_output_is_lost(run, tmp_path):
    text = b"0123456789abcde\n" * (20_000_000 // 16)
    (tmp_path / "long").write_bytes(text)
    status, out, err = run("cat", str(tmp_path / "long"), options=("--dir", str(tmp_path)))
    assert (status, out == text) == (0, True), (len(out), err)


def test_standard_error_is_apart_unless_joined(run):
    words = ("sh", "-c", "echo one; echo two >&2; echo three")
    status, out, err = run(*words)
    assert (status, out) == (0, b"one\nthree\n") and err.startswith(b"two\nbreakeven: ")
    assert run(*words, options=("--join-output",))[1] == b"one\ntwo\nthree\n"
    found = json.loads(run(*words, options=("--json",))[1])
    assert [found[name] for name in ("stdout", "stderr", "console")] == ["one\nthree\n", "two\n", "one\ntwo\nthree\n"]


def test_json_holds_bytes_that_are_no_text(run):
    status, out, _ = run("printf", r"\377\0a\200\\xff\303\244", options=("--json",))
    found = json.loads(out)["stdout"]
    assert (status, found.encode(errors="surrogateescape")) == (0, b"\xff\0a\x80\\xff\xc3\xa4")


def test_json_says_so_when_it_cannot_hold_the_output(run, tmp_path):
    with open(tmp_path / "long", "wb") as file:
        file.truncate(17 << 20)
    status, out, err = run("cat", str(tmp_path / "long"), options=("--dir", str(tmp_path), "--json"))
    assert (status, out) == (1, b"") and b"without --json" in err


@pytest.mark.slow
def test_an_interrupted_program_keeps_its_output_and_its_warnings(run):
    # Tests may run where it is ignored (a shell's background).
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    status, out, err = run("sh", "-c", "echo begun; test -e /nowhere; while :; do :; done")
    timer.join()
    signal.signal(signal.SIGINT, before)
    assert (status, out) == (130, b"begun\n")
    assert b"/nowhere" in err and b"breakeven: interrupted, code 130: " in err and b"Traceback" not in err


def test_limits_of_this_computers_clock(run):
    status, out, err = run("sh", "-c", "echo begun; while :; do :; done", options=("--max-seconds", "0.3"))
    assert (status, out) == (124, b"begun\n") and b"host time limit reached" in err


def test_output_that_nobody_takes_ends_with_the_time(busybox):
    command = [sys.executable, "-m", "breakeven", "exec", "--linux", "-m", "x86_atomic", "--max-seconds", "1", busybox]
    with subprocess.Popen(
        [*command, "--", "yes"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.wait(60) == 1 and process.stderr is not None
        assert b"output was not taken before --max-seconds had passed" in process.stderr.read()


def test_more_input_than_a_program_is_given_is_a_sentence(run, monkeypatch, tmp_path):
    (tmp_path / "long").write_bytes(bytes(101))
    monkeypatch.setattr("breakeven.cli.programs.MOST_INPUT", 100)
    with (tmp_path / "long").open() as long:
        status, _, err = run("cat", stdin=long)
    assert status == 1 and b"standard input has more than the 0 MiB that a program is given" in err


def test_environment_clock_and_number_of_files(run, tmp_path):
    script = 'echo "$GREETING $LANG"; for n in 1 2 3; do : > file$n; done; echo done'
    options = ("--env", "GREETING=a b", "--env", "LANG=de", "--start-time", "2026-11-22", "--max-files", "2")
    status, out, err = run("sh", "-c", script, options=(*options, "--dir", str(tmp_path), "--writable"))
    assert out == b"a b de\n"
    assert status != 0 and b"file3" in err and b"made 2 files" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file1", "file2"]
    assert run("date", "-u", "+%F %R", options=("--start-time", "2026-11-22T20:01:02Z"))[1] == b"2026-11-22 20:01\n"
    assert run("date", "-u", "+%s")[1] == b"1000000000\n"
    for wrong in (("--env", "=x"), ("--env", "x"), ("--start-time", "soon"), ("--start-time", "1960-01-01")):
        status, _, err = run("true", options=wrong)
        assert status == 1 and wrong[0].encode() in err, wrong


def test_a_full_disk_is_named(run, busybox):
    trace = ("--debug-flags", "O3PipeView", "--debug-file", "/dev/full")
    status, _, err = run("true", options=trace, machine="x86_o3")
    assert status == 1
    assert b'cannot write the trace "/dev/full": no space left on device' in err and b"pseudo-op" not in err
    command = [sys.executable, "-m", "breakeven", "exec", "--linux", "-m", "x86_atomic", busybox, "--", "echo", "x"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1
    told = b"breakeven: cannot write the program's output to standard output: no space left on device\n"
    assert done.stderr.endswith(told)


def test_a_program_whose_reader_is_gone_ends_by_sigpipe(busybox):
    command = [sys.executable, "-m", "breakeven", "exec", "--linux", "-m", "x86_atomic", busybox, "--", "yes"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait(60) == 128 + 13 and b"SIGPIPE" in err and b"Traceback" not in err


@pytest.mark.slow
def test_applets_change_files_as_on_this_host(run, busybox, tmp_path):
    folders = [tmp_path / "here", tmp_path / "there"]
    for folder in folders:
        folder.mkdir()
        (folder / "a").write_bytes(b"one\ntwo\n")
    commands = [
        ["ln", "a", "b"], ["ln", "-s", "a", "c"], ["cat", "c"], ["chmod", "640", "a"], ["stat", "-c", "%a %h", "b"],
        ["ln", "a", "b"], ["cp", "-p", "a", "d"], ["truncate", "-s", "2", "d"], ["mkdir", "-p", "e/f"], ["touch", "g"],
        ["mv", "e/f", "e/h"], ["rmdir", "e/h"], ["chown", "0:0", "nothing"], ["gzip", "-k", "a"], ["ls", "-1R"],
        ["tar", "cf", "t", "a", "c"], ["tar", "tf", "t"], ["dd", "if=a", "of=i", "bs=3"], ["install", "a", "j"],
        ["sed", "-i", "s/o/0/", "d"], ["sh", "-c", "read x < a; echo $x > k"], ["fallocate", "-l", "9", "l"],
    ]  # fmt: skip
    for command in commands:
        native = subprocess.run([busybox, *command], cwd=folders[0], capture_output=True, timeout=60)
        status, out, err = run(*command, options=("--dir", str(folders[1]), "--writable"))
        assert (status, out) == (native.returncode, native.stdout), (command, err)
    kept = [{p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()} for folder in folders]
    for files in kept:
        # Archives hold the times of their files.
        del files["t"], files["a.gz"]
    assert kept[0] == kept[1] and len(kept[0]) >= 8


@pytest.mark.slow
def test_shells_start_processes_and_handle_signals(run, busybox, tmp_path):
    line = (
        "trap 'echo T' EXIT; trap 'echo U' USR1; yes | head -1; echo $(echo in $(echo deep)); kill -USR1 $$; cat <<E\n"
        "here\nE\nSLEEPERS; (exit 3) & wait $!; echo $?; ./busybox nothing; exit 4"
    )
    # Simulated time decides which sleeper is first; this host's time decides nothing.
    simulated = line.replace("SLEEPERS", "(sleep 0.2; echo slow) & (sleep 0.1; echo fast) & wait")
    line = line.replace("SLEEPERS", "echo fast; echo slow")
    shutil.copy(busybox, tmp_path)
    native = subprocess.run([busybox, "sh", "-c", line], cwd=tmp_path, capture_output=True, timeout=60)
    environment = ("--env", f"PATH={tmp_path}")
    for applet in ("yes", "head", "cat", "sleep"):
        (tmp_path / applet).symlink_to("busybox")
    for machine in ("x86_atomic", "x86_o3"):
        status, out, err = run("sh", "-c", simulated, options=("--dir", str(tmp_path), *environment), machine=machine)
        assert (status, out) == (native.returncode, native.stdout), (machine, err)
        assert b"nothing: applet not found" in err


def test_a_process_with_avx512_is_told_that_it_gets_avx2(program, tmp_path):
    source = tmp_path / "wide.S"
    source.write_text(
        ".globl _start\n_start: vpxorq %zmm17, %zmm17, %zmm17\n mov $60, %eax\n xor %edi, %edi\n syscall\n"
    )
    elf = tmp_path / "wide"
    subprocess.run(["gcc", "-nostdlib", "-static", source, "-o", elf], check=True)
    done = program("exec", "--linux", "-m", "zen4", "--set", "cpu.isa.enable_avx512=true", elf)
    assert done.returncode == 132
    assert "an AVX-512 instruction: a process under syscall emulation has AVX2 at most, at pc 0x" in done.stderr


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder for a program to write in, with links of the user's that lead out of it."""
    folder = tmp_path / "shared"
    folder.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("precious")
    (folder / "data").symlink_to("../outside")
    (folder / "notes").symlink_to("../outside/file")
    return folder


@pytest.mark.parametrize(
    "command",
    [
        "ln -s data/file out",
        "ln -s data/none out",
        "mv notes out",
        "mkfifo out",
        "for each in .*.new; do rm $each; ln -s data/file $each; done",
    ],
)
@pytest.mark.parametrize(
    "options",
    [("--stats",), ("--debug-flags", "O3PipeView", "--debug-limit", "4KiB", "--debug-file")],
    ids=["stats", "trace"],
)
@pytest.mark.parametrize("there", [False, True])
def test_a_program_cannot_lead_an_output_out_of_its_folder(run, shared: Path, options, command: str, there: bool):
    out = shared / "out"
    if there:
        out.write_text("an old file")
    options = ("--dir", str(shared), "--writable", *options, str(out))
    machine = "x86_o3" if "--debug-file" in options else "x86_atomic"
    status, _, err = run("sh", "-c", f"cd {shared}; rm -f out; {command}; true", options=options, machine=machine)
    assert (shared.parent / "outside" / "file").read_text() == "precious"
    assert [each.name for each in (shared.parent / "outside").iterdir()] == ["file"]
    assert status == 0, err
    if "--stats" in options:
        assert out.is_file() and not out.is_symlink() and b"simTicks" in out.read_bytes()


@pytest.mark.parametrize("option", ["--stats", "--debug-file"])
def test_a_pipe_that_a_program_may_have_left_is_no_place_for_an_output(run, shared: Path, option: str) -> None:
    os.mkfifo(shared / "out")
    options = ("--dir", str(shared), "--writable", "--debug-flags", "O3PipeView", option, str(shared / "out"))
    status, _, err = run("true", options=options, machine="x86_o3")
    assert status == 1 and b"it is no plain file, and the program may write beside it" in err
