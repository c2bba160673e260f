"""The core beside a board's own benchmark, call for call, and what follows for the published loads: their copies with
the board's loops, and with the driver and the program moving on from buffer to buffer."""

from __future__ import annotations

import math
from collections.abc import Callable

from tsukamoto2021_grids import (
    BENCH_SIZES,
    CROCE,
    LOADS,
    NEW,
    OLD,
    PACKET,
    PLAIN,
    UCB,
    driven_cycles,
    driven_speed_up,
    implied,
    load_cycles,
    load_speed_up,
    row_cycles,
    row_speed_up,
)
from tsukamoto2021_loads import CROCE_AFTER

from breakeven.studies.published import load_measurements
from breakeven.studies.study import REPRODUCED, Data, TableItem, judge_ratio

#: J. Zhang, linux-riscv, 2024-01-28 (1/3), JH7110 at 1.5 GHz, Arm's optimized-routines benchmark: `memcpy(b + 3, a + 1,
#: n)` again and again ("Unaligned medium memcpy"), in bytes a nanosecond by size; the kernel's routine and the patch's
#: (measurements.csv)
BENCH = {
    name: {
        int(row["size"]): float(row["value"])
        for row in load_measurements()
        if (row["machine"], row["routine"], row["src_offset"]) == ("u74", name, "1")
    }
    for name in (UCB, CROCE)
}
BENCH_GHZ = 1.5
#: bytes that an iteration of the routine's loop copies there
STEP = {UCB: 1, CROCE: 8}

#: M. Croce's TCP receive with the driver's copy by shift-and-merge, Mbit/s (MC-1); the JH7100 has two cores, at 1 GHz
CROCE_MBIT, CORES, CLOCK_MHZ = 897, 2, 1000


def measured_cycles(routine: str, size: int) -> float:
    """Cycles of one call on the JH7110."""
    return size * BENCH_GHZ / BENCH[routine][size]


def turn_cycles(data: Data, routine: str) -> tuple[float, float]:
    """Cycles of one iteration of a routine's loop, measured and simulated: longest call less shortest."""
    short, long = BENCH_SIZES[0], BENCH_SIZES[-1]
    iterations = (long - short) / STEP[routine]
    simulated = [data.cycles("bench", routine=routine, size=size) for size in (short, long)]
    measured = [measured_cycles(routine, size) for size in (short, long)]
    return (measured[1] - measured[0]) / iterations, (simulated[1] - simulated[0]) / iterations


def bench_table(data: Data) -> TableItem:
    rows = []
    for routine, step in STEP.items():
        for size in BENCH_SIZES:
            measured, simulated = measured_cycles(routine, size), data.cycles("bench", routine=routine, size=size)
            rows.append([f"{routine}, {size} B", f"{measured:.0f}", f"{simulated:.0f}", f"{simulated / measured:.2f}"])
        measured, simulated = turn_cycles(data, routine)
        what = f"an iteration of it ({step} B): {BENCH_SIZES[-1]} less {BENCH_SIZES[0]} B"
        rows.append([what, f"{measured:.2f}", f"{simulated:.2f}", f"{simulated / measured:.2f}"])
    columns = ("cycles/call, source at 1, destination at 3, back to back", "JH7110", "simulated", "quotient")
    return TableItem(
        "bench", "Two memcpy, call for call (J. Zhang's table has two digits: 3 % either way)", columns, rows
    )


def with_board_loops(data: Data, claim: str) -> float:
    """A load's speed-up if an iteration of either loop took as long as on the JH7110; NaN: it goes by words."""
    if LOADS[claim].src == LOADS[claim].dst:
        return math.nan
    (byte, byte_here), (word, word_here) = (turn_cycles(data, routine) for routine in (UCB, CROCE))
    size = LOADS[claim].size
    old = load_cycles(data, claim, OLD) + (byte - byte_here) * size
    return old / (load_cycles(data, claim, NEW) + (word - word_here) * size / STEP[CROCE])


def experiments_table(data: Data) -> TableItem:
    """Each load with the board's loops, and as its driver and its program move on."""
    rows = []
    for claim, load in LOADS.items():
        loops = with_board_loops(data, claim)
        gains = [implied(data, claim), load_speed_up(data, claim)]
        moving = [driven_speed_up(data, claim, any_way) for any_way in (False, True)]
        shown = "not by bytes" if math.isnan(loops) else f"{loops:.2f}"
        moving.append(row_speed_up(data, claim))
        rows.append([load.what, *(f"{gain:.2f}" for gain in gains), shown, *(f"{gain:.2f}" for gain in moving)])
    columns = (
        "load",
        "published",
        f"simulated, {PLAIN}",
        "with the board's loops",
        "driver and program move on, free ways first",
        "the same, any way (this machine)",
        "and what select copies (judged)",
    )
    return TableItem("experiments", "Times faster: what known omissions would change", columns, rows)


def within(data: Data, gain: Callable[[str], float]) -> str:
    """The loads whose speed-up `gain` is within the tolerance of the published one."""
    claims = (claim for claim in LOADS if judge_ratio(implied(data, claim), gain(claim)) == REPRODUCED)
    return ", ".join(LOADS[claim].what for claim in claims) or "none"


def findings(data: Data) -> dict[str, str]:
    """The numbers that the text names."""
    (byte, byte_here), (word, word_here) = (turn_cycles(data, routine) for routine in (UCB, CROCE))
    interval = CORES * CLOCK_MHZ * 8 * PACKET / CROCE_MBIT
    memcpy, user = CROCE_AFTER
    driver = data.cycles("driver", routine=CROCE, cache_state="src-cold-dst-l2")
    here = load_cycles(data, "tcp-recv-share", OLD)
    return {
        "within_simulated": within(data, lambda claim: load_speed_up(data, claim)),
        "within_driven": within(data, lambda claim: driven_speed_up(data, claim)),
        "within_row": within(data, lambda claim: row_speed_up(data, claim)),
        "gain_udp_driven": f"{driven_speed_up(data, 'udp-recv-share'):.2f}",
        "gain_udp_row": f"{row_speed_up(data, 'udp-recv-share'):.2f}",
        "select_old": f"{row_cycles(data, 'udp-recv-share', OLD) - driven_cycles(data, 'udp-recv-share', OLD):.0f}",
        "select_new": f"{row_cycles(data, 'udp-recv-share', NEW) - driven_cycles(data, 'udp-recv-share', NEW):.0f}",
        "within_board": within(data, lambda claim: with_board_loops(data, claim)),
        "board_byte": f"{byte:.1f}",
        "board_byte_sim": f"{byte_here:.1f}",
        "board_word": f"{word:.1f}",
        "board_word_sim": f"{word_here:.1f}",
        "croce_after_memcpy": f"{memcpy:.0%}",
        "croce_after_user": f"{user:.0%}",
        "croce_driver_most": f"{memcpy * interval:.0f}",
        "croce_driver_sim": f"{driver:.0f}",
        "croce_user": f"{driver * user / memcpy:.0f}",
        "croce_user_sim": f"{here:.0f}",
        "croce_user_board": f"{here + (byte - byte_here) * PACKET:.0f}",
    }
