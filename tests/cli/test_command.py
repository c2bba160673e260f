"""The real command: output, exit status, errors in one sentence, the same bytes for every number of threads."""

import functools
import json
import os
import signal
import subprocess
import sys

import pytest
import typer

from breakeven.cli import FILES, load
from breakeven.files.data import find_data
from tests import asm


def one_sentence(done):
    """A refusal: non-zero, nothing on stdout, one line on stderr, no traceback."""
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("breakeven: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ""
    return done.stderr


def test_run(breakeven):
    done = breakeven("run", "rv-word", "--machine", "u74", "--size", "1448", "--src", "3")
    assert done.returncode == 0, done.stderr
    assert "rv-word on u74: 1448 B, src+3, dst+0, warm, latency" in done.stdout
    for word in ("cycles", "bytes/cycle", "instructions", "verified"):
        assert word in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_run_json_is_one_object(breakeven):
    done = breakeven("run", "rv-copy-user-2021", "-n", "64", "--json")
    point = json.loads(done.stdout)
    assert point["ok"] is True
    assert point["cycles"] > 0
    assert point["bytes_per_cycle"] == pytest.approx(64 / point["cycles"])
    assert len(point["machine_hash"]) == 64


def test_fault_returns_the_bytes_not_copied(breakeven):
    point = json.loads(breakeven("run", "rv-copy-user-2017", "-n", "6000", "--fault-at", "5000", "--json").stdout)
    assert point["ok"] is True
    # The page that holds byte 5000 starts at byte 4096 of an aligned source.
    assert 6000 - 4096 <= point["ret"] <= 6000 - 4096 + 63


@pytest.mark.parametrize("measure", ["throughput", "interleaved"])
def test_other_measures(breakeven, measure):
    done = breakeven("run", "rv-word", "-n", "128", "--measure", measure, "--calls", "4", "--size2", "64", "--json")
    point = json.loads(done.stdout)
    assert point["ok"] is True
    assert point["calls"] == 4


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["run", "rv-wrod", "-n", "8"], ["rv-wrod", "rv-word"]),
        (["run", "rv-word", "-n", "8", "-m", "u75"], ["u75", "u74"]),
        (["run", "rv-word", "-n", "16777217"], ["size", "16777216"]),
        (["run", "rv-word", "-n", "eight"], ["eight"]),
        (["run", "rv-word", "-n", "8", "--src", "4096"], ["src_offset", "4095"]),
        (["run", "rv-word", "-n", "8", "--repetitions", "0"], ["repetitions"]),
        (["run", "rv-word", "-n", "8", "--cache", "hot"], ["hot", "warm"]),
        (["run", "rv-word", "-n", "8", "--set", "cpu.dcache.sice=4KiB"], ["sice", "size"]),
        (["run", "rv-word", "-n", "8", "--set", "cpu.dcache.size=big"], ["size"]),
        (["run", "rv-word", "-n", "8", "--set", "nonsense"], ["nonsense"]),
        (["run", "rv-word", "-n", "8", "--guest", "no.elf"], ["no.elf"]),
        (["run", "rv-word", "-n", "8", "-m", "no.py"], ["no.py"]),
        (["run", "rv-word"], ["--size"]),
        (["runn"], ["runn"]),
        (["exec", "no.elf"], ["no.elf"]),
        (["sweep", "rv-word", "--sizes", "5..1"], ["backwards"]),
        (["sweep", "rv-word", "--sizes", "1..1000000", "--src", "0..7"], ["points"]),
        (["sweep", "rv-word", "--sizes", "8", "--out", "x.xls"], [".csv"]),
        (["sweep", "rv-word", "--sizes", "8", "--sweep", "cpu.x"], ["cpu.x"]),
        (["compare", "rv-word"], ["two"]),
        (["compare", "rv-word", "rv-byte", "--plot", "x.gif"], [".png"]),
        (["reproduce", "nothing"], ["nothing"]),
        (["machines", "show", "u75"], ["u75"]),
        (["gem5", "no.py"], ["no.py"]),
        (["exec", "/dev/zero"], ["/dev/zero", "bytes"]),
        (["exec", "no.elf", "--max-insts", str(1 << 64)], ["max-insts"]),
        (["exec", "no.elf", "--stats", "/nonexistent/stats.txt"], ["/nonexistent"]),
        (["run", "rv-word", "-n", "8", "--cache", "\u00b2"], ["cache state"]),
        (["run", "rv-word", "-n", "8", "--set", "clk_domain.clock=1e-310Hz"], ["1e-310Hz"]),
        (["run", "rv-word", "-n", "8", "--set", "clk_domain.clock=1e300s"], ["too long"]),
        (["run", "rv-word", "-n", "8", "--set", "cpu.mmu.dtb.walker=NULL"], ["Walker"]),
        (["run", "rv-word", "-n", "8", "-m", b"\xff.py"], ["UTF-8"]),
        (["run", "rv-do-csum-2024-zbb", "-n", "8"], ["needs Zbb", "--set cpu.isa.enable_Zbb=true"]),
        (["run", "rvv-memcpy-m1", "-n", "8"], ["needs V", "--set cpu.isa.enable_rvv=true"]),
        (["compare", "rv-do-csum-2024", "rv-do-csum-2024-zbb"], ["needs Zbb", "u74"]),
        (["sweep", "rv-do-csum-2024-zbb", "-n", "8", "-m", "minor", "-m", "u74"], ["needs Zbb", "u74"]),
        (["sweep", "rv-word", "-n", "8", "--src", "0..4095", "--dst", "0..4095"], ["points"]),
    ],
)
def test_mistakes_are_one_sentence(breakeven, args, words):
    text = one_sentence(breakeven(*args))
    for word in words:
        assert word in text


