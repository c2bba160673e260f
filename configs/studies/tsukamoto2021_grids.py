"""What tsukamoto2021 runs, and what its verdicts and its report both read from that.

Grids, conditions and what each published load copies are fixed here, before anything runs.
"""

from __future__ import annotations

import statistics
from typing import NamedTuple

from breakeven.points import CACHE_STATES, PACKETS
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.study import Data, time_ratio_of_shares
from breakeven.sweeps.spec import SweepSpec

OLD, NEW = "rv-copy-user-2017", "rv-copy-user-2021"
WORD, UNROLLED, NOALIGN = "rv-word", "rv-word-unrolled8", "rv-word-noalign"
TRAPPING_WORDS, FREE_WORDS = f"{NOALIGN} (trapping)", f"{NOALIGN} (free)"
POLICY = "cpu.misaligned.policy"
EMULATE = "cpu.misaligned.emulate_cycles"
TRAP = MachineSpec("u74", (f"{POLICY}=trap",))
FREE = MachineSpec("u74", (f"{POLICY}=hardware",))
#: the same core with store misses that do not hold loads up
OVERLAPPED = TRAP.with_settings(
    "cpu.executeLSQStoreBufferSize=8",
    "cpu.executeMaxAccessesInMemory=16",
    "cpu.dcache.mshrs=2",
    "cpu.dcache.tgts_per_mshr=16",
)
EMULATED = MachineSpec("u74", (f"{POLICY}=emulate",))
#: an out-of-order core that does misaligned accesses in hardware, and with a price put on each
OUT_OF_ORDER = MachineSpec("c910")
OUT_OF_ORDER_EMULATED = MachineSpec("c910", (f"{POLICY}=emulate",))

#: what came later or lay beside it, on every core with misaligned accesses that trap and that the hardware does
LATER = ["rv-copy-user-2024", "rv-memcpy-ucb", "rv-memcpy-croce-c", "rv-glibc-noalign"]
LATER_MACHINES = {
    f"{core}, {policy}": MachineSpec(core, (f"{POLICY}={policy}",))
    for core in ("u74", "c906", "c910")
    for policy in ("trap", "hardware")
}

PAIRS = [(src, dst) for src in range(8) for dst in range(8)]
WORD_BYTES = 8
#: a packet's payload at an Ethernet MTU of 1500
PACKET = 1448
SMALL = [1, 2, 4, 8, 16, 32, 64, 72, 128, 256, 512, 1024, PACKET, 2048, 4096]
#: steps without a factor in common with 8 or 64, or the tails' sawtooth would always be met at the same place
FINE = [*range(1, 130), *range(138, 513, 9), *range(521, 2049, 61)]
#: one pair for each way in which source and destination can lie
CLASSES = {
    "both aligned": (0, 0),
    "misaligned alike": (3, 3),
    "source misaligned": (3, 0),
    "destination misaligned": (0, 3),
    "misaligned differently": (3, 5),
}
CLASS_PAIRS = list(CLASSES.values())
STATES = ("warm", "l2", "src-cold", "dst-cold", "cold")
COSTS = [*range(21), *range(25, 101, 5), 125, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900, 1000]
WHAT_IF_SIZES = [64, 256, PACKET, 4096]
WHAT_IF_PAIRS = {"source misaligned": (3, 0), "destination misaligned": (0, 3), "misaligned differently": (3, 5)}

#: calls after which u74's predictors do not know a loop's end yet: its counters have four bits
UNLEARNED = 5

#: what the Ethernet driver's copy was before and after it was replaced in its turn, and the frame that it copies
UCB, CROCE = "rv-memcpy-ucb", "rv-memcpy-croce-c"
FRAME = 14 + 20 + 32 + PACKET
FRAME_PAIR = (0, 2)
#: sizes of the calls of a board's benchmark (tsukamoto2021_board)
BENCH_SIZES = [128, 256, 512]
L2_LATENCY = "l2.data_latency"
#: sizes of copies whose lines all come from the second level, from memory
IN_L2, IN_MEMORY = 49152, 4 << 20
L2_LATENCIES = [10, *range(20, 101, 10), 120]


