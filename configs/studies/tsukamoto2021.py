"""tsukamoto2021: the RISC-V user copy that avoids misaligned accesses (linux-riscv, July 2021), on the core it was measured on.

Grids, conditions and the pairing of claims with cache states are fixed here, before anything runs.
"""

from __future__ import annotations

import statistics
from pathlib import Path

from breakeven.crossings import break_even, crossings_along
from breakeven.runner import MachineSpec
from breakeven.study import (
    NOT_REPRODUCED,
    REPRODUCED,
    Data,
    FigureItem,
    Section,
    Study,
    TableItem,
    Verdict,
    judge_ratio,
    judge_winner,
    time_ratio_of_shares,
)
from breakeven.sweep import SweepSpec

OLD, NEW = "rv-copy-user-2017", "rv-copy-user-2021"
WORD, UNROLLED, NOALIGN = "rv-word", "rv-word-unrolled8", "rv-word-noalign"
POLICY = "cpu.misaligned.policy"
EMULATE = "cpu.misaligned.emulate_cycles"
TRAP = MachineSpec("u74", (f"{POLICY}=trap",))
FREE = MachineSpec("u74", (f"{POLICY}=hardware",))
EMULATED = MachineSpec("u74", (f"{POLICY}=emulate",))

PAIRS = [(src, dst) for src in range(8) for dst in range(8)]
#: a packet's payload at an Ethernet MTU of 1500
PACKET = 1448
SMALL = [1, 2, 4, 8, 16, 32, 64, 72, 128, 256, 512, 1024, PACKET, 2048, 4096]
LARGE = [8192, 16384, 32768, 65536]
FINE = [*range(1, 129), *range(136, 513, 8), *range(576, 2049, 64)]
#: one pair for each way in which source and destination can lie
CLASSES = {
    "both aligned": (0, 0),
    "misaligned alike": (3, 3),
    "source misaligned": (3, 0),
    "destination misaligned": (0, 3),
    "misaligned differently": (3, 5),
}
STATES = ("warm", "src-cold", "dst-cold", "cold")
COSTS = [*range(0, 21), *range(25, 101, 5), 125, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900, 1000]
WHAT_IF_SIZES = [64, 256, PACKET, 4096]

GRIDS = {
    "offsets": ("both user copies, every offset", SweepSpec([OLD, NEW], [TRAP], SMALL, offset_pairs=PAIRS)),
    "offsets-large": (
        "the same, large",
        SweepSpec([OLD, NEW], [TRAP], LARGE, offset_pairs=PAIRS, repetitions=1),
    ),
    "words": ("aligned word copies", SweepSpec([WORD, UNROLLED], [TRAP], SMALL, offset_pairs=PAIRS)),
    "trap": ("words whatever the alignment, trapping", SweepSpec([NOALIGN], [TRAP], SMALL, offset_pairs=PAIRS, repetitions=1)),
    "free": ("words whatever the alignment, free", SweepSpec([NOALIGN], [FREE], SMALL, offset_pairs=PAIRS)),
    "free-large": ("the same, large", SweepSpec([NOALIGN], [FREE], LARGE, offset_pairs=PAIRS, repetitions=1)),
    "large": (
        "large copies, one pair a class",
        SweepSpec([WORD, UNROLLED, NOALIGN], [TRAP], LARGE, offset_pairs=list(CLASSES.values()), repetitions=1),
    ),
    "classes": (
        "break-even sizes",
        SweepSpec([OLD, NEW, WORD, UNROLLED, NOALIGN], [TRAP], FINE, offset_pairs=list(CLASSES.values())),
    ),
    "classes-free": ("the same, free", SweepSpec([NOALIGN, NEW], [FREE], FINE, offset_pairs=list(CLASSES.values()))),
    "cold": (
        "a packet from cold caches, every offset",
        SweepSpec([OLD, NEW, UNROLLED], [TRAP], [PACKET], offset_pairs=PAIRS, cache_states=STATES[1:]),
    ),
    "cold-sizes": (
        "speed-up by size and cache state",
        SweepSpec(
            [OLD, NEW], [TRAP], [64, 128, 256, 512, 1024, PACKET, 4096, 16384, 65536],
            offset_pairs=[(0, 0), (3, 0)], cache_states=STATES, repetitions=1,
        ),
    ),
    "what-if": (
        "the cost of a trap as a number",
        SweepSpec(
            [NOALIGN], [EMULATED], WHAT_IF_SIZES, offset_pairs=[(3, 0), (0, 3), (3, 5)],
            parameters={EMULATE: [str(cost) for cost in COSTS]}, repetitions=1,
        ),
    ),
}  # fmt: skip

