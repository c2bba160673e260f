"""tsukamoto2021: the RISC-V user copy that avoids misaligned accesses (linux-riscv, July 2021), on its own core and on
an out-of-order one. Here are the verdicts; `tsukamoto2021_grids` says what runs, `_report` and `_outoforder` tell it.
"""

from __future__ import annotations

import statistics

import tsukamoto2021_board as board
import tsukamoto2021_later as later
import tsukamoto2021_loads as loads
import tsukamoto2021_outoforder as outoforder
from tsukamoto2021_grids import (
    ALIGNED,
    ALIKE,
    GRIDS,
    LOADS,
    MISMATCHED,
    NEW,
    NOALIGN,
    OLD,
    PLACED,
    PLAIN,
    UNLEARNED,
    UNROLLED,
    WORD,
    driven_speed_up,
    implied,
    load_speed_up,
    published_shares,
    row_speed_up,
)
from tsukamoto2021_loads import from_memory
from tsukamoto2021_report import (
    break_evens,
    by_size,
    by_size_plot,
    calibration,
    class_plot,
    findings,
    offsets,
    packets,
    rates,
    shares,
    tails,
    unrolling,
    what_if,
    what_if_plot,
    winners_plot,
)

from breakeven.points.measurements import REPETITIONS
from breakeven.studies.overtaking import break_even
from breakeven.studies.study import (
    NOT_SIMULATED,
    TIE,
    Contents,
    Data,
    FigureItem,
    Study,
    Verdict,
    judge_fact,
    judge_ratio,
    judge_saving,
    judge_winner,
)


def judge(data: Data) -> list[Verdict]:
    return [
        judge_bytes(data),
        judge_traps(data),
        *judge_shares(data),
        *judge_throughput(data),
        judge_unroll(data),
        RV32,
    ]


def per_byte(data: Data, routine: str, src: int, dst: int, grid: str = "offsets") -> float:
    """Instructions a byte of a long copy."""
    at = {"routine": routine, "src_offset": src, "dst_offset": dst}
    rows = {size: data.select(grid, size=size, **at)["instructions"].iloc[0] for size in (2048, 4096)}
    return float(rows[4096] - rows[2048]) / 2048


def judge_bytes(data: Data) -> Verdict:
    alike = max(per_byte(data, OLD, s, d) for s, d in ALIKE)
    differing = min(per_byte(data, OLD, s, d) for s, d in MISMATCHED)
    return Verdict(
        "bytes-when-mismatched",
        "byte by byte when the low bits differ",
        f"{differing:.2f} instructions a byte when they differ, {alike:.2f} when they agree",
        judge_fact(differing >= 4 and alike <= 1),
        "A property of the routine, counted: a byte loop needs four instructions a byte or more, words less than one.",
    )


def trap_ratios(data: Data) -> list[float]:
    """Time of words that trap over the new copy's, at every point where an address is misaligned."""
    new = data.select("offsets", routine=NEW).set_index(["size", "src_offset", "dst_offset"])["cycles"]
    words = data.select("trap").set_index(["size", "src_offset", "dst_offset"])["cycles"]
    return [cycles / new[at] for at, cycles in words.items()]  # all of them trap


def judge_traps(data: Data) -> Verdict:
    ratios = trap_ratios(data)
    share, gain = sum(ratio > 1 for ratio in ratios) / len(ratios), statistics.median(ratios)
    return Verdict(
        "misaligned-traps",
        f"{NEW} wins over words that trap",
        f"wins {share:.1%} of the points; median {gain:.1f} times faster",
        judge_winner(share, gain),
        f"Sizes from 8 B on, all 63 pairs that are not both aligned. Below 8 B {NOALIGN} copies no word.",
    )


def judge_shares(data: Data) -> list[Verdict]:
    verdicts = []
    for claim, load in LOADS.items():
        before, after = published_shares(data, claim)
        published, simulated = implied(data, claim), row_speed_up(data, claim)
        others = ", ".join(f"{load_speed_up(data, claim, state):.2f} {state}" for state in PLACED)
        needed = from_memory(data, claim)
        cause = f" From {PLAIN}, it takes {needed:.0%} of the lines from memory to come out." if needed else ""
        note = "As driver and program move on, with what select copies."
        more = (
            f"{load.what}: {load.size} B, source at {load.src}, destination at {load.dst}. Without what select copies "
            f"{driven_speed_up(data, claim):.2f}. One copy by itself: {others}.{cause}"
        )
        shown = f"{before:.2%} to {after:.2%} of the CPU: {published:.2f} times faster"
        verdict = judge_ratio(published, simulated)
        verdicts.append(Verdict(claim, shown, f"{simulated:.2f} times faster", verdict, note, more))
    return verdicts


