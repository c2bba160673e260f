"""copydd2009: copies past the caches for streamed writes (Sun weblog, August 2009).

A user program writes a large file in chunks; a driver copies each chunk into one preallocated buffer, with the copy
that fills the caches (`sol-bcopy`) or the one past them (`sol-kcopy-nta`). Three states of the source, two page sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from breakeven.points import FLAG_HUGE_PAGES, STREAM_FLAGS
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.parts import curves, found_figure, found_flip, machine_value, overtaking, threshold_mark
from breakeven.studies.study import (
    ABSOLUTE_FACTOR,
    DIRECTION_ONLY,
    NOT_SIMULATED,
    REPRODUCED,
    TIE,
    Contents,
    Data,
    FigureItem,
    Study,
    TableItem,
    Verdict,
    judge_ratio,
    judge_saving,
    judge_size,
    judge_winner,
)
from breakeven.sweeps.spec import SweepSpec

CACHED, PAST = "sol-bcopy", "sol-kcopy-nta"
BOTH = [CACHED, PAST]
NEHALEM = MachineSpec("nehalem")
#: writes that the memory has under way before it accepts no more
QUEUE = "mem_ctrl.write_buffer_size"
#: the fast way of REP MOVS claims the lines that it writes whole without reading them, as the Pentium III's does
CLAIM = "cpu.isa[0].microcode.rep_movs[2].whole_lines=true"
#: a write-combining buffer is busy until the memory has answered, not only until it has accepted
HELD = "cpu.write_combining.posted=false"
#: what the processor itself takes to enter and to leave a trap handler, in cycles
TRAP = "cpu.trapLatency"
#: of a breakpoint in the kernel of a Xeon E5410 (Core 2) at 2.33 GHz, x86-64: 0.43 us; with a jump in its place 0.06 us
#: (Linux's Documentation/trace/kprobes.rst, "Optimized Probe Overhead"); the difference holds Linux's entry and exit
KERNEL_TRAP = round((0.43 - 0.06) * 2330)
TRAPS = [250, 500, KERNEL_TRAP]
#: from this on `sol-bcopy` uses REP MOVSQ on Nehalem (128 elsewhere)
REP_FROM = 768
MIB = 1 << 20
#: what "small win" allows: the study's tolerance on absolute numbers
SMALL_WIN = ABSOLUTE_FACTOR
#: twice the last-level cache, in place of 512 MB: no line of the source is met twice. From 8 over 16 to 32 MiB the
#: speed-up at 128 KiB goes from 1.75 over 1.77 to 1.80
TOTAL = 16 * MIB
CHUNK = 128 << 10
SIZES = [256, 512, 1024, 4096, CHUNK, MIB]
MOVING, UNTOUCHED, READER = STREAM_FLAGS.values()


def stream(
    sizes: list[int], flags: int = MOVING, machine=NEHALEM, routines=BOTH, total: int = TOTAL, warmup: int = 0, **axes
):
    """Chunks into one buffer, once: nothing of it is warm, and a run repeats to the cycle."""
    return SweepSpec(
        routines, [machine], sizes, measures=["stream"], total=total, flags=flags, repetitions=1, warmup=warmup,
        routine_parameter=REP_FROM, **axes,
    )  # fmt: skip


def own_buffer(sizes: list[int]):
    """A program that reads a file into one buffer, again and again, and looks at all of it each time: one call a size,
    its source in memory, its destination as the call before and its reader left it."""
    return stream(sizes, READER, total=1, warmup=1, cache_states=["src-cold"])


GRIDS = {
    "faulted": ("both by chunk, source faulted in", stream(SIZES)),
    "cached": ("source cached: one chunk again and again", stream([256, 1024, CHUNK], flags=0)),
    "untouched": ("source untouched", stream([CHUNK], MOVING | UNTOUCHED)),
    "untouched-huge": ("source untouched, 2 MiB pages", stream([CHUNK], MOVING | UNTOUCHED | FLAG_HUGE_PAGES)),
    "faulted-huge": ("faulted in, 2 MiB pages", stream([CHUNK], MOVING | FLAG_HUGE_PAGES, routines=[PAST])),
    "cached-huge": ("cached, 2 MiB pages", stream([CHUNK], FLAG_HUGE_PAGES, routines=[PAST])),
    "reader": (
        "a reader after each chunk",
        stream([1024, 4096, 16 << 10, CHUNK], MOVING | READER),
    ),
    "own-buffer": (
        "read into one buffer again and again, a reader after each call",
        own_buffer([1024, 4096, 16 << 10, 64 << 10, CHUNK, MIB, 4 * MIB, 8 * MIB]),
    ),
    "claimed": ("REP MOVS claims what it overwrites", stream([CHUNK], 0, NEHALEM.with_settings(CLAIM), [CACHED])),
    "claimed-faulted": (
        "the same, source faulted in",
        stream([1024, CHUNK], MOVING, NEHALEM.with_settings(CLAIM), [CACHED]),
    ),
    "claimed-reader": (
        "REP MOVS claims what it overwrites, a reader after each chunk",
        stream([4096, CHUNK], MOVING | READER, NEHALEM.with_settings(CLAIM), [CACHED]),
    ),
    "held": ("buffers held until the answer", stream([CHUNK], 0, NEHALEM.with_settings(HELD), [PAST])),
    "held-faulted": (
        "the same, source faulted in",
        stream([256, 512, 1024, CHUNK], MOVING, NEHALEM.with_settings(HELD), [PAST]),
    ),
    "traps": (
        "source untouched, traps that cost the processor more",
        stream([CHUNK], MOVING | UNTOUCHED, routines=[PAST], parameters={TRAP: [str(cycles) for cycles in TRAPS]}),
    ),
    "short": ("short streams, for the tests", stream([1024, 4096], total=128 << 10)),
    "short-untouched": ("short streams, for the tests", stream([4096], MOVING | UNTOUCHED, total=128 << 10)),
}

SEARCHES = {
    "queue-at-128k": (
        "the writes under way with which the copy past the caches wins 128 KiB",
        stream([CHUNK], parameters={QUEUE: ["2", "4", "8", "16"]}),
    )
}

#: claim -> why it is not simulated
LEFT_OUT = {
    "pagezero": "The kernel's way to a page that runs here zeroes it through the caches only.",
    "other-cpu": "There is one processor.",
}

#: name -> (grid with 4 KiB pages, with 2 MiB pages)
PAGES = {
    "untouched": ("untouched", "untouched-huge"),
    "faulted in": ("faulted", "faulted-huge"),
    "cached": ("cached", "cached-huge"),
}


def speedup(data: Data, grid: str, size: int = CHUNK) -> float:
    """Time of the cached copy over that of the copy past the caches."""
    return data.cycles(grid, routine=CACHED, size=size) / data.cycles(grid, routine=PAST, size=size)


def speedup_with(data: Data, cached: str, past: str, size: int = CHUNK) -> float:
    """The same with each routine's time from a grid of its own."""
    return data.cycles(cached, routine=CACHED, size=size) / data.cycles(past, routine=PAST, size=size)


