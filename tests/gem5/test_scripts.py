"""Scripts in the public style, each for one feature of gem5's language, run as a user runs them."""

from __future__ import annotations

import re

import pytest

from tests.gem5.conftest import Run

pytestmark = pytest.mark.slow

_engine = pytest.importorskip("breakeven._engine")
#: an engine that was built before system calls were emulated
emulated = pytest.mark.skipif(not hasattr(_engine.Machine, "warnings"), reason="the engine emulates no system calls")


EXITED = "m5_exit instruction encountered"
#: power is not simulated
VOLTAGE = "warn: VoltageDomain.voltage is set and changes nothing here: it is not modelled\n"
KINDS = ("AtomicSimpleCPU", "TimingSimpleCPU", "MinorCPU", "O3CPU")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("isa", ["Riscv", "X86"])
def test_every_core_of_both_instruction_sets(run: Run, isa: str, kind: str) -> None:
    caches = [] if "Simple" in kind else ["--caches"]
    said = run("bare_metal.py", run.bare("work", isa), "--isa", isa, "--cpu-type", kind, *caches)
    assert re.fullmatch(rf"Beginning simulation!\nExiting @ tick \d+ because {EXITED} \(code 0\)\n", said)
    assert {path.name for path in run.out.iterdir()} == {"config.ini", "config.json", "stats.txt"}


def test_an_exit_code(run: Run) -> None:
    assert "because m5_fail instruction encountered (code 5)" in run("bare_metal.py", run.bare("fail"))


def test_the_statistics_that_parsers_look_for(run: Run) -> None:
    run("bare_metal.py", run.bare("work"), "--cpu-type", "O3CPU", "--caches", options=("-d", "elsewhere"))
    lines = (run.folder / "elsewhere/stats.txt").read_text().splitlines()
    stats = {line.split()[0]: line.split()[1] for line in lines if "#" in line}
    wanted = [
        "simSeconds",
        "simTicks",
        "finalTick",
        "simFreq",
        "hostSeconds",
        "hostTickRate",
        "hostMemory",
        "simInsts",
        "simOps",
        "hostInstRate",
        "hostOpRate",
        "system.cpu.numCycles",
        "system.cpu.cpi",
        "system.cpu.ipc",
        "system.cpu.dcache.overallHits::total",
        "system.cpu.dcache.overallMisses::total",
        "system.cpu.dcache.overallAccesses::total",
        "system.cpu.dcache.overallMissRate::total",
        "system.cpu.icache.overallMissRate::total",
        "system.cpu.branchPred.lookups_0::total",
        "system.cpu.branchPred.condPredicted",
        "system.cpu.branchPred.condIncorrect",
        "system.cpu.rob.reads",
        "system.cpu.rob.writes",
        "system.cpu.lsq0.forwLoads",
        "system.cpu.mmu.dtb.accesses",
        "system.cpu.mmu.itb.misses",
        "system.mem_ctrl.readReqs",
        "system.mem_ctrl.dram.readRowHits",
    ]
    assert [name for name in wanted if name not in stats] == []
    form = re.compile(r"^\S+ +\S+ +(?:\S+% +\S+% +)?# .+ \(.+\)$")
    assert [line for line in lines if line and not line.startswith("---") and not form.match(line)] == []
    assert float(stats["simInsts"]) > 2000 and float(stats["system.cpu.ipc"]) > 0


def test_simulate_in_steps(run: Run) -> None:
    assert run("simulate_in_steps.py", run.bare("work")) == f"steps True ended by {EXITED}\n"


def test_work_items_are_exit_events(run: Run) -> None:
    assert run("exit_events.py", run.bare("items")) == f"[('workbegin', 3), ('workend', 3), ('{EXITED}', 0)]\n"


def test_phases_of_statistics(run: Run) -> None:
    ticks = re.findall(r"'simTicks', '(\d+)'", run("stats_phases.py", run.bare("endless")))
    # A simple core stops at the end of an instruction.
    assert len(ticks) == 3 and all(abs(int(each) - 1000000) < 50000 for each in ticks)