#: Which caches each published load copies from and to. Receive: the payload was written by a device that does not snoop
#: (u74, coherent_dma: no), and its checksum is the device's work, so the CPU sees it first in the copy. Send: the program
#: sends the same buffer again and again, into a fresh packet buffer.
SHARES = {
    "tcp-recv-share": ("src-cold", "TCP receive"),
    "tcp-send-share": ("dst-cold", "TCP send"),
    "udp-recv-share": ("src-cold", "UDP receive"),
    "udp-send-share": ("dst-cold", "UDP send"),
}


def published_shares(data: Data, claim: str) -> tuple[float, float]:
    """The CPU shares of a claim, as fractions."""
    before, after = data.claims[claim].value.split("/")
    return float(before) / 100, float(after) / 100


def packet_cycles(data: Data, routine: str, state: str, src: int, dst: int) -> float:
    grid = "offsets" if state == "warm" else "cold"
    return data.cycles(
        grid,
        routine=routine,
        size=PACKET,
        src_offset=src,
        dst_offset=dst,
        **({} if state == "warm" else {"cache_state": state}),
    )


def speed_ups(data: Data, state: str, pairs: list[tuple[int, int]]) -> list[float]:
    """Old time over new time of a packet at each pair of offsets."""
    return [packet_cycles(data, OLD, state, s, d) / packet_cycles(data, NEW, state, s, d) for s, d in pairs]


MISALIGNED = [(src, 0) for src in range(1, 8)]
MISMATCHED = [(src, dst) for src, dst in PAIRS if src != dst]


def packet_speed_up(data: Data, state: str) -> float:
    """The number that a published share is compared with: the median over misaligned sources, destination aligned."""
    return statistics.median(speed_ups(data, state, MISALIGNED))


# Verdicts


def judge(data: Data) -> list[Verdict]:
    return [judge_bytes(data), judge_traps(data), *judge_shares(data), judge_throughput(data), judge_unroll(data)]


def per_byte(data: Data, routine: str, src: int, dst: int, grid: str = "offsets") -> float:
    """Instructions a byte of a long copy."""
    at = {"routine": routine, "src_offset": src, "dst_offset": dst}
    rows = {size: data.select(grid, size=size, **at)["instructions"].iloc[0] for size in (2048, 4096)}
    return float(rows[4096] - rows[2048]) / 2048


def judge_bytes(data: Data) -> Verdict:
    alike = max(per_byte(data, OLD, o, o) for o in range(8))
    differing = min(per_byte(data, OLD, s, d) for s, d in MISMATCHED)
    bytewise = differing >= 4 and alike <= 1
    return Verdict(
        "bytes-when-mismatched", "byte by byte when the low bits differ",
        f"{differing:.2f} instructions a byte when they differ, {alike:.2f} when they agree",
        REPRODUCED if bytewise else NOT_REPRODUCED,
        "A property of the routine, counted: a byte loop needs at least four instructions a byte, words less than one.",
    )  # fmt: skip


