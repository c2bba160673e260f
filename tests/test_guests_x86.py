"""The x86-64 guest without an engine: its routines on this host's processor, and the whole guest under qemu.

`x86-hosted` is a Linux program of the guest's routines (workloads/x86/selftest/hosted.c): it checks each at every size
up to 512 and every pair of offsets up to 15, at page boundaries, and a user copy at every faulting byte.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from breakeven.engines.embedded import EmbeddedEngine
from breakeven.files.data import find_data
from breakeven.points import FAULT_IN_DESTINATION, Result, points_file, unpack_results
from breakeven.points.machine_spec import MachineSpec

from .guest_points import (
    DAMAGE,
    DAMAGED_REGISTERS,
    OUT_OF_RANGE,
    PAGE,
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

COPIES = [
    "folly-memcpy", "folly-memcpy-avx2", "glibc-vec-erms-avx2", "glibc-vec-erms-avx512", "glibc-vec-erms-sse2",
    "i386-k7-copy-page", "i386-mmx-memcpy", "llvm-libc-memcpy", "llvm-libc-memcpy-avx2",
    "llvm-libc-memcpy-avx2-2023", "llvm-libc-memcpy-avx2-movsb", "llvm-libc-memcpy-avx2-nta", "sol-bcopy",
    "sol-kcopy-nta", "ucx-memcpy-relaxed", "x64-byte", "x64-memcpy-avx512", "x64-memcpy-avx512-aligned",
    "x64-memcpy-avx512-nt", "x64-memcpy-orig", "x64-word-add",
]  # fmt: skip
USER_COPIES = [
    "anand-dst8", "anand-src8", "i386-copy-user-generic", "i386-copy-user-intel", "i386-copy-user-mmx",
    "i386-copy-user-nocache", "i386-movsl-plain", "movsl-mask", "x64-copy-erms", "x64-copy-erms-short",
    "x64-copy-erms-threshold", "x64-copy-nocache-2023", "x64-copy-nocache-old", "x64-copy-string",
    "x64-copy-unrolled", "x64-fsrm-inline", "x64-rep-movs-alt-erms", "x64-rep-movs-alt-v1", "x64-rep-movs-alt-v2",
    "x64-rep-movs-alt-v3", "x64-rep-movs-alt-v4",
]  # fmt: skip
CHECKSUMS = [
    "x64-csum-adx", "x64-csum-avx2", "x64-csum-avx512", "x64-csum-dec-lea", "x64-csum-dumazet", "x64-csum-fixed",
    "x64-csum-goldstein", "x64-csum-herbert", "x64-csum-herbert-pagecheck", "x64-csum-jrcxz",
    "x64-csum-jrcxz-alternating", "x64-csum-jrcxz-two", "x64-csum-linus-align", "x64-csum-naive-adc",
    "x64-csum-old", "x64-csum40-2s", "x64-csum40-4x32", "x64-csum40-adx", "x64-csum40-chain", "x64-csum40-zero",
]  # fmt: skip
COPY_CHECKSUMS = ["i386-csumcopy-486", "i386-csumcopy-ppro", "x64-csumcopy-kleen", "x64-csumcopy-viro"]
SETS = [
    "x64-memset-avx2", "x64-memset-avx2-erms", "x64-memset-avx512", "x64-memset-sse2", "x64-memset-stosb",
    "x64-memset-stosq", "x64-memset-unrolled",
]  # fmt: skip
MOVES = [
    "glibc-vec-fsrm-avx2", "go-memmove", "x64-memmove-avx2", "x64-memmove-avx512", "x64-memmove-erms",
    "x64-memmove-sse2", "x64-memmove-words",
]  # fmt: skip
#: by the number of their kind
BY_KIND = [COPIES, CHECKSUMS, USER_COPIES, COPY_CHECKSUMS, SETS, MOVES]
NAMES = sum(BY_KIND, [])
#: status and detail; None: any
BROKEN = {
    "broken-short": (WRONG_OUTPUT, 99),
    "broken-byte": (WRONG_OUTPUT, 98),
    "broken-after": (DAMAGE, 100),
    "broken-before": (DAMAGE, (1 << 64) - 3),
    "broken-source": (WRONG_OUTPUT, 0),  # the next call copies what this one wrote
    "broken-r12": (DAMAGE, DAMAGED_REGISTERS | 1 << 2),
    "broken-sp": (DAMAGE, DAMAGED_REGISTERS | 1 << 24),
    "broken-direction": (DAMAGE, DAMAGED_REGISTERS | 1 << 8),
    "broken-mmx": (DAMAGE, DAMAGED_REGISTERS | 1 << 9),
    "broken-mxcsr": (DAMAGE, DAMAGED_REGISTERS | 1 << 10),
    "broken-wild": (UNEXPECTED_TRAP, 14),
    "broken-jump": (UNEXPECTED_TRAP, 14),
    "broken-opcode": (UNEXPECTED_TRAP, 6),
    "broken-return": (WRONG_RETURN, 0),
    "broken-sum": (WRONG_RETURN, None),
    "broken-copy-sum": (WRONG_RETURN, None),
}
#: found out only by a machine that can tell user pages from its own
BROKEN_SMAP = {
    "broken-user": (DAMAGE, DAMAGED_REGISTERS | 1 << 32),
    "broken-no-access": (UNEXPECTED_TRAP, 14),
}

on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="this host is no x86-64: no routine was run on it")
with_qemu = pytest.mark.skipif(
    shutil.which("qemu-system-x86_64") is None, reason="no qemu-system-x86_64 (Debian: qemu-system-x86)"
)


def hosted(*names: str) -> subprocess.CompletedProcess[str]:
    program = find_data("guests", "x86-hosted")
    return subprocess.run([program, *names], capture_output=True, text=True, timeout=300)


def kinds() -> dict[str, int]:
    """What is registered; the broken ones are linked as well."""
    rows = (line.split() for line in hosted().stdout.splitlines())
    return {name: int(kind) for name, kind in rows if not name.startswith("broken-") and name != "whole"}


def run_qemu(tmp_path: Path, table: bytes, guest: str = "x86-qemu.elf", cpu: str = "max") -> tuple[int, list[Result]]:
    """The code of `m5 fail` (0: `m5 exit`) and the results."""
    (tmp_path / "points.bin").write_bytes(table)
    command = [
        "qemu-system-x86_64", "-machine", "pc", "-cpu", cpu, "-m", "512", "-nodefaults", "-display", "none",
        "-no-reboot", "-kernel", str(find_data("guests", guest)),
        "-fw_cfg", f"name=opt/breakeven/points,file={tmp_path}/points.bin",
        "-debugcon", f"file:{tmp_path}/results.bin", "-device", "isa-debug-exit,iobase=0xf4,iosize=4",
    ]  # fmt: skip
    status = subprocess.run(command, timeout=120).returncode
    assert status % 2 == 1, "the machine was reset"
    return status // 2, unpack_results((tmp_path / "results.bin").read_bytes())


@on_x86
def test_the_routines_of_the_issue_are_there():
    assert kinds() == {name: kind for kind, names in enumerate(BY_KIND) for name in names}


@on_x86
@pytest.mark.parametrize("name", NAMES)
def test_right_on_this_host(name):
    done = hosted(name)
    line = done.stdout.strip()
    if line.startswith("skip"):
        pytest.skip(line)
    assert (line, done.returncode) == (f"ok {name}", 0), (line, done.stderr)


def test_llvm_nta_copies_right_past_the_caches_too():
    """The host's test gives no routine a parameter, and goes to 512 bytes: here all from 256 go by movntdq."""
    pytest.importorskip("breakeven._engine")
    name = "llvm-libc-memcpy-avx2-nta"
    sizes = [*range(255, 700, 11), 1024, 3000, 4097]
    records = [point(name, n, n % 37, n % 41, parameter=256, seed=n) for n in sizes]
    results = unpack_results(EmbeddedEngine().open(MachineSpec("broadwell")).run(b"".join(records), 1))
    assert_right(records, results)