def test_periodic_statistics(run: Run) -> None:
    assert run("periodic_stats.py", run.bare("endless")) == "dumps 3 at 7000000\n"


def test_events_of_the_scripts_own(run: Run) -> None:
    said = run("python_events.py", run.bare("endless"))
    assert said == "called at 1000000\nhello at 2000000\nenough 3000000\nsimulate() limit reached 4000000\n"


@pytest.mark.parametrize(
    ("script", "arguments", "says"),
    [
        ("subclassing.py", (), f"{EXITED}\n"),
        ("clock_domains.py", (), f"{EXITED} ticks a cycle 500\n{VOLTAGE}"),
        *(
            ("replacement_policies.py", (name,), f"{EXITED}\n")
            for name in ("LRURP", "FIFORP", "RandomRP", "TreePLRURP")
        ),
        *(
            ("branch_predictors.py", (name,), f"{EXITED} system.cpu.branchPred.condPredicted\n")
            for name in ("LocalBP", "TournamentBP", "BiModeBP", "TAGE", "LTAGE")
        ),
        ("functional_units.py", ("o3",), f"{EXITED}\n"),
        ("functional_units.py", ("minor",), f"{EXITED}\n"),
        *(("memories.py", (name,), f"{EXITED}\n") for name in ("SimpleMemory", "DDR4_2400_8x8", "LPDDR3_1600_1x32")),
        ("proxies.py", (), f"['assoc=4', 'mshrs=4', 'size=8192']\n{EXITED}\n"),
        ("max_insts.py", (), f"a thread reached the max instruction count\n{EXITED}\n"),
    ],
)
def test_parts(run: Run, script: str, arguments: tuple[str, ...], says: str) -> None:
    assert run(script, run.bare("work"), *arguments) == says


def test_former_names_of_ports(run: Run) -> None:
    said = run("former_names.py", run.bare("work", "X86")).splitlines()
    assert said[0] == EXITED
    assert sorted(said[1:]) == [
        "warn: `int_master` is now called `int_requestor`",
        "warn: `int_slave` is now called `int_responder`",
        "warn: `master` is now called `mem_side_ports`",
        "warn: `slave` is now called `cpu_side_ports`",
    ]


def test_statistics_as_json(run: Run) -> None:
    import json

    run("bare_metal.py", run.bare("work"), options=("--stats-file=json://stats.json",))
    stats = json.loads((run.out / "stats.json").read_text())
    assert stats["simInsts"]["value"] > 2000 and stats["system"]["cpu"]["numCycles"]["unit"] == "Cycle"


def test_units(run: Run) -> None:
    assert run("units.py") == "units are right\ninfo: 4 ranges\nwarn: nothing is simulated\n"


def test_mistakes_are_errors_where_they_are_made(run: Run) -> None:
    said = run("mistakes.py").splitlines()
    words = [
        ("AttributeError", "UnknownName", "did you mean 'size'"), ("UnknownName", "did you mean 'mem_mode'"),
        ("TypeError", "'1KB' is not a size"), ("TypeError", "2.5 is not a whole number"),
        ("TypeError", "did you mean 'timing'"), ("PortError", "request"), ("UnknownName", "did you mean 'RiscvO3CPU'"),
        ("TypeError", "is a class; make an object of it"), ("RuntimeError", "call m5.instantiate()"),
        ("ConfigError", "there is no Root"), ("NotImplementedError", "m5.switchCpus"),
        ("NotImplementedError", "m5.checkpoint"),
    ]  # fmt: skip
    assert len(said) == len(words)
    for line, (*kinds, text) in zip(said, words, strict=True):
        assert line.startswith(tuple(kinds)) and text in line, line


def test_a_class_that_is_not_there_is_told_with_its_like(run: Run) -> None:
    said = run("wrong_class.py", status=1)
    assert "wrong_class.py, line 3" in said and "did you mean 'RiscvMinorCPU'" in said