def judge_traps(data: Data) -> Verdict:
    ratios = []
    for src, dst in PAIRS:
        if src == 0 and dst == 0:
            continue
        for size in [s for s in SMALL if s >= 8]:
            at = {"size": size, "src_offset": src, "dst_offset": dst}
            ratios.append(data.cycles("trap", **at) / data.cycles("offsets", routine=NEW, **at))
    share = sum(ratio > 1 for ratio in ratios) / len(ratios)
    gain = statistics.median(ratios)
    return Verdict(
        "misaligned-traps", f"{NEW} wins over words that trap", f"wins {share:.1%} of the points; median {gain:.1f} times faster",
        judge_winner(share, gain),
        f"Sizes from 8 bytes on, all 63 pairs that are not both aligned. Below 8 bytes {NOALIGN} has no word to copy and cannot trap.",
    )  # fmt: skip


def judge_shares(data: Data) -> list[Verdict]:
    verdicts = []
    for claim, (state, what) in SHARES.items():
        before, after = published_shares(data, claim)
        published = 1 / time_ratio_of_shares(before, after)
        simulated = packet_speed_up(data, state)
        others = ", ".join(f"{packet_speed_up(data, other):.2f} {other}" for other in STATES if other != state)
        span = [packet_speed_up(data, other) for other in STATES] + speed_ups(data, "warm", [(0, 0)])
        inside = "lies between" if min(span) <= published <= max(span) else "lies outside"
        verdicts.append(
            Verdict(
                claim, f"{before:.2%} to {after:.2%} of the CPU: {published:.2f} times faster",
                f"{simulated:.2f} times faster ({state})", judge_ratio(published, simulated),
                f"{what}, {PACKET} B, median over sources at 1..7. Other states: {others}; both aligned and warm: {span[-1]:.2f}. "
                f"The published number {inside} these.",
            )
        )  # fmt: skip
    return verdicts


def judge_throughput(data: Data) -> Verdict:
    before, after = (float(v) for v in data.claims["udp-send-throughput"].value.split("/"))
    share, _ = published_shares(data, "udp-send-share")
    state = SHARES["udp-send-share"][0]
    gain = 1 / (1 - share + share / packet_speed_up(data, state))
    return Verdict(
        "udp-send-throughput", f"{before:.0f} to {after:.0f} Mbit/s ({after / before:.3f} times)",
        f"{before * gain:.0f} Mbit/s ({gain:.3f} times)", judge_ratio(after / before, gain),
        f"Throughput that the simulated copy ({state}) gives when the copy was {share:.1%} of a CPU that limits the rate. "
        "15 % of a ratio this near to 1 is a weak test; the share itself is the sharper one.",
    )  # fmt: skip


def judge_unroll(data: Data) -> Verdict:
    sizes, plain = data.curve("classes", routine=WORD, src_offset=0, dst_offset=0)
    _, unrolled = data.curve("classes", routine=UNROLLED, src_offset=0, dst_offset=0)
    found = break_even(sizes, (WORD, plain), (UNROLLED, unrolled))
    ratios = [a / b for size, a, b in zip(sizes, plain, unrolled, strict=True) if size >= 64]
    share = sum(ratio > 1.01 for ratio in ratios) / len(ratios)
    where = f"stays ahead from {found.stays} B" if found.stays else "does not stay ahead"
    return Verdict(
        "unroll-needed", f"{UNROLLED} wins over {WORD}",
        f"wins {share:.0%} of the sizes from 64 B on, {statistics.median(ratios):.2f} times faster (median), {where}",
        judge_winner(share, statistics.median(ratios)),
        "Both aligned. 64 B is one turn of the unrolled loop: below it there is nothing unrolled to run.",
    )  # fmt: skip


# The report


def sections(data: Data) -> list[Section]:
    return [
        derivation(data), packets(data), mixture(data), by_size(data), break_evens(data), what_if(data), offsets(data),
        unrolling(data), calibration(data), disagreements(data),
    ]  # fmt: skip


