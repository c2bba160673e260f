"""The frame around generated instructions: seeding registers, folding the state into digests, printing them over HTIF.

A program runs blocks of random instructions, `turns` times over. Before each block every free register gets a value
from a pool; after it registers, `fcsr` and (once a turn) the scratch memory are folded into a 64-bit digest, which is
kept and printed at the end, one hexadecimal line each. Two machines agree when the lines do; the first line that
differs names turn and block.

Registers: x1 link, x2 and x3 the middle of the scratch memory, x4 the state below; x5..x31 and all f registers are
free.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

MARCH = "rv64imafdc_zicsr_zifencei_zba_zbb_zbc_zbs_zicbom_zicboz_zicbop"
FREE = range(5, 32)
SCRATCH = 4096
POOL = 2048

_MASK = (1 << 64) - 1
_INTS = [
    0,
    1,
    2,
    3,
    7,
    8,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0x1_0000_0000,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000,
    0x8000_0000_8000_0000,
    0x00FF_00FF_00FF_00FF,
    0x0102_0408_1020_4080,
]
_DOUBLES = [
    0,
    1,
    0x000F_FFFF_FFFF_FFFF,
    0x0010_0000_0000_0000,
    0x3FE0_0000_0000_0000,
    0x3FF0_0000_0000_0000,
    0x3FF8_0000_0000_0000,
    0x3FEF_FFFF_FFFF_FFFF,
    0x3FF0_0000_0000_0001,
    0x4330_0000_0000_0000,
    0x4340_0000_0000_0001,
    0x41DF_FFFF_FFC0_0000,
    0x41E0_0000_0000_0000,
    0x43E0_0000_0000_0000,
    0x43F0_0000_0000_0000,
    0x7FEF_FFFF_FFFF_FFFF,
    0x7FF0_0000_0000_0000,
    0x7FF8_0000_0000_0000,
    0x7FF0_0000_0000_0001,
    0x7FFF_FFFF_FFFF_FFFF,
    0x36A0_0000_0000_0000,
    0x3810_0000_0000_0000,
    0x47EF_FFFF_F000_0000,
    0x47EF_FFFF_E000_0000,
    0x380F_FFFF_FFFF_FFFF,
    0x3690_0000_0000_0000,
]
_SINGLES = [
    0,
    1,
    0x007F_FFFF,
    0x0080_0000,
    0x3F00_0000,
    0x3F80_0000,
    0x3FC0_0000,
    0x3F7F_FFFF,
    0x3F80_0001,
    0x4B00_0000,
    0x4B80_0001,
    0x4EFF_FFFF,
    0x4F00_0000,
    0x4F80_0000,
    0x5F00_0000,
    0x5F80_0000,
    0x7F7F_FFFF,
    0x7F80_0000,
    0x7FC0_0000,
    0x7F80_0001,
    0x7FFF_FFFF,
]
_BOX = 0xFFFF_FFFF << 32


def _int(r: random.Random) -> int:
    kind = r.randrange(8)
    if kind < 2:
        return r.choice(_INTS) * r.choice((1, -1)) & _MASK
    if kind == 2:
        return (r.getrandbits(32) ^ 0x8000_0000) - 0x8000_0000 & _MASK
    if kind == 3:
        return r.getrandbits(r.randrange(1, 65))
    return r.getrandbits(64)


def _float(r: random.Random) -> int:
    sign = r.getrandbits(1)
    match r.randrange(10):
        case 0 | 1:
            return r.choice(_DOUBLES) | sign << 63
        case 2 | 3:
            return r.choice(_SINGLES) | sign << 31 | _BOX
        case 4:
            return r.getrandbits(64)
        case 5:  # near one: sums cancel, products stay
            return sign << 63 | (1023 + r.randrange(-6, 7)) << 52 | r.getrandbits(52)
        case 6:
            return sign << 31 | (127 + r.randrange(-6, 7)) << 23 | r.getrandbits(23) | _BOX
        case 7:  # few mantissa bits: exact results, ties
            return sign << 63 | (1023 + r.randrange(-60, 60)) << 52 | r.getrandbits(6) << 46
        case 8:
            return r.getrandbits(32) | _BOX
        case _:  # a single that is not boxed
            return r.choice(_SINGLES)


@dataclass
class Program:
    """A generated program: assembly of its blocks, and what frames them."""

    name: str
    blocks: list[str]
    turns: int
    floats: bool = False
    march: str = MARCH
    #: Vector registers are seeded and folded, too, and an illegal instruction is skipped.
    vectors: bool = False
    #: Instructions of the group that are executed at least.
    executed: int = 0

    def assembly(self, seed: int) -> str:
        r = random.Random(f"pool {self.name} {seed}")
        body = []
        for i, block in enumerate(self.blocks):
            body.append(f"block_{i}:\n jal x1, seed\n{block}\n jal x1, fold\n")
        pools = [f"pool_int:\n{_words(_int(r) for _ in range(POOL))}"]
        if self.floats:
            pools.append(f"pool_float:\n{_words(_float(r) for _ in range(POOL))}")
        scratch = _words(_int(r) for _ in range(SCRATCH // 8))
        return "\n".join(
            [
                _START.format(
                    turns=self.turns, scratch_half=SCRATCH // 2, status="0x6600" if self.vectors else "0x6000"
                ),
                *body,
                _END,
                _skip(self.vectors),
                _seed(self.floats, self.vectors),
                _fold(self.floats, self.vectors),
                _DATA.format(
                    scratch=scratch, pools="\n".join(pools), results=8 * self.turns * (len(self.blocks) + 1) + 8
                ),
            ]
        )


def _words(values: object) -> str:
    return "\n".join(f" .dword {v:#x}" for v in values)  # type: ignore[attr-defined]


#: State behind x4.
DIGEST, NEXT, RANDOM, TURN, SAVE = 0, 8, 16, 24, 32

_START = """
 .option norelax
 .section .text.start
 .globl _start
