"""Intel Pentium III of 1999 (Katmai, 550 MHz, 100 MHz bus): Coppermine's core, a second level of 512 KiB at half speed.

The rows of uarch.csv are those of `pentium3`, whose file this one uses; what differs is here. Memory latency was
measured at another clock (454 MHz) and is taken over in nanoseconds. The memory is PC100: the same clocks of 10 ns.
"""

from m5.objects import L2XBar

from machines.constructors import L2, OUT_OF_ORDER, constructor, machine_of
from machines.families import early
from machines.pentium3 import L2Cache, p6_board
from machines.provenance import assumed, calibrated, rows_of

NAME = "katmai"
DESCRIPTION = "Intel Pentium III (Katmai, 550 MHz, 100 MHz bus): Coppermine's core, 512 KiB L2 at half speed"
ISA = "x86"

row = rows_of("pentium3")
CLOCK = row(clock_mhz="550MHz")
LOAD_TO_USE = {"L1": 3, "L2": 15}  # cycles; what `breakeven machines show katmai` measures


class KatmaiL2Cache(L2Cache):
    size, assoc = row(l2_size_kb="512KiB", l2_assoc=4)
    tag_latency, data_latency = calibrated((4, 9), "pentium3/l2_latency", "the first level and the bus add the rest")


@constructor(*OUT_OF_ORDER, *L2)
def KatmaiBoard(**options):
    l2bus = L2XBar(width=calibrated(4, "pentium3/l2_l1_bytes_per_cycle", "8 bytes every two cycles"))
    memory = early.memory(
        delay=calibrated("45ns", "pentium3/dram_latency_ns", "between open and other pages"),
        burst_length=calibrated(4, "pentium3/line_bytes", "32 bytes by 8"),
        tCK=calibrated("10ns", "pentium3/fsb_mhz_width", "100 MHz"),
        tBURST=calibrated("40ns", "pentium3/fsb_mhz_width", "four clocks"),
        **assumed({"tRTP": "10ns", "tWTR": "10ns", "tRTW": "10ns", "tCS": "10ns"}, "a clock"),
        **assumed({"tRRD": "20ns", "tWR": "20ns"}, "two clocks"),
        **assumed({"tCL": "30ns", "tRCD": "30ns", "tRP": "30ns"}, "three clocks"),
        tRAS=assumed("60ns", "six clocks"),
        tRFC=assumed("90ns", "nine clocks"),
    )
    return p6_board(CLOCK, row(rep_movs_bytes_per_cycle=4.3), KatmaiL2Cache(), l2bus, memory, **options)


machine = machine_of(KatmaiBoard)
