"""The tables, the figures and the numbers of tsukamoto2021's report on the core that the patch was written for."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

from tsukamoto2021_grids import (
    ALIGNED,
    ALIKE,
    CLASSES,
    EMULATE,
    EMULATED,
    FINE,
    FREE_WORDS,
    LOADS,
    MEMCPY_SHARES,
    MISALIGNED,
    MISMATCHED,
    NEW,
    NOALIGN,
    OLD,
    PACKET,
    STATES,
    TRAPPING_WORDS,
    UNROLLED,
    WHAT_IF_PAIRS,
    WHAT_IF_SIZES,
    WORD,
    implied,
    packet_cycles,
    packet_speed_up,
    published_shares,
    speed_ups,
)

from breakeven.studies.overtaking import ahead_by, break_even
from breakeven.studies.parts import change_text, changes
from breakeven.studies.study import Data, TableItem, time_ratio_of_shares


def two(value: float) -> str:
    return f"{value:.2f}"


def shares(data: Data) -> TableItem:
    rows = []
    for claim, load in LOADS.items():
        (s0, s1), (m0, m1) = published_shares(data, claim), MEMCPY_SHARES[claim]
        by_memcpy = (s0 / m0) / (s1 / m1)
        ratio = f"{time_ratio_of_shares(s0, s1):.3f}"
        profile = [f"{value:.2%}" for value in (s0, s1, m0, m1)]
        rows.append([load.what, *profile, ratio, two(implied(data, claim)), two(by_memcpy)])
    columns = (
        "load", "user copy before", "after", "memcpy before", "after", "t1/t0", "times faster", "measured by memcpy"
    )  # fmt: skip
    return TableItem("shares", "Published shares and what they imply", columns, rows)


def rates(data: Data) -> dict[str, str]:
    """The second, independent way to the speed-up of UDP send: by throughput."""
    old, new = (float(v) for v in data.claims["udp-send-throughput"].value.split("/"))
    s0, s1 = published_shares(data, "udp-send-share")
    return {
        "udp_old": f"{old:.0f}",
        "udp_new": f"{new:.0f}",
        "udp_other": f"{((1 - s1) / new) / ((1 - s0) / old):.3f}",
        "udp_by_rate": two((s0 / old) / (s1 / new)),
        "udp_by_share": two(implied(data, "udp-send-share")),
    }


def packets(data: Data) -> TableItem:
    rows = []
    for state in STATES:
        cycles = [statistics.median(packet_cycles(data, r, state, s, d) for s, d in MISALIGNED) for r in (OLD, NEW)]
        everywhere = speed_ups(data, state, MISMATCHED)
        alike = statistics.median(speed_ups(data, state, ALIKE))
        ratios = (packet_speed_up(data, state), min(everywhere), max(everywhere), alike)
        rows.append([state, *(round(c) for c in cycles), *(two(v) for v in ratios)])
    columns = (
        "caches",
        f"{OLD} cycles",
        f"{NEW} cycles",
        "times faster (src 1..7, dst 0)",
        "least of the 56 differing pairs",
        "most",
        "same offset (median of 8)",
    )
    return TableItem("packet", f"A {PACKET}-byte copy by cache state, trapping u74", columns, rows)


def speed_up_curves(data: Data) -> tuple[list[int], dict[str, list[float]]]:
    sizes: list[int] = []
    curves = {}
    for state in STATES:
        sizes, old = data.curve("cold-sizes", routine=OLD, cache_state=state)
        _, new = data.curve("cold-sizes", routine=NEW, cache_state=state)
        curves[state] = [a / b for a, b in zip(old, new, strict=True)]
    return sizes, curves


def by_size(data: Data) -> TableItem:
    sizes, curves = speed_up_curves(data)
    rows = [[size, *(two(curves[state][i]) for state in STATES)] for i, size in enumerate(sizes)]
    return TableItem("speedup", "Speed-up by size, src+3, dst+0", ("bytes", *STATES), rows)


def by_size_plot(data: Data) -> Callable[[Path], object]:
    def draw(path: Path) -> None:
        from breakeven.output import plots

        sizes, curves = speed_up_curves(data)
        levels = [(implied(data, claim), f"published, {load.what}") for claim, load in LOADS.items()]
        plots.lines(
            path,
            sizes,
            curves,
            title=f"{OLD} time / {NEW} time",
            ylabel="times faster",
            log_x=True,
            levels=levels,
            caption="u74, misaligned accesses trap; src+3, dst+0. Dashed: implied by the published CPU shares.",
        )

    return draw


def class_curves(data: Data, pair: tuple[int, int]) -> tuple[list[int], dict[str, list[float]]]:
    """Every routine's curve at a pair of offsets; words whatever the alignment twice: trapping and free."""
    at = {"src_offset": pair[0], "dst_offset": pair[1]}
    sizes: list[int] = []
    curves = {}
    for routine in (OLD, NEW, WORD, UNROLLED):
        sizes, curves[routine] = data.curve("classes", routine=routine, **at)
    curves[FREE_WORDS] = data.curve("classes-free", **at)[1]
    trapped = {} if pair == (0, 0) else dict(zip(*data.curve("classes-trap", **at), strict=True))
    # Where nothing traps the two machines are one.
    both = zip(sizes, curves[FREE_WORDS], strict=True)
    curves[TRAPPING_WORDS] = [trapped.get(size, free) for size, free in both]
    return sizes, curves


