"""What herbert2016 runs: the checksum of T. Herbert against the one it replaced, on the Xeon of the thread, and all
later ones on that Xeon and on what came after it.

Grids and conditions are fixed here, before anything runs.
"""

from __future__ import annotations

from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.study import Data
from breakeven.sweeps.spec import SweepSpec

OLD, NEW, CHECKED = "x64-csum-old", "x64-csum-herbert", "x64-csum-herbert-pagecheck"
NAIVE, FLAG_FREE, DEC_LEA = "x64-csum-naive-adc", "x64-csum-jrcxz", "x64-csum-dec-lea"
THREAD = [OLD, NEW, NAIVE, FLAG_FREE]
#: cycles a nanosecond: the clock of uarch.csv (`westmere/clock_mhz`)
GHZ = 2.67
WESTMERE, BONNELL, IVYBRIDGE = MachineSpec("westmere"), MachineSpec("bonnell"), MachineSpec("ivybridge")
#: published rows: claim -> (size, offset)
TABLE = {
    "1400/0": (1400, 0),
    "40/0": (40, 0),
    "8/4": (8, 4),
    "14/0": (14, 0),
    "14/4": (14, 4),
    "14/3": (14, 3),
    "20/0": (20, 0),
    "7/1": (7, 1),
    "100/0": (100, 0),
    "100/2": (100, 2),
}
TABLE_SIZES = [7, 8, 14, 20, 40, 100, 1400]
UNALIGNED = [1, 2, 3, 4, 5, 6, 7]
LARGE = [4096, 16384, 32768]
#: from the thread's shortest headers to its packet
ATOM_SIZES = [14, 20, 40, 100, 150, 200, 400, 1400]
#: where a received packet may be: in memory, in the second level
ATOM_STATES = ["src-cold", "src-l2"]
#: of a page: starts of a buffer whose first eight-byte loads cross nothing, a line, a page
NOTHING, LINE, PAGE = 2048, 2044, 4092
#: what came later or was said in the thread
LATER = [
    OLD, NEW, CHECKED, "x64-csum-linus-align", DEC_LEA, NAIVE, FLAG_FREE, "x64-csum-jrcxz-two", "x64-csum-dumazet",
    "x64-csum-goldstein",
]  # fmt: skip
LATER_40 = ["x64-csum40-chain", "x64-csum40-2s", "x64-csum40-4x32", "x64-csum40-zero"]
#: machine -> what it can run beyond `LATER`
MACHINES = {
    "westmere": [],
    "bonnell": [],
    "ivybridge": [],
    "broadwell": ["x64-csum-adx", "x64-csum-avx2"],
    "skylake": ["x64-csum-adx", "x64-csum-avx2"],
    "goldencove": ["x64-csum-adx", "x64-csum-avx2"],
}
LATER_SIZES = [8, 14, 20, 40, 64, 100, 256, 550, 1400, 4096]
FLAG_MERGE = "cpu.isa[0].microcode.flag_merge"
FLAG_STALL = "cpu.isa[0].microcode.flag_stall"
#: around the preset's
STALLS = [0, 1, 2, 3]
#: micro-ops of jrcxz, whose count no source gives, and how many a description may have
JRCXZ = "cpu.isa[0].microcode.instructions[4].uops"
JRCXZ_UOPS = ["1", "2", "4", "8"]
ADC = "cpu.isa[0].microcode.instructions[0].latency"
LINE_CROSS = "cpu.misaligned.line_cross_load"
SPLIT_SLOTS = "cpu.misaligned.split_slots"
DEPTH = "cpu.fetchToDecodeDelay"
#: the preset's comes last: a misprediction costs it 17.6 cycles, two stages fewer 15.6; measured are 15 to 16
DEPTHS = [8, 9, 10]
PAGE_CROSS = "cpu.misaligned.page_cross_load"
#: a buffer whose first load, and every eighth after it, crosses a line, the first one a page: headers, and the
#: reviewer's packet
PAGE_SIZES = [14, 20, 40, 100, 400, 1480]
HEADERS = [14, 20, 40]
#: sizes of the published table at which other machines are said to behave alike
ALIKE = [14, 20, 40, 100, 1400]
FIXED = "x64-csum-fixed"


#: calls of 32 KiB and more: what a predictor has yet to learn drowns in one
ONCE = {"repetitions": 1}


def back_to_back(routines, machine, sizes, **axes):
    """As published: calls in a row."""
    return SweepSpec(routines, [machine], sizes, measures=["throughput"], **axes)


def one_at_a_time(routines, machine, sizes, **axes):
    return SweepSpec(routines, [machine], sizes, **axes)


def both_ways(routines, machine, sizes, **axes):
    return SweepSpec(routines, [machine], sizes, measures=["latency", "throughput"], **axes)


