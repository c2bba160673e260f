"""axboe2018: REP MOVSB for user copies only from a threshold on (Linux kernel list, November 2018).

The copy by REP MOVSB (ERMS) against the unrolled loop, short copies first; the break-even size, what moves it, and what
each threshold that was argued for costs.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.parts import (
    curves,
    cycles_table,
    found_figure,
    found_flip,
    largest_at_most,
    machine_value,
    overtaking,
    ratio,
    sizes_figure,
    surface_figure,
    thresholds_of,
)
from breakeven.studies.study import (
    REPRODUCED,
    TIE,
    Contents,
    Data,
    FigureItem,
    Study,
    TableItem,
    Verdict,
    judge_fact,
    judge_ratio,
    judge_size,
    judge_winner,
)
from breakeven.sweeps.spec import SweepSpec

UNROLLED, ERMS, DISPATCH = "x64-copy-unrolled", "x64-copy-erms", "x64-copy-erms-threshold"
#: below its 128 bytes the patch calls what the kernel has for REP_GOOD, which Linux sets on every 64-bit Intel of
#: family 6: REP MOVSQ. What it replaced: since 2017 no REP MOVSB below 64 bytes
PATCHED, STOCK = "x64-copy-string", "x64-copy-erms-short"
#: the copies of one request of the published load: an iocb in, an io_event out
REQUEST = (64, 32)
BELOW = list(range(64, 128))
BOTH = [UNROLLED, ERMS]
BROADWELL = MachineSpec("broadwell")
#: the same without what opening and closing user pages (STAC, CLAC) costs
NO_SMAP = BROADWELL.with_settings("cpu.isa[0].enable_smap=false")
#: processors that came later (and the one before), as far as there are presets
OTHERS = {name: MachineSpec(name) for name in ("ivybridge", "skylake", "goldencove", "zen3")}
#: the string engine's start-up and pace: the mode for counts of a byte and more
STARTUP = "cpu.isa[0].microcode.rep_movs[1].startup_uops"
PACE = "cpu.isa[0].microcode.rep_movs[1].bytes_per_cycle"
#: steps without a factor in common with 8 or 64
FINE = [*range(1, 130), *range(138, 513, 9), *range(521, 1100, 31), *range(1120, 4096, 211), 4096]
SHOWN = [8, 16, 32, 64, 128, 255, 264, 426, 521, 1079, 2175, 4096]
THRESHOLDS = (64, 128, 256)
#: source and destination: both aligned, alike, one of them off
PAIRS = {"both aligned": (0, 0), "misaligned alike": (3, 3), "source off": (3, 0), "destination off": (0, 3)}
STATES = ("warm", "src-cold", "dst-cold", "cold")
ALIGNED = {"src_offset": 0, "dst_offset": 0}


def steady(routines, machine, sizes, **axes):
    return SweepSpec(routines, [machine], sizes, **axes)


GRIDS = {
    "sizes": ("both by size and alignment", steady(BOTH, BROADWELL, FINE, offset_pairs=list(PAIRS.values()))),
    "patch": (
        "what the patch runs and what it replaced",
        steady([PATCHED, STOCK, ERMS], BROADWELL, [*REQUEST, *BELOW[1:]]),
    ),
    "patch-nehalem": (
        "the same where short REP MOVSQ has the start-up that Intel gives for it",
        steady([PATCHED, STOCK, ERMS], MachineSpec("nehalem"), [*REQUEST]),
    ),
    "states": ("from cold caches", steady(BOTH, BROADWELL, [32, 64, 128, 256, 512, 1024, 4096], cache_states=STATES)),
    "no-smap": ("without STAC and CLAC", steady(BOTH, NO_SMAP, FINE)),
    **{
        f"threshold-{size}": (
            f"ERMS from {size} bytes on",
            steady([DISPATCH], BROADWELL, FINE, routine_parameter=size),
        )
        for size in THRESHOLDS
    },
    **{name: (f"both on {name}", steady(BOTH, machine, FINE)) for name, machine in OTHERS.items()},
}

#: the preset's among them
PACES = ["8", "16", "29.7", "64"]
#: those of the break-even itself: a search among others would find another one
SURFACE_SIZES = [size for size in FINE if size <= 2048]
SEARCHES = {
    "startup": (
        "the break-even over the start-up",
        steady(BOTH, BROADWELL, SURFACE_SIZES, parameters={STARTUP: [str(v) for v in range(0, 201, 20)]}),
    ),
    "startup-pace": (
        "the break-even over start-up and pace",
        steady(
            BOTH, BROADWELL, SURFACE_SIZES,
            parameters={STARTUP: [str(v) for v in (0, 40, 80, 140, 200)], PACE: PACES},
        ),
    ),
    **{
        f"startup-at-{size}": (
            f"the start-up at which ERMS wins {size} bytes",
            steady(BOTH, BROADWELL, [size], parameters={STARTUP: [str(v) for v in range(0, 201, 2)]}),
        )
        for size in (64, 128, 256)
    },
}  # fmt: skip


def judge(data: Data) -> list[Verdict]:
    return [judge_short(data), *judge_thresholds(data)]


def request(data: Data, grid: str) -> float:
    """Time of a request's two copies after the patch over that before it."""
    after = sum(data.cycles(grid, routine=PATCHED, size=size) for size in REQUEST)
    return after / sum(data.cycles(grid, routine=STOCK, size=size) for size in REQUEST)


