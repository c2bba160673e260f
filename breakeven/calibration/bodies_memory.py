"""Probes of loads and stores: pace, forwarding, crossings, copies, stores past the caches, levels."""

from __future__ import annotations

from collections.abc import Iterator

from breakeven.calibration.probe import Probe, Ring, alone, in_turn, lines, pace, turns

#: of a vector register's width: instruction, name, bytes, extension
VECTORS = (
    ("movdqu", "xmm", 16, ""), ("vmovdqu", "ymm", 32, "avx2"), ("vmovdqu64", "zmm", 64, "avx512f"),
)  # fmt: skip


def paces() -> Iterator[Probe]:
    """Loads and stores to the first level, one after the other."""
    yield pace("load of 8 B", "mov rax, [rsi+{at}]")
    yield pace("store of 8 B", "mov [rdi+{at}], rax")
    yield Probe("load and store of 8 B", _words(256), _words(128), 128)
    for move, name, width, needs in VECTORS:
        yield pace(f"load of {width} B", f"{move} {name}0, [rsi+{{at}}]", 64, width, needs=needs)
        yield pace(f"store of {width} B", f"{move} [rdi+{{at}}], {name}0", 64, width, needs=needs)
        both = f"{move} {name}0, [rsi+{{at}}]\n{move} [rdi+{{at}}], {name}0"
        yield Probe(f"load and store of {width} B", lines(both, 128, width), lines(both, 64, width), 64, needs=needs)


def _words(count: int) -> str:
    return lines("mov rax, [rsi+{at}]\nmov [rdi+{at}], rax", count)


def latencies() -> Iterator[Probe]:
    """From a load to its use, from a store to a load of it."""
    self_pointer = "mov r8, rsi\nmov [r8], r8"
    yield Probe("load to use, first level", *_chain("mov r8, [r8]", 32, "mov r8, rsi"), prepare=self_pointer)
    for what, at in (("line", 60), ("page", 4092)):
        into = f"lea r8, [rsi+{at}]"
        yield Probe(f"load to use across a {what}", *_chain("mov r8, [r8]", 32, into), prepare=f"{into}\nmov [r8], r8")
    # Another register, so that no core takes the two addresses for the same before they are computed.
    there = "xor ecx, ecx\nmov r8, rdi"
    yield Probe("store and load of the same 8 B", *_chain("mov [rdi], rax\nmov rax, [r8+rcx]", 16, there))
    yield Probe("store and load by the same address", *_chain("mov [rdi], rax\nmov rax, [rdi]", 16))
    yield Probe("store of 16 B and load of 8 of them", *_chain("movdqu [rdi], xmm0\nmovq xmm0, [r8+rcx]", 16, there))
    part = "mov [rdi], eax\nmov rax, [r8+rcx]"
    yield Probe("store of 4 B and load of 8 B over it", *_chain(part, 16, there))
    cross = "mov [rdi+60], rax\nmov rax, [r8+rcx+60]"
    yield Probe("store and load of the same 8 B across a line", *_chain(cross, 16, there))
    alias = "mov [rdi+64], rax\nmov rax, [rsi+rcx+64]"
    yield Probe("store and load 4 KiB apart", *_chain(alias, 16, "xor ecx, ecx"))


def _chain(text: str, count: int, before: str = "") -> tuple[str, str, int]:
    return f"{before}\n" + lines(text, 2 * count), f"{before}\n" + lines(text, count), count


def crossings() -> Iterator[Probe]:
    """Accesses that no other waits for, across 16 and 32 bytes, a line, a page."""
    for what, first, step in (("32 B", 28, 64), ("a line", 60, 64), ("a page", 4092, 4096)):
        for access, form in (("load", "mov rax, [rsi+{}]"), ("store", "mov [rdi+{}], rax")):
            # Few places: lines of one set would push each other out.
            forms = [form.format(first + step * n) for n in range(4)]
            yield Probe(f"{access} of 8 B across {what}", in_turn(forms, 128), in_turn(forms, 64), 64)
    yield pace("store of 16 B across 32 B", "movdqu [rdi+{at}+24], xmm0", 32, 64)
    yield pace("store of 16 B across a line", "movdqu [rdi+{at}+56], xmm0", 32, 64)
    yield pace("load of 16 B across a line", "movdqu xmm0, [rsi+{at}+56]", 64, 64)
    yield pace("store of 32 B across a line", "vmovdqu [rdi+{at}+48], ymm0", 32, 64, needs="avx2")
    yield pace("load of 32 B across a line", "vmovdqu ymm0, [rsi+{at}+48]", 64, 64, needs="avx2")


def copies() -> Iterator[Probe]:
    """Copies by a loop over what lies in the first level, and in the second."""
    words = "\n".join(f"mov r8, [rsi+{at}]\nmov [rdi+{at}], r8" for at in range(0, 64, 8))
    vectors = "\n".join(
        f"movdqu xmm{at // 16}, [rsi+{at}]\nmovdqu [rdi+{at}], xmm{at // 16}" for at in range(0, 64, 16)
    )
    wide = "vmovdqu ymm0, [rsi]\nvmovdqu ymm1, [rsi+32]\nvmovdqu [rdi], ymm0\nvmovdqu [rdi+32], ymm1"
    fill = "\n".join(f"movdqu [rdi+{at}], xmm0" for at in range(0, 64, 16))
    read = "\n".join(f"movdqu xmm{at // 16}, [rsi+{at}]" for at in range(0, 64, 16))
    for what, move, needs in (
        ("copy by 8 B", words, ""), ("copy by 16 B", vectors, ""), ("copy by 32 B", wide, "avx2"),
        ("fill by 16 B", fill, ""), ("read by 16 B", read, ""),
    ):  # fmt: skip
        loop = f"{move}\nadd rsi, 64\nadd rdi, 64"
        for size in (2, 12, 16, 24, 64):
            yield alone(f"{what} of {size} KiB, a line", turns(loop, 16 * size), 16 * size, needs=needs)
    apart = turns(f"{words}\nadd rsi, 64\nadd rdi, 64", 64)
    yield alone("copy by 8 B of 4 KiB, 64 B past a page's distance", f"add rdi, 64\n{apart}", 64)
    yield alone("copy by 8 B of 4 KiB, 4 B off a word", f"add rsi, 4\nadd rdi, 4\n{apart}", 64)


def past_the_caches() -> Iterator[Probe]:
    """Non-temporal stores and the wait for them: of a part of a line, and of whole ones."""
    for size in (8, 32):
        yield alone(f"{size} B past the caches", lines("movnti [rdi+{at}], rax", size // 8) + "\nsfence")
    for size in (64, 256, 1024, 4096, 16384):
        text = turns(lines("movnti [rdi+{at}], rax", 8) + "\nadd rdi, 64", size // 64)
        yield alone(f"{size} B past the caches", f"{text}\nsfence")


def levels(count: int) -> Iterator[Ring]:
    """Load to use of each level, and of the memory."""
    for level in range(1, count + 1):
        yield Ring(f"load to use, level {level}", level)
    yield Ring("load to use, memory", 0)
