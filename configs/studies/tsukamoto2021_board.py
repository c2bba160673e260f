"""The core beside a board's own benchmark, call for call, and what follows for the published loads: their copies with
the board's loops, and with what the driver's traffic throws out of the second level."""

from __future__ import annotations

import math
from collections.abc import Callable

from tsukamoto2021_grids import (
    BENCH_SIZES,
    CROCE,
    FRAME,
    LOADS,
    NEW,
    OLD,
    PACKET,
    UCB,
    implied,
    load_cycles,
    load_speed_up,
)
from tsukamoto2021_loads import CROCE_AFTER

from breakeven.study import REPRODUCED, Data, TableItem, judge_ratio

#: J. Zhang, linux-riscv, 2024-01-28 (1/3), JH7110 at 1.5 GHz, Arm's optimized-routines benchmark: `memcpy(b + 3, a + 1,
#: n)` again and again ("Unaligned medium memcpy"), in bytes a nanosecond by size; the kernel's routine and the patch's
BENCH = {
    UCB: {128: 0.19, 256: 0.20, 512: 0.20},
    CROCE: {128: 0.85, 256: 1.00, 512: 1.14},
}
BENCH_GHZ = 1.5
#: bytes that a turn of the routine's loop copies there
TURN = {UCB: 1, CROCE: 8}

#: M. Croce's TCP receive with the driver's copy by shift-and-merge, Mbit/s (MC-1); the JH7100 has two cores, at 1 GHz
CROCE_MBIT, CORES, CLOCK_MHZ = 897, 2, 1000

LINE = 64
#: of the second level: 2 MiB
L2_LINES = (2 << 20) // LINE
#: lines that the driver's side of a packet brings into the second level: the frame in the page (receive) or in the
#: bounce buffer (send), both flushed before the device has them
FRAME_LINES = math.ceil(FRAME / LINE)
#: packets of which the driver takes care before anyone reads one (NAPI_POLL_WEIGHT)
POLLED = 64
#: packets between two uses of a line, by load: source (least, most), destination (least, most). iperf3 reads TCP into
#: 128 KiB, UDP again and again into one datagram's buffer; 92 socket buffers of 2304 bytes fill the default 212,992 of
#: a sender
BETWEEN_USES = {
    "tcp-recv-share": ((0, POLLED), ((128 << 10) / PACKET,) * 2),
    "udp-recv-share": ((0, POLLED), (1, 1)),
    "udp-send-share": ((1, 1), (0, 212992 // 2304)),
}


def measured_cycles(routine: str, size: int) -> float:
    """Cycles of one call on the JH7110."""
    return size * BENCH_GHZ / BENCH[routine][size]


def turn_cycles(data: Data, routine: str) -> tuple[float, float]:
    """Cycles of one turn of a routine's loop, measured and simulated: longest call less shortest."""
    short, long = BENCH_SIZES[0], BENCH_SIZES[-1]
    turns = (long - short) / TURN[routine]
    simulated = [data.cycles("bench", routine=routine, size=size) for size in (short, long)]
    measured = [measured_cycles(routine, size) for size in (short, long)]
    return (measured[1] - measured[0]) / turns, (simulated[1] - simulated[0]) / turns


def bench_table(data: Data) -> TableItem:
    rows = []
    for routine, turn in TURN.items():
        for size in BENCH_SIZES:
            measured, simulated = measured_cycles(routine, size), data.cycles("bench", routine=routine, size=size)
            rows.append([f"{routine}, {size} B", f"{measured:.0f}", f"{simulated:.0f}", f"{simulated / measured:.2f}"])
        measured, simulated = turn_cycles(data, routine)
        what = f"a turn of it ({turn} B): {BENCH_SIZES[-1]} less {BENCH_SIZES[0]} B"
        rows.append([what, f"{measured:.2f}", f"{simulated:.2f}", f"{simulated / measured:.2f}"])
    columns = ("cycles a call, source at 1, destination at 3, back to back", "JH7110", "simulated", "quotient")
    return TableItem(
        "bench", "Two memcpy, call for call (J. Zhang's table has two digits: 3 % either way)", columns, rows
    )


def with_board_loops(data: Data, claim: str) -> float:
    """A load's speed-up if a turn of either routine's loop took as long as on the JH7110."""
    (byte, byte_here), (word, word_here) = (turn_cycles(data, routine) for routine in (UCB, CROCE))
    size = LOADS[claim].size
    old = load_cycles(data, claim, OLD) + (byte - byte_here) * size
    return old / (load_cycles(data, claim, NEW) + (word - word_here) * size / TURN[CROCE])


def gone(packets: float) -> float:
    """The share of resident lines that are thrown out while the driver handles `packets`: each line that comes takes a
    random way of its set, whether or not another is free (SiFive's inclusive cache, Directory.scala)."""
    return 1 - (1 - 1 / L2_LINES) ** (FRAME_LINES * packets)


def with_traffic(data: Data, claim: str, most: bool) -> float:
    """A load's speed-up if the lines gone meanwhile come from memory: the fewest or the most packets in between."""
    source, destination = (gone(packets[most]) for packets in BETWEEN_USES[claim])

    def cycles(routine: str) -> float:
        near = load_cycles(data, claim, routine)
        from_memory = (load_cycles(data, claim, routine, s) for s in ("src-cold-dst-l2", "src-l2-dst-cold"))
        return near + sum(share * (far - near) for share, far in zip((source, destination), from_memory, strict=True))

    return cycles(OLD) / cycles(NEW)


def experiments_table(data: Data) -> TableItem:
    """Each load with the board's loops, and with the driver's traffic."""
    rows = []
    for claim, between in BETWEEN_USES.items():
        shares = [" to ".join(dict.fromkeys(f"{gone(packets):.1%}" for packets in side)) for side in between]
        gains = [load_speed_up(data, claim), with_board_loops(data, claim)]
        span = " to ".join(f"{gain:.2f}" for gain in sorted(with_traffic(data, claim, most) for most in (False, True)))
        values = (f"{value:.2f}" for value in (implied(data, claim), *gains))
        rows.append([LOADS[claim].what, *values, *shares, span])
    columns = (
        "load",
        "published",
        "simulated",
        "with the board's loops",
        "source gone",
        "destination gone",
        "with these lines from memory",
    )
    return TableItem("experiments", "Times faster: what two known omissions would change", columns, rows)


def within(data: Data, gain: Callable[[str], float]) -> str:
    """The loads whose speed-up `gain` is within the tolerance of the published one."""
    claims = (claim for claim in BETWEEN_USES if judge_ratio(implied(data, claim), gain(claim)) == REPRODUCED)
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
        "within_least": within(data, lambda claim: with_traffic(data, claim, False)),
        "within_most": within(data, lambda claim: with_traffic(data, claim, True)),
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