@pytest.mark.slow
def test_broken_elves_are_one_sentence(breakeven, tmp_path):
    whole = find_data("guests", "riscv.elf").read_bytes()
    for name, data in {
        "empty": b"",
        "text": b"hello" * 100,
        "cut": whole[:200],
        "half": whole[: len(whole) // 2],
    }.items():
        (tmp_path / name).write_bytes(data)
        one_sentence(breakeven("exec", name))
        one_sentence(breakeven("run", "rv-word", "-n", "8", "--guest", name))
    one_sentence(breakeven("exec", str(tmp_path)))


def test_machine_file_with_a_mistake_names_its_line(breakeven, tmp_path):
    (tmp_path / "mine.py").write_text("from m5.objects import Cache\n\ndef machine():\n    Cache(sice='4KiB')\n")
    text = one_sentence(breakeven("run", "rv-word", "-n", "8", "-m", "mine.py"))
    assert "mine.py" in text
    assert "line 4" in text


@pytest.mark.slow
def test_sweep_bytes_do_not_depend_on_threads(breakeven, tmp_path):
    args = ["sweep", "rv-word", "rv-copy-user-2021", "-n", "1..64*2,100", "-s", "0..2", "--cache", "warm,cold"]
    files = []
    for threads in (1, 2):
        done = breakeven(*args, "--threads", threads, "--out", f"{threads}.csv")
        assert done.returncode == 0, done.stderr
        assert "96 points" in done.stdout
        files.append((tmp_path / f"{threads}.csv").read_bytes())
    assert files[0] == files[1]
    header = files[0].decode().splitlines()[0]
    assert header.startswith("routine,machine,size,src_offset,dst_offset,cache_state,measure,")


def test_sweep_json_holds_rows(breakeven):
    done = breakeven(
        "sweep", "rv-word-noalign", "-n", "64", "-s", "3", "--set", "cpu.misaligned.policy=emulate",
        "--sweep", "cpu.misaligned.emulate_cycles=0:200:100", "--json",
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert answer["points"] == 3
    cycles = [row["cycles_median"] for row in answer["rows"]]
    assert cycles[0] < cycles[1] < cycles[2]
    assert [row["cpu.misaligned.emulate_cycles"] for row in answer["rows"]] == ["0", "100", "200"]


def test_wrong_output_is_loud(breakeven, tmp_path):
    try:
        guest = find_data("guests", "riscv-broken.elf")
    except FileNotFoundError:
        pytest.skip("the broken guest is not built")
    names = [row["name"] for row in json.loads(breakeven("routines", "--guest", guest, "--json").stdout)["routines"]]
    broken = [name for name in names if not name.startswith("rv-")] or names
    done = breakeven("sweep", *broken, "-n", "100", "--guest", guest, "-o", "x.csv")
    assert done.returncode == 1
    assert "WRONG OUTPUT" in done.stderr
    assert "the first: " in done.stderr


@pytest.mark.slow
def test_compare(breakeven, tmp_path):
    done = breakeven("compare", "rv-copy-user-2017", "rv-copy-user-2021", "-s", "3", "-n", "1..128", "--plot", "c.svg")
    assert done.returncode == 0, done.stderr
    assert "who leads where" in done.stdout
    assert "ship " in done.stdout and "dispatch" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 200  # sentences may be long; tables are not
    first = (tmp_path / "c.svg").read_bytes()
    breakeven("compare", "rv-copy-user-2017", "rv-copy-user-2021", "-s", "3", "-n", "1..128", "--plot", "c.svg")
    assert (tmp_path / "c.svg").read_bytes() == first


def test_compare_json(breakeven):
    done = breakeven("compare", "rv-byte", "rv-word", "-n", "8..64:8", "--json")
    answer = json.loads(done.stdout)
    assert answer["along"] == "size"
    assert set(answer["cycles"]) == {"rv-byte", "rv-word"}
    assert answer["break_even"]["above"] == "rv-word"


def test_lists(breakeven):
    assert "rv-copy-user-2021" in breakeven("routines").stdout
    assert {"u74", "minor"} <= {row["name"] for row in json.loads(breakeven("machines", "--json").stdout)["machines"]}
    page = breakeven("machines", "show", "u74").stdout
    for word in ("dcache", "l2", "misaligned", "policy", "trap"):
        assert word in page
    shown = json.loads(breakeven("machines", "show", "u74", "--set", "cpu.dcache.size=64KiB", "--json").stdout)
    sizes = {item["path"]: item["params"].get("size") for item in shown["description"]["objects"]}
    assert sizes["system.cpu.dcache"] == 65536


def test_exec_exit_code_and_json(breakeven, tmp_path):
    elf = find_data("guests", "riscv.elf")
    done = breakeven("exec", elf, "--max-insts", "1000", "--machine", "atomic", "--json")
    end = json.loads(done.stdout)
    assert done.returncode == end["exit_status"] == 124
    assert end["instructions"] >= 1000
    assert {"cause", "cycles", "host_seconds"} <= end.keys()
    text = breakeven("exec", elf, "--max-insts", "1000", "--machine", "atomic", "--stats", "stats.txt")
    assert text.returncode == 124
    assert "simInsts" in (tmp_path / "stats.txt").read_text()


def test_work_items_do_not_put_a_time_limit_off(breakeven, tmp_path):
    ops = "".join(f" .word ({op:#x} << 25) | 0x7b\n" for op in (0x5A, 0x5B))
    (tmp_path / "storm.elf").write_bytes(asm.build(f"1: li a0, 0\n li a1, 0\n{ops} j 1b"))
    words = ("exec", "storm.elf", "-m", "atomic", "--set", "exit_on_work_items=true", "--max-seconds", "0.5", "--json")
    done = breakeven(*words)
    end = json.loads(done.stdout)
    assert done.returncode == end["exit_status"] == 124 and end["cause"] == "host time limit reached"
    assert 0.5 <= end["host_seconds"] < 10, "the whole run's, not the last piece's"


def test_single_run_imports_nothing_heavy(tmp_path):
    """What makes `breakeven run` slow is imports: those of a point that is simulated and kept, counted."""
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        "from breakeven.entry import main\n"
        "sys.argv = ['breakeven', 'run', 'rv-word', '-n', '64']\n"
        "main()\n"
    )
    environment = {**os.environ, "BREAKEVEN_STORE": str(tmp_path / "points.sqlite")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    modules = set(done.stderr.split())
    assert {"breakeven.cli.point", "breakeven.store.database"} <= modules
    packages = {module.partition(".")[0] for module in modules}
    # `tempfile` is for who writes a file; it brings `random`.
    assert not packages & {"numpy", "pandas", "matplotlib", "rich", "scipy", "argparse", "asyncio", "tempfile"}
    verbs = {m for m in modules if m.startswith("breakeven.cli.")} - {"breakeven.cli.point", "breakeven.cli.explain"}
    assert not verbs & {f"breakeven.cli.{file}" for file in FILES}
    ours = sorted(module for module in modules if module.startswith("breakeven"))
    assert len(ours) <= 87, ours
    assert len(modules) <= 260, sorted(modules)


def test_every_command_is_in_the_file_that_is_loaded_for_it():
    names = set(typer.main.get_command(load()).commands)
    assert names == set().union(*FILES.values())
    code = (
        "import sys, typer, breakeven.cli\n"
        "for name in sys.argv[1:]: assert name in typer.main.get_command(breakeven.cli.load(name)).commands, name\n"
    )
    # Files that take others along come last.
    order = sorted(names, key=lambda name: name in ("explain",))
    done = subprocess.run([sys.executable, "-c", code, *order], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_kind_leaves_out_what_the_machine_lacks(breakeven):
    done = breakeven("sweep", "checksum", "-n", "8", "--json")
    assert done.returncode == 0, done.stderr
    assert "rv-do-csum-2024" in done.stdout and "rv-do-csum-2024-zbb" not in done.stdout
    assert "left out" in done.stderr and "rv-do-csum-2024-zbb" in done.stderr
    whole = breakeven("sweep", "checksum", "-n", "8", "-m", "minor", "--json")
    assert "rv-do-csum-2024-zbb" in whole.stdout and not whole.stderr


def test_a_refused_point_is_no_wrong_output(breakeven):
    done = breakeven("run", "rv-word", "-n", "64", "--fault-at", "3")
    assert done.returncode == 1
    assert "NO RESULT" in done.stderr and "no user copy" in done.stderr and "WRONG" not in done.stderr
    assert not done.stdout, "no cycles of a run that was none"
    done = breakeven("run", "rv-word", "-n", "64", "--parameter", "64")
    assert done.returncode == 1 and "rv-word takes no --parameter" in done.stderr
    after = breakeven("run", "rv-copy-user-2021", "-n", "64", "--fault-at", "64", "--json")
    assert json.loads(after.stdout)["ok"], "the page after the last byte"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("raise Exception('boom')", ["line 2", "Exception: boom"]),
        ("def machine():\n    return {}['x']", ["line 3", "KeyError"]),
        ("def machine():\n    return machine()", ["line 3", "RecursionError"]),
        ("def machine(a):\n    return a", ["argument", "machine()"]),
        ("import sys\nsys.exit(0)", ["sys.exit(0)"]),
        ("x = '\0'", ["NUL"]),
        ("from machines.u74 import machine as base\ndef machine():\n    r = base()\n    r.system.cpu.dcache = 'x'\n"
         "    return r",
         ["line 5", "dcache is an object"]),
    ],
)  # fmt: skip
def test_mistakes_in_a_machine_file_are_one_sentence(breakeven, tmp_path, source, words):
    path = tmp_path / "mine.py"
    path.write_text(f"import sys\n{source}")
    said = one_sentence(breakeven("machines", "show", path))
    assert "mine.py" in said
    for word in words:
        assert word in said


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import m5\nm5.simulate()", ["line 2", "instantiate"]),
        ("import m5\nm5.stats.dump()", ["line 2", "instantiate"]),
        ("{}['x']", ["line 1", "KeyError"]),
        ("x = '\0'", ["NUL"]),
    ],
)
def test_mistakes_in_a_gem5_script_are_one_sentence(breakeven, tmp_path, source, words):
    (tmp_path / "s.py").write_text(source)
    said = one_sentence(breakeven("gem5", "s.py"))
    for word in ("s.py", *words):
        assert word in said


