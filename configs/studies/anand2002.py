"""anand2002: REP MOVSL or integer registers for the kernel's user copies (Linux kernel list, June 2002).
`anand2002_grids` says what runs, `anand2002_report` tells it; here are the verdicts.
"""

from __future__ import annotations

import statistics

from anand2002_grids import (
    CONDITION,
    CSUM,
    FLUSH,
    GRIDS,
    INTEL,
    MACHINES,
    MISALIGNED,
    MOVSL,
    PACKET,
    PENTIUM3,
    SEARCHES,
    SIZE_PAIRS,
    SRC8,
    STATES,
    TIMES,
    at_offsets,
)
from anand2002_report import (
    bus_table,
    dispatcher_table,
    findings,
    packet_table,
    queues_table,
    slowdowns,
    streamed,
    threshold_table,
    what_if_table,
    winners_figure,
)

from breakeven.studies.parts import found_figure, machine_value, overtaking, sizes_figure
from breakeven.studies.study import (
    NOT_SIMULATED,
    Contents,
    Data,
    FigureItem,
    Flip,
    Study,
    Verdict,
    judge_absolute,
    judge_ratio,
    judge_size,
    judge_winner,
)

#: claim -> why it is not simulated
LEFT_OUT = {
    "netperf": "Whole connections on two machines; there is neither a Pentium II nor a Pentium 4.",
    "katmai": "A preset is there, but the mail's times are not for one copy in a known state.",
}


def judge(data: Data) -> list[Verdict]:
    return [
        *(judge_time(data, claim, routine, misaligned) for claim, (routine, misaligned) in TIMES.items()),
        judge_threshold(data),
        judge_four(data),
        judge_amd(data),
        judge_choice(data),
        judge_checksum(data),
        *(Verdict(claim, data.claims[claim].value, "-", NOT_SIMULATED, why) for claim, why in LEFT_OUT.items()),
    ]


def judge_time(data: Data, claim: str, routine: str, misaligned: bool) -> Verdict:
    """Packet after packet through memory, a state of ours: the thread names none, but no cached copy is this slow, and
    it counts the bus's transfers, write-backs among them."""
    published = float(data.claims[claim].value)
    pairs = MISALIGNED if misaligned else [(0, 0)]
    cycles = {
        state: statistics.median(at[pair] for pair in pairs)
        for state in STATES
        for at in (at_offsets(data, "offsets", routine, state),)
    }
    stream = streamed(data, routine, misaligned)
    note = "Packet after packet, every line written back too (our state; the thread names none)."
    more = (
        f"A single one: warm {cycles['warm']:.0f}, source cold "
        f"{cycles['src-cold']:.0f}, destination cold {cycles['dst-cold']:.0f}, both {cycles['cold']:.0f}."
    )
    verdict = judge_absolute(published, stream)
    return Verdict(claim, f"{published:.0f} cycles", f"{stream:.0f} cycles", verdict, note, more)


def judge_threshold(data: Data) -> Verdict:
    found = {
        name: overtaking(data, "sizes", MOVSL, SRC8, src_offset=src, dst_offset=dst).threshold
        for name, (src, dst) in SIZE_PAIRS.items()
        if src % 8
    }
    sizes = [size for size in found.values() if size is not None]
    middle = statistics.median(sizes) if sizes else None
    return Verdict(
        "threshold",
        "64 B",
        f"{middle:.0f} B" if middle else "never",
        judge_size(64, middle),
        "Best dispatch size, median over the ways to be misaligned: "
        + ", ".join(f"{size or 'never'} {name}" for name, size in found.items())
        + f". {SRC8} itself asks for 64.",
    )


def judge_four(data: Data) -> Verdict:
    ratios = []
    for src in (4, 12):
        for size, movsl in zip(*data.curve("sizes", routine=MOVSL, src_offset=src, dst_offset=0), strict=True):
            if size >= 64:
                ratios.append(movsl / data.cycles("sizes", routine=INTEL, size=size, src_offset=src, dst_offset=0))
    share, gain = sum(ratio > 1 for ratio in ratios) / len(ratios), statistics.median(ratios)
    return Verdict(
        "align-4-and-12",
        f"{INTEL} wins",
        f"wins {share:.0%} of the sizes from 64 B on, {gain:.2f} times faster (median)",
        judge_winner(share, gain),
        "Source at 4 and 12, destination aligned, warm.",
    )


