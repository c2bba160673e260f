"""A program that checks itself: what qemu 7.2 lacks (Zicbom, Zicboz), decides otherwise than the architecture (`ctzw`,
the faults of AMOs), or cannot repeat (counters, timer). It exits with the number of the first check that fails, or 0.
"""

from __future__ import annotations


class _Checks:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: list[str] = ["all right"]

    def add(self, name: str, setup: str, got: str, expected: int) -> None:
        """After `setup` the register `got` holds `expected`."""
        self.names.append(name)
        self.lines.append(f" li x31, {len(self.names) - 1}\n{setup}\n li x30, {expected}\n bne {got}, x30, failed\n")

    def trap(self, name: str, setup: str, cause: int, tval: str | None = None) -> None:
        """The last instruction of `setup` traps to M-mode with `cause`, and `mtval` is register `tval`."""
        self.add(name, f" li x28, -1\n{setup}\n", "x28", cause)
        if tval:
            self.lines.append(f" bne x29, {tval}, failed\n")


def _line_checks(c: _Checks) -> None:
    fill = " la x5, line\n li x6, -1\n" + "".join(f" sd x6, {8 * n}(x5)\n" for n in range(-1, 9))
    zeros = "".join(f" ld x8, {8 * n}(x5)\n or x7, x7, x8\n" for n in range(8))
    c.add("cbo.zero clears its block", f"{fill} addi x9, x5, 17\n cbo.zero (x9)\n li x7, 0\n{zeros}", "x7", 0)
    c.add("cbo.zero leaves what lies before", " ld x7, -8(x5)", "x7", -1)
    c.add("cbo.zero leaves what lies behind", " ld x7, 64(x5)", "x7", -1)
    for op in ("clean", "flush", "inval"):
        c.add(f"cbo.{op} keeps the data", f" li x6, 0x1234\n sd x6, 8(x5)\n cbo.{op} (x5)\n ld x7, 8(x5)", "x7", 0x1234)
        c.trap(f"cbo.{op} where nothing is", f" li x9, 0x40000000\n cbo.{op} (x9)", 7, "x9")
    drop = " csrw menvcfg, zero\n li x27, {level}\n jal x26, lower\n {op} (x5)\n jal x26, raise\n"
    for op in ("cbo.zero", "cbo.clean", "cbo.flush", "cbo.inval"):
        c.trap(f"{op} in S without menvcfg", drop.format(level="0x800", op=op), 2)
    allow = " li x9, 0xd0\n csrw menvcfg, x9\n csrw senvcfg, {s}\n" + drop.removeprefix(" csrw menvcfg, zero\n")
    for op in ("cbo.zero", "cbo.clean", "cbo.flush", "cbo.inval"):
        c.trap(f"{op} in S with menvcfg", allow.format(s="zero", level="0x800", op=op), -1)
        c.trap(f"{op} in U without senvcfg", allow.format(s="zero", level="0", op=op), 2)
        c.trap(f"{op} in U with senvcfg", allow.format(s="x9", level="0", op=op), -1)


def _atomic_checks(c: _Checks) -> None:
    misaligned = " la x5, line\n addi x9, x5, {off}\n li x6, 1\n {op} (x9)"
    for op, cause in (
        ("amoadd.w x7, x6,", 6),
        ("amoswap.d x7, x6,", 6),
        ("lr.w x7,", 4),
        ("lr.d x7,", 4),
        ("sc.w x7, x6,", 6),
    ):
        c.trap(f"misaligned {op.split()[0]}", misaligned.format(off=1, op=op), cause, "x9")
    c.trap("amoadd.d aligned to 4", misaligned.format(off=4, op="amoadd.d x7, x6,"), 6, "x9")
    c.trap("an AMO where nothing is", " li x9, 0x40000000\n amoadd.w x7, x6, (x9)", 7, "x9")
    c.trap("a load reserved where nothing is", " li x9, 0x40000000\n lr.w x7, (x9)", 5, "x9")


def _bit_checks(c: _Checks) -> None:
    for value, expected in ((0, 32), (1 << 63, 32), (0xABC1234800000000, 32), (0xFFFFFFFFFFFFF000, 12), (1 << 31, 31)):
        c.add(f"ctzw of {value:#x}", f" li x5, {value:#x}\n ctzw x7, x5", "x7", expected)


def _csr_checks(c: _Checks) -> None:
    for name in ("mepc", "sepc"):
        c.add(f"bit 0 of {name} is zero", f" li x5, 0x1001\n csrw {name}, x5\n csrr x7, {name}", "x7", 0x1000)