WITH_AVX512 = MachineSpec("x86_atomic", ("cpu.isa.enable_avx512=true",))
AVX512 = sorted(name for name in NAMES if "avx512" in name)


@some_or_all(19)
@pytest.mark.parametrize("name", AVX512)
def test_avx512_routines_are_right_at_every_size_and_offset(name, every):
    """Few hosts have AVX-512 and qemu's emulator has not: here in our engine, whose AVX-512 is held to Bochs."""
    pytest.importorskip("breakeven._engine")
    offsets = [(0, 0)] if name in CHECKSUMS else [(0, 0), (0, 1), (63, 5)]
    records = [point(name, n, n % 67 + src, dst, seed=n) for n in range(1100) for src, dst in offsets]
    records += [point(name, n, n % 61, n % 59, seed=n) for n in (4096, 8191, 20_011, 786_500)]
    if name in MOVES:
        overlaps = (-64, -1, 1, 63, 64, 200)
        records += [point(name, n, 0, 0, seed=n, distance=d) for n in (40, 64, 65, 300, 513, 2000) for d in overlaps]
    records = records[::every]
    results = unpack_results(EmbeddedEngine().open(WITH_AVX512).run(b"".join(records), 1))
    assert_right(records, results)


def test_a_machine_without_avx512_is_told_so():
    routines = {r.name: r.missing_extension for r in EmbeddedEngine().open(MachineSpec("skylake")).routines()}
    assert {name for name in AVX512 if not routines[name]} == set()
    assert "AVX-512" in routines["x64-memcpy-avx512"] and "enable_avx512=true" in routines["x64-memcpy-avx512"]
    routines = {r.name: r.missing_extension for r in EmbeddedEngine().open(WITH_AVX512).routines()}
    assert {name for name in AVX512 if routines[name]} == set()


