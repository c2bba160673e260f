"""What scripts written for a real gem5 take for granted: one script, or a few lines, for each thing."""

from __future__ import annotations

import pytest

from tests.gem5.conftest import Run

pytestmark = pytest.mark.slow

pytest.importorskip("breakeven._engine")


@pytest.mark.parametrize(("isa", "prefix"), [("x86", "X86"), ("riscv", "Riscv")])
def test_a_build_for_one_instruction_set(run: Run, isa: str, prefix: str) -> None:
    said = run("one_isa.py", options=(f"--isa={isa.upper()}",)).splitlines()
    kinds = ["AtomicSimpleCPU", "TimingSimpleCPU", "NonCachingSimpleCPU", "MinorCPU", "O3CPU"]
    assert said[:5] == [f"{isa} {prefix}{kind} Base{kind} 1" for kind in kinds]
    assert said[5:] == [f"{isa} Core {prefix}O3CPU 1", "one_isa.py 1 \\.", "KeyError 'TARGET'"]


def test_the_build_follows_the_program_given(run: Run) -> None:
    assert run("one_isa.py").startswith("x86 ")
    assert run("one_isa.py", "--cmd", run.linux("hello", "Riscv")).startswith("riscv ")
    assert run("one_isa.py", f"--cmd={run.linux('hello', 'X86')}").startswith("x86 ")
    assert "--isa is riscv or x86, not 'arm'" in run("one_isa.py", options=("--isa=arm",), status=1)


ENDED = "exiting with last active thread context"


@pytest.mark.parametrize("isa", ["Riscv", "X86"])
def test_a_script_from_before_there_were_workloads(run: Run, isa: str) -> None:
    said = run("before_workloads.py", "--clock=2GHz", run.linux("hello", isa)).splitlines()
    assert said[:2] == ["Hello world!", ENDED]
    assert any("a MemCtrl is put in front of it; write MemCtrl(dram=DDR3_1600_8x8())" in line for line in said)
    assert f"warn: system.workload is not set; it is taken to be {isa}EmuLinux(), for the process" in said


def test_words_that_a_former_script_did_not_declare(run: Run) -> None:
    said = run("before_workloads.py", status=1)
    assert "usage: before_workloads.py [options] <binary to execute>" in said and "fatal: Expected a binary" in said
    assert "unrecognized arguments: --clok=1" in run("before_workloads.py", "--clok=1", status=2)
    assert "unrecognized arguments: more" in run("two_level.py", run.linux("hello"), "more", status=2)


@pytest.mark.parametrize(("how", "last"), [("workload", "Hello world!"), ("program", "Hello world!"),
                                           ("joined", f"Hello world!\n{ENDED}")])  # fmt: skip
def test_former_idioms_of_the_standard_library(run: Run, how: str, last: str) -> None:
    said = run("stdlib_former.py", run.linux("hello"), how)
    words = ["MMUCache takes a size and assoc", "L2Cache takes a size and assoc", "Ruby's coherence protocols are not"]
    lines = said.splitlines()
    assert all(word in line for word, line in zip(words, lines, strict=False)), said
    assert "\n".join(lines[3:]) == last