def _time_checks(c: _Checks) -> None:
    c.add(
        "minstret counts instructions",
        " csrr x5, minstret\n nop\n nop\n nop\n csrr x6, minstret\n sub x7, x6, x5",
        "x7",
        4,
    )
    c.add("mcycle goes on", " csrr x5, mcycle\n csrr x6, mcycle\n sltu x7, x5, x6", "x7", 1)
    c.add("minstret can be written", " li x5, 1000\n csrw minstret, x5\n csrr x7, minstret", "x7", 1000)
    c.add(
        "mcycle can be stopped",
        " csrwi mcountinhibit, 1\n csrr x5, mcycle\n nop\n csrr x6, mcycle\n sub x7, x6, x5\n csrwi mcountinhibit, 0",
        "x7",
        0,
    )
    armed = (
        " csrci mstatus, 8\n li x9, 0x2004000\n li x8, 0x200bff8\n ld x7, 0(x8)\n addi x7, x7, 3\n sd x7, 0(x9)\n"
        " li x7, 0x80\n csrw mie, x7\n"
    )
    timer = f"{armed} csrsi mstatus, 8\n"
    # Waits with interrupts off: one that came just before the wfi would otherwise be the last.
    off = " csrci mstatus, 8\n li x7, -1\n sd x7, 0(x9)\n slli x28, x28, 1\n srli x28, x28, 1\n"
    c.trap(
        "the timer ends a wait",
        f"{armed}1: wfi\n csrr x8, mip\n andi x8, x8, 0x80\n beqz x8, 1b\n csrsi mstatus, 8\n nop\n{off}",
        7,
    )
    c.trap("the timer interrupts a loop", f" li x28, 1\n{timer}1: bgtz x28, 1b\n{off}", 7)
    c.trap(
        "no timer interrupt when it is masked",
        f"{armed} li x28, 5\n li x7, 1000\n1: addi x7, x7, -1\n bnez x7, 1b\n csrw mie, zero\n{off}",
        5,
    )
    soft = " li x9, 0x2000000\n li x7, 8\n csrw mie, x7\n csrsi mstatus, 8\n li x7, 1\n sw x7, 0(x9)\n nop\n nop\n"
    c.trap(
        "a software interrupt through the CLINT",
        f"{soft} csrci mstatus, 8\n sw zero, 0(x9)\n slli x28, x28, 1\n srli x28, x28, 1\n",
        3,
    )
    c.add(
        "time goes on",
        " csrr x5, time\n li x6, 20000\n1: addi x6, x6, -1\n bnez x6, 1b\n csrr x6, time\n sltu x7, x5, x6",
        "x7",
        1,
    )


def _code_checks(c: _Checks) -> None:
    patch = " la x5, patched\n la x6, replacement\n lw x6, 0(x6)\n sw x6, 0(x5)\n fence.i\n jal x26, patched"
    c.add("fence.i makes stored code visible", f" jal x26, patched\n{patch}", "x7", 2)
    c.add(
        "the return stack may be wrong",
        " la x26, 1f\n la x9, after_call\n jr x9\n1: li x7, 9\nafter_call: li x7, 3",
        "x7",
        3,
    )


def assembly() -> tuple[str, list[str]]:
    """The program, and the checks' names by exit code."""
    c = _Checks()
    _bit_checks(c)
    _atomic_checks(c)
    _line_checks(c)
    _csr_checks(c)
    _time_checks(c)
    _code_checks(c)
    return _HEAD + "".join(c.lines) + _TAIL, c.names


_HEAD = """
 .option norelax
 .option norvc
 .section .text.start,"ax"
 .globl _start
_start:
 la x5, handler
 csrw mtvec, x5
 li x5, -1
 csrw pmpaddr0, x5
 li x5, 0x1f
 csrw pmpcfg0, x5
"""

_TAIL = """
 li x31, 0
failed:
 slli x31, x31, 1
 ori x31, x31, 1
 la x30, tohost
1: sd x31, 0(x30)
 j 1b

# To the mode in x27 (as mstatus.MPP), then back to x26; and from any mode to M.
lower:
 li x30, 0x1800
 csrc mstatus, x30
 csrs mstatus, x27
 csrw mepc, x26
 mret
raise:
 li x17, 77
 ecall
 ret

patched:
 li x7, 1
 jr x26
replacement:
 li x7, 2

 .option rvc
 .balign 4
 .option norvc
# Cause to x28, value to x29; an exception's instruction is skipped, an interrupt masked.
# ecall with x17 = 77 stays in M.
handler:
 csrr x30, mcause
 bltz x30, 2f
 li x29, 77
 bne x17, x29, 1f
 li x17, 0
 csrw mepc, x26
 li x30, 0x1800
 csrs mstatus, x30
 mret
1: mv x28, x30
 csrr x29, mtval
 csrr x30, mepc
 addi x30, x30, 4
 csrw mepc, x30
 mret
2: mv x28, x30
 csrw mie, zero
 mret

 .data
 .balign 64
 .globl tohost
 .globl fromhost
 .type tohost, @object
 .type fromhost, @object
 .size tohost, 8
 .size fromhost, 8
tohost: .dword 0
 .balign 64
fromhost: .dword 0
 .balign 64
 .zero 64
line: .zero 128
"""
