"""Probes of the core: fences, widths, units, latencies, branches."""

from __future__ import annotations

from collections.abc import Iterator

from breakeven.calibration.probe import Probe, alone, in_turn, labels, lines, pace, turns

_REGISTERS = ("rax", "rcx", "rdx", "r8", "rbp", "r10", "r11", "rbx")
#: how many instructions stand in a call between the fences
FEW = (1, 8, 16, 24, 32, 64)


def fences() -> Iterator[Probe]:
    """A few instructions in a call between two fences: what of them the fences hide."""
    for what, line, counts in (
        ("dependent additions", "add rax, rdi", FEW),
        ("loads", "mov rax, [rsi+{at}]", FEW),
        ("stores", "mov [rdi+{at}], rax", FEW),
        ("copied words", "mov rax, [rsi+{at}]\nmov [rdi+{at}], rax", (1, 4, 16)),
        ("sums of words in memory with carry", "adc rax, [rsi+{at}]", (1, 8, 24)),
    ):
        for count in counts:
            yield alone(f"fences around a call of {count} {what}", lines(line, count))


def widths() -> Iterator[Probe]:
    """Instructions that nothing holds back, in a loop."""
    yield _paced("nop", ["nop"] * 96)
    yield _paced("independent addition", in_turn([f"add {register}, rdi" for register in _REGISTERS], 96).splitlines())
    kinds = ["add r8, rdi", "nop", "add r10, rdi", "mov r11, [rsi]", "nop", "mov r12, [rsi+64]"]
    yield _paced("addition, load or nop", kinds * 16)
    stores = ["add r8, rdi", "add r10, rdi", "mov r11, [rsi]", "add rbx, rdi", "mov [rdi+64], rbp", "add rbp, rdi"]
    yield _paced("addition, load or store", stores * 16)


def _paced(name: str, text: list[str]) -> Probe:
    body = "\n".join(text)
    return Probe(name, turns(body, 20), turns(body, 10), 10 * len(text))


def latencies() -> Iterator[Probe]:
    """Chains of dependent instructions."""
    yield pace("dependent addition", "add rax, rdi")
    yield pace("dependent multiplication", "imul rax, rdi", 32)
    yield pace("dependent adc", "adc rax, rdi", 64)
    yield pace("dependent adc of a word in memory", "adc rax, [rsi+{at}]", 64)
    yield pace("dependent shift", "shr rax, 1", 64)
    yield pace("dependent bit scan", "bsr rax, rax", 32)
    yield pace("dependent vector addition", "paddq xmm0, xmm1", 64)
    yield pace("dependent vector shuffle", "pshufd xmm0, xmm0, 27", 64)
    yield pace("dependent psadbw", "psadbw xmm0, xmm1", 32)
    yield pace("dependent vector multiplication", "pmuludq xmm0, xmm1", 32)
    yield pace("dependent move from and to a vector", "movq xmm0, rax\nmovq rax, xmm0", 32)


def throughputs() -> Iterator[Probe]:
    """Independent instructions of one kind."""
    for what, form in (
        ("multiplication", "imul {general}, rdi"), ("shift", "shr {general}, 1"),
        ("vector addition", "paddq xmm{n}, xmm8"), ("vector shuffle", "pshufd xmm{n}, xmm{n}, 27"),
        ("psadbw", "psadbw xmm{n}, xmm8"),
    ):  # fmt: skip
        forms = [form.format(n=n, general=name) for n, name in enumerate(_REGISTERS)]
        yield Probe(f"independent {what}", in_turn(forms, 384), in_turn(forms, 192), 192)


def branches() -> Iterator[Probe]:
    """Taken branches, calls, and branches that no predictor can know."""
    ahead = [f"jmp {n}f\n.balign 16\n{n}:" for n in labels(64)]
    yield Probe("taken jump", "\n".join(ahead), "\n".join(ahead[:32]), 32)
    back = labels(1)[0]
    loop = f"mov ecx, {{}}\n{back}: dec ecx\njnz {back}b"
    yield Probe("turn of an empty loop", loop.format(40), loop.format(20), 20)
    near, over = labels(2)
    function = f"jmp {over}f\n.balign 16\n{near}: ret\n.balign 16\n{over}:\n"
    call = f"call {near}b"
    yield Probe("call and return", function + lines(call, 32), function + lines(call, 16), 16)
    loop = f"{function}mov ebp, %d\n.balign 16\n{back}: {call}\ndec ebp\njnz {back}b"
    yield Probe("empty call in a loop", loop % 32, loop % 16, 16)
    far = labels(1)[0]
    untaken = f"test rdi, rdi\njz {far}f"
    end = f"\n{far}:"
    yield Probe("untaken branch", lines(untaken, 192) + end, lines(untaken, 96) + end, 96)
    # The state of a generator (xorshift) lies behind the first buffer's page.
    step = "mov rax, [rsi+8192]\nmov rcx, rax\nshl rcx, 13\nxor rax, rcx\nmov rcx, rax\nshr rcx, 7\nxor rax, rcx\n"
    step += "mov rcx, rax\nshl rcx, 17\nxor rax, rcx\nmov [rsi+8192], rax\n"
    random, known = [], []
    for bit, n in enumerate(labels(32)):
        random.append(f"bt rax, {bit}\njc {n}f\nadd rdx, rdi\n{n}:")
        known.append(f"bt rax, {bit}\njc {n}f\nadd rdx, rdi\n{n}:")
    clear = "xor eax, eax\n"
    yield Probe(
        "branch that cannot be predicted, half of them wrong",
        step + "\n".join(random), step + clear + "\n".join(known), 32,
        prepare="mov rax, 88172645463325252\nmov [rsi+8192], rax", mean=True,
    )  # fmt: skip