def derivation(data: Data) -> Section:
    rows = []
    for claim, (_, what) in SHARES.items():
        s0, s1 = published_shares(data, claim)
        ratio = time_ratio_of_shares(s0, s1)
        rows.append([what, f"{s0:.2%}", f"{s1:.2%}", f"{ratio:.3f}", f"{1 / ratio:.2f}"])
    old, new = (float(v) for v in data.claims["udp-send-throughput"].value.split("/"))
    s0, s1 = published_shares(data, "udp-send-share")
    other = ((1 - s1) / new) / ((1 - s0) / old)
    by_rate = (s0 / old) / (s1 / new)
    return Section(
        "What the published shares say about one copy",
        [
            "The patch was published with shares of CPU time, not with times of a copy. If the copy takes t and all other work w "
            "for the same payload, its share is s = t / (t + w), so t = w s / (1 - s). With the same w before and after, "
            "t1/t0 = (s1 / (1 - s1)) / (s0 / (1 - s0)):",
            TableItem(
                "shares",
                "Published shares and what they imply",
                ("load", "before", "after", "t1/t0", "times faster"),
                rows,
            ),
            "**The assumption** is that everything but the copy costs the same per byte before and after, and that the profile covers "
            "all CPU time. UDP send lets us check it, because its throughput was published too "
            f"({old:.0f} to {new:.0f} Mbit/s): were the CPU busy all the time, other work per byte after is {other:.3f} of what it was before "
            f"(1.000 under the assumption), and the copy is {by_rate:.2f} times faster by rates against {1 / time_ratio_of_shares(s0, s1):.2f} by "
            "shares alone. The two agree, so the assumption holds for UDP send. For TCP it is less safe: a faster receiver "
            "changes the number of acknowledgements, of interrupts and of bytes per segment batch, and idle time moves.",
            "A share averages over **all** copies of the load: packets of every size and alignment, aligned ones too, from whatever cache they lay in. "
            "What follows is one copy at a time under known conditions; the two need not be equal, and where they differ we say why.",
        ],
    )


def packets(data: Data) -> Section:
    rows = []
    for state in STATES:
        few, all_pairs = speed_ups(data, state, MISALIGNED), speed_ups(data, state, MISMATCHED)
        alike = speed_ups(data, state, [(o, o) for o in range(8)])
        cycles = [statistics.median(packet_cycles(data, r, state, s, d) for s, d in MISALIGNED) for r in (OLD, NEW)]
        rows.append(
            [state, round(cycles[0]), round(cycles[1]), *(f"{v:.2f}" for v in (
                statistics.median(few), min(all_pairs), max(all_pairs), statistics.median(alike)))]
        )  # fmt: skip
    columns = (
        "caches", f"{OLD} cycles", f"{NEW} cycles", "times faster (src 1..7, dst 0)", "least of the 56 differing pairs",
        "most", "same offset (median of 8)",
    )  # fmt: skip
    return Section(
        f"One copy of {PACKET} bytes, {OLD} against {NEW}",
        [
            TableItem("packet", f"Speed-up of a {PACKET}-byte copy by cache state, trapping u74", columns, rows),
            "The old routine copies byte by byte whenever the low bits of source and destination differ; the new one shifts aligned words "
            "together. From warm caches that is the whole difference. From cold ones both wait for the same lines of memory, and the ratio shrinks.",
        ],
    )


def mixture(data: Data) -> Section:
    rows = []
    for claim, (_, what) in SHARES.items():
        ratio = time_ratio_of_shares(*published_shares(data, claim))
        row = [what, f"{1 / ratio:.2f}"]
        for state in STATES:
            old, new = (
                statistics.median(packet_cycles(data, r, state, s, d) for s, d in MISALIGNED) for r in (OLD, NEW)
            )
            old_aligned, new_aligned = (packet_cycles(data, r, state, 0, 0) for r in (OLD, NEW))
            share = (ratio * old_aligned - new_aligned) / ((new - new_aligned) - ratio * (old - old_aligned))
            row.append(f"{share:.0%}" if 0 <= share <= 1 else "none")
        rows.append(row)
    return Section(
        "How many copies must have been misaligned",
        [
            "If a load is a mixture of aligned and misaligned copies of packet size, the published ratio fixes the share of misaligned ones. "
            "*None*: no mixture in that cache state gives the published number.",
            TableItem(
                "mixture", "Share of copies with a misaligned source that would give the published speed-up",
                ("load", "published speed-up", *STATES), rows,
            ),
        ],
    )  # fmt: skip