GRIDS = {
    "table": (
        "the published table",
        both_ways(THREAD, WESTMERE, TABLE_SIZES, src_offsets=[0, *UNALIGNED]),
    ),
    "depth": (
        "the table by the front end's depth",
        back_to_back(
            [OLD, NEW], WESTMERE, TABLE_SIZES, src_offsets=[0, 1, 2, 3, 4], parameters={DEPTH: [str(v) for v in DEPTHS]}
        ),
    ),
    "interleaved": (
        "two sizes in turn",
        SweepSpec(
            [NEW], [WESTMERE], [100], src_offsets=[1], measures=["interleaved"],
            size2=24, src_offset2=1,
        ),
    ),
    "alone": ("the same sizes, one after the other", back_to_back([NEW], WESTMERE, [24, 100], src_offsets=[1])),
    "crossings": (
        "a load that crosses a line or a page",
        both_ways([OLD, NEW, CHECKED], WESTMERE, [40, 64], src_offsets=[NOTHING, LINE, PAGE]),
    ),
    **{
        f"page-{machine.name}": (
            f"across a page on {machine.name}",
            both_ways([OLD, NEW], machine, PAGE_SIZES, src_offsets=[PAGE]),
        )
        for machine in (BONNELL, WESTMERE)
    },
    "fixed": ("a chain for each constant length", back_to_back([NEW, FIXED], WESTMERE, [8, 14, 20, 40])),
    "large": (
        "large buffers, unaligned",
        SweepSpec([OLD, NEW], [WESTMERE], LARGE, src_offsets=[0, *UNALIGNED], **ONCE),
    ),
    "large-ivybridge": (
        "the frame where adc of 0 takes one cycle",
        SweepSpec([NEW], [IVYBRIDGE], [32768], src_offsets=[0, 1], **ONCE),
    ),
    "atom": (
        "unaligned packets in order",
        back_to_back([OLD, NEW], BONNELL, ATOM_SIZES, src_offsets=[0, *UNALIGNED]),
    ),
    "atom-states": (
        "the same where the packet is not in the first level",
        one_at_a_time([OLD, NEW], BONNELL, [1400], src_offsets=UNALIGNED, cache_states=ATOM_STATES),
    ),
    "flags": (
        "what flags of two writers cost",
        SweepSpec(
            [NEW, NAIVE, FLAG_FREE], [WESTMERE], [40, 1400], measures=["throughput"],
            parameters={FLAG_MERGE: ["none", "uop", "stall"]},
        ),
    ),
    "stall": (
        "the loop of adc and dec by what its stall lasts",
        back_to_back([NEW, NAIVE], WESTMERE, [40, 1400], parameters={FLAG_STALL: [str(v) for v in STALLS]}),
    ),
    "jrcxz": (
        "the loop of jrcxz by its micro-ops",
        back_to_back([NEW, NAIVE, FLAG_FREE], WESTMERE, [1400], parameters={JRCXZ: JRCXZ_UOPS}),
    ),
    "jrcxz-adc": (
        "the same by the carry chain's latency",
        back_to_back([NEW, NAIVE, FLAG_FREE], WESTMERE, [1400], parameters={ADC: ["2", "4", "6"]}),
    ),
    "jrcxz-fetch": (
        "the same without the loop buffer",
        back_to_back([NEW, NAIVE, FLAG_FREE], WESTMERE.with_settings("cpu.loopBufferSize=0"), [1400]),
    ),
    **{
        f"later-{name}": (
            f"every checksum on {name}",
            both_ways([*LATER, *more], MachineSpec(name), LATER_SIZES),
        )
        for name, more in MACHINES.items()
    },
    **{
        f"later-40-{name}": (
            f"the checksums of 40 bytes on {name}",
            both_ways([*LATER_40, *(["x64-csum40-adx"] if more else [])], MachineSpec(name), [40]),
        )
        for name, more in MACHINES.items()
    },
}  # fmt: skip

SEARCHES = {
    "split": (
        "what a load across two lines occupies when aligning pays",
        back_to_back(
            [OLD, NEW], WESTMERE, [1400], src_offsets=[3], parameters={SPLIT_SLOTS: [str(v) for v in range(41)]}
        ),
    ),
    "split-atom": (
        "what such a load costs the Atom when aligning pays, while it holds nothing else up",
        back_to_back(
            [OLD, NEW],
            BONNELL.with_settings(f"{SPLIT_SLOTS}=0"),
            [1400],
            src_offsets=[3],
            parameters={LINE_CROSS: [str(v) for v in range(21)]},
        ),
    ),
    "page-cross": (
        "the cost of a load across two pages at which the test for it pays",
        one_at_a_time(
            [NEW, CHECKED], WESTMERE, [40], src_offsets=[PAGE], parameters={PAGE_CROSS: [str(v) for v in range(61)]}
        ),
    ),
}


def with_call(data: Data, grid: str, **where) -> float:
    """Cycles per call as a loop around the routine measures it: the empty call that was subtracted belongs to it."""
    rows = data.select(grid, **where)
    if len(rows) != 1:
        raise KeyError(f"grid {grid} has {len(rows)} points with {where}, not one")
    row = rows.iloc[0]
    return float(row["cycles_median"] + row["overhead"]) / float(row["calls"])


def table_cycles(data: Data, routine: str, size: int, offset: int) -> float:
    """Cycles per call, back to back on westmere."""
    return with_call(data, "table", routine=routine, size=size, src_offset=offset, measure="throughput")
