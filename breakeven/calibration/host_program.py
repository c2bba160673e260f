"""The C program that measures bodies and pointer chases on the host; gcc builds it for each list of them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from breakeven.calibration.probe import START, STOP, Body
from breakeven.errors import UserError
from breakeven.files import sandbox

#: more bytes than a number that is printed has
_NUMBER = 64
#: prints for each round the cycles of each body, then of each pointer chase, then the clock in GHz; nan: disturbed
MAIN = r"""
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
enum { SAMPLES = 1000, CHAIN = 16384, CHASE_LOADS = 16384, LINE = 64, WIDTHS = 2000, TRIES = 3 };
/* A measurement is disturbed if the clock changes by a larger share meanwhile, or if independent instructions take so
   many times their fewest cycles: then the core's other hardware thread is busy, perhaps with a virtual machine. */
static const double STEADY = 0.005, WIDE = 1.05;
BODIES
typedef uint64_t body(void *, void *);
static body *const bodies[] = {NAMES};
static body *const prepared[] = {PREPARED};
static const uint64_t chases[] = {CHASES};
enum { COUNT = sizeof bodies / sizeof *bodies, CHASE_COUNT = sizeof chases / sizeof *chases - 1 };
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
    for (int i = 0; i < 10; i++) {
        uint64_t a = chain(CHAIN), b = chain(2 * CHAIN);
        shorter = a < shorter ? a : shorter, longer = b < longer ? b : longer;
    }
    return CHAIN / (double)(longer - shorter);
}
/* Cycles of independent instructions over the fewest that any such measurement took. */
static double narrowness(double clock) {
    static double fewest;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t start = ticks();
        for (int n = CHAIN / 64; n; n--)
            __asm__ volatile(".rept 64; nopl 0(%rax); .endr");
        uint64_t found = ticks() - start;
        least = found < least ? found : least;
    }
    double cycles = (double)least * clock;
    fewest = fewest == 0 || cycles < fewest ? cycles : fewest;
    return cycles / fewest;
}
static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
/* The core's clock, by the time of the chain. */
static double gigahertz(void) {
    double most = 0;
    for (int i = 0; i < 20; i++) {
        double start = seconds();
        chain(CHAIN);
        double middle = seconds();
        chain(3 * CHAIN);
        double found = 2 * CHAIN / ((seconds() - middle) - (middle - start)) * 1e-9;
        most = found > most && found < 20 ? found : most;
    }
    return most;
}
static int ascending(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}
/* The mean of a body's samples without those that an interrupt hit. A counter may advance in steps: the random wait
   begins each sample at another moment of a step. */