def by_size(data: Data) -> Section:
    curves = {}
    for state in STATES:
        at = {"cache_state": state, "src_offset": 3, "dst_offset": 0}
        sizes, old = data.curve("cold-sizes", routine=OLD, **at)
        _, new = data.curve("cold-sizes", routine=NEW, **at)
        curves[state] = [a / b for a, b in zip(old, new, strict=True)]
    levels = [
        (1 / time_ratio_of_shares(*published_shares(data, claim)), f"published, {what}")
        for claim, (_, what) in SHARES.items()
    ]

    def draw(path: Path) -> None:
        from breakeven import plots

        plots.lines(
            path, sizes, curves, title=f"{OLD} time / {NEW} time", ylabel="times faster", log_x=True, levels=levels,
            caption="u74, misaligned accesses trap; src+3, dst+0. Dashed: speed-ups implied by the published CPU shares.",
        )  # fmt: skip

    rows = [[size, *(f"{curves[state][i]:.2f}" for state in STATES)] for i, size in enumerate(sizes)]
    return Section(
        "Speed-up by size and cache state",
        [
            FigureItem("speedup", "Speed-up over size from warm and cold caches, against the published shares", draw),
            TableItem("speedup", "Speed-up by size, src+3 dst+0", ("bytes", *STATES), rows),
        ],
    )


def class_curves(data: Data, pair: tuple[int, int]) -> tuple[list[int], dict[str, list[float]]]:
    """Every routine's curve at a pair of offsets; words whatever the alignment twice: trapping and free."""
    at = {"src_offset": pair[0], "dst_offset": pair[1]}
    curves = {}
    for routine in (OLD, NEW, WORD, UNROLLED):
        sizes, curves[routine] = data.curve("classes", routine=routine, **at)
    curves[f"{NOALIGN} (trapping)"] = data.curve("classes", routine=NOALIGN, **at)[1]
    curves[f"{NOALIGN} (free)"] = data.curve("classes-free", routine=NOALIGN, **at)[1]
    return sizes, curves


def break_evens(data: Data) -> Section:
    challenges = [
        (OLD, NEW), (f"{NOALIGN} (trapping)", NEW), (NEW, f"{NOALIGN} (free)"), (OLD, f"{NOALIGN} (free)"),
        (NEW, UNROLLED), (WORD, UNROLLED),
    ]  # fmt: skip
    rows = []
    for name, pair in CLASSES.items():
        sizes, curves = class_curves(data, pair)
        for incumbent, challenger in challenges:
            found = break_even(sizes, (incumbent, curves[incumbent]), (challenger, curves[challenger]))
            ratio = curves[incumbent][-1] / curves[challenger][-1]
            rows.append([
                name, f"{pair[0]}/{pair[1]}", challenger, incumbent, found.first or "never", found.stays or "never",
                found.threshold or "never", f"{found.loss:.1%}", f"{ratio:.2f}",
            ])  # fmt: skip
    columns = (
        "offsets", "src/dst", "challenger", "incumbent", "first ahead at", "ahead for good from", "best dispatch size",
        "its loss", f"times faster at {FINE[-1]} B",
    )  # fmt: skip

    def draw(pair: tuple[int, int], title: str):
        def drawn(path: Path) -> None:
            from breakeven import plots

            sizes, curves = class_curves(data, pair)
            plots.lines(
                path, sizes, curves, title=title, log_x=True, log_y=True,
                caption=f"u74, src+{pair[0]}, dst+{pair[1]}, warm, latency. 'free': misaligned accesses in hardware.",
            )  # fmt: skip

        return drawn

    return Section(
        "Break-even sizes",
        [
            f"Warm, latency, at every size from 1 to {FINE[-1]} bytes of the grid `classes`. A routine is ahead when it is more than "
            "1 % faster. The best dispatch size is the one threshold that loses least against always choosing right; its loss is the "
            "mean over the sizes measured.",
            TableItem("break-even", "Break-even sizes by offset class", columns, rows),
            FigureItem("sizes-misaligned", "Source misaligned", draw((3, 0), "source at 3, destination aligned")),
            FigureItem("sizes-aligned", "Both aligned", draw((0, 0), "source and destination aligned")),
        ],
    )


