"""Intel Pentium III of 1999 (Katmai, 550 MHz, 100 MHz bus): Coppermine's core, a second level of 512 KiB at half speed.

The rows of uarch.csv are those of `pentium3`, whose file this one uses; what differs is here. Memory latency was
measured at another clock (454 MHz) and is taken over in nanoseconds.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from constructors import L2, OUT_OF_ORDER, constructor, machine_of
from m5.objects import L2XBar
from pc133 import PC133
from pentium3 import Chipset, L2Cache, board
from x86_board import board_range
from x86_silicon import MEMORY_SIZE

NAME = "katmai"
DESCRIPTION = "Intel Pentium III (Katmai, 550 MHz, 100 MHz bus): Coppermine's core, 512 KiB L2 at half speed"
ISA = "x86"

CLOCK = "550MHz"  # uarch: pentium3/clock_mhz
LOAD_TO_USE = {"L1": 3, "L2": 15}  # cycles; what `breakeven machines show katmai` measures


class KatmaiL2Cache(L2Cache):
    size = "512KiB"  # uarch: pentium3/l2_size_kb
    assoc = 4  # uarch: pentium3/l2_assoc
    tag_latency = 4  # uarch: pentium3/l2_latency, calibrated: the first level and the bus add the rest
    data_latency = 9  # uarch: pentium3/l2_latency, calibrated: as tag_latency


class KatmaiL2Bus(L2XBar):
    width = 4  # uarch: pentium3/l2_l1_bytes_per_cycle, calibrated: 8 bytes every two cycles


class KatmaiMemory(PC133):
    """PC100: the same clocks of 10 ns."""

    burst_length = 4  # uarch: pentium3/line_bytes, calibrated: 32 bytes by 8
    tCK = "10ns"  # uarch: pentium3/fsb_mhz_width, calibrated: 100 MHz
    tBURST = "40ns"  # uarch: pentium3/fsb_mhz_width, calibrated: four clocks
    tCL = "30ns"  # assumed: three clocks
    tRCD = "30ns"  # assumed: three clocks
    tRP = "30ns"  # assumed: three clocks
    tRAS = "60ns"  # assumed: six clocks
    tRRD = "20ns"  # assumed: two clocks
    tWR = "20ns"  # assumed: two clocks
    tRTP = "10ns"  # assumed: a clock
    tWTR = "10ns"  # assumed: a clock
    tRTW = "10ns"  # assumed: a clock
    tCS = "10ns"  # assumed: a clock
    tRFC = "90ns"  # assumed: nine clocks


class KatmaiChipset(Chipset):
    static_frontend_latency = "45ns"  # uarch: pentium3/dram_latency_ns, calibrated: between open and other pages
    static_backend_latency = "45ns"  # uarch: pentium3/dram_latency_ns, calibrated: as static_frontend_latency


@constructor(*OUT_OF_ORDER, *L2)
def KatmaiBoard(**options):
    return board(
        "Pentium III",
        CLOCK,
        KatmaiL2Cache(),
        KatmaiL2Bus(),
        KatmaiChipset(dram=KatmaiMemory(range=board_range(MEMORY_SIZE))),
        bytes_per_cycle=4.3,  # uarch: pentium3/rep_movs_bytes_per_cycle
        **options,
    )


machine = machine_of(KatmaiBoard)