class Load(NamedTuple):
    """What a load copies between kernel and user: bytes at a time, offsets from a word."""

    what: str
    src: int
    dst: int
    size: int = PACKET


#: the largest piece of a page fragment, which a TCP sender fills
FRAGMENT = 32768
#: Offsets follow from the kernel of 2021 (5.13) and headers' lengths: tsukamoto2021.md, "What state a packet's copy
#: meets". The user's buffer is page-aligned, pieces of 1448 keep its words.
LOADS = {
    "tcp-recv-share": Load("TCP receive", 4, 0),
    "tcp-send-share": Load("TCP send", 0, 0, FRAGMENT),
    "udp-recv-share": Load("UDP receive", 4, 0),
    "udp-send-share": Load("UDP send", 0, 4),
}
#: states of a call by itself
PLACED = CACHE_STATES[:PACKETS]
#: where both sides of all four lie, if nothing else is said: the state that single omissions are tried on
PLAIN = "l2"
#: the program's buffer of iperf3's TCP, which it walks through; its UDP has one datagram's, used again and again
WALKED = 128 << 10
#: What one select(2) of iperf3 copies besides, bytes: times (tsukamoto2021.md, "What a call copies besides"): two sets
#: of descriptors in and out (FDS_BYTES in fs/select.c), the timeout in and out (get_timespec64, put_timespec64).
SELECT = {8: 4, 16: 2}
#: payload between two select: iperf3 has one before each block that it reads or writes
BLOCKS = {"tcp-recv-share": WALKED, "tcp-send-share": WALKED, "udp-recv-share": PACKET, "udp-send-share": PACKET}
#: whether a new line takes a way of the second level while another is free
ANY_WAY = "l2.replacement_policy.any_way"
LOAD_PAIRS = sorted({(load.src, load.dst) for load in LOADS.values() if load.size == PACKET})


def steady(routines, machines, sizes, **axes):
    return SweepSpec(routines, machines, sizes, **axes)


def traps(size: int, pair: tuple[int, int]) -> bool:
    """Whether a copy by words whatever the alignment meets a misaligned word."""
    return size >= WORD_BYTES and pair != (0, 0)


def trapping(sizes, pairs):
    """What a copy by words meets where misaligned accesses trap; where none does, the machine is the free one.

    3 measurements: a call is hundreds of cycles a trap, of which its predictors save none (within 1 % of 21).
    """
    sizes, pairs = [size for size in sizes if traps(size, (1, 0))], [pair for pair in pairs if traps(WORD_BYTES, pair)]
    return SweepSpec([NOALIGN], [TRAP], sizes, offset_pairs=pairs, repetitions=3)


def long(routines, machines, sizes, **axes):
    """Long copies: one call to warm up, one measured; what a predictor has yet to learn drowns in it."""
    return SweepSpec(routines, machines, sizes, warmup=1, repetitions=1, **axes)


def driven(sizes, states, pair, walked=0):
    """A load's copies one after the other, its driver at work between them."""
    return SweepSpec([OLD, NEW], [TRAP], sizes, offset_pairs=[pair], cache_states=states, size2=walked,
                     parameters={ANY_WAY: ["True", "False"]})  # fmt: skip