_start:
 la x5, unexpected
 csrw mtvec, x5
 li x5, {status}
 csrs mstatus, x5
 csrw fcsr, zero
 la x3, scratch
 li x5, {scratch_half}
 add x3, x3, x5
 mv x2, x3
 la x4, state
 la x5, results
 sd x5, 8(x4)
 li x5, 0x9E3779B97F4A7C15
 sd x5, 16(x4)
 li x5, {turns}
 sd x5, 24(x4)
turn:
"""

_END = """
 la x5, scratch
 li x6, 512
 ld x7, 0(x4)
 li x8, 0x100000001B3
1: ld x9, 0(x5)
 xor x7, x7, x9
 mul x7, x7, x8
 srli x9, x7, 31
 xor x7, x7, x9
 addi x5, x5, 8
 addi x6, x6, -1
 bnez x6, 1b
 sd x7, 0(x4)
 ld x5, 8(x4)
 sd x7, 0(x5)
 addi x5, x5, 8
 sd x5, 8(x4)
 ld x5, 24(x4)
 addi x5, x5, -1
 sd x5, 24(x4)
 beqz x5, print
 j turn

print:
 la x5, results
 ld x6, 8(x4)
1: ld x10, 0(x5)
 jal x1, put_hex
 addi x5, x5, 8
 bltu x5, x6, 1b
 li x10, 1
exit:
 la x11, tohost
 sd x10, 0(x11)
 j exit

# x10 in hexadecimal and a newline; changes x11..x15.
put_hex:
 la x11, tohost
 la x15, fromhost
 li x12, 60
1: srl x13, x10, x12
 andi x13, x13, 15
 addi x14, x13, '0'
 sltiu x13, x13, 10
 bnez x13, 2f
 addi x14, x14, 'a' - '0' - 10
2: li x13, 0x0101
 slli x13, x13, 48
 or x14, x14, x13
 sd x14, 0(x11)
 sd zero, 0(x15)
 addi x12, x12, -4
 bgez x12, 1b
 li x14, '\\n'
 or x14, x14, x13
 sd x14, 0(x11)
 sd zero, 0(x15)
 ret

# A trap that the program did not mean: cause, address, value, then exit code 3.
really_unexpected:
 csrr x10, mcause
 jal x1, put_hex
 csrr x10, mepc
 jal x1, put_hex
 csrr x10, mtval
 jal x1, put_hex
 li x10, 7
 j exit
"""

_DATA = """
 .data
 .balign 64
tohost: .dword 0
 .balign 64
fromhost: .dword 0
 .globl tohost
 .globl fromhost
 .type tohost, @object
 .type fromhost, @object
 .size tohost, 8
 .size fromhost, 8
 .balign 64
state: .zero 512
 .balign 4096
scratch:
{scratch}
 .zero 64
 .balign 64
{pools}
 .bss
 .balign 64
results: .zero {results}
 .balign 64