def break_evens(data: Data) -> TableItem:
    everywhere = [(OLD, NEW), (TRAPPING_WORDS, NEW), (NEW, FREE_WORDS), (OLD, FREE_WORDS)]
    # Off the diagonal of offsets the aligned word copies are byte loops, as the 2017 routine is.
    diagonal = [(NEW, UNROLLED), (WORD, UNROLLED)]
    rows = []
    for name, pair in CLASSES.items():
        sizes, curves = class_curves(data, pair)
        for incumbent, challenger in everywhere + (diagonal if pair[0] == pair[1] else []):
            found = break_even(sizes, (incumbent, curves[incumbent]), (challenger, curves[challenger]))
            clearly = ahead_by(sizes, curves[incumbent], curves[challenger], 1.25) or "never"
            ratio = curves[incumbent][-1] / curves[challenger][-1]
            shown = [name, f"{pair[0]}/{pair[1]}", challenger, incumbent]
            rows.append([*shown, found.threshold or "never", f"{found.loss:.1%}", clearly, two(ratio)])
    columns = (
        "offsets",
        "src/dst",
        "challenger",
        "incumbent",
        "break-even, B",
        "its loss",
        "a quarter faster from",
        f"times faster at {FINE[-1]} B",
    )
    return TableItem("break-even", "Break-even sizes by offset class", columns, rows)


def class_plot(data: Data, pair: tuple[int, int]) -> Callable[[Path], object]:
    def draw(path: Path) -> None:
        from breakeven.output import plots

        sizes, curves = class_curves(data, pair)
        found = break_even(sizes, (OLD, curves[OLD]), (NEW, curves[NEW]))
        marks = [(found.threshold, f"break-even, 2021 over 2017: {found.threshold} B")] if found.threshold else []
        clearly = ahead_by(sizes, curves[OLD], curves[NEW], 1.25)
        if clearly and clearly != found.threshold:
            marks.append((clearly, f"by a quarter from {clearly} B on"))
        # Aligned, all are sawtooths that overlap: two of them, against the third, can be told apart.
        shown = (NEW, UNROLLED) if pair[0] == pair[1] else (NEW, TRAPPING_WORDS, FREE_WORDS)
        plots.lines(
            path,
            sizes,
            {name: [a / b for a, b in zip(curves[name], curves[OLD], strict=True)] for name in shown},
            title=f"source at {pair[0]}, destination at {pair[1]}: time over that of {OLD}",
            ylabel=f"time over that of {OLD}",
            log_x=True,
            log_y=True,
            levels=[(1.0, "below: faster")],
            marks=marks,
            caption="u74, warm, latency. 'trapping', 'free': misaligned accesses handled by firmware, by hardware.",
        )

    return draw


