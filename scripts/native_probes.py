"""Where a preset and this host's processor differ: short bodies, measured on both as the harness measures a call.

`python scripts/native_probes.py [PRESET]` prints the table that `scripts/native.py` puts into results/native. Each body
stands where the harness has its call, between the same fences (workloads/x86/call.S), without the call; what nothing
takes there is subtracted. Needs gcc on x86-64 Linux.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from breakeven.machine.presets import describe_machine

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.x86_asm import BEGIN, END, EXIT, measure  # noqa: E402

START = "mfence\nlfence\nrdtsc\nshl rdx, 32\nlea r13, [rax+rdx]\nmfence\nlfence"
STOP = "mfence\nlfence\nrdtsc"
#: where a preset has what the host has at multiples of 128 MiB
SOURCE, DESTINATION = 0x800_0000, 0x1000_0000
#: turns in the preset; the last one counts
TURNS = 20
COUNTS = (1, 8, 16, 32, 64)
_labels = itertools.count(100)

_MAIN = """
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
enum { SAMPLES = 2000, ROUNDS = 15, CHAIN = 16384 };
BODIES
static uint64_t (*const bodies[])(void *, void *) = {NAMES};
static uint64_t ticks(void) {
    uint32_t low, high;
    __asm__ volatile("mfence; lfence; rdtsc; lfence" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}
static uint64_t chain(int n) {
    uint64_t start = ticks(), sum = 1, one = 1;
    for (n /= 64; n; n--)
        __asm__ volatile(".rept 64; add %1, %0; .endr" : "+r"(sum) : "r"(one));
    return ticks() - start;
}
static double cycles_a_tick(void) {
    uint64_t shorter = UINT64_MAX, longer = UINT64_MAX;
    for (int i = 0; i < 20; i++) {
        uint64_t a = chain(CHAIN), b = chain(2 * CHAIN);
        shorter = a < shorter ? a : shorter, longer = b < longer ? b : longer;
    }
    return CHAIN / (double)(longer - shorter);
}
static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}
/* The mean of those that no interrupt hit, each begun at a random moment of the counter's step. */
static double typical(int which, char *source, char *destination) {
    static uint64_t found[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        for (volatile int n = rand() % 256; n; n--);
        found[i] = bodies[which](destination, source);
    }
    qsort(found, SAMPLES, sizeof *found, ascending);
    uint64_t most = found[SAMPLES / 2] + 100, sum = 0, kept = 0; /* a step of the counter is less */
    for (; kept < SAMPLES && found[kept] <= most; kept++) sum += found[kept];
    return (double)sum / (double)kept;
}
int main(int argc, char **argv) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &set);
    sched_setaffinity(0, sizeof set, &set);
    char *source = mmap((void *)0x40000000, 256 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (source != (void *)0x40000000 || madvise(source, 256 << 20, MADV_NOHUGEPAGE))
        return 1;
    char *destination = source + (128 << 20);
    memset(source, 1, 80 << 20), memset(destination, 1, 1 << 20);
    /* Round by round: what disturbs the core for a while hits some rounds of all bodies, not all rounds of one. */
    enum { COUNT = sizeof bodies / sizeof *bodies };
    static double least[COUNT];
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COUNT; i++) {
            double now = typical(i, source, destination) * cycles_a_tick();
            least[i] = round && least[i] < now ? least[i] : now;
        }
    for (int i = 0; i < COUNT; i++)
        printf("%f\\n", least[i]);
}
"""


def lines(line: str, count: int) -> str:
    """`line` so often, `{at}` in it a word further each time."""
    return "\n".join(line.format(at=8 * i) for i in range(count))


def bodies() -> dict[str, str]:
    """What is measured, by its name; rdi and rsi point to buffers."""
    found = {}
    for what, line in (
        ("dependent additions", "add rax, rdi"),
        ("loads", "mov rax, [rsi+{at}]"),
        ("stores", "mov [rdi+{at}], rax"),
    ):
        found |= {f"{what}: {count}": lines(line, count) for count in COUNTS}
    for count in (1, 4, 8):
        ahead = [f"jmp {n}f\n.balign 16\n{n}:" for n in itertools.islice(_labels, count)]
        found[f"jumps: {count}"] = "\n".join(ahead)
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
        copy = turns(f"{move}\nadd rsi, 64\nadd rdi, 64", 256)
        apart = f"lea rdi, [rsi+{distance:#x}]"
        found[f"copy of 16 KiB, {distance:#x} apart"] = f"{apart}\n{copy}"
        found[f"`rep movsb` of 16 KiB, {distance:#x} apart"] = f"{apart}\nmov ecx, 16384\nrep movsb"
    return found | queues() | ways() | front_end()


def queues() -> dict[str, str]:
    """Whether an operation waits for its own unit or for any: chains beside others, in x64-csum-goldstein and alone.

    One queue that sends the oldest ready operation to any free unit keeps a chain at its pace as long as the units can
    do what there is. With a queue for each unit an operation is bound before it is known when it will be ready: two
    chains may wait for one unit while another is idle. What needs no unit (a move that renaming does) binds none; the
    same operations in another order bind others.
    """
    found = {}
    sums = [lines(line, 3) for line in ("adc rax, [rsi+{at}+8]", "adc rdx, [rsi+{at}+40]")]
    for what, count in (
        ("with its carries counted", "adc ecx, 0"), ("without", ""),
        ("with additions instead of counts", "lea ecx, [rcx+1]"), ("with moves instead of counts", "mov ecx, r9d"),
    ):  # fmt: skip
        turn = f"add rax, [rsi]\n{sums[0]}\n{count}\nadd rdx, [rsi+32]\n{sums[1]}\n{count}\nadd rsi, 64"
        found[f"64 iterations of x64-csum-goldstein's loop {what}"] = turns(turn, 64)
    registers = ("rax", "rdx", "rcx")
    add, total = "add {}, rdi", "lea r11, [r11+{}]"
    after = [form.format(name) for name in registers for form in (*[add] * 4, total)]
    between = [form.format(name) for form in (*[add] * 4, total) for name in registers]
    for what, every in (("one after the other", after), ("in turn", between)):
        found[f"64 iterations of three chains of four additions and their sum, the chains {what}"] = turns(
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
    ahead, first, second, over, callee = itertools.islice(_labels, 5)
    jumps = f"jmp {first}f\n.balign 16\n{first}:\njmp {second}f\n.balign 16\n{second}:"
    called = f"jmp {over}f\n.balign 64\n{callee}: ret\n{over}:"
    found = {
        "96 independent additions": additions,
        "the same behind a jump": f"jmp {ahead}f\n.balign 64\n{ahead}:\n{additions}",
        "64 iterations of two jumps": turns(jumps, 64),
        "64 iterations of a call and its return": f"{called}\n{turns(f'call {callee}b', 64)}",
    }
    for what, text in (
        ("nothing", ""), ("16 nops", lines("nop", 16)), ("a taken jump", _jumps(1)), ("4 taken jumps", _jumps(4)),
        ("16 nops of 8 B, over two lines", lines("nop dword ptr [rax+rax+0x1000]", 16)),
        *((f"{count} untaken branches", _untaken(count)) for count in (12, 16, 24)),
    ):  # fmt: skip
        found[f"64 calls of a function of {what}"] = _calls(text, 64)
    for what, operand in (("registers", "rdi"), ("memory", "[rsi]")):
        for length in (64, 128):
            chain = "\n".join(["mov rax, rdi", *[f"add rax, {operand}"] * length])
            found[f"16 chains of {length} additions from {what}"] = "\n".join([chain] * 16)
    return found


def _jumps(count: int) -> str:
    return "\n".join(f"jmp {n}f\n.balign 16\n{n}:" for n in itertools.islice(_labels, count))


def _untaken(count: int) -> str:
    label = next(_labels)
    return "\n".join([f"test rdi, rdi\njz {label}f"] * count) + f"\n{label}:"


def _calls(text: str, count: int) -> str:
    """Calls in a row as the harness makes them: by a pointer, arguments copied first."""
    over, callee = itertools.islice(_labels, 2)
    function = f"jmp {over}f\n.balign 64\n{callee}:\n{text}\nret\n.balign 64\n{over}:\nlea r10, [rip+{callee}b]\n"
    return function + turns("mov rdi, rdi\nmov rsi, rsi\nmov rdx, rcx\nmov rcx, r8\ncall r10", count)


def turns(text: str, count: int) -> str:
    """`text` in a loop; r9 counts."""
    label = next(_labels)
    return f"xor eax, eax\nxor ecx, ecx\nxor edx, edx\nmov r9d, {count}\n{label}:\n{text}\ndec r9d\njnz {label}b"


def on_host(texts: Sequence[str]) -> list[float]:
    """Core cycles of each body on the CPU that the native engine uses, beyond an empty one."""
    every = ["", *texts]
    names = [f"body_{i}" for i in range(len(every))]
    code = ".intel_syntax noprefix\n.text\n"
    for name, text in zip(names, every, strict=True):
        code += f".balign 64\n.globl {name}\n{name}:\npush r13\n{START}\n{text}\n{STOP}\n"
        code += "shl rdx, 32\nadd rax, rdx\nsub rax, r13\npop r13\nret\n"
    code += '.section .note.GNU-stack, "", @progbits\n'
    main = _MAIN.replace("BODIES", "".join(f"uint64_t {name}(void *, void *);\n" for name in names))
    with tempfile.TemporaryDirectory() as folder:
        source, assembly, program = Path(folder, "main.c"), Path(folder, "bodies.S"), Path(folder, "probes")
        source.write_text(main.replace("NAMES", ", ".join(names)))
        assembly.write_text(code)
        subprocess.run(["gcc", "-O2", source, assembly, "-o", program], check=True)
        cpu = max(os.sched_getaffinity(0))
        done = subprocess.run([program, str(cpu)], capture_output=True, text=True, check=True)
    empty, *found = map(float, done.stdout.split())
    return [value - empty for value in found]


def on_preset(preset: str, texts: Sequence[str]) -> list[float]:
    """Cycles of each body in a preset, beyond an empty one."""
    description = describe_machine(preset)

    def cycles(text: str) -> float:
        point = f"mov rdi, {DESTINATION}\nmov rsi, {SOURCE}\n{START}\n{text}\n{STOP}"
        return measure(
            description, f"mov rsp, {SOURCE}\nmov r15d, {TURNS}\n9: {BEGIN}\n{point}\n{END}\ndec r15d\njnz 9b\n{EXIT}"
        )[-1]

    empty = cycles("")
    return [cycles(text) - empty for text in texts]


def table(preset: str) -> list[str]:
    """The probes as a table in Markdown."""
    named = bodies()
    texts = list(named.values())
    rows = [f"| cycles beyond an empty body | host | {preset} |", "|---|---:|---:|"]
    for name, host, model in zip(named, on_host(texts), on_preset(preset, texts), strict=True):
        rows.append(f"| {name} | {abs(host):.0f} | {model:.0f} |")
    return rows


if __name__ == "__main__":
    print("\n".join(table(sys.argv[1] if len(sys.argv) > 1 else "zen4")))