def huge_pages(data: Data, state: str) -> float:
    """Time of the copy past the caches with 2 MiB pages over that with 4 KiB pages."""
    small, large = (data.cycles(grid, routine=PAST, size=CHUNK) for grid in PAGES[state])
    return large / small


def untouched_pages(data: Data, trap: int) -> tuple[float, float]:
    """Cycles of the copy past the caches from untouched pages of 4 KiB where a trap takes the processor `trap` cycles,
    and large over small pages then (large ones fault 512 times less often: their time is taken as it is)."""
    small = data.cycles("traps", size=CHUNK, **{TRAP: str(trap)})
    return small, data.cycles("untouched-huge", routine=PAST, size=CHUNK) / small


def a_fault(data: Data, small: float) -> float:
    """What a page of 4 KiB costs beyond one that was there, in cycles."""
    return (small - data.cycles("faulted", routine=PAST, size=CHUNK)) / (CHUNK / 4096)


def with_traps(data: Data) -> str:
    """What the share that large pages save would be, and its verdict, with slower traps."""
    each = ((trap, untouched_pages(data, trap)[1]) for trap in TRAPS)
    return "; ".join(f"with {trap} {1 - share:.0%} ({judge_saving(0.2, 1 - share)})" for trap, share in each) + "."


def judge(data: Data) -> list[Verdict]:
    gains = {size: 1 / speedup(data, "faulted", size) for size in SIZES if size < 1024}
    first = overtaking(data, "faulted", CACHED, PAST)
    read, own = (overtaking(data, grid, CACHED, PAST) for grid in ("reader", "own-buffer"))
    at = speedup(data, "faulted")
    ahead = first.threshold or first.first or CHUNK
    held = ", ".join(f"{speedup_with(data, 'faulted', 'held-faulted', n):.2f} at {n} B" for n in (256, 512, 1024))
    states = f"Source faulted in; cached {speedup(data, 'cached'):.2f}, untouched {speedup(data, 'untouched'):.2f}."
    untouched, faulted, cached = (huge_pages(data, state) for state in PAGES)
    return [
        Verdict(
            "small",
            "sol-bcopy, by little",
            ", ".join(f"{gain:.2f} times at {size} B" for size, gain in gains.items()),
            judge_small(list(gains.values())),
            f"The published win is small: at most {SMALL_WIN:g} times at every size counts.",
            "Source faulted in. Each call ends with mfence, which waits until the memory has answered all writes; the "
            "system call around each chunk, the same for both, is not simulated.",
        ),
        Verdict(
            "crossover",
            "1024 B",
            f"{first.threshold} B" if first.threshold else "never",
            judge_size(1024, first.threshold),
            f"{speedup(data, 'faulted', ahead):.2f} times at {ahead} B. With buffers held until the memory answers: "
            f"{held}.",
        ),
        Verdict(
            "128k",
            "2.0 times",
            f"{at:.2f} times",
            judge_ratio(2.0, at),
            f"{states} Where REP MOVS claims what it overwrites: "
            f"{speedup_with(data, 'claimed-faulted', 'faulted'):.2f}.",
        ),
        Verdict(
            "read-threshold",
            "128 KiB",
            f"{own.threshold} B" if own.threshold else "never",
            judge_size(131072, own.threshold),
            f"A program reads into one buffer, again and again, and looks at all of it: past the caches "
            f"{speedup(data, 'own-buffer'):.2f} at 128 KiB. Into memory that it has not met before, from "
            f"{read.threshold} B on ({speedup(data, 'reader', 4096):.2f} at 4096 B, {speedup(data, 'reader'):.2f} at "
            f"128 KiB; where REP MOVS claims what it overwrites "
            f"{speedup_with(data, 'claimed-reader', 'reader', 4096):.2f} and "
            f"{speedup_with(data, 'claimed-reader', 'reader'):.2f}). Other data that a copy through the caches puts "
            f"out is not simulated.",
        ),
        Verdict(
            "large-pages-untouched",
            "20 % less time",
            f"{1 - untouched:.0%} less time",
            judge_saving(0.2, 1 - untouched),
            f"sol-kcopy-nta, 128 KiB. The trap, a kernel's way to a page and the zeroing run; the processor's own part "
            f"of a trap is gem5's {machine_value(NEHALEM, TRAP)} cycles; {with_traps(data)}",
        ),
        Verdict(
            "large-pages-touched",
            "no less time",
            f"{1 - faulted:.0%} less faulted in, {1 - cached:.0%} cached",
            judge_ratio(1.0, max(faulted, cached, key=lambda value: abs(value - 1))),
            "sol-kcopy-nta, 128 KiB; the state that differs more is judged.",
        ),
        *(Verdict(claim, data.claims[claim].value, "-", NOT_SIMULATED, why) for claim, why in LEFT_OUT.items()),
    ]


