"""Random blocks of RV64F, D, and C."""

from __future__ import annotations

import random

from .integer import compose, reg
from .scaffold import Program

_ROUND = ["rne", "rtz", "rdn", "rup", "rmm", "dyn"]
_ARITHMETIC = ["fadd", "fsub", "fmul", "fdiv"]
_FUSED = ["fmadd", "fmsub", "fnmadd", "fnmsub"]
_PLAIN = ["fsgnj", "fsgnjn", "fsgnjx", "fmin", "fmax"]
_COMPARE = ["feq", "flt", "fle"]
_INTEGERS = ["w", "wu", "l", "lu"]


def _f(r: random.Random) -> str:
    return f"f{r.randrange(32)}"


def _fp(r: random.Random, width: str) -> list[str]:
    """One instruction of width `s` or `d`."""
    kind, rm = r.random(), r.choice(_ROUND)
    if kind < 0.03:
        return [f"fsrmi {r.randrange(5)}"]
    if kind < 0.30:
        return [f"{r.choice(_ARITHMETIC)}.{width} {_f(r)}, {_f(r)}, {_f(r)}, {rm}"]
    if kind < 0.36:
        return [f"fsqrt.{width} {_f(r)}, {_f(r)}, {rm}"]
    if kind < 0.54:
        return [f"{r.choice(_FUSED)}.{width} {_f(r)}, {_f(r)}, {_f(r)}, {_f(r)}, {rm}"]
    if kind < 0.64:
        return [f"{r.choice(_PLAIN)}.{width} {_f(r)}, {_f(r)}, {_f(r)}"]
    if kind < 0.72:
        return [f"{r.choice(_COMPARE)}.{width} {reg(r)}, {_f(r)}, {_f(r)}"]
    if kind < 0.80:
        return [f"fcvt.{r.choice(_INTEGERS)}.{width} {reg(r)}, {_f(r)}, {rm}"]
    if kind < 0.86:
        integer = r.choice(_INTEGERS)
        exact = width == "d" and integer in ("w", "wu")  # takes no rounding mode in assembly
        return [f"fcvt.{width}.{integer} {_f(r)}, {reg(r)}" + ("" if exact else f", {rm}")]
    if kind < 0.89:
        return [f"fclass.{width} {reg(r)}, {_f(r)}"]
    letter, size = ("w", 4) if width == "s" else ("d", 8)
    if kind < 0.92:
        return [f"fmv.x.{letter} {reg(r)}, {_f(r)}" if r.random() < 0.5 else f"fmv.{letter}.x {_f(r)}, {reg(r)}"]
    if kind < 0.94:
        return [r.choice([f"csrr {reg(r)}, fflags", f"csrr {reg(r)}, fcsr", f"fsflags {reg(r)}, {reg(r)}"])]
    return [f"{r.choice(('fl', 'fs'))}{letter} {_f(r)}, {r.randrange(-2048, 2040) & -size}(x3)"]


def single(r: random.Random) -> list[str]:
    return _fp(r, "s")


def double(r: random.Random) -> list[str]:
    if r.random() < 0.1:
        return [f"fcvt.s.d {_f(r)}, {_f(r)}, {r.choice(_ROUND)}" if r.random() < 0.7 else f"fcvt.d.s {_f(r)}, {_f(r)}"]
    return _fp(r, "d")


def _small(r: random.Random) -> str:
    return f"x{r.randrange(8, 16)}"


def _nonzero(r: random.Random, low: int, high: int) -> int:
    return r.choice([n for n in range(low, high) if n])


def compressed(r: random.Random) -> list[str]:
    kind = r.randrange(16)
    base, stack = _small(r), "sp"
    if kind == 0:
        return [f"c.addi {reg(r)}, {_nonzero(r, -32, 32)}"]
    if kind == 1:
        return [f"c.addiw {reg(r)}, {r.randrange(-32, 32)}"]
    if kind == 2:
        return [f"c.li {reg(r)}, {r.randrange(-32, 32)}"]
    if kind == 3:
        return [f"c.lui {reg(r)}, {r.choice([*range(1, 32), *range(0xFFFE0, 0x100000)])}"]
    if kind == 4:
        return [
            f"c.slli {reg(r)}, {r.randrange(1, 64)}",
            f"{r.choice(('c.srli', 'c.srai'))} {base}, {r.randrange(1, 64)}",
        ]
    if kind == 5:
        return [f"c.andi {base}, {r.randrange(-32, 32)}"]
    if kind == 6:
        return [f"c.addi4spn {base}, sp, {4 * r.randrange(1, 256)}"]
    if kind in (7, 8):
        return [f"c.{r.choice(('sub', 'xor', 'or', 'and', 'subw', 'addw'))} {base}, {_small(r)}"]
    if kind == 9:
        return [f"c.{r.choice(('mv', 'add'))} {reg(r)}, {reg(r)}"]
    if kind in (10, 11):
        op, size, letter = r.choice((("w", 4, ""), ("d", 8, ""), ("d", 8, "f")))
        target = f"f{r.randrange(32)}" if letter else reg(r)
        return [f"c.{letter}{r.choice(('l', 's'))}{op}sp {target}, {size * r.randrange(0, 64)}({stack})"]
    if kind in (12, 13):
        op, size, letter = r.choice((("w", 4, ""), ("d", 8, ""), ("d", 8, "f")))
        target = f"f{r.randrange(8, 16)}" if letter else _small(r)
        return [
            f"c.mv {base}, sp",
            f"c.{letter}{r.choice(('l', 's'))}{op} {target}, {size * r.randrange(0, 32)}({base})",
        ]
    skipped = [f"c.addi {reg(r)}, {_nonzero(r, -32, 32)}" for _ in range(r.randrange(1, 3))]
    if kind == 14:
        return (
            [f"c.{r.choice(('beqz', 'bnez'))} {base}, 1f", *skipped, "1:"]
            if r.random() < 0.7
            else ["c.j 1f", *skipped, "1:"]
        )
    if r.random() < 0.3:
        return ["c.addi16sp sp, 16", "c.addi16sp sp, -16"]
    # x1 links the blocks, so it is free inside one.
    link = reg(r)
    jump = f"c.jr {link}" if r.random() < 0.5 else f"c.jalr {link}"
    return [f"la {link}, 1f", jump, *skipped, "1:"]


def programs(seed: int) -> list[Program]:
    return [
        compose("f", single, seed, floats=True),
        compose("d", double, seed, floats=True),
        compose("c", compressed, seed, floats=True),
    ]
