"""Intel Westmere server (Xeon X5650 at its base clock): Nehalem's core with a larger third level.

The rows of uarch.csv for the core, the first two levels and the string instructions are those of `nehalem`, whose file
this one uses; what differs is here. The third level is served at the core's clock.
"""

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, constructor, machine_of
from machines.extensions import sliced
from machines.nehalem import L3Cache, nehalem_board
from machines.provenance import assumed, calibrated, rows_of

NAME = "westmere"
DESCRIPTION = "Intel Westmere server (X5650, 2.67 GHz): Nehalem's core, 12 MiB third level"
ISA = "x86"

row = rows_of("westmere")
CLOCK = row(clock_mhz="2670MHz")
LOAD_TO_USE = {"L1": 4, "L2": 11, "L3": 53}  # cycles; what `breakeven machines show westmere` measures


class WestmereL3Cache(L3Cache):
    size, assoc = row(l3_size_kb="12288KiB", l3_assoc=16)
    tag_latency = assumed(20, "half of the data's")
    data_latency = calibrated(41, "westmere/l3_latency", "the levels before it add the rest")
    mshrs = calibrated(12, "westmere/dram_bw_single_core_gbps", "what one core has under way to memory")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, "prefetchers")
def WestmereBoard(**options):
    l3 = sliced(WestmereL3Cache(), assumed(6, "one a core, of 2048 sets"), gem5s="8MiB")
    latency = calibrated("56ns", "westmere/dram_latency_ns", "the caches and buses on the way add the rest")
    return nehalem_board("Westmere", CLOCK, l3, latency, **options)


machine = machine_of(WestmereBoard)
