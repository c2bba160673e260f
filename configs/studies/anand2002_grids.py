"""What anand2002 runs: the user copies and dispatchers of the thread at all offsets, each side cached or not, on a
Pentium III and on a K7; packet after packet, where every line that is written goes back to memory.

The packet size, the states and what answers which claim are fixed here, before anything runs.
"""

from __future__ import annotations

from breakeven.points import STREAM_FLAGS
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.study import Data
from breakeven.sweeps.spec import SweepSpec

MOVSL, INTEL, GENERIC, MMX = "i386-movsl-plain", "i386-copy-user-intel", "i386-copy-user-generic", "i386-copy-user-mmx"
SRC8, DST8, MASK = "anand-src8", "anand-dst8", "movsl-mask"
COPIES = [MOVSL, INTEL, GENERIC, MMX]
DISPATCHERS = [SRC8, DST8, MASK]
#: the checksum-and-copy that some proposed to use in the copy's place
CSUM = "i386-csumcopy-ppro"
#: a guest flushes single buffers by CLFLUSH, which came with SSE2: the simulated processor gets it for that
FLUSH = "cpu.isa[0].enable_clflush=true"
PENTIUM3, K7 = MachineSpec("pentium3", (FLUSH,)), MachineSpec("k7", (FLUSH,))
MACHINES = {"pentium3": ("offsets", PENTIUM3), "k7": ("offsets-k7", K7)}
#: a packet's payload
PACKET = 1448
PAIRS = [(src, dst) for src in range(8) for dst in range(8)]
#: neither address a multiple of 8
MISALIGNED = [(src, dst) for src, dst in PAIRS if src and dst]
STATES = ("warm", "src-cold", "dst-cold", "cold")
#: packet after packet, source and destination moving on: together they are four times the second level, and one pass
#: goes before the one that is measured, so that every line written pushes one out that is written back
STREAM = 1 << 19
STREAM_PAIRS = [(0, 0), (4, 4), (3, 3), (4, 1)]
#: a line of the Pentium III in bytes, and the cycles of its bus for one: 4 times 8 bytes, 7.5 ns each, at 996 MHz
LINE, LINE_CYCLES = 32, 30
#: what the stream depends on: grid -> (what is otherwise, by which settings)
WHAT_IFS = {
    "stores-wait": (
        "a store that misses stays in the store queue until its line is there",
        ("cpu.storesLeaveOnMiss=false",),
    ),
    "write-queue": (
        "a northbridge that posts 64 lines and writes 16 at a time (gem5's defaults)",
        (
            "mem_ctrl.dram.write_buffer_size=64",
            "mem_ctrl.min_writes_per_switch=16",
            "mem_ctrl.write_low_thresh_perc=50",
        ),
    ),
    "one-module": (
        "one memory module: what is written and what is written back meet in one bank",
        ("mem_ctrl.dram.ranks_per_channel=2",),
    ),
    "window": (
        "twice the reorder buffer, scheduler and load queue",
        ("cpu.numROBEntries=80", "cpu.numIQEntries=40", "cpu.LQEntries=32"),
    ),
    "latency": (
        "memory 40 ns nearer",
        ("mem_ctrl.static_frontend_latency=0ns", "mem_ctrl.static_backend_latency=0ns"),
    ),
    "turnaround": (
        "no time lost between reads and writes",
        ("mem_ctrl.dram.tRTW=0ns", "mem_ctrl.dram.tWTR=0ns", "mem_ctrl.dram.tCS=0ns"),
    ),
}
#: what holds an iteration of the loop up: entries of the scheduler and of the store queue. grid -> (what, settings)
QUEUES = {
    "store-queue": ("a store queue of 24", ("cpu.SQEntries=24",)),
    "queues": ("a store queue of 24 and a scheduler of 40", ("cpu.SQEntries=24", "cpu.numIQEntries=40")),
}
#: the same loop called directly and through the dispatcher takes another time at these
QUEUE_PAIRS = [(1, 1), (4, 0), (5, 0)]
#: claim -> (routine, whether an address is misaligned)
TIMES = {
    "movsl-aligned": (MOVSL, False),
    "movsl-misaligned": (MOVSL, True),
    "integer-misaligned": (INTEL, True),
}
SIZES = [*range(4, 132, 4), *range(140, 513, 12), *range(548, 1500, 60), 2048, 4096]
SIZE_PAIRS = {
    "both aligned": (0, 0),
    "source at 4": (4, 0),
    "source at 12": (12, 0),
    "source at 1": (1, 0),
    "destination at 4": (0, 4),
    "alike, at 3": (3, 3),
}
#: REP MOVS is fast where both addresses are alike modulo this
CONDITION = "cpu.isa[0].microcode.rep_movs[0].co_alignment"


def steady(routines, machine, sizes, **axes):
    return SweepSpec(routines, [machine], sizes, **axes)


def stream(routines, machine, pairs):
    return SweepSpec(
        routines, [machine], [PACKET], offset_pairs=pairs, measures=["stream"], total=STREAM // PACKET * PACKET,
        flags=STREAM_FLAGS["moving"], warmup=1, repetitions=1,
    )  # fmt: skip


GRIDS = {
    **{
        grid: (
            f"a packet at every offset, each side cached or not, on {name}",
            steady([*COPIES, *DISPATCHERS], machine, [PACKET], offset_pairs=PAIRS, cache_states=STATES),
        )
        for name, (grid, machine) in MACHINES.items()
    },
    "sizes": (
        "the threshold, by what is misaligned",
        steady([MOVSL, INTEL, MMX, SRC8], PENTIUM3, SIZES, offset_pairs=list(SIZE_PAIRS.values())),
    ),
    "csum-and-copy": (
        "the checksum-and-copy in the copy's place",
        steady([INTEL, CSUM], PENTIUM3, [PACKET], src_offsets=[4], cache_states=STATES),
    ),
    "stream": ("packet after packet through memory", stream([MOVSL, INTEL, MMX], PENTIUM3, STREAM_PAIRS)),
    **{
        grid: (f"the same: {what}", stream([MOVSL, INTEL], PENTIUM3.with_settings(*settings), STREAM_PAIRS[:2]))
        for grid, (what, settings) in WHAT_IFS.items()
    },
    **{
        grid: (
            f"directly and through the dispatcher with {what}",
            steady([INTEL, SRC8], PENTIUM3.with_settings(*settings), [PACKET], offset_pairs=QUEUE_PAIRS),
        )
        for grid, (what, settings) in QUEUES.items()
    },
    "k7-sizes": (
        "no artefact on AMD",
        steady([MOVSL, INTEL], K7, [64, 256, 512, PACKET, 4096], offset_pairs=[(0, 0), *MISALIGNED[::9]]),
    ),
}  # fmt: skip
SEARCHES = {
    "condition": (
        "the alignment that fast strings ask for at which REP MOVS would have won",
        steady(
            [MOVSL, INTEL], PENTIUM3, [PACKET], src_offsets=[4], dst_offsets=[0],
            parameters={CONDITION: ["1", "2", "4", "8"]},
        ),
    ),
}  # fmt: skip


def at_offsets(data: Data, grid: str, routine: str, state: str) -> dict[tuple[int, int], float]:
    """Cycles of a packet at every pair of offsets."""
    rows = data.select(grid, routine=routine, cache_state=state)
    return {
        (int(src), int(dst)): float(cycles)
        for src, dst, cycles in zip(rows["src_offset"], rows["dst_offset"], rows["cycles"], strict=True)
    }