def tails(data: Data) -> dict[str, str]:
    """How often, and how badly, the 2021 routine loses on aligned copies."""
    sizes, curves = class_curves(data, (0, 0))
    ratios = [new / old for size, old, new in zip(sizes, curves[OLD], curves[NEW], strict=True) if size >= 72]
    behind = sum(ratio > 1.01 for ratio in ratios) / len(ratios)
    return {
        "fine_count": str(len(FINE)),
        "fine_last": str(FINE[-1]),
        "tail_share": f"{behind:.0%}",
        "tail_worst": two(max(ratios)),
    }


def what_if_curve(
    data: Data, size: int, pair: tuple[int, int], grid: str = "what-if"
) -> tuple[list[float], list[float]]:
    rows = data.select(grid, size=size, src_offset=pair[0], dst_offset=pair[1])
    rows = rows.assign(cost=rows[EMULATE].astype(float)).sort_values("cost")
    return list(rows["cost"]), list(rows["cycles"])


def what_if(data: Data) -> TableItem:
    rows = []
    for name, pair in WHAT_IF_PAIRS.items():
        for size in WHAT_IF_SIZES:
            cost, cycles = what_if_curve(data, size, pair)
            row: list[object] = [name, f"{pair[0]}/{pair[1]}", size]
            for rival in (NEW, OLD):
                level = data.cycles("offsets", routine=rival, size=size, src_offset=pair[0], dst_offset=pair[1])
                found = changes(cost, cycles, [level] * len(cost))
                never = "never" if cycles[0] < level else "always"
                row += [round(level), change_text(found[0]) if found else never]
            rows.append(row)
    columns = (
        "offsets",
        "src/dst",
        "bytes",
        f"{NEW} cycles",
        f"{NEW} wins from",
        f"{OLD} cycles",
        f"{OLD} wins from",
    )
    caption = "The cost of one misaligned access, in cycles, from which each user copy beats plain words"
    return TableItem("what-if", caption, columns, rows)


def what_if_plot(data: Data) -> Callable[[Path], object]:
    def draw(path: Path) -> None:
        from breakeven.machine.words import axis_words
        from breakeven.output import plots

        curves, spans = {}, []
        cost: list[float] = []
        for name, pair in (("one side misaligned", (3, 0)), ("both misaligned", (3, 5))):
            cost, cycles = what_if_curve(data, PACKET, pair)
            curves[f"{NOALIGN}, {name}"] = cycles
            for rival in (NEW, OLD):
                level = data.cycles("offsets", routine=rival, size=PACKET, src_offset=pair[0], dst_offset=pair[1])
                spans += [(*at, change_text(at)) for at in changes(cost, cycles, [level] * len(cost))]
                curves.setdefault(rival, [level] * len(cost))
        plots.lines(
            path,
            cost[1:],  # a logarithmic axis has no 0
            {name: curve[1:] for name, curve in curves.items()},
            log_x=True,
            log_y=True,
            spans=spans,
            title=f"What if a misaligned access cost less? {PACKET} bytes",
            xlabel=axis_words(EMULATED, EMULATE),
            caption="u74, misaligned accesses emulated at a fixed cost, warm. Grey: where two change places. "
            "One side: src+3, dst+0; both: src+3, dst+5. The user copies at dst+0.",
        )

    return draw


PANELS = {
    OLD: ("offsets", OLD),
    NEW: ("offsets", NEW),
    WORD: ("words", WORD),
    UNROLLED: ("words", UNROLLED),
    TRAPPING_WORDS: ("trap", NOALIGN),
    FREE_WORDS: ("free", NOALIGN),
}


def offset_grid(data: Data, panel: str):
    """Cycles of a packet, source offsets down, destination offsets across."""
    import numpy as np
    import pandas as pd

    grid, routine = PANELS[panel]
    rows = data.select(grid, routine=routine, size=PACKET)
    if panel == TRAPPING_WORDS:  # aligned, nothing traps: the machine is the free one
        rows = pd.concat([data.select("free", size=PACKET, **ALIGNED), rows])
    return rows.pivot(index="src_offset", columns="dst_offset", values="cycles").to_numpy(np.float64)