def judge_short(data: Data) -> Verdict:
    measured, unrolled = request(data, "patch"), ratio(data, "sizes", UNROLLED, ERMS, size=64, **ALIGNED)
    each = ", ".join(
        f"{size} B {data.cycles('patch', routine=PATCHED, size=size):.0f} cycles for "
        f"{data.cycles('patch', routine=STOCK, size=size):.0f}"
        for size in REQUEST
    )
    return Verdict(
        "short-copy-halved",
        "half the time",
        f"{measured:.2f} of the time",
        judge_ratio(0.5, measured),
        "The patch turns to REP MOVSQ here, for which this preset assumes the start-up of REP MOVSB.",
        f"{each}, after and before. With the start-up that Intel gives for a short REP MOVSQ on Nehalem, and all else "
        f"of `nehalem`, {request(data, 'patch-nehalem'):.2f}. The unrolled loop, which the patch does not choose "
        f"here, takes {unrolled:.2f} of the time of REP MOVSB at 64 B.",
    )


def judge_thresholds(data: Data) -> list[Verdict]:
    gains = [data.cycles("patch", routine=ERMS, size=n) / data.cycles("patch", routine=PATCHED, size=n) for n in BELOW]
    ahead = sum(gain > 1 + TIE for gain in gains) / len(gains)
    found = overtaking(data, "sizes", UNROLLED, ERMS, **ALIGNED)
    size = found.threshold
    shown = f"{size} B" if size else "never"
    inside = size is not None and size >= 64 and judge_size(256, size) == REPRODUCED
    return [
        Verdict(
            "threshold-axboe",
            "below 128 B the patch's copy wins",
            f"wins {ahead:.0%} of 64 to 127 B, {statistics.median(gains):.2f} times faster (median)",
            judge_winner(ahead, statistics.median(gains)),
            "REP MOVSQ, which the patch calls on this processor, against REP MOVSB.",
        ),
        Verdict(
            "threshold-abeni",
            "64 B measured too low",
            shown,
            judge_fact(size is not None and size > 64),
            "Where REP MOVSB overtakes the unrolled loop; the thread names no processor for it.",
        ),
        Verdict(
            "threshold-vlasenko",
            "128 to 256 B",
            shown,
            REPRODUCED if inside else judge_size(256, size),
            "No processor named; within one power of two of the range's end.",
        ),
    ]


