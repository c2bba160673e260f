"""Intel Westmere server (Xeon X5650 at its base clock): Nehalem's core with a larger third level.

The rows of uarch.csv for the core, the first two levels and the string instructions are those of `nehalem`, whose file
this one uses; what differs is here. The third level is served at the core's clock.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, constructor, machine_of
from machines.extensions import sliced
from machines.nehalem import L3Cache, Memory, board
from machines.provenance import assumed, calibrated, sourced
from machines.x86_board import board_range

NAME = "westmere"
DESCRIPTION = "Intel Westmere server (X5650, 2.67 GHz): Nehalem's core, 12 MiB third level"
ISA = "x86"

CLOCK = sourced("2670MHz", "westmere/clock_mhz")
LOAD_TO_USE = {"L1": 4, "L2": 11, "L3": 53}  # cycles; what `breakeven machines show westmere` measures
MEMORY_SIZE = assumed("512MiB", "what the guests need")


class WestmereL3Cache(L3Cache):
    size = sourced("12288KiB", "westmere/l3_size_kb")
    assoc = sourced(16, "westmere/l3_assoc")
    tag_latency = assumed(20, "half of the data's")
    data_latency = calibrated(41, "westmere/l3_latency", "the levels before it add the rest")
    mshrs = calibrated(12, "westmere/dram_bw_single_core_gbps", "what one core has under way to memory")


class WestmereMemory(Memory):
    latency = calibrated("56ns", "westmere/dram_latency_ns", "the caches and buses on the way add the rest")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, "prefetchers")
def WestmereBoard(**options):
    l3 = WestmereL3Cache()
    sliced(l3, assumed(6, "one a core, of 2048 sets"), gem5s="8MiB")
    return board("Westmere", CLOCK, l3, WestmereMemory(range=board_range(MEMORY_SIZE)), **options)


machine = machine_of(WestmereBoard)