static double mean_ticks(int which, char *source, char *destination) {
    static uint64_t found[SAMPLES];
    int samples = SAMPLES;
    for (int i = 0; i < samples; i++) {
        for (volatile int n = rand() % 256; n; n--);
        found[i] = bodies[which](destination, source);
        if (i == 20 && found[i] > 2000)
            samples = found[i] > 20000 ? 60 : 300; /* a step is a small share of a long body */
    }
    qsort(found, samples, sizeof *found, ascending);
    uint64_t most = found[samples / 2] + 100 + found[samples / 2] / 8, sum = 0, kept = 0;
    for (; kept < (uint64_t)samples && found[kept] <= most; kept++) sum += found[kept];
    return (double)sum / (double)kept;
}
/* Ticks from a load to the next through all lines of an area, in random order. */
static double chase_ticks(char *area, uint64_t bytes) {
    uint64_t lines = bytes / LINE;
    uint32_t *order = malloc(lines * sizeof *order);
    for (uint64_t i = 0; i < lines; i++)
        order[i] = i;
    for (uint64_t i = lines - 1; i; i--) {
        uint64_t j = (((uint64_t)rand() << 16) ^ rand()) % (i + 1);
        uint32_t kept = order[i];
        order[i] = order[j], order[j] = kept;
    }
    for (uint64_t i = 0; i < lines; i++)
        *(void **)(area + (uint64_t)order[i] * LINE) = area + (uint64_t)order[(i + 1) % lines] * LINE;
    free(order);
    void **at = (void **)area;
    for (uint64_t i = 0; i < 2 * lines && i < 1 << 20; i++)
        at = *at;
    uint64_t least = UINT64_MAX, end;
    for (int i = 0; i < 5; i++) {
        uint64_t start = ticks();
        for (int n = 0; n < CHASE_LOADS; n++)
            __asm__ volatile("mov (%0), %0" : "+r"(at)::"memory");
        end = ticks() - start;
        least = end < least ? end : least;
    }
    return (double)least / CHASE_LOADS;
}
static char *source, *destination, *area;
/* Cycles of a body, or of a pointer chase behind the bodies; not a number: every try was disturbed. */
static double cycles(int which) {
    double before = cycles_a_tick(), narrow = narrowness(before);
    for (int i = 0; i < TRIES; i++) {
        double found =
            which < COUNT ? mean_ticks(which, source, destination) : chase_ticks(area, chases[which - COUNT]);
        double after = cycles_a_tick(), later = narrowness(after);
        if (fabs(after - before) <= STEADY * after && narrow <= WIDE && later <= WIDE)
            return found * (before + after) / 2;
        before = after, narrow = later;
    }
    return NAN;
}
int main(int argc, char **argv) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &set);
    sched_setaffinity(0, sizeof set, &set);
    int rounds = argc > 2 ? atoi(argv[2]) : 15;
    srand(argc > 3 ? atoi(argv[3]) : 1);
    source = mmap((void *)0x40000000, 256 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (source != (void *)0x40000000 || madvise(source, 256 << 20, MADV_NOHUGEPAGE))
        return 1;
    destination = source + (128 << 20);
    memset(source, 1, 80 << 20), memset(destination, 1, 1 << 20);
    uint64_t most = 2 << 20;
    for (int i = 0; i < CHASE_COUNT; i++)
        most = chases[i] > most ? chases[i] : most;
    area = aligned_alloc(2 << 20, (most + (2 << 20) - 1) >> 21 << 21);
    if (!area)
        return 1;
    madvise(area, most, MADV_HUGEPAGE);
    memset(area, 0, most);
    /* A round measures every body, so that a disturbance hits some rounds of all bodies, not all rounds of one. */
    double clock = cycles_a_tick();
    for (int i = 0; i < WIDTHS; i++)
        narrowness(clock);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < COUNT + CHASE_COUNT; i++) {
            if (i < COUNT && prepared[i])
                prepared[i](destination, source);
            printf("%f\n", cycles(i));
        }
        printf("%f\n", gigahertz());
        fflush(stdout);
    }
}
"""
_SAVED = ("rbx", "rbp", "r12", "r13", "r14", "r15")


def _function(name: str, code: str) -> str:
    saved = "\n".join(f"push {register}" for register in _SAVED)
    restored = "\n".join(f"pop {register}" for register in reversed(_SAVED))
    return f".balign 4096\n.globl {name}\n{name}:\n{saved}\n{code}\n{restored}\nret\n"


def assembly(bodies: Sequence[Body]) -> str:
    """Assembly code of the bodies as functions `ticks(destination, source)`."""
    code = ".intel_syntax noprefix\n.text\n"
    for i, body in enumerate(bodies):
        code += _function(f"body_{i}", f"{START}\n{body.code}\n{STOP}\nshl rdx, 32\nadd rax, rdx\nsub rax, r13\ncld")
        if body.prepare:
            code += _function(f"prepare_{i}", body.prepare)
    return code + '.section .note.GNU-stack, "", @progbits\n'


def check_gcc() -> None:
    """Raises `UserError` if gcc is not installed."""
    if shutil.which("gcc") is None:
        raise UserError("calibrate builds its probes with gcc, and there is none: install gcc (apt install gcc)")


def gcc(folder: Path, *arguments: object) -> None:
    """Runs gcc, which keeps its own files in `folder`. Raises `UserError` if it is not installed, or fails."""
    check_gcc()
    done = sandbox.attend(["gcc", *map(str, arguments)], {**os.environ, "TMPDIR": str(folder)})
    if done.status:
        raise UserError(f"gcc did not build the probes: {(done.err.strip() or 'it failed').splitlines()[0]}")


class HostProgram:
    """The program of these bodies and pointer chases (their bytes). A context manager: builds it, and removes it."""

    def __init__(self, bodies: Sequence[Body], chase_bytes: Sequence[int] = ()) -> None:
        self._bodies, self._chase_bytes = bodies, chase_bytes
        self._left = ExitStack()

    def __enter__(self) -> HostProgram:
        names = [f"body_{i}" for i in range(len(self._bodies))]
        prepared = [f"prepare_{i}" if body.prepare else "0" for i, body in enumerate(self._bodies)]
        declared = [f"uint64_t {name}(void *, void *);" for name in [*names, *prepared] if name != "0"]
        main = MAIN.replace("BODIES", "\n".join(declared)).replace("NAMES", ", ".join(names))
        main = main.replace("PREPARED", ", ".join(prepared))
        main = main.replace("CHASES", ", ".join(map(str, [*self._chase_bytes, 0])))
        with ExitStack() as left:
            folder = Path(left.enter_context(tempfile.TemporaryDirectory(prefix="breakeven-")))
            source, assembled, self._program = folder / "main.c", folder / "bodies.S", folder / "probes"
            source.write_text(main)
            assembled.write_text(assembly(self._bodies))
            gcc(folder, "-O2", source, assembled, "-o", self._program)
            self._left = left.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._left.close()

    def rounds(self, cpu: int, count: int, seed: int) -> list[list[float]]:
        """Runs `count` rounds: each holds the cycles of each body and pointer chase (nan: the core was disturbed), and
        the clock in GHz."""
        command = [str(self._program), str(cpu), str(count), str(seed)]
        width = len(self._bodies) + len(self._chase_bytes) + 1
        done = sandbox.attend(command, os.environ, kept=_NUMBER * count * width)
        values = [float(word) for word in done.out.split()]
        if done.status or len(values) != count * width:
            raise UserError(
                f"the probes' program ended with status {done.status}: report it, with the host's processor"
            )
        return [values[i : i + width] for i in range(0, len(values), width)]