def what_if_curve(data: Data, size: int, pair: tuple[int, int]) -> tuple[list[float], list[float]]:
    rows = data.select("what-if", size=size, src_offset=pair[0], dst_offset=pair[1])
    rows = rows.assign(cost=rows[EMULATE].astype(float)).sort_values("cost")
    return list(rows["cost"]), list(rows["cycles"])


def what_if(data: Data) -> Section:
    pairs = {"source misaligned": (3, 0), "destination misaligned": (0, 3), "misaligned differently": (3, 5)}
    rows = []
    for name, pair in pairs.items():
        for size in WHAT_IF_SIZES:
            cost, cycles = what_if_curve(data, size, pair)
            row = [name, f"{pair[0]}/{pair[1]}", size]
            for rival in (NEW, OLD):
                level = data.cycles("offsets", routine=rival, size=size, src_offset=pair[0], dst_offset=pair[1])
                found = crossings_along(cost, cycles, [level] * len(cost))
                row += [round(level), f"{found[0]:.1f}" if found else "never" if cycles[0] < level else "0"]
            rows.append(row)
    columns = (
        "offsets",
        "src/dst",
        "bytes",
        f"{NEW} cycles",
        "trap cost at which it wins",
        f"{OLD} cycles",
        "trap cost at which it wins",
    )

    def draw(path: Path) -> None:
        from breakeven import plots

        curves, marks = {}, []
        for name, pair in (("one side misaligned", (3, 0)), ("both misaligned", (3, 5))):
            cost, cycles = what_if_curve(data, PACKET, pair)
            curves[f"{NOALIGN}, {name}"] = cycles
            for rival in (NEW, OLD):
                level = data.cycles("offsets", routine=rival, size=PACKET, src_offset=pair[0], dst_offset=pair[1])
                marks += [(at, f"{at:.0f}") for at in crossings_along(cost, cycles, [level] * len(cost))]
                if pair == (3, 0):
                    curves[rival] = [level] * len(cost)
        shown = slice(1, None)  # a logarithmic axis has no 0
        plots.lines(
            path, cost[shown], {name: curve[shown] for name, curve in curves.items()}, log_x=True, log_y=True, marks=marks,
            title=f"What if a misaligned access cost less? {PACKET} bytes", xlabel="cycles for one misaligned access",
            caption=f"u74 with misaligned accesses emulated at a fixed cost (cpu.misaligned.emulate_cycles); src+3, dst+0 and dst+5; warm. {OLD} and {NEW} at dst+0.",
        )  # fmt: skip

    return Section(
        "At which trap cost does shift-and-merge stop paying?",
        [
            f"`{EMULATE}` gives every misaligned access a fixed cost in place of the handler. Left of the first crossing the plain word "
            "loop wins and the 2021 routine's shifting is wasted work; right of the second even a byte loop beats words that trap.",
            FigureItem("what-if", "Cycles of a packet copy over the cost of one misaligned access", draw),
            TableItem(
                "what-if",
                "Trap cost, in cycles for one access, from which each user copy beats plain words",
                columns,
                rows,
            ),
        ],
    )


def offset_grid(data: Data, grid: str, routine: str):
    import numpy as np

    return np.array([
        [data.cycles(grid, routine=routine, size=PACKET, src_offset=s, dst_offset=d) for d in range(8)] for s in range(8)
    ])  # fmt: skip