def others_table(data: Data) -> TableItem:
    """The break-even on every processor."""
    grids = {"broadwell": "sizes", "broadwell without STAC and CLAC": "no-smap", **{name: name for name in OTHERS}}
    rows = []
    for name, grid in grids.items():
        where = ALIGNED if grid == "sizes" else {}
        found = overtaking(data, grid, UNROLLED, ERMS, **where)
        at = [ratio(data, grid, UNROLLED, ERMS, size=size, **where) for size in (32, 64, 128, 4096)]
        rows.append([name, found.threshold or "never", *(f"{value:.2f}" for value in at)])
    columns = ("machine", "break-even, B", *(f"at {size} B" for size in (32, 64, 128, 4096)))
    return TableItem(
        "machines", "From which size on ERMS wins; and the unrolled copy's time over that of ERMS", columns, rows
    )


def alignment_table(data: Data) -> TableItem:
    rows = []
    for name, (src, dst) in PAIRS.items():
        found = overtaking(data, "sizes", UNROLLED, ERMS, src_offset=src, dst_offset=dst)
        at = [
            round(data.cycles("sizes", routine=routine, size=4096, src_offset=src, dst_offset=dst)) for routine in BOTH
        ]
        rows.append([name, f"{src}/{dst}", found.threshold or "never", f"{found.loss:.1%}", *at])
    columns = (
        "offsets", "src/dst", "break-even, B", "its loss",
        f"{UNROLLED} at 4096 B", f"{ERMS} at 4096 B",
    )  # fmt: skip
    return TableItem("alignments", "Break-even by alignment, warm", columns, rows)


def threshold_table(data: Data) -> TableItem:
    sizes, times = curves(data, "sizes", BOTH, **ALIGNED)
    choices = {"always unrolled": times[UNROLLED], "always ERMS": times[ERMS]}
    choices |= {f"ERMS from {t} B": data.curve(f"threshold-{t}", routine=DISPATCH)[1] for t in THRESHOLDS}
    best = [min(pair) for pair in zip(*times.values(), strict=True)]
    rows = []
    for name, cycles in choices.items():
        row: list[object] = [name]
        for first, last in ((1, 63), (64, 127), (128, 255), (256, 511), (512, 4096)):
            lost = [
                took / least - 1 for size, took, least in zip(sizes, cycles, best, strict=True) if first <= size <= last
            ]
            row.append(f"{statistics.mean(lost):.1%}")
        rows.append(row)
    columns = ("choice", "1 to 63 B", "64 to 127", "128 to 255", "256 to 511", "512 to 4096")
    caption = "Time lost against the better copy at each size (mean), the test itself included; both aligned, warm"
    return TableItem("thresholds", caption, columns, rows)


def findings(data: Data) -> dict[str, str]:
    found = overtaking(data, "sizes", UNROLLED, ERMS, **ALIGNED)
    surface = data.surfaces["startup"]
    values = {
        "threshold": f"{found.threshold}",
        "erms_least": f"{min(curves(data, 'sizes', BOTH, **ALIGNED)[1][ERMS]):.0f}",
        "unrolled_8": f"{data.cycles('sizes', routine=UNROLLED, size=8, **ALIGNED):.0f}",
        **{f"startup_{size}": f"{largest_at_most(surface, size)}" for size in (128, 256)},
    }
    rates = {}
    for routine in BOTH:
        long, half = (data.cycles("sizes", routine=routine, size=size, **ALIGNED) for size in (4096, 2175))
        rates[routine] = (4096 - 2175) / (long - half)
    return values | {"unrolled_rate": f"{rates[UNROLLED]:.1f}", "erms_rate": f"{rates[ERMS]:.1f}"}


