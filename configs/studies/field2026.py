"""field2026: tables of today's discussions, predicted. Everything here was committed before the first simulation of any
of it: what runs on which preset, how it is judged, what was expected. `field2026_report` tells what came out.

A table's processor is seldom a preset; the nearest one answers, by its description as it was. `EXPECTED` is what we
thought would come out, and why.
"""

from __future__ import annotations

from field2026_report import contents

from breakeven.points import STREAM_FLAGS
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.parts import ratio
from breakeven.studies.study import NOT_SIMULATED, Data, Study, Verdict, judge_ratio, judge_winner
from breakeven.sweeps.spec import SweepSpec

MOVSB, VECTORS, PAST = "x64-fsrm-inline", "llvm-libc-memcpy-avx2", "x64-copy-nocache-2023"
#: eight bytes go by general registers: two loads and two stores, the same bytes twice
EIGHT = "llvm-libc-memcpy"
BYTES, WORDS = "rv-probe-bytes", "rv-probe-words"
UCB, SHIFT = "rv-memcpy-ucb", "rv-memcpy-croce-c"


def in_a_program(name: str) -> MachineSpec:
    """The preset without what a kernel's copy pays to open user pages (STAC, CLAC)."""
    return MachineSpec(name, ("cpu.isa[0].enable_smap=false",))


def back_to_back(routines, machine, sizes, **axes):
    """Calls in a loop over the same buffers, as all these benchmarks have it."""
    return SweepSpec(routines, [machine], sizes, measures=["throughput"], calls=64, warmup=12, repetitions=21, **axes)


def streamed(routines, machine, sizes, total, **axes):
    """From memory to memory, once."""
    return SweepSpec(
        routines, [machine], sizes, measures=["stream"], total=total, flags=STREAM_FLAGS["moving"], warmup=0,
        repetitions=1, **axes,
    )  # fmt: skip


GRIDS = {
    # the destination 2^15, and 2^15 + 1, bytes from the source: a page's offset apart, 0 and 1
    "near-power": ("REP MOVSB a page's offset and one byte away", back_to_back(
        [MOVSB], in_a_program("zen3"), [4096], dst_offsets=[0, 1],
    )),
    "go": ("vectors or REP MOVSB for Go's memmove", back_to_back(
        [VECTORS, MOVSB], in_a_program("goldencove"), [2048, 4096],
    )),
    "ucx": ("REP MOVSB or the library's vectors", back_to_back([MOVSB, VECTORS], in_a_program("zen3"), [4096, 16384])),
    "past": ("past the caches or through them", streamed(
        [PAST, VECTORS], in_a_program("skylake"), [1 << 20, 4 << 20], 32 << 20,
    )),
    # this routine tests `< 64` and `< 128`: 64 and 128 go the longer way, 63 and 127 the one that they were moved to
    "thresholds": ("a power of two by the longer and the shorter way", back_to_back(
        [VECTORS], MachineSpec("skylake"), [63, 64, 127, 128],
    )),
    # arch/riscv/kernel: half of 16 KiB less 128 bytes, the source two bytes off
    "probe": ("the kernel's probe", SweepSpec(
        [BYTES, WORDS], [MachineSpec("c910")], [8064], src_offsets=[2], warmup=12, repetitions=21,
    )),
    "shift": ("bytes or shifted words", streamed(
        [UCB, SHIFT], MachineSpec("c910"), [64 << 10], 2 << 20, src_offsets=[0, 1],
    )),
    **{
        f"line-{name}": (f"eight bytes across a line on {name}", back_to_back(
            [EIGHT], MachineSpec(name), [8], offset_pairs=[(0, 0), (60, 60)],
        ))
        for name in ("skylake", "ivybridge")
    },
}  # fmt: skip

