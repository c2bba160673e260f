"""Probes of loads, stores and string instructions: throughput, forwarding, crossings, copies, cache levels."""

from __future__ import annotations

from collections.abc import Iterator

from breakeven.calibration.probe import PointerChase, Probe, in_call, loop, per_instruction, repeated, round_robin

#: by width of a vector register: instruction, register, bytes, extension
VECTORS = (
    ("movdqu", "xmm", 16, ""), ("vmovdqu", "ymm", 32, "avx2"), ("vmovdqu64", "zmm", 64, "avx512f"),
)  # fmt: skip


def throughputs() -> Iterator[Probe]:
    """Loads and stores that hit the first level."""
    yield per_instruction("load of 8 B", "mov rax, [rsi+{at}]")
    yield per_instruction("store of 8 B", "mov [rdi+{at}], rax")
    yield per_instruction("load and store of 8 B", "mov rax, [rsi+{at}]\nmov [rdi+{at}], rax")
    for move, name, width, extension in VECTORS:
        load, store = f"{move} {name}0, [rsi+{{at}}]", f"{move} [rdi+{{at}}], {name}0"
        yield per_instruction(f"load of {width} B", load, 64, width, extension)
        yield per_instruction(f"store of {width} B", store, 64, width, extension)
        yield per_instruction(f"load and store of {width} B", f"{load}\n{store}", 64, width, extension)


def latencies() -> Iterator[Probe]:
    """From a load to its use, and from a store to a load of what it wrote."""
    yield _chain("load to use, first level", "mov r8, [r8]", 32, "mov r8, rsi", "mov [rsi], rsi")
    for what, load, at in (
        ("a load of 8 B across a line", "mov r8, [r8]", 60),
        ("a load of 8 B across a page", "mov r8, [r8]", 4092),
        ("a load of 16 B across a line", "movdqu xmm0, [r8]\nmovq r8, xmm0", 56),
    ):
        yield _more_than_aligned(what, load, at)
    # The load's address uses other registers than the store's: a core that renames memory by the operands' text
    # (Zen's "memfile") must wait until the addresses are known.
    other = "xor ecx, ecx\nmov r8, rdi"
    for name, store, load, before in (
        ("store and load of the same 8 B", "mov [rdi], rax", "mov rax, [r8+rcx]", other),
        ("store and load with the same operand", "mov [rdi], rax", "mov rax, [rdi]", ""),
        ("store of 16 B and load of 8 of them", "movdqu [rdi], xmm0", "movq xmm0, [r8+rcx]", other),
        ("store of 4 B and load of 8 B that include them", "mov [rdi], eax", "mov rax, [r8+rcx]", other),
        ("store and load of the same 8 B across a line", "mov [rdi+60], rax", "mov rax, [r8+rcx+60]", other),
    ):
        yield _chain(name, f"{store}\n{load}", 16, before)
    yield Probe(
        "latency that a load has more at a store's page offset",
        "mov r8, rsi\n" + repeated("mov [rdi], rax\nmov r8, [r8]", 32),
        "mov r8, rsi\n" + repeated("mov [rdi+128], rax\nmov r8, [r8]", 32), 32, "mov [rsi], rsi",
    )  # fmt: skip


def _chain(name: str, line: str, count: int, before: str = "", prepare: str = "") -> Probe:
    """Cycles per `line` of a dependent chain that begins after `before`."""
    code, baseline = (f"{before}\n{repeated(line, number)}" for number in (2 * count, count))
    return Probe(name, code, baseline, count, prepare)


def _more_than_aligned(what: str, load: str, at: int) -> Probe:
    """What a chain of loads at `at` takes longer than one of aligned loads."""
    misaligned, aligned = f"lea r8, [rsi+{at}]\n", "lea r8, [rsi+128]\n"
    prepare = f"{misaligned}mov [r8], r8\n{aligned}mov [r8], r8"
    code, baseline = (before + repeated(load, 32) for before in (misaligned, aligned))
    return Probe(f"latency that {what} has more", code, baseline, 32, prepare)


def crossings() -> Iterator[Probe]:
    """Independent accesses across 16 bytes, 32 bytes, a line, a page."""
    for what, first, stride in (("16 B", 12, 64), ("32 B", 28, 64), ("a line", 60, 64), ("a page", 4092, 4096)):
        for access, form in (("load", "mov rax, [rsi+{}]"), ("store", "mov [rdi+{}], rax")):
            # Four addresses only: more lines of one set would evict each other.
            lines = [form.format(first + stride * n) for n in range(4)]
            yield Probe(f"{access} of 8 B across {what}", round_robin(lines, 128), round_robin(lines, 64), 64)
    yield per_instruction("load of 16 B across 32 B", "movdqu xmm0, [rsi+{at}+24]", 64, 64)
    yield per_instruction("store of 16 B across 32 B", "movdqu [rdi+{at}+24], xmm0", 32, 64)
    yield per_instruction("store of 16 B across a line", "movdqu [rdi+{at}+56], xmm0", 32, 64)
    yield per_instruction("load of 16 B across a line", "movdqu xmm0, [rsi+{at}+56]", 64, 64)
    yield per_instruction("store of 32 B across a line", "vmovdqu [rdi+{at}+48], ymm0", 32, 64, "avx2")
    yield per_instruction("load of 32 B across a line", "vmovdqu ymm0, [rsi+{at}+48]", 64, 64, "avx2")