def offsets(data: Data) -> Section:
    panels = {
        OLD: ("offsets", OLD), NEW: ("offsets", NEW), WORD: ("words", WORD), UNROLLED: ("words", UNROLLED),
        f"{NOALIGN} (trapping)": ("trap", NOALIGN), f"{NOALIGN} (free)": ("free", NOALIGN),
    }  # fmt: skip
    grids = {name: offset_grid(data, grid, routine) for name, (grid, routine) in panels.items()}

    def heat(path: Path) -> None:
        from breakeven import plots

        plots.heat_maps(
            path, grids, title=f"{PACKET} bytes at every pair of offsets", log=True,
            caption="u74, warm, latency, cycles per call; one logarithmic grey scale, darker is slower.",
        )  # fmt: skip

    def ratio(path: Path) -> None:
        from breakeven import plots

        plots.heat_maps(
            path, {"2017 / 2021": grids[OLD] / grids[NEW], "trapping words / 2021": grids[f"{NOALIGN} (trapping)"] / grids[NEW],
                   "2021 / free words": grids[NEW] / grids[f"{NOALIGN} (free)"]},
            title=f"Time ratios at {PACKET} bytes", digits=1, log=True, unit="ratio of times",
            caption="u74, warm, latency. Above 1: the routine named second is faster.",
        )  # fmt: skip

    rows = [
        [name, round(grid.min()), round(float(statistics.median(grid.ravel().tolist()))), round(grid.max())]
        for name, grid in grids.items()
    ]
    return Section(
        "All 8x8 offsets",
        [
            FigureItem("offsets", "Cycles of a packet copy at every pair of offsets", heat),
            FigureItem("offset-ratios", "Who is faster at every pair of offsets", ratio),
            TableItem("offsets", f"{PACKET} bytes over the 64 pairs, cycles", ("routine", "least", "median", "most"), rows),
            f"{OLD}, {WORD} and {UNROLLED} are quick on the diagonal only, where source and destination agree in their low three bits; "
            f"{NEW} is quick everywhere. Sizes to 64 KiB stand in `data-offsets.csv`, `data-offsets-large.csv`, `data-free-large.csv` and `data-large.csv`.",
        ],
    )  # fmt: skip


def unrolling(data: Data) -> Section:
    at = {"src_offset": 0, "dst_offset": 0}
    rows = []
    for size in (64, 72, 128, 256, 512, 1024, PACKET, 2048, 4096):
        plain, unrolled = (data.cycles("words", routine=r, size=size, **at) for r in (WORD, UNROLLED))
        rows.append([size, round(plain), round(unrolled), f"{plain / unrolled:.2f}"])
    slopes = [
        (data.cycles("words", routine=r, size=4096, **at) - data.cycles("words", routine=r, size=2048, **at)) / 256
        for r in (WORD, UNROLLED)
    ]
    return Section(
        "Is unrolling needed?",
        [
            f"A word costs {slopes[0]:.2f} cycles in the plain loop and {slopes[1]:.2f} in the unrolled one: the plain loop stores what it loaded "
            "in the instruction before, and waits for the load each turn, as the patch says.",
            TableItem("unroll", "Aligned copies, warm, cycles", ("bytes", WORD, UNROLLED, "times faster"), rows),
        ],
    )


def trap_cost(data: Data, src: int, dst: int) -> float:
    """Cycles that one trapping 8-byte access costs beyond a free one."""
    cost = []
    for size in (2048, 4096):
        at = {"routine": NOALIGN, "size": size, "src_offset": src, "dst_offset": dst}
        cost.append(data.cycles("trap", **at) - data.cycles("free", **at))
    return (cost[1] - cost[0]) / 256


