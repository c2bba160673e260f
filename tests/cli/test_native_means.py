"""`native`: what it hands to the harness of measurements that scatter, with scripted ones in place of the counter's."""

from __future__ import annotations

import shutil
import statistics
import subprocess
from pathlib import Path

import pytest

WORKLOADS = Path(__file__).resolve().parents[2] / "workloads"
#: a call takes 100 ticks, read by a counter of steps of 26 from a random moment of such a step
FAKE = r"""
#include "native.c"
static u32 state;
static const void *chosen;
void native_choose_call_site(const void *fn) { chosen = fn; }
u64 __real_arch_measure(const struct job jobs[2], u64 calls, struct sample *sample, int interleaved) {
    (void)calls, (void)interleaved;
    if (jobs[0].fn != chosen)
        exit(3); // another routine's call site
    state = state * 1664525 + 1013904223;
    u64 begin = (state >> 16) % 26;
    sample->cycles = (begin + 100) / 26 * 26;
    return 0;
}
void arch_empty(void) {}
static void elsewhere(void) {}
int main(int argc, char **argv) {
    state = (u32)atoi(argv[argc - 1]) * 7919;
    counter.step = 26;
    void *calls[] = {(void *)arch_empty, (void *)elsewhere};
    for (int which = 0; which < 2; which++) {
        u64 least = UINT64_MAX;
        for (int i = 0; i < OVERHEADS; i++) {
            struct job jobs[2] = {{calls[which], {0}, 0}};
            struct sample sample;
            __wrap_arch_measure(jobs, 1, &sample, 0);
            least = sample.cycles < least ? sample.cycles : least;
        }
        printf("%f\n", (double)least / PARTS);
    }
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
def test_the_cheapest_empty_call_is_no_lucky_one(tmp_path):
    """What is subtracted from all measurements was the least of a few means: too small by what they scatter."""
    source, program = tmp_path / "fake.c", tmp_path / "fake"
    source.write_text(FAKE)
    flags = ["-w", "-static", "-I", WORKLOADS / "native", "-Wl,--unresolved-symbols=ignore-all"]
    renamed = (WORKLOADS / "native" / "native.c").read_text().replace("int main(", "int native_main(")
    (tmp_path / "native.c").write_text(renamed.replace('"../harness/', f'"{WORKLOADS}/harness/'))
    subprocess.run(["gcc", "-I", tmp_path, *map(str, flags), source, "-o", program], check=True)
    points = [subprocess.run([program, str(seed)], check=True, capture_output=True, text=True) for seed in range(1, 31)]
    found = [[float(word) for word in point.stdout.split()] for point in points]
    empty, other = (statistics.mean(column) for column in zip(*found, strict=True))
    assert abs(empty - 100) < 0.1
    # The least of means, which is what any other call gives here, shows what the median is for.
    assert other < 99.5
