"""Memory of the time about 2000: one module of PC133 SDRAM (3-3-3) on a bus of 8 bytes; rows stay open.

What a machine says itself: how many beats a line takes (`burst_length`, `tBURST`). Values are those of the standard.
"""

from m5.objects import DRAMInterface


class PC133(DRAMInterface):
    device_size = "32MiB"  # assumed: has no effect
    device_bus_width = 8  # assumed: eight chips make 8 bytes
    devices_per_rank = 8  # assumed: as device_bus_width
    ranks_per_channel = 2  # assumed: a double-sided module
    banks_per_rank = 4  # assumed: SDRAM's
    device_rowbuffer_size = "1KiB"  # assumed: rows of 8 KiB
    beats_per_clock = 1  # assumed: single data rate
    page_policy = "open"  # assumed: pentium3/dram_latency_ns tells open pages from others
    tCK = "7.5ns"  # assumed: 133 MHz
    tCL = "22.5ns"  # assumed: three clocks
    tRCD = "22.5ns"  # assumed: three clocks
    tRP = "22.5ns"  # assumed: three clocks
    tRAS = "45ns"  # assumed: six clocks
    tRRD = "15ns"  # assumed: two clocks
    tWR = "15ns"  # assumed: two clocks
    tRTP = "7.5ns"  # assumed: a clock
    tWTR = "7.5ns"  # assumed: a clock
    tRTW = "7.5ns"  # assumed: a clock
    tCS = "7.5ns"  # assumed: a clock
    tRFC = "67.5ns"  # assumed: nine clocks
    tREFI = "15.6us"  # assumed: 4096 rows in 64 ms
    tXAW = "0ns"  # assumed: no such limit
    activation_limit = 0  # assumed: no such limit
