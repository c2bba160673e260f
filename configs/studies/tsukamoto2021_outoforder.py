"""The chapter of tsukamoto2021's report on an out-of-order core: what remains of the patch's gain there."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

from tsukamoto2021_grids import (
    CLASSES,
    MISMATCHED,
    NEW,
    NOALIGN,
    OLD,
    PACKET,
    STATES,
    WHAT_IF_PAIRS,
    packet_cycles,
    speed_ups,
)
from tsukamoto2021_report import two, what_if_curve

from breakeven.studies.parts import change_text, changes
from breakeven.studies.study import Data, TableItem


def _cycles(data: Data, routine: str, size: int, pair: tuple[int, int], state: str = "warm") -> float:
    at = {"routine": routine, "size": size, "src_offset": pair[0], "dst_offset": pair[1]}
    return data.cycles("ooo-sizes", **at) if state == "warm" else data.cycles("ooo-cold", **at, cache_state=state)


def packet_table(data: Data) -> TableItem:
    rows = []
    for name, pair in CLASSES.items():
        in_order = [packet_cycles(data, routine, "warm", *pair) for routine in (OLD, NEW)]
        old, new, words = (_cycles(data, routine, PACKET, pair) for routine in (OLD, NEW, NOALIGN))
        shown = [name, f"{pair[0]}/{pair[1]}", *map(round, in_order), two(in_order[0] / in_order[1])]
        rows.append([*shown, *map(round, (old, new, words)), two(old / new), two(new / words)])
    columns = (
        "offsets",
        "src/dst",
        "u74: 2017",
        "u74: 2021",
        "2021 times faster",
        "c910: 2017",
        "c910: 2021",
        f"c910: {NOALIGN}",
        "2021 times faster than 2017",
        "words times faster than 2021",
    )
    return TableItem("ooo", f"{PACKET} bytes, warm, cycles: in order and out of order", columns, rows)


def cold_table(data: Data) -> TableItem:
    rows = []
    for name, pair in CLASSES.items():
        row: list[object] = [name, f"{pair[0]}/{pair[1]}"]
        for state in STATES:
            old, new, words = (_cycles(data, routine, PACKET, pair, state) for routine in (OLD, NEW, NOALIGN))
            row += [two(old / new), two(new / words)]
        rows.append(row)
    columns = ["offsets", "src/dst"]
    for state in STATES:
        columns += [f"{state}: 2021 over 2017", f"{state}: words over 2021"]
    return TableItem("ooo-cold", f"c910: times faster by cache state, {PACKET} bytes", columns, rows)


PRICES = (0, 1, 10, 100)


def what_if_table(data: Data) -> TableItem:
    rows = []
    for name, pair in WHAT_IF_PAIRS.items():
        cost, cycles = what_if_curve(data, PACKET, pair)
        found = changes(cost, cycles, [packet_cycles(data, NEW, "warm", *pair)] * len(cost))
        new = data.cycles("ooo", routine=NEW, src_offset=pair[0], dst_offset=pair[1])
        priced = dict(zip(*what_if_curve(data, PACKET, pair, "ooo-what-if"), strict=True))
        shown = [name, f"{pair[0]}/{pair[1]}", change_text(found[0]) if found else "never", round(new)]
        rows.append([*shown, *(round(priced[price]) for price in PRICES)])
    words = (f"c910: {NOALIGN}, {price} cycles each" for price in PRICES)
    columns = ("offsets", "src/dst", "u74: 2021 wins from", "c910: 2021", *words)
    return TableItem("ooo-what-if", f"A price on each misaligned access, {PACKET} bytes, cycles", columns, rows)


def sizes_plot(data: Data) -> Callable[[Path], object]:
    def draw(path: Path) -> None:
        from breakeven.output import plots

        at = {"src_offset": 3, "dst_offset": 0}
        sizes, old = data.curve("ooo-sizes", routine=OLD, **at)
        new, words = (data.curve("ooo-sizes", routine=routine, **at)[1] for routine in (NEW, NOALIGN))
        in_order = [data.curve("offsets", routine=routine, **at)[1] for routine in (OLD, NEW)]
        curves = {
            "u74: 2017 / 2021": [a / b for a, b in zip(*in_order, strict=True)],
            "c910: 2017 / 2021": [a / b for a, b in zip(old, new, strict=True)],
            "c910: 2021 / words": [a / b for a, b in zip(new, words, strict=True)],
        }
        plots.lines(
            path,
            sizes,
            curves,
            title="Time ratios in order and out of order",
            ylabel="ratio of times",
            log_x=True,
            caption="src+3, dst+0, warm, latency. Above 1: the routine named second is faster.",
        )

    return draw


def findings(data: Data) -> dict[str, str]:
    def grid(routine: str) -> dict[tuple[int, int], float]:
        rows = data.select("ooo", routine=routine)
        return {(int(r.src_offset), int(r.dst_offset)): float(r.cycles) for r in rows.itertuples()}

    old, new, words = grid(OLD), grid(NEW), grid(NOALIGN)
    gains = [old[pair] / new[pair] for pair in MISMATCHED]
    over_new = [new[pair] / words[pair] for pair in MISMATCHED]
    return {
        "ooo_least": two(min(gains)),
        "ooo_most": two(max(gains)),
        "ooo_median": two(statistics.median(gains)),
        "in_order_median": two(statistics.median(speed_ups(data, "warm", MISMATCHED))),
        "ooo_words_wins": str(sum(ratio > 1.01 for ratio in over_new)),
        "ooo_words_median": two(statistics.median(over_new)),
    }