def judge_throughput(data: Data) -> list[Verdict]:
    """The share of time saved by what the copy's share of the CPU lets a faster copy save."""
    verdicts = []
    for direction in ("send", "recv"):
        claim, of = f"udp-{direction}-throughput", f"udp-{direction}-share"
        before, after = (float(v) for v in data.claims[claim].value.split("/"))
        share, _ = published_shares(data, of)
        saved = share - share / row_speed_up(data, of)
        verdicts.append(
            Verdict(
                claim,
                f"{before:.0f} to {after:.0f} Mbit/s: {1 - before / after:.1%} of the time saved",
                f"{before / (1 - saved):.0f} Mbit/s: {saved:.1%} saved",
                judge_saving(1 - before / after, saved),
                f"If the CPU limits the rate; the copy was {share:.1%} of it.",
            )
        )
    return verdicts


RV32 = Verdict("rv32", "no number", "-", NOT_SIMULATED, "The simulated processors are of 64 bits.")


def unrolled_wins(data: Data, grid: str) -> tuple[float, float, int | None]:
    """Share of the sizes from 64 B on at which the unrolled loop wins, median gain, and from where it stays ahead."""
    sizes, plain = data.curve(grid, routine=WORD, **ALIGNED)
    _, unrolled = data.curve(grid, routine=UNROLLED, **ALIGNED)
    found = break_even(sizes, (WORD, plain), (UNROLLED, unrolled))
    ratios = [a / b for size, a, b in zip(sizes, plain, unrolled, strict=True) if size >= 64]
    return sum(ratio > 1.01 for ratio in ratios) / len(ratios), statistics.median(ratios), found.stays


def judge_unroll(data: Data) -> Verdict:
    share, gain, stays = unrolled_wins(data, "classes")
    unlearned, _, _ = unrolled_wins(data, "unlearned")
    where = f"stays ahead from {stays} B" if stays else "does not stay ahead"
    return Verdict(
        "unroll-needed",
        f"{UNROLLED} wins over {WORD}",
        f"wins {share:.0%} of the sizes from 64 B on, {gain:.2f} times faster (median), {where}",
        judge_winner(share, gain),
        "Both aligned. 64 B is one iteration of the unrolled loop: below it there is nothing unrolled to run. After "
        f"{UNLEARNED} calls in place of {REPETITIONS} the predictor does not know the loops' ends yet, and it wins "
        f"{unlearned:.0%}.",
    )


def contents(data: Data) -> Contents:
    tables = [
        shares(data),
        loads.states_table(data),
        loads.profile_table(data),
        loads.memory_table(data),
        loads.latency_table(data),
        loads.far_table(data),
        board.bench_table(data),
        board.experiments_table(data),
        packets(data),
        by_size(data),
        break_evens(data),
        what_if(data),
        offsets(data),
        unrolling(data),
        calibration(data),
        outoforder.packet_table(data),
        outoforder.cold_table(data),
        outoforder.what_if_table(data),
        later.later_table(data),
    ]
    figures = [
        FigureItem("l2-latency", "Speed-up over the second level's latency", loads.latency_plot(data)),
        FigureItem(
            "speedup", "Speed-up over size from warm and cold caches, and the published shares", by_size_plot(data)
        ),
        FigureItem(
            "sizes-misaligned", "Times over size, source at 3 and destination aligned", class_plot(data, (3, 0))
        ),
        FigureItem("sizes-aligned", "Times over size, both aligned", class_plot(data, (0, 0))),
        FigureItem("what-if", "Cycles of a packet copy over the cost of one misaligned access", what_if_plot(data)),
        FigureItem("winners", "The fastest copy of a packet at every pair of offsets", winners_plot(data)),
        FigureItem("ooo-sizes", "Ratios over size, in order and out of order", outoforder.sizes_plot(data)),
    ]
    return Contents(
        {
            **rates(data),
            **tails(data),
            **findings(data),
            **loads.findings(data),
            **board.findings(data),
            **outoforder.findings(data),
        },
        tables,
        figures,
        later.flips(data),
    )


def answer(data: Data) -> str:
    gain, traps = row_speed_up(data, "tcp-recv-share"), statistics.median(trap_ratios(data))
    wins = "Yes" if min(gain, traps) > 1 + TIE else "No"
    return (
        f"{wins}: a TCP receive's copy gets {gain:.2f} times as fast as by bytes; words that trap take {traps:.0f} "
        "times as long."
    )


STUDY = Study(
    name="tsukamoto2021",
    title="tsukamoto2021: avoiding misaligned accesses in RISC-V's user copy",
    grids=GRIDS,
    judge=judge,
    contents=contents,
    answer=answer,
)