def test_a_board_that_nobody_put_together(run: Run) -> None:
    said = run("stdlib_former.py", run.linux("hello"), "loose")
    assert said.splitlines()[-1].startswith("ConfigError: ") and "the board system has not been put together" in said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("LiveProcess()", "m5.objects has no class of that name; it is now called 'Process'"),
        ("DDR3_1600_x64()", "it is now called 'DDR3_1600_8x8'"),
        ("PyTrafficGen()", "name 'PyTrafficGen' is not defined, and m5.objects has no class of that name"),
        ("System2()", "did you mean 'System'"),
        ("import gem5.componets.boards", "no module 'gem5.componets' here; docs/gem5.md"),
        ("from gem5.prebuilt.demo.x86_demo_board import X86DemoBoard as B; B()", "X86DemoBoard is not here: machines"),
        ("from gem5.components.memory.multi_channel import *; DualChannelDDR4_2400()", "is not defined"),
        ("from gem5.components.memory.multi_channel import DualChannelDDR4_2400 as D; D()", "take one channel"),
        ("from gem5.components.memory import DualChannelDDR4_2400 as D; D('1GB')", "take one channel"),
        ("from gem5.resources.resource import DiskImageResource as D; D(1)", "machines that boot an operating"),
        ("from gem5.resources.resource import DiskImageResourc", "cannot import name 'DiskImageResourc'"),
        ("from gem5.components.processors.random_generator_core import R; R.x", "traffic generators are not modelled"),
        ("m5.debug.flags['Cache'].enable()", "there is no debug flag 'Cache': there is Exec, O3PipeView"),
        ("m5.debug.flags['ExecAll'].enable(); sys.exit('fine')", "fine"),
        ("class Own(TournamentBP):\n    BTBEntries = 512", "Own has no parameter 'BTBEntries': it is btb.numEntries"),
        ("DerivO3CPU().itb", "it is below the MMU now, cpu.mmu.itb"),
        ("Cache(hit_latency=2)", "it is tag_latency and data_latency now"),
        ("Cache().prefetch_on_access = True", "cache.prefetcher.prefetch_on_access"),
        ("sys.exit(MinorFU(opClasses=minorMakeOpClassSet(['IntAlu'])).opClasses.opClasses[0].opClass + Cache().type)",
         "IntAluCache"),
        ("from gem5.components.cachehierarchies.classic.no_cache import AbstractClassicCacheHierarchy as A\n"
         "class Own(A): pass\nOwn().incorporate_cache(None)", "Own must define incorporate_cache(), which its base"),
        ("from gem5.components.memory.abstract_memory_system import AbstractMemorySystem as A\n"
         "class Own(A): pass\nOwn().get_size()", "Own must define get_size(), which its base class leaves to it"),
    ],
)  # fmt: skip
def test_what_is_not_here_is_told_in_one_sentence(run: Run, text: str, says: str) -> None:
    (run.folder / "s.py").write_text(f"import sys\nimport m5\nfrom m5.objects import *\n{text}\n")
    said = run(str(run.folder / "s.py"), status=1)
    assert says in said and len(said.splitlines()) == 1, said


def test_a_class_that_the_script_does_not_import(run: Run) -> None:
    (run.folder / "s.py").write_text("system = System()\n")
    said = run(str(run.folder / "s.py"), status=1)
    assert "it is a class of m5.objects, which this script does not import" in said


def test_what_gem5s_own_configurations_ask_for(run: Run) -> None:
    said = run("common_configs.py", run.bare("work"), options=("--isa=riscv",)).splitlines()
    assert said[:3] == [
        "AddrRange: interleaving (intlvHighBit) is not modelled; take one memory channel",
        "a slice is over 200",
        "a thread reached the max instruction count 1000",
    ]
    cause, _, insts = said[3].rpartition(" ")
    assert cause == "m5_exit instruction encountered" and int(insts) > 2000


def test_cores_to_switch_to(run: Run) -> None:
    (run.folder / "s.py").write_text(
        "import m5\nfrom m5.objects import *\nsystem = System(cpu=TimingSimpleCPU())\n"
        "system.switch_cpus = [DerivO3CPU(switched_out=True)]\nroot = Root(full_system=False, system=system)\n"
        "m5.instantiate()\n"
    )
    said = run(str(run.folder / "s.py"), status=1)
    assert "system.switch_cpus is a core to switch to, and a machine keeps its core" in said


