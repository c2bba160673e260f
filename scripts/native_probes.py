"""Where a preset and this host's processor differ: short bodies, measured on both as the harness measures a call.

`python scripts/native_probes.py [PRESET]` prints the table that `scripts/native.py` puts into results/native. Each body
stands where the harness has its call, between the same fences (workloads/x86/call.S), without the call; what nothing
takes there is subtracted. Needs gcc on x86-64 Linux.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence

from breakeven.calibration.host import summary
from breakeven.calibration.host_program import HostProgram
from breakeven.calibration.model import ModelProgram
from breakeven.calibration.probe import EMPTY, Body, jumps, loop, new_labels, repeated
from breakeven.m5 import canonical
from breakeven.machine.presets import describe_machine

ROUNDS, MOST_ROUNDS = 20, 100
COUNTS = (1, 8, 16, 32, 64)


def bodies() -> dict[str, str]:
    """What is measured, by its name; rdi and rsi point to buffers."""
    found = {}
    for what, line in (
        ("dependent additions", "add rax, rdi"),
        ("loads", "mov rax, [rsi+{at}]"),
        ("stores", "mov [rdi+{at}], rax"),
    ):
        found |= {f"{what}: {count}": repeated(line, count) for count in COUNTS}
    for count in (1, 4, 8):
        found[f"jumps: {count}"] = jumps(count)
    for size in (0, 16, 112, 128, 1024):
        copy = f"mov rdi, r8\nmov rsi, r9\nmov ecx, {size}\nrep movsb\n" * 16
        found[f"16 `rep movsb` of {size} B"] = f"mov r8, rdi\nmov r9, rsi\n{copy}"
    words = "mov ecx, 8\nrep movsq"
    found["`rep movsq` of 64 B"] = words
    found["`rep movsq` of 64 B and `rep movsb` of 3 B"] = f"{words}\nmov ecx, 3\nrep movsb"
    for op, sizes in (("stosb", (16, 112, 128, 1024, 4096)), ("stosq", (64, 512, 1024))):
        count = {size: size // 8 if op == "stosq" else size for size in sizes}
        found |= {f"`rep {op}` of {size} B": f"xor eax, eax\nmov ecx, {n}\nrep {op}" for size, n in count.items()}
    found["`rep stosb` of 128 B, 16 B behind a line"] = "add rdi, 16\nxor eax, eax\nmov ecx, 128\nrep stosb"
    for distance in (1, 15, 16, 32):
        near = f"lea r8, [rdi+{distance}]\nmov r9, rsi\nmov rdi, r8\nmov ecx, 1024\nrep movsb"
        found[f"`rep movsb` of 1024 B, {distance} B behind the source in its page"] = near
    move = "\n".join(f"mov r8, [rsi+{at}]\nmov [rdi+{at}], r8" for at in range(0, 64, 8))
    for distance in (0x200_4000, 0x400_4000, 0x200_5000, 0x400_5000):
        copy = loop(f"{move}\nadd rsi, 64\nadd rdi, 64", 256)
        apart = f"lea rdi, [rsi+{distance:#x}]"
        found[f"copy of 16 KiB, {distance:#x} apart"] = f"{apart}\n{copy}"
        found[f"`rep movsb` of 16 KiB, {distance:#x} apart"] = f"{apart}\nmov ecx, 16384\nrep movsb"
    return found | queues() | ways() | front_end() | fetch_targets() | memory_pipes()


def queues() -> dict[str, str]:
    """Whether an operation waits for its own unit or for any: chains beside others, in x64-csum-goldstein and alone.

    One queue that sends the oldest ready operation to any free unit keeps a chain at its pace as long as the units can
    do what there is. With a queue for each unit an operation is bound before it is known when it will be ready: two
    chains may wait for one unit while another is idle. What needs no unit (a move that renaming does) binds none; the
    same operations in another order bind others.
    """
    found = {}
    sums = [repeated(line, 3) for line in ("adc rax, [rsi+{at}+8]", "adc rdx, [rsi+{at}+40]")]
    for what, count in (
        ("with its carries counted", "adc ecx, 0"), ("without", ""),
        ("with additions instead of counts", "lea ecx, [rcx+1]"), ("with moves instead of counts", "mov ecx, r9d"),
    ):  # fmt: skip
        turn = f"add rax, [rsi]\n{sums[0]}\n{count}\nadd rdx, [rsi+32]\n{sums[1]}\n{count}\nadd rsi, 64"
        found[f"64 iterations of x64-csum-goldstein's loop {what}"] = loop(turn, 64)
    registers = ("rax", "rdx", "rcx")
    add, total = "add {}, rdi", "lea r11, [r11+{}]"
    after = [form.format(name) for name in registers for form in (*[add] * 4, total)]
    between = [form.format(name) for form in (*[add] * 4, total) for name in registers]
    for what, every in (("one after the other", after), ("in turn", between)):
        found[f"64 iterations of three chains of four additions and their sum, the chains {what}"] = loop(
            "\n".join(every), 64
        )
    return found


def ways() -> dict[str, str]:
    """Two lines of one set, loaded in turn, whose addresses differ in some bits only.

    Where a first level finds its way by a hash of the address, two lines of the same hash push each other out. The
    pairs are those of AMD's cores from Zen to Zen 2, the parity of each of which is one bit of the hash: Lipp et al.,
    "Take A Way" (2020). When both bits of a pair differ the hash is the same, when one does it is not.
    """
    pairs = [(12, 27), (13, 26), (14, 25), (15, 20), (16, 21), (17, 22), (18, 23), (19, 24)]
    found = {}
    for bits in [(12,), (12, 26), (14, 26), *pairs]:
        apart = sum(1 << bit for bit in bits)
        ring = f"mov r9, rsi\nlea r8, [rsi+{apart:#x}]\nmov [r9], r8\nmov [r8], r9\nmfence\nlfence"
        name = f"64 loads, each of the other of two lines that differ in bit {' and '.join(map(str, bits))}"
        found[name] = "\n".join([ring, *["mov r9, [r9]"] * 64])
    return found


def front_end() -> dict[str, str]:
    """What is fetched behind a fence, calls beside jumps, calls back to back, and how many operations wait at once.

    Independent additions take the time of their fetch and decoding; behind a jump they come out of the cache of decoded
    operations where there is one. Of chains one behind the other, each begins while those before it still wait: the
    more operations wait at once, the more chains overlap.
    """
    additions = "\n".join(f"add r{8 + i % 4}, rdi" for i in range(96))
    ahead, over, callee = new_labels(3)
    called = f"jmp {over}f\n.balign 64\n{callee}: ret\n{over}:"
    found = {
        "96 independent additions": additions,
        "the same behind a jump": f"jmp {ahead}f\n.balign 64\n{ahead}:\n{additions}",
        "64 iterations of two jumps": loop(jumps(2), 64),
        "64 iterations of a call and its return": f"{called}\n{loop(f'call {callee}b', 64)}",
    }
    for what, text in (
        ("nothing", ""), ("16 nops", repeated("nop", 16)), ("a taken jump", jumps(1)), ("4 taken jumps", jumps(4)),
        ("16 nops of 8 B, over two lines", repeated("nop dword ptr [rax+rax+0x1000]", 16)),
        *((f"{count} untaken branches", _untaken(count)) for count in (12, 16, 24)),
    ):  # fmt: skip
        found[f"64 calls of a function of {what}"] = _calls(text, 64)
    for what, operand in (("registers", "rdi"), ("memory", "[rsi]")):
        for length in (64, 96, 128, 160):
            chain = "\n".join(["mov rax, rdi", *[f"add rax, {operand}"] * length])
            found[f"16 chains of {length} additions from {what}"] = "\n".join([chain] * 16)
    return found


def fetch_targets() -> dict[str, str]:
    """How many taken branches are fetched in a cycle, what ends the cycle, and calls of one and two targets.

    Each iteration has the loop's own branch, too.
    """
    found = {f"64 iterations of {count} taken jumps": loop(jumps(count), 64) for count in (3, 4, 6, 8)}
    found["64 iterations of a taken jump"] = loop(jumps(1), 64)
    for nops in (4, 6):
        behind = "\n".join(f"{repeated('nop', nops)}\njmp {to}f\n.balign 64\n{to}:" for to in new_labels(4))
        found[f"64 iterations of 4 taken jumps, each behind {nops} nops"] = loop(behind, 64)
    for what, count in (("a taken jump", 1), ("2 taken jumps", 2), ("4 taken jumps", 4)):
        over, callee = new_labels(2)
        function = f"jmp {over}f\n.balign 64\n{callee}:\n{jumps(count)}\nret\n.balign 64\n{over}:"
        found[f"64 iterations of a call of a function of {what}"] = f"{function}\n{loop(f'call {callee}b', 64)}"
    for what, step in (("a function", 0), ("one function and then another", 64)):
        over, first, turn = new_labels(3)
        functions = f"jmp {over}f\n.balign 64\n{first}: ret\n.balign 64\nret\n{over}:\nlea r10, [rip+{first}b]"
        calls = f"mov r11d, 2\n{turn}:\n{loop('call r10', 64)}\nadd r10, {step}\ndec r11d\njnz {turn}b"
        found[f"twice 64 calls by one instruction of {what}"] = f"{functions}\n{calls}"
    return found


def memory_pipes() -> dict[str, str]:
    """Loads and stores of general and of vector registers, alone, in turn, and four of each."""
    found = {}
    for size, load, store in (
        (8, "mov {r}, [rsi+{at}]", "mov [rdi+{at}], {r}"), (16, "movups {r}, [rsi+{at}]", "movups [rdi+{at}], {r}")
    ):  # fmt: skip
        registers = ("r8", "r10", "r11", "rax") if size == 8 else ("xmm0", "xmm1", "xmm2", "xmm3")
        places = [(registers[i % 4], size * i) for i in range(8)]
        loads, stores = ([line.format(r=r, at=at) for r, at in places] for line in (load, store))
        for what, lines in (
            ("loads", loads), ("stores", stores),
            ("loads and 8 stores in turn", [line for pair in zip(loads, stores, strict=True) for line in pair]),
            ("loads and 8 stores, four and four,", [*loads[:4], *stores[:4], *loads[4:], *stores[4:]]),
        ):  # fmt: skip
            found[f"64 iterations of 8 {what} of {size} B"] = loop("\n".join(lines), 64)
    return found


def _untaken(count: int) -> str:
    (label,) = new_labels(1)
    return "\n".join([f"test rdi, rdi\njz {label}f"] * count) + f"\n{label}:"


def _calls(code: str, count: int) -> str:
    """Calls in a row as the harness makes them: by a pointer, arguments copied first."""
    over, callee = new_labels(2)
    function = f"jmp {over}f\n.balign 64\n{callee}:\n{code}\nret\n.balign 64\n{over}:\nlea r10, [rip+{callee}b]\n"
    return function + loop("mov rdi, rdi\nmov rsi, rsi\nmov rdx, rcx\nmov rcx, r8\ncall r10", count)


def on_host(codes: Sequence[str]) -> list[float]:
    """Core cycles of each body on the CPU that the native engine uses, beyond an empty one; medians of the rounds."""
    with HostProgram([EMPTY, *map(Body, codes)]) as program:
        rounds: list[list[float]] = []
        # More while some body has too few rounds in which nothing disturbed the core.
        while not rounds or (
            len(rounds) < MOST_ROUNDS and any(math.isinf(summary(each).spread) for each in zip(*rounds, strict=True))
        ):
            rounds += program.rounds(max(os.sched_getaffinity(0)), ROUNDS, seed=1 + len(rounds))
    empty, *found = (summary(each).cycles for each in list(zip(*rounds, strict=True))[:-1])
    return [cycles - empty for cycles in found]


def on_preset(preset: str, codes: Sequence[str]) -> list[float]:
    """Cycles of each body in a preset, beyond an empty one."""
    machine, program = canonical(describe_machine(preset)), ModelProgram([EMPTY, *map(Body, codes)])
    empty = program.cycles(EMPTY, machine)
    return [program.cycles(Body(code), machine) - empty for code in codes]


def table(preset: str) -> list[str]:
    """The probes as a table in Markdown."""
    named = bodies()
    codes = list(named.values())
    rows = [f"| cycles beyond an empty body | host | {preset} |", "|---|---:|---:|"]
    for name, host, model in zip(named, on_host(codes), on_preset(preset, codes), strict=True):
        rows.append(f"| {name} | {abs(host):.0f} | {model:.0f} |")
    return rows


if __name__ == "__main__":
    print("\n".join(table(sys.argv[1] if len(sys.argv) > 1 else "zen4")))