def test_a_full_disk_is_one_sentence():
    command = [sys.executable, "-m", "breakeven", "machines", "show", "u74"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr == "breakeven: cannot write the output: no space left on device\n"


#: Ctrl-C while the first module of the command is loaded
EARLY = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "breakeven.cli":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupted())
sys.argv = ["breakeven", "machines"]
from breakeven.entry import main
main()
"""


def test_ctrl_c_before_the_command_is_loaded():
    done = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "breakeven: interrupted\n")


#: Ctrl-C again while the interpreter ends
ENDING = """
import atexit, os, signal, sys
import breakeven.entry
signal.signal(signal.SIGINT, signal.default_int_handler)
atexit.register(os.kill, os.getpid(), signal.SIGINT)
breakeven.entry.command = lambda: sys.exit(130)
breakeven.entry.main()
"""


def test_a_second_ctrl_c_ends_the_process_without_a_traceback():
    done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")


#: the command, which says on standard output when points are being simulated
SIMULATING = """
from breakeven.engines.embedded import EmbeddedSession
from breakeven.entry import main
run, told = EmbeddedSession.run, []
def run_and_tell(session, records, threads=0, progress=None, on_results=None):
    def tell(*done):
        if not told:
            told.append(print("simulating", flush=True))
        if progress is not None:
            progress(*done)
    return run(session, records, threads, tell, on_results)
