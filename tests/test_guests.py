"""The guests: every routine right everywhere, faults survived, misaligned accesses emulated, a harness that notices.

Whole tables run in one guest on the atomic machine: what is tested is what the guest computes, not how long it takes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from breakeven.files.data import find_data
from breakeven.points import FAULT_IN_DESTINATION, Result, points_file, unpack_results

from .guest_points import (
    DAMAGE,
    DAMAGED_REGISTERS,
    OUT_OF_RANGE,
    PAGE,
    POINT,
    RIGHT,
    UNEXPECTED_TRAP,
    UNKNOWN_ROUTINE,
    WRONG_OUTPUT,
    WRONG_RETURN,
    assert_right,
    point,
)
from .tiers import some_or_all

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

_engine = pytest.importorskip("breakeven._engine")

ALL_ONES, ALL_ZEROS = 0xFFFFFFFF, 0xFFFFFFFE
WORKLOADS = Path(__file__).resolve().parent.parent / "workloads"


@cache
def machine(policy: str = "hardware", preset: str = "atomic") -> str:
    from breakeven.m5 import canonical
    from breakeven.machine.presets import describe_machine

    return canonical(describe_machine(preset, [f"cpu.misaligned.policy={policy}"]))


@cache
def elf(name: str = "riscv.elf") -> bytes:
    return find_data("guests", name).read_bytes()


def run_table(records: list[bytes], policy: str = "hardware", guest: str = "riscv.elf") -> list[Result]:
    run = _engine.Machine(machine(policy), elf(guest), readfile=points_file(b"".join(records)))
    end = run.run()
    assert end["cause"] == "m5_exit instruction encountered", end
    results = unpack_results(run.outputs()["results.bin"])
    assert [result.index for result in results] == list(range(len(records)))
    return results


ROUTINES = _engine.routines(elf())
NAMES = [routine["name"] for routine in ROUTINES]
KIND = {routine["name"]: routine["kind"] for routine in ROUTINES}
#: what only reads
SUMS = ("checksum", "crc32c", "adler32")
COPIES = [name for name in NAMES if KIND[name] not in SUMS]
CHECKSUMS = [name for name in NAMES if KIND[name] == "checksum"]
USER_COPIES = [name for name in NAMES if KIND[name] == "user-copy"]
SETS = [name for name in NAMES if KIND[name] in ("set", "clear")]
POLICIES = ["hardware", "trap"]


def offsets(name: str) -> list[tuple[int, int]]:
    return [(src, dst) for src in range(8) for dst in (range(8) if KIND[name] not in SUMS else [0])]


def test_the_routines_of_the_study_are_there():
    assert set(NAMES) >= {
        "rv-byte", "rv-word", "rv-word-noalign", "rv-word-unrolled8", "rv-copy-user-2017", "rv-copy-user-2021",
        "rv-copy-user-2024", "rv-memcpy-ucb", "rv-memcpy-croce-c", "rv-glibc-noalign", "rv-probe-words",
        "rv-probe-bytes", "csum-generic-c", "rv-do-csum-2024", "rv-do-csum-2024-zbb", "rv-csum-ipxe",
    }  # fmt: skip


@some_or_all(19)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", NAMES)
def test_right_at_every_size_and_offset(name, policy, every):
    records = [point(name, size, src, dst, seed=size) for size in range(257) for src, dst in offsets(name)]
    # Around a page boundary that lies 100 bytes into the copy.
    records += [
        point(name, size, PAGE - 100 + src, PAGE - 100 + dst, seed=size)
        for size in (4095, 4096, 4097)
        for src, dst in offsets(name)
    ]
    records = records[::every]
    assert_right(records, run_table(records, policy))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_beyond_the_last_byte_is_needed(name, policy):
    """The page after the source's, or the destination's, last byte is missing."""
    sizes = [*range(40), *range(60, 140), 255, 256, 257]
    records = [point(name, n, (PAGE - n) % PAGE, dst, fault_at=n, seed=n) for n in sizes for dst in (0, 1, 4, 7)]
    if KIND[name] not in SUMS:
        records += [
            point(name, n, src, (PAGE - n) % PAGE, fault_at=n | FAULT_IN_DESTINATION, seed=n)
            for n in sizes
            for src in (0, 1, 4, 7)
        ]
    assert_right(records, run_table(records, policy))


@some_or_all(13)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", USER_COPIES)
def test_user_copy_survives_a_fault_at_every_byte(name, policy, every):
    records = []
    for size in (1, 7, 8, 30, 71, 72, 73, 136, 200):
        for other in range(8):
            for k in range(size):
                start = (PAGE - k) % PAGE
                records.append(point(name, size, start, other, fault_at=k, seed=k))
                records.append(point(name, size, other, start, fault_at=k | FAULT_IN_DESTINATION, seed=k))
    # Where the kernel's copy goes by vectors.
    for size in (768, 1003):
        for k in range(0, size, 13):
            start = (PAGE - k) % PAGE
            records.append(point(name, size, start, k % 8, fault_at=k, seed=k))
            records.append(point(name, size, k % 8, start, fault_at=k | FAULT_IN_DESTINATION, seed=k))
    records = records[::every]
    results = run_table(records, policy)
    assert_right(records, results)
    # Something was left out every time, and never more than a turn of eight words too much.
    for record, result in zip(records, results, strict=True):
        fields = POINT.unpack(record)
        least = fields[1] - (fields[13] & ~FAULT_IN_DESTINATION)
        assert least <= result.ret <= min(least + 63, fields[1])


@pytest.mark.parametrize("name", CHECKSUMS)
def test_checksum_of_extreme_contents(name):
    sizes = [*range(140), 1448, 65536, 65537]
    records = [point(name, n, src, seed=seed) for seed in (ALL_ONES, ALL_ZEROS) for n in sizes for src in range(8)]
    results = run_table(records)
    assert_right(records, results)
    for record, result in zip(records, results, strict=True):
        size, seed = POINT.unpack(record)[1], POINT.unpack(record)[12]
        ones = 0xFFFF if size == 0 else 0xFF00 if size % 2 else 0
        assert result.ret == (ones if seed == ALL_ONES else 0xFFFF), (size, seed)


@pytest.mark.parametrize("name", NAMES)
def test_every_measure_and_state(name):
    records = [
        point(name, 1000, 3, 5, state=state, measure=measure, calls=calls, repetitions=5, size2=77, src2=9, dst2=1,
              warmup=2, flags=flags)
        for state in range(9)
        for measure, calls in ((0, 1), (1, 1), (1, 7), (2, 1), (2, 2), (2, 7))
        if state == 0 or measure == 0
        for flags in range(4)
    ]  # fmt: skip
    records.append(point(name, 65536 + 13, 4095, 4095))
    records.append(point(name, 65536 + 13, 4095, 4095, flags=1))
    assert_right(records, run_table(records))


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(SETS)))
def test_the_states_that_a_network_driver_leaves(name):
    """Calls whose buffers move on: one side a ring, the other through `size2` bytes."""
    shapes = [(0, 0), (1, 4096), (63, 0), (1000, 131072), (1448, 131072), (1449, 100), (5000, 9000), (32768, 131072)]
    records = [
        point(name, size, src, dst, state=state, size2=window, warmup=1, flags=flags)
        for size, window in shapes
        for state in ((9,) if KIND[name] in SUMS else (9, 10))
        for src, dst, flags in ((0, 0, 0), (3, 5, 1), (4095, 4095, 2))
    ]
    assert_right(records, run_table(records))


def test_largest_copy_at_the_largest_offset():
    records = [point("rv-word-unrolled8", 1 << 24, 4095, 4095, flags=flags) for flags in (0, 1)]
    assert_right(records, run_table(records))


def test_more_measurements_than_are_kept():
    (result,) = run_table([point("rv-byte", 8, repetitions=2500, warmup=3)])
    assert result.status == RIGHT
    assert result.cycles_min <= result.cycles_median
    assert result.cycles_total >= 2500 * result.cycles_min
    # 8 turns of 5 instructions, the end of the source, the test for an empty copy.
    assert result.instructions == 8 * 5 + 2


@pytest.mark.parametrize(
    ("status", "record"),
    [
        (UNKNOWN_ROUTINE, point("rv-bytes", 1)),
        (UNKNOWN_ROUTINE, point("rv-byt", 1)),
        (UNKNOWN_ROUTINE, point("", 1)),
        (UNKNOWN_ROUTINE, point("x" * 40, 1)),
        (OUT_OF_RANGE, point("rv-byte", (1 << 24) + 1)),
        (OUT_OF_RANGE, point("rv-byte", (1 << 64) - 1)),
        (OUT_OF_RANGE, point("rv-byte", 1, PAGE)),
        (OUT_OF_RANGE, point("rv-byte", 1, 0, PAGE)),
        (OUT_OF_RANGE, point("rv-byte", 1, state=11)),
        *((OUT_OF_RANGE, point("rv-byte", 1, state=9, measure=measure)) for measure in (1, 2, 3)),
        (OUT_OF_RANGE, point("rv-byte", 1, state=9, calls=2)),
        (OUT_OF_RANGE, point("rv-byte", 1, state=9, size2=(1 << 24) + 1)),
        (OUT_OF_RANGE, point("rv-byte", 1 << 24, state=10)),
        (OUT_OF_RANGE, point("rv-copy-user-2021", 1, state=9, fault_at=1)),
        (OUT_OF_RANGE, point("csum-generic-c", 1, state=10)),
        (OUT_OF_RANGE, point("rv-memset-word", 1, state=9)),
        (OUT_OF_RANGE, point("rv-byte", 64, state=6, measure=3, calls=1)),
        (OUT_OF_RANGE, point("rv-byte", 1, measure=4)),
        (OUT_OF_RANGE, point("rv-byte", 1, measure=3, calls=0)),
        (OUT_OF_RANGE, point("rv-byte", 0, measure=3, calls=1)),
        (OUT_OF_RANGE, point("rv-byte", 1 << 20, measure=3, calls=65)),
        (OUT_OF_RANGE, point("rv-byte", 64, measure=3, calls=4, fault_at=3)),
        (OUT_OF_RANGE, point("rv-byte", 64, measure=3, calls=4, flags=32)),
        (OUT_OF_RANGE, point("rv-byte", 1, repetitions=0)),
        (OUT_OF_RANGE, point("rv-byte", 1, repetitions=1000001)),
        (OUT_OF_RANGE, point("rv-byte", 1, calls=2)),
        (OUT_OF_RANGE, point("rv-byte", 1, measure=1, calls=0)),
        (OUT_OF_RANGE, point("rv-byte", 1, measure=2, size2=(1 << 24) + 1)),
        (OUT_OF_RANGE, point("rv-byte", 1, flags=4)),
        (OUT_OF_RANGE, point("rv-byte", 1, parameter=1)),
        (OUT_OF_RANGE, point("rv-byte", 1, fault_at=0)),
        (OUT_OF_RANGE, point("rv-copy-user-2021", 1, fault_at=2)),
        (OUT_OF_RANGE, point("rv-copy-user-2021", 1, fault_at=(1 << 62))),
    ],
)
def test_bad_points_are_refused_and_the_next_one_runs(status, record):
    bad, good = run_table([record, point("rv-byte", 9, 1, 2)])
    assert (bad.status, good.status) == (status, RIGHT)


@pytest.mark.parametrize(
    ("routine", "status", "detail"),
    [
        ("broken-short", WRONG_OUTPUT, 99),
        ("broken-byte", WRONG_OUTPUT, 98),
        ("broken-after", DAMAGE, 100),
        ("broken-before", DAMAGE, (1 << 64) - 3),
        ("broken-source", WRONG_OUTPUT, 0),  # the next call copies what this one wrote
        ("broken-s3", DAMAGE, DAMAGED_REGISTERS | 1 << 3),
        ("broken-fs11", DAMAGE, DAMAGED_REGISTERS | 1 << 23),
        ("broken-sp", DAMAGE, DAMAGED_REGISTERS | 1 << 24),
        ("broken-wild", UNEXPECTED_TRAP, 15),
        ("broken-jump", UNEXPECTED_TRAP, 12),
        ("broken-user", DAMAGE, DAMAGED_REGISTERS | 1 << 32),
        ("broken-no-sum", UNEXPECTED_TRAP, 13),
        ("broken-return", WRONG_RETURN, 0),
        ("broken-sum", WRONG_RETURN, None),
    ],
)
def test_a_broken_routine_is_found_out(routine, status, detail):
    bad, good = run_table([point(routine, 100, 3, 5), point("whole", 100, 3, 5)], guest="riscv-broken.elf")
    assert bad.status == status
    assert detail is None or bad.detail == detail
    assert good.status == RIGHT


@pytest.mark.parametrize("policy", POLICIES)
def test_every_misaligned_access(policy):
    """Integer, floating point, compressed; all registers; across pages and into a missing one; atomics never."""
    run = _engine.Machine(machine(policy), elf("riscv-emulation.elf"))
    end = run.run()
    assert (end["cause"], end["code"]) == ("m5_exit instruction encountered", 0), end


def test_trapped_accesses_really_run_a_handler():
    record = [point("rv-word-noalign", 64, 1, 0, warmup=1)]
    hardware, trap = (run_table(record, policy)[0] for policy in POLICIES)
    # Eight misaligned loads; each is at least save, fetch, decode, eight bytes and restore.
    assert trap.instructions > hardware.instructions + 8 * 150


@pytest.mark.parametrize(
    ("table", "code"),
    [(b"", 1), (b"BEPOINTS", 1), (points_file(b"")[:-1], 1), (b"X" * 32, 1), (points_file(bytes(256))[:-1], 2)],
)
def test_a_bad_points_file_ends_the_guest(table, code):
    end = _engine.Machine(machine(), elf(), readfile=table).run()
    assert (end["cause"], end["code"]) == ("m5_fail instruction encountered", code)


def test_an_empty_table_is_done_at_once():
    end = _engine.Machine(machine(), elf(), readfile=points_file(b"")).run()
    assert end["cause"] == "m5_exit instruction encountered"
    assert end["insts"] < 60_000, "boot has become long"


def test_a_point_costs_little_beyond_what_it_measures():
    empty = _engine.Machine(machine(), elf(), readfile=points_file(b"")).run()["insts"]
    records = point("rv-copy-user-2021", 1448, 3, 0, repetitions=3, warmup=1)
    insts = _engine.Machine(machine(), elf(), readfile=points_file(records)).run()["insts"] - empty
    assert insts < 25_000


def test_results_do_not_depend_on_what_ran_before():
    records = [point(name, size, 1, 2, warmup=1) for name in NAMES for size in (0, 65, 1448)]
    alone = _engine.Sweep(machine(), elf()).run(b"".join(records), threads=2)
    for one, other in zip(unpack_results(alone), run_table(records), strict=True):
        assert (one.status, one.ret, one.instructions) == (other.status, other.ret, other.instructions)


def run_qemu(tmp_path: Path, table: bytes) -> list[Result]:
    """The results of a points file on qemu's machine."""
    (tmp_path / "points.bin").write_bytes(table)
    command = [
        "qemu-system-riscv64", "-machine", "virt", "-cpu", "rv64,v=true,vlen=256", "-m", "512", "-bios", "none",
        "-icount", "shift=0", "-display", "none", "-monitor", "none",
        "-kernel", str(find_data("guests", "riscv-qemu.elf")),
        "-device", f"loader,file={tmp_path}/points.bin,addr=0x94000000,force-raw=on",
        "-chardev", f"file,id=c,path={tmp_path}/results.bin", "-serial", "chardev:c",
    ]  # fmt: skip
    subprocess.run(command, check=True, timeout=60)
    return unpack_results((tmp_path / "results.bin").read_bytes())