def machines_figure(data: Data) -> Callable[[Path], object]:
    """The ratio of times over size on every processor."""

    def draw(path: Path) -> None:
        from breakeven.studies.ratio_panels import ratio_panels

        ratios, sizes, breaks = {}, FINE, {}
        for name, grid in {"broadwell": "sizes", **{name: name for name in OTHERS}}.items():
            where = ALIGNED if grid == "sizes" else {}
            sizes, times = curves(data, grid, BOTH, **where)
            ratios[name] = [a / b for a, b in zip(times[UNROLLED], times[ERMS], strict=True)]
            at = overtaking(data, grid, UNROLLED, ERMS, **where).threshold
            breaks |= {name: (at, f"{at} B")} if at and at > sizes[0] else {}
        ratio_panels(
            path, sizes, ratios, ("the unrolled copy", "ERMS"), breaks,
            title="The unrolled copy's time over that of ERMS",
            caption="Both aligned, warm, latency. Dotted: the break-evens.",
        )  # fmt: skip

    return draw


def pace_figure(data: Data) -> Callable[[Path], object]:
    """The break-even over the start-up, a curve for each pace."""

    def draw(path: Path) -> None:
        import math

        from breakeven.machine.words import axis_words
        from breakeven.output import plots

        found = data.surfaces["startup-pace"]
        starts, paces = found.parameters[STARTUP], found.parameters[PACE]
        sizes = [math.nan if size is None else size for size in thresholds_of(found)]
        by_pace = {
            f"{pace:g} bytes a cycle": [sizes[i * len(paces) + j] for i in range(len(starts))]
            for j, pace in enumerate(paces)
        }
        at = int(machine_value(BROADWELL, STARTUP))
        plots.lines(
            path, starts, by_pace, title="From which size on ERMS pays, by start-up and pace",
            xlabel=axis_words(BROADWELL, STARTUP), ylabel="break-even (bytes)", probed=list(range(len(starts))),
            marks=[(at, f"broadwell: {at} micro-ops, {machine_value(BROADWELL, PACE)} bytes a cycle")],
            caption="broadwell, both aligned, warm. No point: ERMS never stays ahead up to 2 KiB.",
        )  # fmt: skip

    return draw


def contents(data: Data) -> Contents:
    caption = "broadwell, both aligned, warm, latency."
    figures = [
        FigureItem(
            "sizes", "Cycles over size", sizes_figure(data, "sizes", BOTH, "Two user copies", caption, 1024, **ALIGNED)
        ),
        FigureItem(
            "startup",
            "The break-even over the string engine's start-up",
            surface_figure(data.surfaces["startup"], "From which size on ERMS pays"),
        ),
        FigureItem(
            "startup-pace",
            "The break-even over start-up and pace",
            pace_figure(data),
        ),
        FigureItem(
            "what-if",
            "Cycles of 64 bytes over the start-up",
            found_figure(data.found["startup-at-64"], "What if REP MOVSB started sooner? 64 bytes"),
        ),
        FigureItem("machines", "Ratio of times over size, other processors", machines_figure(data)),
    ]
    tables = [
        cycles_table(data, "cycles", f"Cycles/call; {caption}", "sizes", BOTH, SHOWN, **ALIGNED),
        alignment_table(data),
        threshold_table(data),
        others_table(data),
    ]
    flips = [
        found_flip(data.found[f"startup-at-{size}"], f"unrolled beats ERMS at {size} B (broadwell)", "what-if")
        for size in (64, 128, 256)
    ]
    return Contents(findings(data), tables, figures, flips)


def answer(data: Data) -> str:
    size = overtaking(data, "sizes", UNROLLED, ERMS, **ALIGNED).threshold
    wins = f"From {size} bytes on" if size else "From no size on"
    return f"{wins}; at 32 and 64 bytes the patch's copy takes {request(data, 'patch'):.2f} times what it replaced."


STUDY = Study(
    name="axboe2018",
    title="axboe2018: from which size on REP MOVSB pays in a user copy",
    grids=GRIDS,
    judge=judge,
    contents=contents,
    searches=SEARCHES,
    answer=answer,
)