@on_x86
@pytest.mark.parametrize("name", sorted(BROKEN))
def test_the_host_test_notices(name):
    done = hosted(name)
    assert done.stdout.startswith(f"FAIL {name}: "), (done.stdout, done.stderr)
    assert done.returncode == 1


@with_qemu
@pytest.mark.parametrize(
    ("cpu", "lacking"),
    [
        # Its emulator has no AVX-512.
        ("max", ("avx512",)),
        ("max,-smap,-xsave", ("avx512", "avx2", "relaxed")),
        ("qemu64,-sse2,-clflush", ("avx512", "avx2", "adx", "nocache", "nta", "sse2", "relaxed", "go-memmove")),
    ],
)
def test_right_in_the_guest(tmp_path, cpu, lacking):
    """Start-up, paging, exceptions and harness, with and without SMAP, AVX and fences, on a machine not ours."""
    records = []
    runnable = [name for name in NAMES if not any(word in name for word in lacking)]
    for name in runnable:
        records += [
            point(name, size, src, dst, seed=size, state=size % 9, warmup=1)
            for size in (0, 9, 40, 64, 500, 1448, 4097)
            for src in (0, 3)
            for dst in (0, 5)
        ]
        states = ((0, 0), (9000, 1)) if name not in SETS else ()
        records += [point(name, 1448, 4, 0, state=9, size2=size2, flags=flags) for size2, flags in states]
        # The page after the last byte is missing.
        records += [point(name, n, (PAGE - n) % PAGE, 1, fault_at=n, seed=n) for n in (1, 7, 40, 100, 4095)]
        records += [
            point(name, 300, 3, 4095, measure=measure, calls=5, size2=77, src2=9, flags=flags)
            for measure in (1, 2)
            for flags in range(4)
        ]
    for name in (name for name in USER_COPIES if name in runnable):
        for k in range(0, 200, 7):
            start = (PAGE - k) % PAGE
            records.append(point(name, 200, start, 1, fault_at=k))
            records.append(point(name, 200, 1, start, fault_at=k | FAULT_IN_DESTINATION))
    code, results = run_qemu(tmp_path, points_file(b"".join(records)), cpu=cpu)
    assert code == 0
    assert_right(records, results)


@with_qemu
@pytest.mark.parametrize(("cpu", "broken"), [("max", {**BROKEN, **BROKEN_SMAP}), ("qemu64", BROKEN)])
def test_a_broken_routine_is_found_out(tmp_path, cpu, broken):
    records = [record for name in broken for record in (point(name, 100, 3, 5), point("whole", 100, 3, 5))]
    code, results = run_qemu(tmp_path, points_file(b"".join(records)), "x86-qemu-broken.elf", cpu)
    assert code == 0
    for (name, (status, detail)), bad, good in zip(broken.items(), results[::2], results[1::2], strict=True):
        assert (bad.status, good.status) == (status, RIGHT), name
        assert detail is None or bad.detail == detail, name


@with_qemu
def test_bad_points_are_refused_and_the_next_one_runs(tmp_path):
    bad = {
        point("x64-bytes", 1): UNKNOWN_ROUTINE,
        point("x64-byte", 1, parameter=1): OUT_OF_RANGE,
        point("x64-byte", 1, fault_at=0): OUT_OF_RANGE,
        point("sol-bcopy", 1, flags=4): OUT_OF_RANGE,
    }
    good = point("sol-bcopy", 700, 1, 2, parameter=768)
    _, results = run_qemu(tmp_path, points_file(b"".join(record + good for record in bad)))
    assert [result.status for result in results[::2]] == list(bad.values())
    assert [result.status for result in results[1::2]] == [RIGHT] * len(bad)


@with_qemu
@pytest.mark.parametrize(
    ("table", "code"),
    [(b"BEPOINTS", 1), (b"X" * 32, 1), (points_file(bytes(256))[:-1], 2), (points_file(b""), 0)],
)
def test_a_bad_points_file_ends_the_guest(tmp_path, table, code):
    assert run_qemu(tmp_path, table) == (code, [])


@with_qemu
def test_points_of_version_1_are_understood(tmp_path):
    table = points_file(point("x64-byte", 9, 1, 2))
    old = table[:8] + (1).to_bytes(4, "little") + table[12:]
    code, results = run_qemu(tmp_path, old)
    assert (code, [result.status for result in results]) == (0, [RIGHT])