@pytest.mark.skipif(shutil.which("qemu-system-riscv64") is None, reason="no qemu-system-riscv64")
def test_qemu_gives_the_same_results(tmp_path):
    """Statuses, return values and instruction counts, on a machine that is not ours (qemu 7.2 has no Zicboz)."""
    names = [name for name in NAMES if "zicboz" not in name]
    records = [
        point(name, size, src, dst) for name in names for size in (9, 500, 1448) for src in (0, 3) for dst in (0, 5)
    ]
    qemu = run_qemu(tmp_path, points_file(b"".join(records)))
    ours = run_table(records)
    assert len(qemu) == len(ours)
    for record, theirs, our in zip(records, qemu, ours, strict=True):
        same = (our.status, our.ret, our.instructions) == (theirs.status, theirs.ret, theirs.instructions)
        assert same, (POINT.unpack(record)[:4], theirs, our)


@pytest.mark.parametrize(("isa", "compiler"), [("riscv", "riscv64-unknown-elf-gcc"), ("x86", "x86_64-linux-gnu-gcc")])
def test_the_same_sources_give_the_same_bytes(tmp_path, isa, compiler):
    """Built elsewhere: no path and no time gets into an ELF."""
    scons = Path(sys.executable).with_name("scons")
    command = str(scons) if scons.exists() else shutil.which("scons")
    if command is None or shutil.which(compiler) is None:
        pytest.skip("no scons or no cross compiler")
    shutil.copytree(WORKLOADS, tmp_path / "workloads")
    (tmp_path / "SConstruct").write_text('SConscript("workloads/SConscript", exports={"env": Environment()})\n')
    subprocess.run([command, "-Q", "-s", f"build/guests/{isa}.elf"], cwd=tmp_path, check=True, timeout=120)
    assert (tmp_path / f"build/guests/{isa}.elf").read_bytes() == elf(f"{isa}.elf")
