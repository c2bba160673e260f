"""Whether a routine keeps the contract: points at every size and offset, at page ends, with faults; what went wrong.

The points run on the atomic machine in a guest whose harness also reports the byte that should be where a wrong one is.
Smallest first: what is told is the first point that fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from breakeven.errors import UserError
from breakeven.files.binaries import load_engine
from breakeven.machine.resolve import resolve
from breakeven.points import (
    FAULT_IN_DESTINATION,
    MAX_SIZE,
    NO_FAULT,
    UNEXPECTED_TRAP,
    Point,
    Result,
    describe_status,
    pack,
    points_file,
    unpack_results,
)
from breakeven.points.machine_spec import MachineSpec
from breakeven.routine.time_limit import end_of_guest, run_guest
from breakeven.routine.trapped import not_modelled, trapped

PAGE = 4096
#: contents of all bits one and of all bits zero (docs/guests.md)
_EXTREMES = (0xFFFFFFFF, 0xFFFFFFFE)
#: points of one guest: few enough that one that hangs is found soon
_CHUNK = 1024
#: instructions that a guest may take: to boot, for a point, for a byte of it
_BOOT, _POINT, _BYTE = 10_000_000, 60_000, 400
#: the machine of each instruction set on which it is looked at
MACHINES = {"riscv": "atomic", "x86": "x86_atomic"}
#: what that machine has beside its own: every extension that a routine may use
SETTINGS = {"riscv": (), "x86": ("cpu.isa.enable_avx512=true",)}
_PATTERN = 0xA5
INVALID_OPCODE, _ILLEGAL = "invalid opcode", "illegal instruction"
#: how a guest ends whose routine does not return, and one whose instruction the engine does not model
NO_RETURN, _NOT_MODELLED = "max instruction count", "instruction not implemented"
#: what is said of a routine that may call itself for ever
ENDLESS = re.compile(r" does not return at | ends the guest \(")
#: traps by cause (RISC-V) and by vector (x86)
_TRAPS = {
    "riscv": {
        0: "misaligned jump", 1: "jump to where there is no code", 2: _ILLEGAL, 3: "breakpoint",
        5: "load outside memory", 7: "store outside memory", 8: "ecall", 9: "ecall", 12: "jump to an unmapped page",
        13: "load from an unmapped page", 15: "store to an unmapped page",
    },
    "x86": {
        0: "division error", 3: "breakpoint", 6: INVALID_OPCODE, 7: "vector instruction that is switched off",
        13: "general protection fault", 14: "access to an unmapped page", 17: "alignment check",
    },
}  # fmt: skip


#: what a routine must leave as it was: bit of the damage -> its name (workloads/*/call.S)
_KEPT = {
    "riscv": {
        **{bit: f"s{bit}" for bit in range(12)}, **{12 + bit: f"fs{bit}" for bit in range(12)},
        24: "the stack pointer", 25: "gp", 26: "tp",
    },
    "x86": {
        **dict(enumerate(("rbx", "rbp", "r12", "r13", "r14", "r15"))), 8: "the direction flag",
        9: "MMX state (no emms)", 10: "mxcsr", 24: "the stack pointer",
    },
}  # fmt: skip


def checking_machine(isa: str) -> MachineSpec:
    """The machine of an instruction set on which a routine is looked at."""
    return MachineSpec(MACHINES[isa], SETTINGS[isa])


def trapping_machine() -> MachineSpec:
    """The RISC-V machine of these that traps on misaligned accesses."""
    return MachineSpec(MACHINES["riscv"], (*SETTINGS["riscv"], "cpu.misaligned.policy=trap"))


def contract_points(name: str, kind: str) -> Iterator[Point]:
    """The points at which a routine must be right, the small ones first."""
    yield from _sizes_and_offsets(name, kind)
    yield from _page_ends(name, kind)
    if kind == "move":
        yield from _overlaps(name)
    if kind == "user-copy":
        yield from _faults(name)
    if kind == "copy-checksum" or not _writes(kind):
        for n in (*range(140), 1448, 65536, 65537):
            for seed in _EXTREMES:
                for src in range(8):
                    yield _point(name, n, src, seed=seed)


def sample_points(name: str, kind: str) -> list[Point]:
    """A few hundred points that take a routine through its code: the sizes of the contract, each at other offsets."""
    sizes = [*range(289), *(16 * n for n in range(19, 120)), 4096, 8191, 16384, 65536, 300000, 1 << 20]
    whole = [_point(name, n, n % 8, n // 8 % 8 if _writes(kind) else 0, seed=n) for n in sizes]
    aligned = [_point(name, n, seed=n) for n in sizes if n > 32]
    return [*whole, *aligned, *(_point(name, n, 0, 0, seed=_EXTREMES[0]) for n in (1, 64, 1448))]


def _point(
    name: str, size: int, src: int = 0, dst: int = 0, fault_at: int = NO_FAULT, seed: int = 1, distance: int = 0
) -> Point:
    return Point(name, size, src, dst, repetitions=1, warmup=0, seed=seed, fault_at=fault_at, distance=distance)


#: bytes between a move's buffers, either way: of words, vectors, lines and unlike any
_DISTANCES = (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 1000, 4096, 4097)


def _overlaps(name: str) -> Iterator[Point]:
    """Buffers that overlap or touch, each before the other; and with no page beyond them."""
    for n in (*range(1, 140), *range(140, 700, 23), 1448, 4097, 8205, 20011):
        for distance in (d for d in (*_DISTANCES, n - 1, n) if 0 < d <= n):
            for way in (distance, -distance):
                for src in (0, 3) if n > 140 else (0, 1, 4, 7):
                    yield _point(name, n, src, seed=n, distance=way)
        for distance in (1, 8, 33):
            yield _point(name, n, (PAGE - n - distance) % PAGE, 0, n | FAULT_IN_DESTINATION, n, distance)
            yield _point(name, n, (PAGE - n) % PAGE, 0, n, n, -distance)


def _writes(kind: str) -> bool:
    """Whether routines of a kind have a destination: all but checksums, of which there are more than one kind."""
    return kind in ("copy", "user-copy", "copy-checksum", "set", "move", "clear")


def _sides(kind: str, sources: Iterable[int], destinations: Iterable[int]) -> tuple[list[int], list[int]]:
    """The offsets that a routine of this kind looks at."""
    return [0] if kind in ("set", "clear") else list(sources), list(destinations) if _writes(kind) else [0]


def _sizes_and_offsets(name: str, kind: str) -> Iterator[Point]:
    sources, destinations = _sides(kind, range(8), range(8))
    for n in range(257):
        for src in sources:
            for dst in destinations:
                yield _point(name, n, src, dst, seed=n)
    # Alignments of a line and of a vector, larger sizes, a page boundary within.
    for n in (*range(257, 1100, 53), 1448, 4095, 4096, 4097, 8205, 16384, 65613, (1 << 20) + 333):
        sources, destinations = _sides(kind, (0, 1, 8, 19, 37, 63, PAGE - 100), (0, 3, 16, 32, 61, PAGE - 99))
        for src in sources:
            for dst in destinations:
                if n < 1 << 16 or src == dst == 0 or (src == PAGE - 100 and dst in (0, 61)):
                    yield _point(name, n, src, dst, seed=n)


def _page_ends(name: str, kind: str) -> Iterator[Point]:
    """The first byte is the first of its page, the last one the last, and no page is mapped beyond it."""
    for n in (*range(140), 255, 256, 257):
        for other in (0, 1, 4, 7):
            yield _point(name, n, (PAGE - n) % PAGE, other, n, seed=n)
            if _writes(kind):
                yield _point(name, n, other, (PAGE - n) % PAGE, n | FAULT_IN_DESTINATION, seed=n)


def _faults(name: str) -> Iterator[Point]:
    for n in (1, 7, 8, 30, 71, 72, 73, 136, 200):
        for other in range(8):
            for k in range(n):
                start = (PAGE - k) % PAGE
                yield _point(name, n, start, other, k, seed=k)
                yield _point(name, n, other, start, k | FAULT_IN_DESTINATION, seed=k)


def check_contract(isa: str, elf: bytes, name: str, kind: str) -> int:
    """Runs every point of a routine in the checking guest `elf`; how many there were. Raises `UserError` at the first
    that fails."""
    points, count = contract_points(name, kind), 0
    while chunk := list(islice(points, _CHUNK)):
        _check_chunk(isa, elf, chunk)
        count += len(chunk)
    return count


def _check_chunk(isa: str, elf: bytes, chunk: list[Point]) -> None:
    results, cause, detail = _run(isa, elf, chunk)
    for point, result in zip(chunk, results, strict=False):
        if not result.ok:
            said = f"{point.routine} {_statement(isa, point, result)}"
            raise UserError(f"{said}{_instruction(isa, elf, point, result)}{_meant(isa, elf, point, result)}")
    if len(results) == len(chunk):
        return
    if len(chunk) > 1:
        # The guest reports in batches: the point that ended it is one of the next.
        for point in chunk[len(results) :]:
            _check_chunk(isa, elf, [point])
        raise UserError(f"{chunk[0].routine}: the guest ended ({cause}) and no single point does so")
    what = "does not return" if cause == NO_RETURN else "ends the guest (does it keep the stack?)"
    if cause == _NOT_MODELLED:
        found = not_modelled(isa, elf, detail)
        raise UserError(f"{chunk[0].routine} runs an instruction that breakeven does not model: {found}")
    raise UserError(f"{chunk[0].routine} {what} at {_where(chunk[0])}")


def _instruction(isa: str, elf: bytes, point: Point, result: Result) -> str:
    """What is added where a routine has met an instruction that is none to the machine."""
    if result.status != UNEXPECTED_TRAP or _TRAPS[isa].get(result.detail) not in (INVALID_OPCODE, _ILLEGAL):
        return ""
    guest = _guest(isa, elf, [point])
    found = trapped(isa, elf, guest, lambda: run_guest(guest, most_instructions([point])))
    return found and f": {found}"


def _meant(isa: str, elf: bytes, point: Point, result: Result) -> str:
    """What is added where a sum is wrong: which one it is to be."""
    if result.status != 5:
        return ""
    kind = next(row["kind"] for row in load_engine().routines(elf) if row["name"] == point.routine)
    if kind not in ("checksum", "copy-checksum"):
        return ", the bytes not copied" if kind == "user-copy" else f", as the reference of {kind} does"
    if result.ret & 0xFFFF == ~result.detail & 0xFFFF:
        return (
            ": that is its complement, and kind checksum is the sum before (end it without ~); any other checksum "
            "needs --reference"
        )
    return (
        ": kind checksum is the Internet checksum (RFC 1071), and the routine computes another: give its reference "
        "(--reference FILE)"
    )


def _guest(isa: str, elf: bytes, chunk: list[Point]) -> Any:

    text = resolve(checking_machine(isa)).text
    return load_engine().Machine(text, elf, readfile=points_file(pack(chunk)))


def _run(isa: str, elf: bytes, chunk: list[Point]) -> tuple[list[Result], str, str]:
    """The results that a guest left, how it ended, and what more is known of that."""
    guest = _guest(isa, elf, chunk)
    end = end_of_guest(guest, most_instructions(chunk))
    return unpack_results(guest.outputs().get("results.bin", b"")), end["cause"], end["detail"]


def most_instructions(points: Iterable[Point]) -> int:
    """What a guest may take for points: of more, its routine does not return."""
    return _BOOT + sum(_POINT + _BYTE * min(p.size, MAX_SIZE) for p in points)


def _where(point: Point) -> str:
    to = f"destination {point.distance:+} from it" if point.distance else f"destination offset {point.dst_offset}"
    text = f"size {point.size}, source offset {point.src_offset}, {to}"
    if point.fault_at == NO_FAULT:
        return text
    side = "destination" if point.fault_at & FAULT_IN_DESTINATION else "source"
    index = point.fault_at & ~FAULT_IN_DESTINATION
    if index == point.size:
        return f"{text}, no page after the {side}'s last byte"
    return f"{text}, the {side}'s page missing from byte {index} on"


def _statement(isa: str, point: Point, result: Result) -> str:
    """What a wrong result says: the first wrong byte with both values, the wrong sum, the damage, the trap."""
    where = _where(point)
    if result.status == 1 or (result.status == 6 and not 1 <= result.detail >> 61 <= 2):
        offset = result.detail - (1 << 64) if result.detail >> 63 else result.detail
        wanted, found = result.cycles_min, result.cycles_median
        left = " (what was there before)" if found == _PATTERN and result.status == 1 else ""
        should = "stay" if result.status == 6 else "be"
        return f"is wrong at {where}: byte {offset} is {found:#04x}{left} and must {should} {wanted:#04x}"
    if result.status == 5:
        return f"is wrong at {where}: it returns {result.ret:#x} and must return {result.detail:#x}"
    if result.status == UNEXPECTED_TRAP:
        cause = _TRAPS[isa].get(result.detail, f"cause {result.detail}")
        return f"traps at {where}: {cause}"
    if result.status == 6:
        names = [name for bit, name in _KEPT[isa].items() if result.detail >> bit & 1]
        if names:
            return f"is wrong at {where}: it must keep {', '.join(names)}, and does not"
    return f"is wrong at {where}: {describe_status(result.status, result.detail)}"