def offsets(data: Data) -> TableItem:
    rows = []
    for name in PANELS:
        cycles = sorted(offset_grid(data, name).ravel().tolist())
        rows.append([name, round(cycles[0]), round(statistics.median(cycles)), round(cycles[-1])])
    columns = ("routine", "least", "median", "most")
    return TableItem("offsets", f"{PACKET} bytes over the 64 pairs of offsets, cycles", columns, rows)


def winners_plot(data: Data) -> Callable[[Path], object]:
    """Which copy is fastest at each pair of offsets, where misaligned words trap and where they are free."""

    def draw(path: Path) -> None:
        from breakeven.studies.winner_map import winner_map

        aligned = {name: offset_grid(data, name) for name in (OLD, NEW, WORD, UNROLLED)}
        panels = {
            "misaligned words trap": {**aligned, NOALIGN: offset_grid(data, TRAPPING_WORDS)},
            "the hardware does them": {**aligned, NOALIGN: offset_grid(data, FREE_WORDS)},
        }
        winner_map(
            path,
            panels,
            title=f"Who wins, {PACKET} bytes at every pair of offsets",
            caption="u74, warm, latency. The number: times faster than the next.",
        )

    return draw


def unrolling(data: Data) -> TableItem:
    rows = []
    for size in (64, 72, 128, 256, 512, 1024, PACKET, 2048, 4096):
        plain, unrolled = (data.cycles("words", routine=r, size=size, **ALIGNED) for r in (WORD, UNROLLED))
        rows.append([size, round(plain), round(unrolled), two(plain / unrolled)])
    return TableItem("unroll", "Aligned copies, warm, cycles", ("bytes", WORD, UNROLLED, "times faster"), rows)


def slope(data: Data, grid: str, routine: str, **at: int) -> float:
    """Cycles per byte of a long copy."""
    long_copy, half = (data.cycles(grid, routine=routine, size=size, **at) for size in (4096, 2048))
    return (long_copy - half) / 2048


def calibration(data: Data) -> TableItem:
    misaligned = {"src_offset": 3, "dst_offset": 0}
    stores = {"src_offset": 0, "dst_offset": 3}
    load_cost, store_cost = (
        8 * (slope(data, "trap", NOALIGN, **at) - slope(data, "free", NOALIGN, **at)) for at in (misaligned, stores)
    )
    bench = "JH7110, ARM optimized-routines bench"
    forum = "forums.sifive.com 5530, taking its clock for 1.2 GHz"
    measured = [
        ("aligned words, unrolled, bytes a cycle", 2.65, 1 / slope(data, "words", UNROLLED, **ALIGNED), bench),
        ("misaligned 8-byte load, cycles", 710.0, load_cost, forum),
        ("misaligned 8-byte store, cycles", 683.0, store_cost, forum),
    ]
    rows = [[what, f"{real:g}", f"{ours:.3g}", two(ours / real), source] for what, real, ours, source in measured]
    columns = ("quantity", "hardware", "simulated", "simulated / hardware", "source")
    return TableItem("calibration", "Slopes between 2048 and 4096 bytes, warm", columns, rows)


def findings(data: Data) -> dict[str, str]:
    """The numbers in the closing discussion."""
    gains = [gain for state in STATES for gain in speed_ups(data, state, MISMATCHED)]
    trapping = (offset_grid(data, TRAPPING_WORDS) / offset_grid(data, NEW)).ravel()[1:]
    warm, cold = packet_speed_up(data, "warm"), packet_speed_up(data, "cold")
    free, new = (statistics.median(offset_grid(data, panel)[1:, 0].tolist()) for panel in (FREE_WORDS, NEW))
    return {
        "faster_count": str(sum(gain > 1 for gain in gains)),
        "combinations": str(len(gains)),
        "trap_least": f"{trapping.min():.0f}",
        "trap_most": f"{trapping.max():.0f}",
        "gain_warm": two(warm),
        "gain_cold": two(cold),
        "free_cycles": f"{free:.0f}",
        "new_cycles": f"{new:.0f}",
        "word_cycles": two(8 * slope(data, "words", WORD, **ALIGNED)),
        "unrolled_cycles": two(8 * slope(data, "words", UNROLLED, **ALIGNED)),
    }
