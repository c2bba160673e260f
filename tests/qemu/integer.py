"""Random blocks of RV64I, M, A, misaligned accesses and the bit-manipulation extensions."""

from __future__ import annotations

import random
from collections.abc import Callable

from .scaffold import FREE, Program

_REG = [f"x{n}" for n in FREE]

RRR_I = ["add", "sub", "sll", "slt", "sltu", "xor", "srl", "sra", "or", "and", "addw", "subw", "sllw", "srlw", "sraw"]
RRI_I = ["addi", "slti", "sltiu", "xori", "ori", "andi", "addiw"]
SHIFTS = [("slli", 64), ("srli", 64), ("srai", 64), ("slliw", 32), ("srliw", 32), ("sraiw", 32)]
LOADS = [("lb", 1), ("lbu", 1), ("lh", 2), ("lhu", 2), ("lw", 4), ("lwu", 4), ("ld", 8)]
STORES = [("sb", 1), ("sh", 2), ("sw", 4), ("sd", 8)]
BRANCHES = ["beq", "bne", "blt", "bge", "bltu", "bgeu"]
RRR_M = ["mul", "mulh", "mulhsu", "mulhu", "div", "divu", "rem", "remu", "mulw", "divw", "divuw", "remw", "remuw"]
AMOS = ["amoswap", "amoadd", "amoxor", "amoand", "amoor", "amomin", "amomax", "amominu", "amomaxu"]
RRR_ZBA = ["add.uw", "sh1add", "sh2add", "sh3add", "sh1add.uw", "sh2add.uw", "sh3add.uw"]
RRR_ZBB = ["andn", "orn", "xnor", "max", "maxu", "min", "minu", "rol", "ror", "rolw", "rorw"]
RR_ZBB = ["clz", "clzw", "ctz", "ctzw", "cpop", "cpopw", "sext.b", "sext.h", "zext.h", "orc.b", "rev8"]
RRR_ZBC = ["clmul", "clmulh", "clmulr"]
RRR_ZBS = ["bclr", "bext", "binv", "bset"]

Maker = Callable[[random.Random], list[str]]


def reg(r: random.Random) -> str:
    return r.choice(_REG)


def _rrr(r: random.Random, names: list[str]) -> list[str]:
    rd = "x0" if r.random() < 0.02 else reg(r)
    return [f"{r.choice(names)} {rd}, {reg(r) if r.random() < 0.96 else 'x0'}, {reg(r)}"]


def _memory(r: random.Random, kinds: list[tuple[str, int]], aligned: bool) -> list[str]:
    op, size = r.choice(kinds)
    offset = r.randrange(-2048, 2040)
    if aligned:
        offset &= -size
    if r.random() < 0.3:
        base = reg(r)
        mask = 0x7FF & (-size if aligned else -1)
        return [
            f"andi {base}, {reg(r)}, {mask & 0x7F8 if aligned else mask}",
            f"add {base}, {base}, x3",
            f"{op} {reg(r)}, {r.choice((0, -8, 8))}({base})",
        ]
    return [f"{op} {reg(r)}, {offset}({r.choice(('x2', 'x3'))})"]


def _jump(r: random.Random) -> list[str]:
    skipped = [line for _ in range(r.randrange(1, 4)) for line in _rrr(r, RRR_I)]
    kind = r.randrange(4)
    if kind < 2:
        return [f"{r.choice(BRANCHES)} {reg(r)}, {reg(r)}, 1f", *skipped, "1:"]
    if kind == 2:
        return [f"jal {reg(r)}, 1f", *skipped, "1:"]
    base = reg(r)
    return [f"la {base}, 1f-64", f"jalr {reg(r)}, 64({base})", *skipped, "1:"]


def base_i(r: random.Random) -> list[str]:
    kind = r.random()
    if kind < 0.30:
        return _rrr(r, RRR_I)
    if kind < 0.45:
        return [f"{r.choice(RRI_I)} {reg(r)}, {reg(r)}, {r.randrange(-2048, 2048)}"]
    if kind < 0.55:
        op, width = r.choice(SHIFTS)
        return [f"{op} {reg(r)}, {reg(r)}, {r.randrange(width)}"]
    if kind < 0.62:
        return [f"{r.choice(('lui', 'auipc'))} {reg(r)}, {r.randrange(1 << 20)}"]
    if kind < 0.75:
        return _memory(r, LOADS, True)
    if kind < 0.87:
        return _memory(r, STORES, True)
    if kind < 0.98:
        return _jump(r)
    return [r.choice(("fence", "fence rw, w", "fence.i", "nop", "fence.tso"))]


def mul_div(r: random.Random) -> list[str]:
    if r.random() < 0.05:
        a, b = reg(r), reg(r)
        return [f"li {a}, 1", f"slli {a}, {a}, 63", f"li {b}, -1", f"{r.choice(RRR_M)} {reg(r)}, {a}, {b}"]
    return _rrr(r, RRR_M)


