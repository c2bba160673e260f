"""Memory of the time about 2000: PC133 SDRAM (3-3-3) on a bus of 8 bytes behind a northbridge; rows stay open.

What a machine says itself: how many beats a line takes (`burst_length`, `tBURST`), and its northbridge's latencies.
Timing is the standard's: written data goes with its command, only reads wait for `tCL`.

A northbridge of the time posts a few lines (the 82443BX takes four requests from the processor's bus at once), lets
reads pass them, and writes them when none waits. gem5's default, 64 lines of which 16 go at a time, is a later one.

The guest's buffers are contiguous, so with the 64 KiB that the rows of one module span, what a stream writes and what
the second level writes back for it, 128 KiB behind, would always meet in one bank. A kernel's pages are scattered over
all modules; that four modules' rows follow each other here stands for that.
"""

from m5.objects import DRAMInterface, MemCtrl


class PC133(DRAMInterface):
    device_size = "32MiB"  # assumed: has no effect
    device_bus_width = 8  # assumed: eight chips make 8 bytes
    devices_per_rank = 8  # assumed: as device_bus_width
    ranks_per_channel = 8  # assumed: four double-sided modules, what the 82443BX and the Apollo Pro133A take
    banks_per_rank = 4  # assumed: SDRAM's
    device_rowbuffer_size = "1KiB"  # assumed: rows of 8 KiB
    beats_per_clock = 1  # assumed: single data rate
    page_policy = "open"  # assumed: pentium3/dram_latency_ns tells open pages from others
    tCK = "7.5ns"  # assumed: 133 MHz
    tCL = "22.5ns"  # assumed: three clocks
    tCWL = "0ns"  # assumed: the standard's; data goes with the command
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
    write_buffer_size = 4  # assumed: as many as the 82443BX takes requests (data sheet: in-order queue)


class Northbridge(MemCtrl):
    min_writes_per_switch = 1  # assumed: reads pass posted writes
    write_low_thresh_perc = 0  # assumed: writes go when no read waits