#: claim -> what was expected before the first simulation
EXPECTED = {
    "one-past-a-power": "reproduced: the preset has this effect from other reports (glibc bug 30994), 19 times there",
    "go-2048": "reproduced: both are near 32 bytes a cycle",
    "go-4096": "direction only: Golden Cove's REP MOVSB is nearer to its vectors than Ice Lake's",
    "ucx-4096": "not reproduced: Zen 3 copies 32 bytes a cycle by vectors, Zen 2's library may not have",
    "ucx-16384": "not reproduced: as at 4096",
    "past-the-caches": "reproduced: a copy past the caches need not read what it overwrites",
    "boundary-64": "not reproduced: two comparisons and one more pair of moves, a cycle of about ten",
    "boundary-128": "direction only: as at 64",
    "probe": "not reproduced: of the C910 the misaligned access is assumed",
    "shift-copy": "direction only: both wait for memory, and the C910 is faster than a P550",
    "shift-of-aligned": "reproduced: both wait for memory",
    "line-skylake": "reproduced: a store across two lines takes two cycles of the port",
    "line-sandy-bridge": "reproduced: as on skylake; the nearest preset is ivybridge",
}
#: claim -> why it is not simulated
LEFT_OUT = {
    "left-shift": "The destination overlaps the source by all but 64 bytes; the harness has two buffers apart.",
    "both-unaligned-4096": "No processor is named, and what makes such a cliff differs between them.",
    "store-forwarding": "A read of what was just written in smaller pieces: no routine here is made so.",
}


def judge(data: Data) -> list[Verdict]:
    def row(claim: str, simulated: float, note: str = "") -> Verdict:
        published = value(data, claim)
        return Verdict(
            claim, f"{published:.2f} times", f"{simulated:.2f} times", judge_ratio(published, simulated), note
        )

    near = {offset: called(data, "near-power", dst_offset=offset) for offset in (0, 1)}
    past = [1 / ratio(data, "past", PAST, VECTORS, size=size) for size in (1 << 20, 4 << 20)]
    sizes = {size: called(data, "thresholds", size=size) for size in (63, 64, 127, 128)}
    crossing = {
        name: called(data, f"line-{name}", src_offset=60) / called(data, f"line-{name}", src_offset=0)
        for name in ("skylake", "ivybridge")
    }
    shift = {
        (routine, offset): data.cycles("shift", routine=routine, src_offset=offset)
        for routine in (UCB, SHIFT)
        for offset in (0, 1)
    }
    return [
        row("one-past-a-power", near[1] / near[0]),
        *(row(f"go-{size}", vectors_over_movsb(data, "go", size)) for size in (2048, 4096)),
        *(row(f"ucx-{size}", vectors_over_movsb(data, "ucx", size)) for size in (4096, 16384)),
        Verdict(
            "past-the-caches",
            "past the caches wins",
            " and ".join(f"{gain:.2f} times" for gain in past),
            judge_winner(sum(gain > 1 for gain in past) / len(past), min(past)),
            "1 and 4 MiB at a time, 32 MiB in all.",
        ),
        *(row(f"boundary-{size}", sizes[size] / sizes[size - 1]) for size in (64, 128)),
        row("probe", ratio(data, "probe", BYTES, WORDS)),
        row("shift-copy", shift[UCB, 1] / shift[SHIFT, 1]),
        row("shift-of-aligned", shift[SHIFT, 1] / shift[SHIFT, 0]),
        row("line-skylake", crossing["skylake"]),
        row("line-sandy-bridge", crossing["ivybridge"]),
        *(Verdict(claim, data.claims[claim].value, "-", NOT_SIMULATED, why) for claim, why in LEFT_OUT.items()),
    ]


def called(data: Data, grid: str, **where) -> float:
    """Cycles a call in a loop, the empty call included, as a benchmark measures it."""
    (row,) = data.select(grid, **where).itertuples()
    return float(row.cycles_median + row.overhead) / float(row.calls)


def vectors_over_movsb(data: Data, grid: str, size: int) -> float:
    vectors, movsb = (called(data, grid, routine=routine, size=size) for routine in (VECTORS, MOVSB))
    return vectors / movsb


def value(data: Data, claim: str) -> float:
    """The published ratio of times: a number, or longer over shorter."""
    first, _, second = data.claims[claim].value.partition("/")
    return float(first) / float(second or 1)


STUDY = Study(
    name="field2026",
    title="field2026: tables of today's discussions, predicted",
    grids=GRIDS,
    judge=judge,
    contents=lambda data: contents(data, EXPECTED),
)