SE = """
import sys
import m5
from m5.objects import *
def build(binary, kind=TimingSimpleCPU, **process):
    system = System(mem_mode="timing", mem_ranges=[AddrRange("64MB")])
    system.clk_domain = SrcClockDomain(clock="1GHz", voltage_domain=VoltageDomain())
    system.cpu = kind()
    system.membus = SystemXBar()
    system.cpu.connectBus(system.membus)
    system.cpu.createInterruptController()
    system.system_port = system.membus.cpu_side_ports
    dram = DDR3_1600_8x8(range=system.mem_ranges[0])
    system.mem_ctrl = MemCtrl(dram=dram, port=system.membus.mem_side_ports)
    system.workload = SEWorkload.init_compatible(binary)
    system.cpu.workload = Process(**{"cmd": [binary], **process})
    system.cpu.createThreads()
    return Root(full_system=False, system=system)
def go(*args, **kwargs):
    root = build(*args, **kwargs)
    m5.instantiate()
    m5.simulate()
"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("go('nowhere')", "cannot read 'nowhere'"),
        ("go('.')", "Is a directory"),
        ("go('empty')", "'empty' is not an ELF program"),
        ("go('arm')", "is for machine 183; here run 64-bit x86 and RISC-V programs"),
        ("go('part')", "ELF: the file is truncated or damaged"),
        ("go('dynamic')", "ELF: it needs a dynamic loader; link it with -static"),
        ("go('riscv')", "is a RISC-V program, and system.cpu is a X86TimingSimpleCPU: take a RISC-V core"),
        ("go('x86', RiscvTimingSimpleCPU)", "is a x86-64 program, and system.cpu is a RiscvTimingSimpleCPU"),
        ("go('x86', cmd=['riscv'])", "--isa=riscv"),
        ("go('x86', cmd=[])", "system.cpu.workload names no program"),
        ("go('x86', input='nowhere')", "system.cpu.workload.input: cannot read 'nowhere'"),
        ("go('x86', BaseCPU)", "is a BaseCPU, which has no instruction set; use e.g. RiscvMinorCPU"),
        ("r = build('x86'); r.system.mem_ctrl.dram.banks_per_rank = 0; m5.instantiate()", "banks_per_rank: is 0;"),
        (
            "r = build('x86'); r.system.cpu2 = TimingSimpleCPU(); m5.instantiate()",
            "system.cpu2.icache_port is not conn",
        ),
        ("root = Root(full_system=False)\nroot.hello = HelloObject()\nm5.instantiate()", "there is no System below"),
        ("m5.setOutputDir('/proc/nowhere'); go('x86')", "cannot write to '/proc/nowhere'"),
    ],
)
def test_hostile_input_gets_a_sentence(run: Run, text: str, says: str) -> None:
    whole = (run.folder / run.linux("hello", "X86")).read_bytes()
    (run.folder / "x86").write_bytes(whole)
    (run.folder / "riscv").write_bytes((run.folder / run.linux("hello")).read_bytes())
    (run.folder / "part").write_bytes(whole[:100])
    (run.folder / "arm").write_bytes(whole[:18] + (183).to_bytes(2, "little") + whole[20:])
    # The first program header becomes a PT_INTERP, as a program that wants its libraries has one.
    (run.folder / "dynamic").write_bytes(whole[:64] + (3).to_bytes(4, "little") + whole[68:])
    (run.folder / "empty").touch()
    (run.folder / "s.py").write_text(f"{SE}\n{text}\n")
    said = run(str(run.folder / "s.py"), status=1)
    assert says in said, said


def test_a_script_loads_nothing_heavy(run: Run) -> None:
    """A short script is over in less time than a command line library takes to load."""
    heavy = "{'numpy', 'pandas', 'matplotlib', 'plotly', 'typer', 'click', 'rich', 'sqlite3', 'asyncio', 'subprocess'}"
    (run.folder / "s.py").write_text(f"{SE}\ngo('hello')\nprint(sorted({heavy} & sys.modules.keys()))\n")
    assert run(str(run.folder / "s.py"), run.linux("hello")).splitlines()[-1] == "[]"