vectors: .zero 1024
"""


def _skip(vectors: bool) -> str:
    """The trap handler: with vectors an illegal instruction (of four bytes) is passed over, on either machine."""
    passed = [
        " csrw mscratch, x5",
        " csrr x5, mcause",
        " addi x5, x5, -2",
        " bnez x5, really_unexpected",
        " csrr x5, mepc",
        " addi x5, x5, 4",
        " csrw mepc, x5",
        " csrr x5, mscratch",
        " mret",
    ]
    return "\n".join([" .balign 4", "unexpected:", *(passed if vectors else [" j really_unexpected"])])


def _seed(floats: bool, vectors: bool) -> str:
    """Every free register from the pools, the place in them from a xorshift generator."""
    out = ["seed:", " ld x5, 16(x4)", " la x6, pool_int"]
    step = [
        " slli x7, x5, 13",
        " xor x5, x5, x7",
        " srli x7, x5, 7",
        " xor x5, x5, x7",
        " slli x7, x5, 17",
        " xor x5, x5, x7",
    ]
    index = [" srli x7, x5, 20", f" andi x7, x7, {POOL - 1}", " slli x7, x7, 3", " add x7, x7, x6"]
    if floats:
        out.append(" la x8, pool_float")
        for n in range(32):
            out += [*step, *index[:3], " add x7, x7, x8", f" fld f{n}, 0(x7)"]
    if vectors:
        # Eight registers a group, from the first half of a pool.
        for n in range(0, 32, 8):
            pool = "x8" if floats and n >= 16 else "x6"
            out += [*step, " srli x7, x5, 20", f" andi x7, x7, {POOL // 2 - 1}", " slli x7, x7, 3"]
            out += [f" add x7, x7, {pool}", f" vl8re64.v v{n}, (x7)"]
    for n in range(8, 32):
        out += [*step, *index, f" ld x{n}, 0(x7)"]
    out += [
        *step,
        " sd x5, 16(x4)",
        *index,
        " ld x5, 0(x7)",
        " addi x7, x7, -512",
        " ld x6, 256(x7)",
        " ld x7, 312(x7)",
        " ret",
    ]
    return "\n".join(out)


def _fold(floats: bool, vectors: bool) -> str:
    mix = [" xor x5, x5, x6", " mul x5, x5, x7", " srli x6, x5, 29", " xor x5, x5, x6"]
    out = [
        "fold:",
        *(f" sd x{n}, {SAVE + 8 * (n - 5)}(x4)" for n in (5, 6, 7)),
        " ld x5, 0(x4)",
        " li x7, 0x9E3779B97F4A7C15",
    ]
    for n in FREE:
        out += [f" ld x6, {SAVE + 8 * (n - 5)}(x4)" if n < 8 else f" mv x6, x{n}", *mix]
    if floats:
        for n in range(32):
            out += [f" fmv.x.d x6, f{n}", *mix]
        out += [" csrr x6, fcsr", *mix, " csrw fcsr, zero"]
    if vectors:
        for csr in ("vl", "vtype", "vcsr", "vstart"):
            out += [f" csrr x6, {csr}", *mix]
        for n in range(0, 32, 8):
            out += [" la x8, vectors", f" vs8r.v v{n}, (x8)", " csrr x9, vlenb"]
            out += [f"{n + 1}: ld x6, 0(x8)", *mix, " addi x8, x8, 8", " addi x9, x9, -1", f" bnez x9, {n + 1}b"]
        out += [" csrw vcsr, zero"]
    out += [" sd x5, 0(x4)", " ld x6, 8(x4)", " sd x5, 0(x6)", " addi x6, x6, 8", " sd x6, 8(x4)", " ret"]
    return "\n".join(out)


def build(source: str, folder: Path, name: str, march: str = MARCH) -> Path:
    """Assembles a program at 0x80000000."""
    asm, elf = folder / f"{name}.S", folder / f"{name}.elf"
    asm.write_text(source)
    command = [
        "riscv64-unknown-elf-gcc",
        f"-march={march}",
        "-mabi=lp64d",
        "-mcmodel=medany",
        "-nostdlib",
        "-static",
        "-Wl,-n,-Ttext=0x80000000",
    ]
    done = subprocess.run([*command, str(asm), "-o", str(elf)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[:2000]
    return elf


#: The oracle; another qemu than the path's is named in the environment.
QEMU = os.environ.get("QEMU_SYSTEM_RISCV64", "qemu-system-riscv64")


def qemu_version() -> tuple[int, int]:
    """qemu's version; (0, 0) where there is none."""
    try:
        done = subprocess.run([QEMU, "--version"], capture_output=True, text=True, timeout=60)
    except OSError:
        return 0, 0
    found = re.search(r"version (\d+)\.(\d+)", done.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def run_qemu(elf: Path, timeout: float = 60, vlen: int = 0, more: str = "") -> tuple[int, list[str]]:
    """Exit code and console lines of qemu's Spike machine; with vectors of ``vlen`` bits (0: none). ``more``: further
    properties of its processor.
    """
    vector = f"v=true,vlen={vlen},elen=64,vext_spec=v1.0" if vlen else "v=false"
    cpu = f"rv64,zba=true,zbb=true,zbc=true,zbs=true,{vector},h=false,sstc=false{more}"
    command = [
        QEMU,
        "-machine",
        "spike",
        "-cpu",
        cpu,
        "-m",
        "64M",
        "-bios",
        "none",
        "-nographic",
        "-kernel",
        str(elf),
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
    assert not done.stderr.strip(), done.stderr[:2000]
    return done.returncode, done.stdout.split()
