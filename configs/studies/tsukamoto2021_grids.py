"""What tsukamoto2021 runs, and what its verdicts and its report both read from that.

Grids, conditions and the pairing of claims with cache states are fixed here, before anything runs.
"""

from __future__ import annotations

import statistics

from breakeven.runner import MachineSpec
from breakeven.study import Data, time_ratio_of_shares
from breakeven.sweep import SweepSpec

OLD, NEW = "rv-copy-user-2017", "rv-copy-user-2021"
WORD, UNROLLED, NOALIGN = "rv-word", "rv-word-unrolled8", "rv-word-noalign"
TRAPPING_WORDS, FREE_WORDS = f"{NOALIGN} (trapping)", f"{NOALIGN} (free)"
POLICY = "cpu.misaligned.policy"
EMULATE = "cpu.misaligned.emulate_cycles"
TRAP = MachineSpec("u74", (f"{POLICY}=trap",))
FREE = MachineSpec("u74", (f"{POLICY}=hardware",))
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
#: a packet's payload at an Ethernet MTU of 1500
PACKET = 1448
SMALL = [1, 2, 4, 8, 16, 32, 64, 72, 128, 256, 512, 1024, PACKET, 2048, 4096]
LARGE = [8192, 16384, 32768, 65536]
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
STATES = ("warm", "src-cold", "dst-cold", "cold")
COSTS = [*range(21), *range(25, 101, 5), 125, 150, 200, 250, 300, 400, 500, 600, 700, 800, 900, 1000]
WHAT_IF_SIZES = [64, 256, PACKET, 4096]
WHAT_IF_PAIRS = {"source misaligned": (3, 0), "destination misaligned": (0, 3), "misaligned differently": (3, 5)}


def steady(routines, machines, sizes, **axes):
    """Short copies: branch predictors need several calls until every call costs the same."""
    return SweepSpec(routines, machines, sizes, warmup=5, repetitions=3, **axes)


def long(routines, machines, sizes, **axes):
    """Long or trapping copies: one call to warm up, one measured; what a predictor forgets drowns in the rest."""
    return SweepSpec(routines, machines, sizes, warmup=1, repetitions=1, **axes)


GRIDS = {
    "offsets": ("both user copies, every offset", steady([OLD, NEW], [TRAP], SMALL, offset_pairs=PAIRS)),
    "offsets-large": ("the same, large", long([OLD, NEW], [TRAP], LARGE, offset_pairs=PAIRS)),
    "words": ("aligned word copies", steady([WORD, UNROLLED], [TRAP], SMALL, offset_pairs=PAIRS)),
    "trap": ("words whatever the alignment, trapping", long([NOALIGN], [TRAP], SMALL, offset_pairs=PAIRS)),
    "free": ("words whatever the alignment, free", steady([NOALIGN], [FREE], SMALL, offset_pairs=PAIRS)),
    "free-large": ("the same, large", long([NOALIGN], [FREE], LARGE, offset_pairs=PAIRS)),
    "large": (
        "large copies, one pair a class",
        long([WORD, UNROLLED, NOALIGN], [TRAP], LARGE, offset_pairs=CLASS_PAIRS),
    ),
    "classes": ("break-even sizes", steady([OLD, NEW, WORD, UNROLLED], [TRAP], FINE, offset_pairs=CLASS_PAIRS)),
    "classes-trap": ("the same, trapping", long([NOALIGN], [TRAP], FINE, offset_pairs=CLASS_PAIRS)),
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

#: Which caches each published load copies from and to. Receive: the payload was written by a device that does not snoop
#: (u74, coherent_dma: no), and its checksum is the device's work, so the CPU sees it first in the copy. Send: the
#: program sends the same buffer again and again, into a fresh packet buffer.
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
ALIGNED = {"src_offset": 0, "dst_offset": 0}
ALIKE = [(offset, offset) for offset in range(8)]


def packet_speed_up(data: Data, state: str) -> float:
    """The number that a published share is compared with: the median over misaligned sources, destination aligned."""
    return statistics.median(speed_ups(data, state, MISALIGNED))


def implied(data: Data, claim: str) -> float:
    """The speed-up of one copy that a published share implies."""
    return 1 / time_ratio_of_shares(*published_shares(data, claim))