EmbeddedSession.run = run_and_tell
main()
"""
#: a program that says it by the UART, and then runs until it is stopped
LOOP = "li t0, 0x10000000\n" + "".join(f"li t1, {ord(c)}\nsb t1, 0(t0)\n" for c in "simulating\n") + "1: j 1b"


@pytest.mark.parametrize(
    "args", [["exec", "{loop}"], ["run", "rv-byte", "-n", "16M"], ["sweep", "rv-byte", "-n", "1..20000"]]
)
def test_ctrl_c(breakeven, tmp_path, args):
    loop = tmp_path / "loop.elf"
    loop.write_bytes(asm.build(LOOP))
    command = [sys.executable, "-c", SIMULATING, *(arg.format(loop=loop) for arg in args)]
    # The tests themselves may run where SIGINT is ignored (a shell's background), which children inherit.
    default = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    pipe = subprocess.PIPE
    running = subprocess.Popen(command, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True, preexec_fn=default)
    try:
        assert running.stdout.readline() == "simulating\n"
        running.send_signal(signal.SIGINT)
        _, said = running.communicate()
    finally:
        running.kill()
    # `exec` goes on with what it has done by then.
    first, *rest = [line for line in said.splitlines() if " idle cores" not in line]
    assert (running.returncode, first[:22], rest) == (130, "breakeven: interrupted", [])


def test_a_closed_output_is_one_sentence(breakeven, tmp_path) -> None:
    closed = 'exec "$@" >&-'
    for command in (["run", "rv-word", "-m", "u74", "-n", "8", "--json", "--no-store"], ["machines"]):
        words = ["sh", "-c", closed, "sh", sys.executable, "-m", "breakeven", *command]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=120)
        assert (done.returncode, done.stderr) == (1, "breakeven: cannot write the output: bad file descriptor\n")
    words[2] = 'exec "$@" 2>&-'
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert done.returncode == 0 and "u74" in done.stdout


def test_a_cache_folder_that_cannot_be_written_only_keeps_nothing(breakeven, tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.delenv("BREAKEVEN_STORE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    command = ["run", "rv-word", "-m", "u74", "-n", "8"]
    done = breakeven(*command)
    assert done.returncode == 0 and "cycles" in done.stdout
    assert done.stderr.startswith("breakeven: nothing is kept: cannot make the store's folder")
    shown = breakeven("machines", "show", "u74")
    assert "load to use, measured" in shown.stdout and "nothing is kept" in shown.stderr
    # One that was named is wanted.
    assert breakeven(*command, "--store", tmp_path / "file" / "s.sqlite").returncode == 1
    monkeypatch.setenv("BREAKEVEN_STORE", str(tmp_path / "file" / "s.sqlite"))
    assert breakeven(*command).returncode == 1
