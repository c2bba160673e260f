"""The RISC-V front end against qemu: generated programs of at least 100,000 executed instructions per extension group,
the same digests from qemu and from every core. What qemu 7.2 cannot answer checks itself.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from breakeven.machine.presets import describe_machine

from .qemu import floating, integer, privileged, scaffold, selfcheck, vector
from .tiers import long_after

pytestmark = pytest.mark.qemu

_engine = pytest.importorskip("breakeven._engine")

SEED = 1
CORES = ["atomic", "timing", "minor"]
GROUPS = ["i", "m", "a", "misaligned", "zba", "zbb", "zbc", "zbs", "zicbop", "f", "d", "c", "privileged"]
VECTOR_GROUPS = ["vi", "vmem", "vperm", "vfixed", "vf"]
#: Bits of a vector register, and of the datapath.
VECTOR_SIZES = [(128, 128), (256, 64), (512, 256), (1024, 512)]
#: Every group at every size; those are not long in which a group meets the size of its turn.
VECTOR_CASES = [
    pytest.param(group, *size, marks=[] if i % len(VECTOR_SIZES) == turn else pytest.mark.long)
    for i, group in enumerate(VECTOR_GROUPS)
    for turn, size in enumerate(VECTOR_SIZES)
]
LIMIT = 30_000_000

needs_compiler = pytest.mark.skipif(
    not shutil.which("riscv64-unknown-elf-gcc"), reason="no riscv64-unknown-elf-gcc; scripts/setup installs it"
)
needs_qemu = pytest.mark.skipif(
    not shutil.which(scaffold.QEMU), reason="no qemu-system-riscv64; `scripts/setup --test-tools` installs it"
)
#: Zvbb and Zicond; Debian 12's is 7.2, its backports and Debian 13 have 10.0.
needs_qemu_9 = pytest.mark.skipif(
    scaffold.qemu_version() < (9, 0), reason="no qemu 9 or newer; QEMU_SYSTEM_RISCV64 names one"
)


@cache
def description(core: str) -> str:
    from breakeven.m5 import canonical

    # qemu's machine has vectors only where they are asked for (misa, mstatus).
    return canonical(describe_machine(core, ["cpu.isa.enable_rvv=false"]))


def run(core: str, elf: Path) -> tuple[dict[str, object], list[str]]:
    machine = _engine.Machine(description(core), elf.read_bytes())
    end = machine.run(max_insts=LIMIT, max_cycles=10 * LIMIT)
    return end, machine.console().decode().split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("qemu")


@pytest.fixture(scope="module")
def programs() -> dict[str, tuple[str, int]]:
    """Assembly and executed instructions (system events) of each group."""
    found = {p.name: (p.assembly(SEED), p.executed) for p in integer.programs(SEED) + floating.programs(SEED)}
    return found | {"privileged": privileged.assembly(SEED)}


def first_difference(expected: list[str], got: list[str]) -> int | None:
    """Index of the first line that differs; it names the turn and the block."""
    if expected == got:
        return None
    return next(
        (i for i, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b), min(len(expected), len(got))
    )


@needs_compiler
@needs_qemu
@pytest.mark.parametrize("group", GROUPS)
def test_every_core_computes_what_qemu_does(group: str, programs: dict[str, tuple[str, int]], folder: Path) -> None:
    compare(group, *programs[group], folder)


@needs_compiler
@needs_qemu_9
def test_zicond_computes_what_a_newer_qemu_does(programs: dict[str, tuple[str, int]], folder: Path) -> None:
    compare("zicond", *programs["zicond"], folder, ",zicond=true")


def compare(group: str, source: str, executed: int, folder: Path, more: str = "") -> None:
    assert executed >= 100_000
    elf = scaffold.build(source, folder, group)
    code, expected = scaffold.run_qemu(elf, more=more)
    assert code == 0 and len(expected) > 2000, expected[:4]
    assert len(set(expected)) == len(expected), "a digest that repeats tells nothing"
    for core in CORES:
        end, got = run(core, elf)
        assert (end["cause"], end["code"]) == ("htif exit", 0), (core, end, got[:4])
        assert first_difference(expected, got) is None, core
        assert int(str(end["insts"])) >= executed


@needs_compiler
@pytest.mark.parametrize("core", CORES)
def test_what_qemu_cannot_answer_checks_itself(core: str, folder: Path) -> None:
    source, names = selfcheck.assembly()
    end, _ = run(core, scaffold.build(source, folder, f"selfcheck-{core}"))
    assert end["cause"] == "htif exit", end
    assert names[int(str(end["code"]))] == "all right"


def with_vectors(core: str, vlen: int, dlen: int, **more: bool) -> str:
    from breakeven.m5 import canonical

    machine = describe_machine(core)
    isa = next(o for o in machine["objects"] if o["type"] == "RiscvISA")
    isa["params"].update(vlen=vlen, dlen=dlen, **more)
    return canonical(machine)


@needs_compiler
@needs_qemu
@pytest.mark.parametrize(("group", "vlen", "dlen"), VECTOR_CASES)
def test_vectors_compute_what_qemu_does(group: str, vlen: int, dlen: int, folder: Path) -> None:
    """O3 too: its wrong paths execute vectors, and roll them back."""
    compare_vectors(group, vlen, dlen, folder)


@needs_compiler
@needs_qemu_9
@pytest.mark.parametrize("size", long_after(1, VECTOR_SIZES))
def test_zvbb_computes_what_a_newer_qemu_does(size: tuple[int, int], folder: Path) -> None:
    compare_vectors("vbb", *size, folder, ",zvbb=true", enable_Zvbb=True)


def compare_vectors(group: str, vlen: int, dlen: int, folder: Path, more: str = "", **ours: bool) -> None:
    program = next(p for p in vector.programs(SEED + vlen, blocks=60) if p.name == group)
    program.turns = 2
    elf = scaffold.build(program.assembly(SEED), folder, f"{group}-{vlen}", program.march)
    code, expected = scaffold.run_qemu(elf, vlen=vlen, more=more)
    assert code == 0 and len(expected) == 122, expected[:4]
    for core in [*CORES, "o3"]:
        machine = _engine.Machine(with_vectors(core, vlen, dlen, **ours), elf.read_bytes())
        end = machine.run(max_insts=LIMIT, max_cycles=10 * LIMIT)
        got = machine.console().decode().split()
        assert (end["cause"], end["code"]) == ("htif exit", 0), (core, end)
        assert first_difference(expected, got) is None, core


@needs_compiler
@needs_qemu
def test_a_difference_is_noticed(folder: Path) -> None:
    """One instruction changed in one block: the digests tell, from that block on."""
    program = integer.compose("i", integer.base_i, SEED, blocks=6, length=8)
    program.turns = 2
    _, expected = scaffold.run_qemu(scaffold.build(program.assembly(SEED), folder, "original"))
    program.blocks[3] += "\n addi x9, x9, 1"
    _, got = run("atomic", scaffold.build(program.assembly(SEED), folder, "changed"))
    assert first_difference(expected, got) == 3


@needs_compiler
@pytest.mark.skipif(not shutil.which("riscv64-unknown-elf-objdump"), reason="no riscv64-unknown-elf-objdump")
def test_vector_listings_read_like_the_assembler_s(folder: Path) -> None:
    """Every vector instruction of random programs, as binutils writes it."""
    seen = 0
    for program in vector.programs(SEED, blocks=60):
        program.turns = 1
        elf = scaffold.build(program.assembly(SEED), folder, f"listing-{program.name}", program.march)
        command = ["riscv64-unknown-elf-objdump", "-d", "-M", "no-aliases", str(elf)]
        for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
            found = re.match(r"\s*([0-9a-f]+):\s+([0-9a-f]{8})\s+(v\S+)\s*([^#<]*)", line)
            if not found:
                continue
            code, address = bytes.fromhex(found[2])[::-1], int(found[1], 16)
            text, needs = _engine.instructions(code, "riscv", address, 1)[0][2:4]
            assert text.replace(" ", "") == (found[3] + found[4]).replace(" ", ""), line
            assert needs == ["V"]
            seen += 1
    assert seen > 10_000