def calibration(data: Data) -> Section:
    def slope(grid: str, routine: str, src: int) -> float:
        at = {"routine": routine, "src_offset": src, "dst_offset": 0}
        return (data.cycles(grid, size=4096, **at) - data.cycles(grid, size=2048, **at)) / 2048

    measured = [
        (
            "byte loop, cycles a byte",
            7.5,
            slope("offsets", OLD, 3),
            "JH7110, ARM optimized-routines bench (lb, addi, sb, addi, bltu)",
        ),
        (
            "shift-and-merge, cycles for 8 bytes",
            10.5,
            8 * slope("offsets", NEW, 3),
            "JH7110, same; 512 B, another loop of the same kind",
        ),
        (
            "unrolled aligned words, bytes a cycle",
            2.65,
            1 / slope("words", UNROLLED, 0),
            "JH7110, same; 16 words a turn at 16 KB",
        ),
        ("misaligned 8-byte load, cycles", 710.0, trap_cost(data, 3, 0), "forums.sifive.com 5530 (592 ns at 1.2 GHz)"),
        ("misaligned 8-byte store, cycles", 683.0, trap_cost(data, 0, 3), "forums.sifive.com 5530 (569 ns at 1.2 GHz)"),
    ]
    rows = [[what, f"{real:g}", f"{ours:.3g}", f"{ours / real:.2f}", source] for what, real, ours, source in measured]
    return Section(
        "How near is the simulated core to the real one?",
        [
            "The same machine against what others measured on boards with this core, independent of the patch. Nothing in the study was fitted to the claims above.",
            TableItem(
                "calibration",
                "Slopes between 2048 and 4096 bytes, warm",
                ("quantity", "hardware", "simulated", "ratio", "source"),
                rows,
            ),
        ],
    )


def disagreements(data: Data) -> Section:
    warm, cold = packet_speed_up(data, "warm"), packet_speed_up(data, "cold")
    published = {claim: 1 / time_ratio_of_shares(*published_shares(data, claim)) for claim in SHARES}
    big = [published[c] for c in published if c != "tcp-send-share"]
    aligned = speed_ups(data, "warm", [(0, 0)])[0]
    free = [data.cycles("free", size=PACKET, src_offset=s, dst_offset=0) for s in range(1, 8)]
    new = [data.cycles("offsets", routine=NEW, size=PACKET, src_offset=s, dst_offset=0) for s in range(1, 8)]
    return Section(
        "Where it agrees, where not, and why",
        [
            f"- **Direction and mechanism agree.** {NEW} beats {OLD} at all misaligned packets in all four cache states, and words that trap lose by two orders of magnitude.\n"
            f"- **Size of the gain.** The shares imply {min(big):.2f} to {max(big):.2f} for three of the loads; one simulated packet copy gains {warm:.2f} from warm caches and "
            f"{cold:.2f} when neither side is cached. The published loads lie between: real payloads are neither all in L1 nor all in memory, and not all of them are misaligned (table above). "
            "The share of each is not published, so the simulation cannot be more exact than this bracket.\n"
            f"- **TCP send** ({published['tcp-send-share']:.2f}) gains far less than a misaligned copy can. Senders copy from a page-aligned buffer into page fragments, so most copies are aligned alike; there the gain is "
            f"{aligned:.2f}, from unrolling alone. The row's *misaligned* offset does not describe this load well.\n"
            f"- **On a core with free misaligned access** the same packet takes {statistics.median(free):.0f} cycles in a plain word loop that is not even unrolled, against {statistics.median(new):.0f} for {NEW}: the shifting "
            "that is right on the u74 is wrong there, as later kernels acknowledge by testing for fast misaligned access.\n"
            "- **Not simulated:** the network stack, interrupts, DMA, other cores' traffic, and the frequency of page faults. The copy runs in supervisor mode under Sv39 with 4 KiB pages, as in the kernel; the misaligned-access handler "
            "really runs in machine mode, but its code is ours, not OpenSBI's.",
        ],
    )


STUDY = Study(
    name="tsukamoto2021",
    title="tsukamoto2021: avoiding misaligned accesses in RISC-V's user copy",
    introduction=(
        "A. Tsukamoto, *riscv: __asm_copy_to-from_user: Optimize unaligned memory access and pipeline stall*, linux-riscv, 2021-07-19 (v4), replaced the kernel's "
        "user copy on a dual-issue in-order core that traps on every misaligned access. Here both versions and three word loops run, simulated cycle by cycle, on a "
        "model of that core (`u74`: SiFive U74 as in the BeagleV beta's JH7100), at all 8x8 offsets, from warm and cold caches, with the trap's handler really running and with misaligned access free."
    ),
    grids=GRIDS,
    judge=judge,
    sections=sections,
)
