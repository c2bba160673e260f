"""The guests of the gem5 scripts' tests: tiny programs, bare-metal or for Linux, assembled on the spot."""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path

from tests import asm, x86_asm


def _op(function: int, first: int = 0, second: int = 0) -> str:
    """A pseudo-op of gem5's with two numbers."""
    return f" li a0, {first}\n li a1, {second}\n .word ({function:#x} << 25) | 0x7b\n"


#: some 2000 instructions with branches, loads, stores and a product
_WORK = """
    li s0, 300
    la s1, 3f
1:  ld t0, 0(s1)
    mul t0, t0, s0
    sd t0, 0(s1)
    andi t1, s0, 3
    bnez t1, 2f
    addi t0, t0, 1
2:  addi s0, s0, -1
    bnez s0, 1b
    j 4f
    .balign 8
3:  .dword 3
4:
"""
_READ_BACK = f"""
    la a0, 9f
    li a1, 64
    li a2, 0
    .word ({0x50:#x} << 25) | 0x7b
    mv s0, a0
    la a0, 9f
    mv a1, s0
    li a2, 0
    la a3, 8f
    .word ({0x4F:#x} << 25) | 0x7b
    .word ({0x30:#x} << 25) | 0x7b
    mv a1, a0
    li a0, 0
    .word ({0x22:#x} << 25) | 0x7b
8:  .asciz "copy.txt"
    .balign 8
9:  .space 64
"""
_BARE = {
    "work": _WORK + _op(0x21),
    "fail": _WORK + _op(0x22, 0, 5),
    "items": _op(0x5A, 3) + _WORK + _op(0x5B, 3) + _op(0x21),
    "endless": "1: addi t0, t0, 1\n j 1b\n",
    "files": _READ_BACK,
}
_BARE_X86 = {
    "work": "mov ecx, 300\n1: imul rax, rcx\n mov [rip + 2f], rax\n dec ecx\n jnz 1b\n" + x86_asm.EXIT
    + "2: .quad 0\n",
}  # fmt: skip

_LINUX = {
    "hello": """
        li a0, 1
        la a1, 1f
        li a2, 13
        li a7, 64
        ecall
        li a0, 3
        li a7, 94
        ecall
    1:  .ascii "Hello world!\\n"
    """,
    "items": _op(0x5A) + _WORK + _op(0x5B) + " li a0, 0\n li a7, 94\n ecall\n",
    # 17 MiB of the letter x to the standard output
    "long": """
        la t0, 2f
        li t1, 1 << 20
        add t1, t0, t1
        li t2, 0x7878787878787878
    0:  sd t2, 0(t0)
        addi t0, t0, 8
        bltu t0, t1, 0b
        li s0, 17
    1:  li a0, 1
        la a1, 2f
        li a2, 1 << 20
        li a7, 64
        ecall
        addi s0, s0, -1
        bnez s0, 1b
        li a0, 0
        li a7, 94
        ecall
        .bss
        .balign 8
    2:  .space 1 << 20
    """,
    # argv[1] to the standard error, the environment's first word and the standard input to the standard output
    "echo": """
        ld s0, 16(sp)
        ld s1, 32(sp)
        mv a1, s0
        call 5f
        li a0, 2
        li a7, 64
        ecall
        mv a1, s1
        call 5f
        li a0, 1
        li a7, 64
        ecall
        li a0, 0
        addi sp, sp, -64
        mv a1, sp
        li a2, 64
        li a7, 63
        ecall
        mv a2, a0
        li a0, 1
        mv a1, sp
        li a7, 64
        ecall
        li a0, 0
        li a7, 94
        ecall
    5:  mv a2, zero
    6:  add t0, a1, a2
        lbu t0, 0(t0)
        beqz t0, 7f
        addi a2, a2, 1
        j 6b
    7:  ret
    """,
}
_LINUX_X86 = {
    # exits with what remains of time() by the vsyscall page, whose first byte (of a mov) it has read
    "vsyscall": """
        cmp byte ptr [0xffffffffff600000], 0xb8
        jne 1f
        sub rsp, 8
        xor edi, edi
        mov rax, 0xffffffffff600400
        call rax
        sub eax, 1000000000
        mov edi, eax
    1:  mov eax, 231
        syscall
    """,
    "hello": """
        mov edi, 1
        lea rsi, [rip + 1f]
        mov edx, 13
        mov eax, 1
        syscall
        mov edi, 3
        mov eax, 231
        syscall
    1:  .ascii "Hello world!\\n"
    """,
}


@cache
def bare_metal(name: str, isa: str = "Riscv") -> bytes:
    return asm.build(_BARE[name]) if isa == "Riscv" else x86_asm.build(_BARE_X86[name])


@cache
def linux(name: str, isa: str = "Riscv") -> bytes:
    """A static Linux program without a library."""
    with tempfile.TemporaryDirectory() as folder:
        source, elf = Path(folder, "t.S"), Path(folder, "t.elf")
        if isa == "Riscv":
            source.write_text(".option norelax\n.globl _start\n_start:\n" + _LINUX[name])
            command = ["riscv64-unknown-elf-gcc", "-march=rv64imafdc", "-mabi=lp64d", "-mcmodel=medany"]
        else:
            source.write_text(".intel_syntax noprefix\n.globl _start\n_start:\n" + _LINUX_X86[name])
            command = ["gcc", "-m64", "-no-pie", "-Wl,--build-id=none"]
        command += ["-nostdlib", "-static", "-Wl,-Ttext=0x10000", "-Wl,-N", str(source), "-o", str(elf)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return elf.read_bytes()