def judge_small(gains: Sequence[float]) -> str:
    """A small win: ahead at every size, and nowhere by more than `SMALL_WIN`."""
    won = judge_winner(sum(gain > 1 + TIE for gain in gains) / len(gains), min(gains))
    return DIRECTION_ONLY if won == REPRODUCED and max(gains) > SMALL_WIN else won


def paces(data: Data) -> TableItem:
    """Bytes a cycle by state and chunk."""
    rows: list[list[object]] = []
    states = {
        "faulted": "faulted in", "cached": "cached", "untouched": "untouched", "reader": "faulted in, reader",
        "own-buffer": "faulted in, one buffer, reader",
    }  # fmt: skip
    for grid, name in states.items():
        for size in curves(data, grid, BOTH)[0]:
            each = [f"{size / data.cycles(grid, routine=routine, size=size):.2f}" for routine in BOTH]
            rows.append([name, size, *each, f"{speedup(data, grid, size):.2f}"])
    columns = ("source", "chunk", CACHED, PAST, "speed-up past the caches")
    return TableItem("paces", "Bytes a cycle, 4 KiB pages", columns, rows)


def pages(data: Data) -> TableItem:
    rows = []
    for state, grids in PAGES.items():
        small, large = (data.cycles(grid, routine=PAST, size=CHUNK) for grid in grids)
        rows.append([state, round(small), round(large), f"{1 - large / small:.1%}"])
    caption = f"{PAST}, cycles of a chunk of 128 KiB by page size"
    return TableItem("pages", caption, ("source", "4 KiB pages", "2 MiB pages", "saved"), rows)