def test_what_changes_nothing_is_named_once(run: Run) -> None:
    said = run("unmodelled.py", run.bare("work")).splitlines()
    warnings = [line for line in said if line.startswith("warn:")]
    assert [line.split()[1] for line in sorted(warnings)] == ["Cache.warmup_percentage", "System.num_work_ids"]


def test_files_of_the_guests(run: Run) -> None:
    (run.folder / "input.txt").write_text("from the host")
    said = run("guest_files.py", run.bare("files"), "input.txt")
    assert said == "m5_fail instruction encountered 7\n"
    assert (run.out / "copy.txt").read_text() == "from the host"


def test_the_configuration_is_left_beside_the_statistics(run: Run) -> None:
    assert re.fullmatch(r"\d+ objects\n", run("config_files.py", run.bare("work")))


def test_what_is_of_gem5s_own_configurations_is_told(run: Run) -> None:
    (run.folder / "s.py").write_text("from common import Options\n")
    said = run(str(run.folder / "s.py"), status=1)
    assert "common.Options is of gem5's configs/" in said and "-p" in said


def test_fatal(run: Run) -> None:
    assert run("fatal.py", status=1) == "fatal: no luck here\n"


def test_modules(run: Run) -> None:
    assert run("modules.py") == "protocol None\nModuleNotFoundError m5.intrinsic\n"


# --- the launcher's options ---


def test_a_pipeline_trace(run: Run) -> None:
    trace = ("--debug-flags=O3PipeView", "--debug-start=100000", "--debug-file=trace.out.gz")
    run("bare_metal.py", run.bare("work"), "--cpu-type", "O3CPU", "--caches", options=trace)
    import gzip

    lines = gzip.decompress((run.out / "trace.out.gz").read_bytes()).decode().splitlines()
    first = [line for line in lines if line.startswith("O3PipeView:fetch:")][0]
    assert int(first.split(":")[2]) >= 100000 and len(lines) % 7 == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("isa", ["Riscv", "X86"])
def test_a_trace_of_instructions(run: Run, isa: str, kind: str) -> None:
    arguments = ("--isa", isa, "--cpu-type", kind, *([] if "Simple" in kind else ["--caches"]))
    run("bare_metal.py", run.bare("work", isa), *arguments, options=("--debug-flags=Exec", "--debug-file=exec.txt"))
    lines = (run.out / "exec.txt").read_text().splitlines()
    form = re.compile(r" *(\d+): system\.cpu: T0 : 0x([0-9a-f]+)    : (\S.*\S) +: (\w+) :(?:  A=0x[0-9a-f]+)*")
    parts = [form.fullmatch(line) for line in lines]
    assert all(parts), [line for line, part in zip(lines, parts, strict=True) if not part][:3]
    assert int(parts[0][2], 16) == (0x80000000 if isa == "Riscv" else 0x200000)
    ticks = [int(part[1]) for part in parts]
    assert ticks == sorted(ticks)
    (insts,) = re.findall(r"^simInsts +(\d+)", (run.out / "stats.txt").read_text(), re.MULTILINE)
    # An out-of-order core may fetch an instruction once more.
    assert -1 <= len(lines) - int(insts) <= (50 if kind == "O3CPU" else 1)
    assert {part[4] for part in parts} >= {"IntAlu", "IntMult", "MemRead" if isa == "Riscv" else "MemWrite"}


def test_options(run: Run) -> None:
    said = run("bare_metal.py", run.bare("work"), options=("-r", "-e", "--silent-redirect", "--stats-file=s.txt"))
    assert said == "" and "Beginning simulation!" in (run.out / "simout.txt").read_text()
    assert (run.out / "s.txt").read_text().count("Begin Simulation Statistics") == 1
    run("units.py", options=("--remote-gdb-port=0", "--listener-loopback-only", "--dot-config="))
    assert "command line: breakeven gem5 -v" in run("units.py", options=("-v",))
    assert "there is no debug flag 'Exe'" in run("units.py", options=("--debug-flags=Exe",), status=1)
    assert "option --outdri not recognized" in run("units.py", options=("--outdri=x",), status=2)
    assert "--debug-flags=FLAG[,FLAG]" in run("units.py", options=("--help",))
    (run.folder / "lib").mkdir()
    (run.folder / "lib/luck.py").write_text("LUCK = 7\n")
    (run.folder / "s.py").write_text("import luck, sys\nprint(luck.LUCK, sys.argv)\nsys.exit(4)\n")
    assert run(str(run.folder / "s.py"), "-d", "x", options=("-p", "lib"), status=4).startswith("7 [")