def atomics(r: random.Random) -> list[str]:
    base = reg(r)
    others = [x for x in _REG if x != base]
    width, size = r.choice((("w", 4), ("d", 8)))
    order = r.choice(("", ".aq", ".rl", ".aqrl"))
    out = [f"addi {base}, x3, {r.randrange(-2048, 2040) & -size}"]
    kind = r.random()
    if kind < 0.6:
        return [*out, f"{r.choice(AMOS)}.{width}{order} {r.choice(_REG)}, {r.choice(_REG)}, ({base})"]
    value, done = r.sample(others, 2)
    out += [f"lr.{width}{r.choice(('', '.aq'))} {value}, ({base})"]
    if kind < 0.70:  # to another place: fails
        return [*out, f"addi {value}, {base}, {r.choice((-64, 64))}", f"sc.{width} {done}, {base}, ({value})"]
    out += [
        f"addi {value}, {value}, {r.randrange(-9, 9)}",
        f"sc.{width}{r.choice(('', '.rl'))} {done}, {value}, ({base})",
    ]
    if kind < 0.80:  # the reservation is gone: fails
        out += [f"sc.{width} {value}, {done}, ({base})"]
    return out


def misaligned(r: random.Random) -> list[str]:
    return _memory(r, r.choice((LOADS, STORES)), False)


def zba(r: random.Random) -> list[str]:
    if r.random() < 0.12:
        return [f"slli.uw {reg(r)}, {reg(r)}, {r.randrange(64)}"]
    return _rrr(r, RRR_ZBA)


def zbb(r: random.Random) -> list[str]:
    kind = r.random()
    if kind < 0.5:
        op, source = r.choice(RR_ZBB), reg(r)
        # qemu 7.2 goes on counting in the high word when the low one is zero (the answer is 32; `selfcheck` holds us to
        # it): it is asked with the high word copied from the low one's sign.
        narrow = [f"sext.w {source}, {source}"] if op == "ctzw" else []
        return [*narrow, f"{op} {reg(r)}, {source}"]
    if kind < 0.6:
        op, width = r.choice((("rori", 64), ("roriw", 32)))
        return [f"{op} {reg(r)}, {reg(r)}, {r.randrange(width)}"]
    return _rrr(r, RRR_ZBB)


def zbc(r: random.Random) -> list[str]:
    return _rrr(r, RRR_ZBC)


def zbs(r: random.Random) -> list[str]:
    if r.random() < 0.5:
        return [f"{r.choice(RRR_ZBS)}i {reg(r)}, {reg(r)}, {r.randrange(64)}"]
    return _rrr(r, RRR_ZBS)


def zicond(r: random.Random) -> list[str]:
    """czero.eqz and czero.nez, which binutils 2.40 cannot write."""
    # A condition that is zero half the time.
    condition = reg(r)
    zero = [f"andi {condition}, {condition}, 1"] if r.random() < 0.5 else []
    return [*zero, f".insn r 0x33, {r.choice((5, 7))}, 7, {reg(r)}, {reg(r)}, {condition}"]


def prefetches(r: random.Random) -> list[str]:
    """Zicbop: hints, `ori x0` for a machine without it."""
    return [f"prefetch.{r.choice('rwi')} {r.randrange(-2048, 2048) & -32}({r.choice((reg(r), 'x3'))})"]


def compose(
    name: str, maker: Maker, seed: int, *, share: float = 1.0, blocks: int = 40, length: int = 48, floats: bool = False
) -> Program:
    """Blocks of what `maker` writes, a `share` of the time: the rest are base instructions, so that operands change.
    As many turns as 100,000 executed instructions of the group take; each call of `maker` executes at least one."""
    r = random.Random(f"{name} {seed}")
    texts, calls = [], 0
    for _ in range(blocks):
        lines: list[str] = []
        for _ in range(length):
            ours = r.random() < share
            lines += maker(r) if ours else _rrr(r, RRR_I)
            calls += ours
        texts.append("\n".join(f" {line}" for line in lines))
    turns = -(-100_000 // calls)
    return Program(name, texts, turns, floats, executed=calls * turns)


def programs(seed: int) -> list[Program]:
    return [
        compose("i", base_i, seed),
        compose("m", mul_div, seed),
        compose("a", atomics, seed, share=0.8),
        compose("misaligned", misaligned, seed, share=0.9),
        compose("zba", zba, seed),
        compose("zbb", zbb, seed),
        compose("zbc", zbc, seed),
        compose("zbs", zbs, seed),
        compose("zicond", zicond, seed),
        compose("zicbop", prefetches, seed, share=0.9),
    ]