def traps(data: Data) -> TableItem:
    """What a fault costs and large pages save, by what a trap takes the processor."""
    here = int(machine_value(NEHALEM, TRAP))
    points = {here: (data.cycles("untouched", routine=PAST, size=CHUNK), huge_pages(data, "untouched"))}
    points |= {trap: untouched_pages(data, trap) for trap in TRAPS}
    rows: list[list[object]] = [
        [trap, round(a_fault(data, small)), f"{1 - share:.1%}", judge_saving(0.2, 1 - share)]
        for trap, (small, share) in points.items()
    ]
    columns = (f"`{TRAP}`", "cycles of a fault", "saved by 2 MiB pages", "verdict")
    return TableItem("traps", f"{PAST}, 128 KiB from untouched pages", columns, rows)


def causes(data: Data) -> TableItem:
    """What the speed-up at 128 KiB would be with one thing changed."""
    claims, holds = "REP MOVS claims what it overwrites", "buffers held until the memory answers"
    rows = []
    for state, name in {"cached": "cached", "faulted": "faulted in"}.items():
        claimed, held = ("claimed", "held") if state == "cached" else ("claimed-faulted", "held-faulted")
        for what, cached, past in [
            ("as it is", state, state),
            (claims, claimed, state),
            (holds, state, held),
            ("both", claimed, held),
        ]:
            rows.append([name, what, f"{speedup_with(data, cached, past):.2f}"])
    caption = f"{PAST} against {CACHED} at 128 KiB (above 1: faster)"
    return TableItem("causes", caption, ("source", "machine", "speed-up"), rows)


def findings(data: Data) -> dict[str, str]:
    line = CHUNK / 64
    untouched = data.cycles("untouched", routine=PAST, size=CHUNK)
    behind = data.cycles("own-buffer", routine=PAST, size=CHUNK) - data.cycles("own-buffer", routine=CACHED, size=CHUNK)
    return {
        "line_cycles": f"{data.cycles('cached', routine=PAST, size=CHUNK) / line:.1f}",
        "held_line": f"{data.cycles('held', size=CHUNK) / line:.1f}",
        "past_256": f"{data.cycles('cached', routine=PAST, size=256):.0f}",
        "cached_256": f"{data.cycles('cached', routine=CACHED, size=256):.0f}",
        "owned_line": f"{data.cycles('cached', routine=CACHED, size=CHUNK) / line:.1f}",
        "claimed_line": f"{data.cycles('claimed', size=CHUNK) / line:.1f}",
        "fault_cycles": f"{a_fault(data, untouched):.0f}",
        "trap_here": machine_value(NEHALEM, TRAP),
        "kernel_trap": f"{KERNEL_TRAP}",
        "own_line": f"{behind / line:.0f}",
    }


def sizes_figure(data: Data) -> Callable[[Path], object]:
    """Bytes a cycle over the chunk, source faulted in."""

    def draw(path: Path) -> None:
        from breakeven.output import plots

        sizes, times = curves(data, "faulted", BOTH)
        rates = {name: [n / c for n, c in zip(sizes, cycles, strict=True)] for name, cycles in times.items()}
        mark = threshold_mark(data, "faulted", CACHED, PAST)
        plots.lines(
            path, sizes, rates, title="Streamed writes by chunk", ylabel="bytes a cycle", log_x=True,
            marks=[mark] if mark else [],
            caption="nehalem, source faulted in, 4 KiB pages, 16 MiB in all.",
        )  # fmt: skip

    return draw


def contents(data: Data) -> Contents:
    found = data.found["queue-at-128k"]
    figures = [
        FigureItem("sizes", "Bytes a cycle over the chunk", sizes_figure(data)),
        FigureItem(
            "what-if",
            "Cycles over the writes that the memory has under way",
            found_figure(found, "What if fewer writes could be under way? 128 KiB"),
        ),
    ]
    flips = [found_flip(found, "sol-bcopy is level at 128 KiB, source faulted in (nehalem)", "what-if")]
    return Contents(findings(data), [paces(data), pages(data), traps(data), causes(data)], figures, flips)


def answer(data: Data) -> str:
    size = overtaking(data, "faulted", CACHED, PAST).threshold
    wins = f"From {size} bytes on" if size else "From no size on"
    return f"{wins}; at 128 KiB the copy past the caches is {speedup(data, 'faulted'):.2f} times as fast."


STUDY = Study(
    name="copydd2009",
    title="copydd2009: copies past the caches for streamed writes",
    grids=GRIDS,
    judge=judge,
    contents=contents,
    searches=SEARCHES,
    answer=answer,
)