def judge_amd(data: Data) -> Verdict:
    ratios = []
    for size in sorted(set(data.tables["k7-sizes"]["size"])):
        at = {"routine": MOVSL, "size": size}
        aligned = data.cycles("k7-sizes", src_offset=0, dst_offset=0, **at)
        rows = data.select("k7-sizes", **at)
        ratios += [cycles / aligned for cycles in rows[rows["src_offset"] > 0]["cycles"]]
    ratio = statistics.median(ratios)
    pentium3 = at_offsets(data, "offsets", MOVSL, "warm")
    theirs = statistics.median(pentium3[pair] for pair in MISALIGNED) / pentium3[(0, 0)]
    return Verdict(
        "amd-no-artefact",
        "1.0 times the time when misaligned",
        f"{ratio:.2f} times",
        judge_ratio(1.0, ratio),
        f"k7, 64 B to 4 KiB, warm, median. The Pentium III: {theirs:.2f} times.",
    )


def judge_choice(data: Data) -> Verdict:
    every = slowdowns(data, "offsets")
    slow = statistics.median(every)
    return Verdict(
        "wrong-choice",
        "1.40 times slower",
        f"{slow:.2f} times slower",
        judge_ratio(1.40, slow),
        f"{MOVSL} or {INTEL}, the worse over the better: median of 64 pairs of offsets and four cache states, "
        f"{PACKET} B; at most "
        f"{max(every):.2f}.",
    )


def judge_checksum(data: Data) -> Verdict:
    ratios = {
        state: data.cycles("csum-and-copy", routine=CSUM, cache_state=state)
        / data.cycles("csum-and-copy", routine=INTEL, cache_state=state)
        for state in STATES
    }
    return Verdict(
        "csum-and-copy",
        "the same time (1 %, nil)",
        f"{ratios['warm']:.2f} times the time",
        judge_ratio(1.0, ratios["warm"]),
        f"{PACKET} B, source at 4, warm.",
        ", ".join(f"{ratio:.2f} {state}" for state, ratio in ratios.items() if state != "warm") + ".",
    )


def contents(data: Data) -> Contents:
    tables = [packet_table(data), bus_table(data), what_if_table(data), threshold_table(data)]
    tables += [dispatcher_table(data, name) for name in MACHINES] + [queues_table(data)]
    figures = [
        FigureItem("winners", "The fastest copy at every pair of offsets", winners_figure(data, "offsets")),
        FigureItem("winners-k7", "The same on a K7", winners_figure(data, "offsets-k7")),
        FigureItem(
            "sizes",
            "Cycles over size, source at 4",
            sizes_figure(
                data, "sizes", [MOVSL, INTEL, SRC8], "Source at 4, destination aligned",
                "pentium3, warm, latency.", 512, src_offset=4, dst_offset=0,
            ),
        ),
        FigureItem(
            "what-if",
            "Cycles of a packet over the alignment that fast strings ask for",
            found_figure(data.found["condition"], f"What if fast strings asked for less? {PACKET} B, source at 4"),
        ),
    ]  # fmt: skip
    leads = data.found["condition"].leads
    movsl, registers = leads.curves[MOVSL], leads.curves[INTEL]
    enough = [value for value, a, b in zip(leads.x, movsl, registers, strict=True) if a < b]
    flips = [
        Flip(
            f"registers beat REP MOVSL at {PACKET} bytes, source at 4 (pentium3)",
            CONDITION,
            machine_value(PENTIUM3, CONDITION),
            f"{max(enough):g} or less" if enough else "nowhere",
            "what-if",
        )
    ]
    return Contents(findings(data) | {"flush": FLUSH}, tables, figures, flips)


def answer(data: Data) -> str:
    movsl, registers = (streamed(data, routine, True) for routine in (MOVSL, INTEL))
    wins = "Yes" if movsl < registers else "No"
    return f"{wins}: it takes {movsl:.0f} cycles for {PACKET} bytes there, a loop of integer registers {registers:.0f}."


STUDY = Study(
    name="anand2002",
    title="anand2002: string instructions or registers for the user copies of the Pentium III",
    grids=GRIDS,
    judge=judge,
    contents=contents,
    searches=SEARCHES,
    answer=answer,
)