def copies() -> Iterator[Probe]:
    """Loops over buffers that the first level holds, and over larger ones; cycles per line."""
    at_words, at_vectors = range(0, 64, 8), range(0, 64, 16)
    words = "\n".join(f"mov r8, [rsi+{at}]\nmov [rdi+{at}], r8" for at in at_words)
    vectors = "\n".join(f"movdqu xmm{at // 16}, [rsi+{at}]\nmovdqu [rdi+{at}], xmm{at // 16}" for at in at_vectors)
    wide = "vmovdqu ymm0, [rsi]\nvmovdqu ymm1, [rsi+32]\nvmovdqu [rdi], ymm0\nvmovdqu [rdi+32], ymm1"
    fill = "\n".join(f"movdqu [rdi+{at}], xmm0" for at in at_vectors)
    read = "\n".join(f"movdqu xmm{at // 16}, [rsi+{at}]" for at in at_vectors)
    advance = "add rsi, 64\nadd rdi, 64"
    for what, line, extension in (
        ("copy by 8 B", words, ""), ("copy by 16 B", vectors, ""), ("copy by 32 B", wide, "avx2"),
        ("fill by 16 B", fill, ""), ("read by 16 B", read, ""),
    ):  # fmt: skip
        for kib in (2, 12, 16, 24, 64):
            name, code = f"{what} of {kib} KiB, per line", loop(f"{line}\n{advance}", 16 * kib)
            yield in_call(name, code, 16 * kib, extension)
    page = loop(f"{words}\n{advance}", 64)
    yield in_call("copy by 8 B of 4 KiB to a page offset 64 B higher, per line", f"add rdi, 64\n{page}", 64)
    for what, line, extension in (("8 B", words, ""), ("16 B", vectors, ""), ("32 B", wide, "avx2")):
        name, code = f"copy by {what} of 4 KiB, misaligned by 4 B, per line", loop(f"{line}\n{advance}", 64)
        # At another page offset than the source's: loads behind stores of the same offset are slow for that reason.
        yield in_call(name, f"add rsi, 4\nadd rdi, 1028\n{code}", 64, extension)


def non_temporal_stores() -> Iterator[Probe]:
    """Non-temporal stores and the sfence that waits for them: of a part of a line, and of whole lines."""
    for size in (8, 32):
        yield in_call(_non_temporal(size), repeated("movnti [rdi+{at}], rax", size // 8) + "\nsfence")
    for size in (64, 256, 1024, 4096, 16384):
        code = loop(repeated("movnti [rdi+{at}], rax", 8) + "\nadd rdi, 64", size // 64)
        yield in_call(_non_temporal(size), f"{code}\nsfence")


def _non_temporal(size: int) -> str:
    return f"non-temporal stores of {size} B and sfence"


def rep_movs() -> Iterator[Probe]:
    """REP MOVS by length, alignment, distance and direction."""
    for size in (1, 16, 64, 112, 128, 192, 256, 512, 1024, 2048, 4096):
        yield in_call(f"`rep movsb` of {size} B", f"mov ecx, {size}\nrep movsb")
    for size in (64, 128, 256, 1024, 4096):
        move = f"mov ecx, {size}\nrep movsb"
        name = f"`rep movsb` of {size} B"
        # Not by 3 B alone: destinations at slightly higher page offsets than their source are slow for that reason.
        yield in_call(f"{name}, destination misaligned by 67 B", f"add rdi, 67\n{move}")
        yield in_call(f"{name}, source misaligned by 3 B", f"add rsi, 3\n{move}")
        yield in_call(f"{name}, both misaligned by 3 B", f"add rsi, 3\nadd rdi, 3\n{move}")
    for size in (0, 8, 64, 128, 256, 512, 1024, 4096):
        yield in_call(f"`rep movsq` of {size} B", f"mov ecx, {size // 8}\nrep movsq")
    for size in (256, 1024):
        code = f"add rdi, 67\nmov ecx, {size // 8}\nrep movsq"
        yield in_call(f"`rep movsq` of {size} B, destination misaligned by 67 B", code)
    for size in (64, 256):
        yield in_call(f"`rep movsl` of {size} B", f"mov ecx, {size // 4}\nrep movsd")
    for distance in (1, 8, 15, 16, 24, 31, 32, 33, 64):
        code = f"add rdi, {distance}\nmov ecx, 512\nrep movsb"
        yield in_call(f"`rep movsb` of 512 B to a page offset {distance} B higher", code)
    yield in_call("`rep movsb` of 64 B to a page offset 3 B higher", "add rdi, 3\nmov ecx, 64\nrep movsb")
    for count in (0, 8):
        yield in_call(f"16 `rep movsb` of {count} B", f"mov ecx, {count}\nrep movsb\n" * 16)
        yield in_call(f"16 `rep movsq` of {count} B", f"mov ecx, {count // 8}\nrep movsq\n" * 16)
    yield in_call("`rep movsb` of 64 B downwards", "add rdi, 256\nadd rsi, 256\nstd\nmov ecx, 64\nrep movsb\ncld")


def rep_stos() -> Iterator[Probe]:
    """REP STOS by length and alignment."""
    for size in (1, 16, 64, 112, 128, 256, 512, 1024, 4096):
        yield in_call(f"`rep stosb` of {size} B", f"xor eax, eax\nmov ecx, {size}\nrep stosb")
    for size in (64, 256, 1024):
        code = f"add rdi, 19\nxor eax, eax\nmov ecx, {size}\nrep stosb"
        yield in_call(f"`rep stosb` of {size} B, misaligned by 19 B", code)
    for size in (0, 8, 64, 512, 1024, 4096):
        yield in_call(f"`rep stosq` of {size} B", f"xor eax, eax\nmov ecx, {size // 8}\nrep stosq")


def levels(count: int) -> Iterator[PointerChase]:
    """Load to use of each cache level, and of the memory."""
    for level in range(1, count + 1):
        yield PointerChase(f"load to use, level {level}", level)
    yield PointerChase("load to use, memory", 0)
