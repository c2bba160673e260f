"""Intel Pentium III of 1999 (Katmai, 550 MHz, 100 MHz bus): Coppermine's core, a second level of 512 KiB at half speed.

The rows of uarch.csv are those of `pentium3`, whose file this one uses; what differs is here. Memory latency was
measured at another clock (454 MHz) and is taken over in nanoseconds.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5.objects import L2XBar

from machines.constructors import L2, OUT_OF_ORDER, constructor, machine_of
from machines.pc133 import PC133
from machines.pentium3 import Chipset, L2Cache, board
from machines.provenance import assumed, calibrated, sourced
from machines.x86_board import board_range
from machines.x86_silicon import MEMORY_SIZE

NAME = "katmai"
DESCRIPTION = "Intel Pentium III (Katmai, 550 MHz, 100 MHz bus): Coppermine's core, 512 KiB L2 at half speed"
ISA = "x86"

CLOCK = sourced("550MHz", "pentium3/clock_mhz")
LOAD_TO_USE = {"L1": 3, "L2": 15}  # cycles; what `breakeven machines show katmai` measures


class KatmaiL2Cache(L2Cache):
    size = sourced("512KiB", "pentium3/l2_size_kb")
    assoc = sourced(4, "pentium3/l2_assoc")
    tag_latency = calibrated(4, "pentium3/l2_latency", "the first level and the bus add the rest")
    data_latency = calibrated(9, "pentium3/l2_latency", "as tag_latency")


class KatmaiL2Bus(L2XBar):
    width = calibrated(4, "pentium3/l2_l1_bytes_per_cycle", "8 bytes every two cycles")


class KatmaiMemory(PC133):
    """PC100: the same clocks of 10 ns."""

    burst_length = calibrated(4, "pentium3/line_bytes", "32 bytes by 8")
    tCK = calibrated("10ns", "pentium3/fsb_mhz_width", "100 MHz")
    tBURST = calibrated("40ns", "pentium3/fsb_mhz_width", "four clocks")
    tCL = assumed("30ns", "three clocks")
    tRCD = assumed("30ns", "three clocks")
    tRP = assumed("30ns", "three clocks")
    tRAS = assumed("60ns", "six clocks")
    tRRD = assumed("20ns", "two clocks")
    tWR = assumed("20ns", "two clocks")
    tRTP = assumed("10ns", "a clock")
    tWTR = assumed("10ns", "a clock")
    tRTW = assumed("10ns", "a clock")
    tCS = assumed("10ns", "a clock")
    tRFC = assumed("90ns", "nine clocks")


class KatmaiChipset(Chipset):
    static_frontend_latency = calibrated("45ns", "pentium3/dram_latency_ns", "between open and other pages")
    static_backend_latency = calibrated("45ns", "pentium3/dram_latency_ns", "as static_frontend_latency")


@constructor(*OUT_OF_ORDER, *L2)
def KatmaiBoard(**options):
    return board(
        "Pentium III",
        CLOCK,
        KatmaiL2Cache(),
        KatmaiL2Bus(),
        KatmaiChipset(dram=KatmaiMemory(range=board_range(MEMORY_SIZE))),
        bytes_per_cycle=sourced(4.3, "pentium3/rep_movs_bytes_per_cycle"),
        **options,
    )


machine = machine_of(KatmaiBoard)
