"""Probes of the core: fences, widths, functional units, latencies, branches."""

from __future__ import annotations

from collections.abc import Iterator

from breakeven.calibration.probe import (
    Probe,
    in_call,
    jumps,
    loop,
    new_labels,
    per_instruction,
    repeated,
    round_robin,
)

_REGISTERS = ("rax", "rcx", "rdx", "r8", "rbp", "r10", "r11", "rbx")


def fences() -> Iterator[Probe]:
    """Short calls between the fences: how many of their cycles the fences hide."""
    many = (1, 8, 16, 24, 32, 64)
    for what, line, counts in (
        ("dependent additions", "add rax, rdi", many),
        ("loads", "mov rax, [rsi+{at}]", many),
        ("stores", "mov [rdi+{at}], rax", many),
        ("word copies", "mov rax, [rsi+{at}]\nmov [rdi+{at}], rax", (1, 4, 16)),
        ("vector copies", "movdqu xmm0, [rsi+2*{at}]\nmovdqu [rdi+2*{at}], xmm0", (1, 4, 8)),
        ("adc from memory", "adc rax, [rsi+{at}]", (1, 8, 24)),
    ):
        for count in counts:
            yield in_call(f"call of {count} {what} between fences", repeated(line, count))


def widths() -> Iterator[Probe]:
    """Instructions that only the width of the pipeline limits, in a loop."""
    yield _in_loop("nop", ["nop"] * 96)
    yield _in_loop("independent addition", [f"add {register}, rdi" for register in _REGISTERS] * 12)
    mixed = ["add r8, rdi", "nop", "add r10, rdi", "mov r11, [rsi]", "nop", "mov r12, [rsi+64]"]
    yield _in_loop("mix of additions, loads and nops", mixed * 16)
    stores = ["add r8, rdi", "add r10, rdi", "mov r11, [rsi]", "add rbx, rdi", "mov [rdi+64], rbp", "add rbp, rdi"]
    yield _in_loop("mix of additions, loads and stores", stores * 16)


def _in_loop(name: str, instructions: list[str]) -> Probe:
    """Cycles per instruction of a loop: 20 iterations less 10."""
    code = "\n".join(instructions)
    return Probe(name, loop(code, 20), loop(code, 10), 10 * len(instructions))


def latencies() -> Iterator[Probe]:
    """Chains of dependent instructions."""
    yield per_instruction("dependent addition", "add rax, rdi")
    yield per_instruction("dependent multiplication", "imul rax, rdi", 32)
    yield per_instruction("dependent adc", "adc rax, rdi", 64)
    yield per_instruction("dependent adc from memory", "adc rax, [rsi+{at}]", 64)
    yield per_instruction("dependent shift", "shr rax, 1", 64)
    yield per_instruction("dependent bit scan", "bsr rax, rax", 32)
    yield per_instruction("dependent vector addition", "paddq xmm0, xmm1", 64)
    yield per_instruction("dependent vector shuffle", "pshufd xmm0, xmm0, 27", 64)
    yield per_instruction("dependent psadbw", "psadbw xmm0, xmm1", 32)
    yield per_instruction("dependent vector multiplication", "pmuludq xmm0, xmm1", 32)
    yield per_instruction("dependent move to a vector register and back", "movq xmm0, rax\nmovq rax, xmm0", 32)


def throughputs() -> Iterator[Probe]:
    """Independent instructions of one kind."""
    for what, line in (
        ("multiplication", "imul {general}, rdi"), ("shift", "shr {general}, 1"),
        ("vector addition", "paddq xmm{n}, xmm8"), ("vector shuffle", "pshufd xmm{n}, xmm{n}, 27"),
        ("psadbw", "psadbw xmm{n}, xmm8"),
    ):  # fmt: skip
        lines = [line.format(n=n, general=name) for n, name in enumerate(_REGISTERS)]
        yield Probe(f"independent {what}", round_robin(lines, 384), round_robin(lines, 192), 192)


def branches() -> Iterator[Probe]:
    """Jumps, calls, branches that are not taken, and branches that cannot be predicted."""
    # If fetch continues past a fence, these jumps are fetched while the fence waits.
    yield Probe("taken jump after a fence", jumps(8), jumps(1), 7)
    yield Probe("taken jump", jumps(64), jumps(32), 32)
    # So many iterations that the exit is mispredicted in both.
    yield Probe("iteration of an empty loop", loop("", 600), loop("", 300), 300)
    # Three in an iteration, and the loop's own.
    yield Probe("taken jump in a loop", loop(jumps(3), 600), loop(jumps(3), 300), 1200)
    for where, align in (("", ""), (" in another line", ".balign 64\n")):
        function, after = new_labels(2)
        define = f"jmp {after}f\n.balign 64\n{function}: ret\n{align}{after}:\n"
        call = f"call {function}b"
        yield Probe(f"call of a function{where}, in a loop", define + loop(call, 128), define + loop(call, 64), 64)
    label = new_labels(1)[0]
    untaken = f"test rdi, rdi\njz {label}f"
    end = f"\n{label}:"
    yield Probe("branch that is not taken", repeated(untaken, 192) + end, repeated(untaken, 96) + end, 96)
    yield _unpredictable()


def _unpredictable() -> Probe:
    """32 branches on the bits of a random number (xorshift; its state is 8 KiB into the source), less 32 on zeros."""
    step = "mov rax, [rsi+8192]\nmov rcx, rax\nshl rcx, 13\nxor rax, rcx\nmov rcx, rax\nshr rcx, 7\nxor rax, rcx\n"
    step += "mov rcx, rax\nshl rcx, 17\nxor rax, rcx\nmov [rsi+8192], rax\n"
    branches = "\n".join(
        f"bt rax, {bit}\njc {label}f\nadd rdx, rdi\n{label}:" for bit, label in enumerate(new_labels(32))
    )
    return Probe(
        "branch that is mispredicted half the time", step + branches, f"{step}xor eax, eax\n{branches}", 32,
        prepare="mov rax, 88172645463325252\nmov [rsi+8192], rax", random=True,
    )  # fmt: skip