# --- emulated processes ---


@emulated
@pytest.mark.parametrize("isa", ["Riscv", "X86"])
def test_a_hello_program_on_the_smallest_system(run: Run, isa: str) -> None:
    said = run("simple_se.py", run.linux("hello", isa), "--isa", isa)
    ended = r"Exiting @ tick \d+ because exiting with last active thread context"
    assert re.fullmatch(rf"Beginning simulation!\nHello world!\n{ended}\nstatus 3\n", said)


@emulated
def test_two_levels_of_caches_with_their_options(run: Run) -> None:
    said = run("two_level.py", run.linux("hello"), "--l2_size=1MB", "--l1d_size=128kB")
    assert "Hello world!" in said and said.endswith("sizes 16384 131072 1048576\n")
    assert "--l1i_size" in run("two_level.py", "--help")


@emulated
def test_a_processs_streams(run: Run) -> None:
    (run.folder / "in.txt").write_text("!\n")
    said = run("process_io.py", run.linux("echo"), "in.txt")
    assert said == "exiting with last active thread context 0\n"
    assert (run.out / "out.txt").read_text() == "NAME=value!\n"
    assert (run.out / "err.txt").read_text() == "argument"


@emulated
def test_a_processs_long_output_is_whole(run: Run) -> None:
    (run.folder / "in.txt").write_text("")
    run("process_io.py", run.linux("long"), "in.txt")
    assert (run.out / "out.txt").read_bytes() == b"x" * (17 << 20)
    assert (run.out / "err.txt").read_bytes() == b""


@emulated
def test_the_vsyscall_page_of_x86(run: Run) -> None:
    said = run("simple_se.py", run.linux("vsyscall", "X86"), "--isa", "X86")
    assert said.endswith("exiting with last active thread context\nstatus 0\n")


@emulated
@pytest.mark.parametrize("hierarchy", ["none", "l1", "private", "shared", "walk"])
def test_the_standard_librarys_board(run: Run, hierarchy: str) -> None:
    said = run("stdlib_se.py", run.linux("hello"), "--hierarchy", hierarchy)
    assert said.startswith("Hello world!\nExiting @ tick ") and said.endswith("cycles True status 3\n")


@emulated
@pytest.mark.parametrize("kind", ["atomic", "minor", "o3"])
def test_the_standard_librarys_cores(run: Run, kind: str) -> None:
    arguments = ("--cpu", kind, "--hierarchy", "l1", "--isa", "x86", "--simple-memory")
    assert "Hello world!" in run("stdlib_se.py", run.linux("hello", "X86"), *arguments)


@emulated
def test_handlers_of_exit_events(run: Run) -> None:
    said = run("stdlib_exit_events.py", run.linux("items"))
    assert said == "region of interest begins\nticks of the region True last exit\n"


@emulated
def test_parts_of_the_scripts_own_on_a_board_of_the_library(run: Run) -> None:
    said = run("stdlib_custom.py", run.linux("hello"))
    assert said.endswith("exiting with last active thread context misses True\n")


@emulated
def test_what_the_standard_library_has_not(run: Run) -> None:
    assert "instruction set arm is required" in run("stdlib_se.py", run.linux("hello"), "--isa", "arm", status=1)
    assert "KVM is required" in run("stdlib_se.py", run.linux("hello"), "--cpu", "kvm", status=1)
    assert "nothing is downloaded" in run("stdlib_se.py", "x86-hello64-static", status=1)