GRIDS = {
    "offsets": ("both user copies, every offset", steady([OLD, NEW], [TRAP], SMALL, offset_pairs=PAIRS)),
    "words": ("aligned word copies", steady([WORD, UNROLLED], [TRAP], SMALL, offset_pairs=PAIRS)),
    "trap": ("words whatever the alignment, where they trap", trapping(SMALL, PAIRS)),
    "free": ("words whatever the alignment, free", steady([NOALIGN], [FREE], SMALL, offset_pairs=PAIRS)),
    "classes": ("break-even sizes", steady([OLD, NEW, WORD, UNROLLED], [TRAP], FINE, offset_pairs=CLASS_PAIRS)),
    "classes-trap": ("the same, where words trap", trapping(FINE, CLASS_PAIRS)),
    "classes-free": ("the same, free", steady([NOALIGN], [FREE], FINE, offset_pairs=CLASS_PAIRS)),
    "cold": (
        "a packet from cold caches, every offset",
        steady([OLD, NEW, UNROLLED], [TRAP], [PACKET], offset_pairs=PAIRS, cache_states=STATES[1:]),
    ),
    "cold-sizes": (
        "speed-up by size and cache state",
        steady(
            [OLD, NEW], [TRAP], [64, 128, 256, 512, 1024, PACKET, 4096, 16384, 65536],
            offset_pairs=[(3, 0)], cache_states=STATES,
        ),
    ),
    "loads": ("packets as the loads copy them", steady([OLD, NEW], [TRAP], [PACKET], offset_pairs=LOAD_PAIRS,
              cache_states=PLACED)),
    "loads-fragment": ("a fragment as a TCP sender fills it", steady([OLD, NEW], [TRAP], [FRAGMENT],
                       offset_pairs=[(0, 0)], cache_states=PLACED)),
    "driven-tcp": ("TCP packets as driver and program move on", driven([PACKET], ["receive"], (4, 0), WALKED)),
    "driven-fragment": ("a TCP sender's fragments, likewise", driven([FRAGMENT], ["send"], (0, 0), WALKED)),
    "driven-udp-recv": ("UDP packets, likewise", driven([PACKET], ["receive"], (4, 0))),
    "driven-udp-send": ("UDP packets sent, likewise", driven([PACKET], ["send"], (0, 4))),
    "calls": ("what a select copies", steady([OLD, NEW], [TRAP], list(SELECT))),
    "driver": ("the Ethernet driver's copy", steady([UCB, CROCE], [TRAP], [FRAME], offset_pairs=[FRAME_PAIR],
               cache_states=PLACED)),
    "bench": ("two memcpy as a board's benchmark calls them", steady([UCB, CROCE], [TRAP], BENCH_SIZES,
              offset_pairs=[(1, 3)], measures=["throughput"])),
    "l2-latency": (
        "loads by the second level's latency",
        steady(
            [OLD, NEW], [TRAP], [PACKET], offset_pairs=LOAD_PAIRS, cache_states=[PLAIN],
            parameters={L2_LATENCY: [str(cycles) for cycles in L2_LATENCIES]},
        ),
    ),
    **{
        name: (what, long([CROCE, UNROLLED], [machine], [IN_L2, IN_MEMORY]))
        for name, what, machine in (
            ("far", "copies within the second level and within memory", TRAP),
            ("far-overlapped", "the same with overlapping store misses", OVERLAPPED),
        )
    },
    "unlearned": (
        "unrolling before the predictor knows the loops",
        SweepSpec([WORD, UNROLLED], [TRAP], [s for s in FINE if s >= 64], warmup=UNLEARNED, repetitions=3),
    ),
    "what-if": (
        "the cost of a trap as a number",
        steady(
            [NOALIGN], [EMULATED], WHAT_IF_SIZES, offset_pairs=list(WHAT_IF_PAIRS.values()),
            parameters={EMULATE: [str(cost) for cost in COSTS]},
        ),
    ),
    "ooo": (
        "a packet out of order, every offset",
        steady([OLD, NEW, UNROLLED, NOALIGN], [OUT_OF_ORDER], [PACKET], offset_pairs=PAIRS),
    ),
    "ooo-sizes": (
        "sizes out of order",
        steady([OLD, NEW, UNROLLED, NOALIGN], [OUT_OF_ORDER], SMALL, offset_pairs=CLASS_PAIRS),
    ),
    "ooo-cold": (
        "a packet out of order from cold caches",
        steady([OLD, NEW, NOALIGN], [OUT_OF_ORDER], [PACKET], offset_pairs=CLASS_PAIRS, cache_states=STATES[1:]),
    ),
    **{
        f"later-{name.replace(', ', '-')}": (
            f"later copies on {name}",
            steady([OLD, NEW, *LATER], [machine], [16, 64, 256, PACKET], offset_pairs=CLASS_PAIRS),
        )
        for name, machine in LATER_MACHINES.items()
    },
    "ooo-what-if": (
        "the cost of a misaligned access out of order",
        steady(
            [NOALIGN], [OUT_OF_ORDER_EMULATED], [PACKET], offset_pairs=list(WHAT_IF_PAIRS.values()),
            parameters={EMULATE: [str(cost) for cost in COSTS]},
        ),
    ),
}  # fmt: skip

#: the other row of the same profiles: `memcpy` before and after (A. Tsukamoto, linux-riscv, 2021-06-19, v2 0/5; only
#: the user copy changed between them)
MEMCPY_SHARES = {
    "tcp-recv-share": (0.4040, 0.5035),
    "tcp-send-share": (0.1996, 0.1427),
    "udp-recv-share": (0.4445, 0.5562),
    "udp-send-share": (0.2518, 0.2890),
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
ALIGNED = {"src_offset": 0, "dst_offset": 0}
ALIKE = [(offset, offset) for offset in range(8)]


def packet_speed_up(data: Data, state: str) -> float:
    """The median over misaligned sources, destination aligned."""
    return statistics.median(speed_ups(data, state, MISALIGNED))


def load_cycles(data: Data, claim: str, routine: str, state: str = PLAIN) -> float:
    """Cycles of one copy of a published load."""
    load = LOADS[claim]
    grid = "loads" if load.size == PACKET else "loads-fragment"
    at = {"src_offset": load.src, "dst_offset": load.dst}
    return data.cycles(grid, routine=routine, size=load.size, cache_state=state, **at)


def load_speed_up(data: Data, claim: str, state: str = PLAIN) -> float:
    """Old time over new time of a load's copy by itself, its buffers in one state."""
    return load_cycles(data, claim, OLD, state) / load_cycles(data, claim, NEW, state)


DRIVEN = {
    "tcp-recv-share": "driven-tcp",
    "tcp-send-share": "driven-fragment",
    "udp-recv-share": "driven-udp-recv",
    "udp-send-share": "driven-udp-send",
}


def driven_cycles(data: Data, claim: str, routine: str, any_way: bool = True) -> float:
    """Cycles of one copy of a load with its copies' addresses in their order, the driver's traffic between them."""
    rows = data.select(DRIVEN[claim], routine=routine)
    return float(rows[rows[ANY_WAY].astype(str) == str(any_way)]["cycles"].iloc[0])


def driven_speed_up(data: Data, claim: str, any_way: bool = True) -> float:
    return driven_cycles(data, claim, OLD, any_way) / driven_cycles(data, claim, NEW, any_way)


def row_cycles(data: Data, claim: str, routine: str) -> float:
    """Cycles in the profile's row for one copy of a load: the copy itself, and its share of what select copies."""
    besides = sum(times * data.cycles("calls", routine=routine, size=size) for size, times in SELECT.items())
    return driven_cycles(data, claim, routine) + besides * LOADS[claim].size / BLOCKS[claim]


def row_speed_up(data: Data, claim: str) -> float:
    """The number that a published share is compared with: old time over new time of the profile's row."""
    return row_cycles(data, claim, OLD) / row_cycles(data, claim, NEW)


def implied(data: Data, claim: str) -> float:
    """The speed-up of one copy that a published share implies."""
    return 1 / time_ratio_of_shares(*published_shares(data, claim))
