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

from machines.provenance import assumed


class PC133(DRAMInterface):
    device_size = assumed("32MiB", "has no effect")
    device_bus_width = assumed(8, "eight chips make 8 bytes")
    devices_per_rank = assumed(8, "as device_bus_width")
    ranks_per_channel = assumed(8, "four double-sided modules, what the 82443BX and the Apollo Pro133A take")
    banks_per_rank = assumed(4, "SDRAM's")
    device_rowbuffer_size = assumed("1KiB", "rows of 8 KiB")
    beats_per_clock = assumed(1, "single data rate")
    page_policy = assumed("open", "pentium3/dram_latency_ns tells open pages from others")
    tCK = assumed("7.5ns", "133 MHz")
    tCL = assumed("22.5ns", "three clocks")
    tCWL = assumed("0ns", "the standard's; data goes with the command")
    tRCD = assumed("22.5ns", "three clocks")
    tRP = assumed("22.5ns", "three clocks")
    tRAS = assumed("45ns", "six clocks")
    tRRD = assumed("15ns", "two clocks")
    tWR = assumed("15ns", "two clocks")
    tRTP = assumed("7.5ns", "a clock")
    tWTR = assumed("7.5ns", "a clock")
    tRTW = assumed("7.5ns", "a clock")
    tCS = assumed("7.5ns", "a clock")
    tRFC = assumed("67.5ns", "nine clocks")
    tREFI = assumed("15.6us", "4096 rows in 64 ms")
    tXAW = assumed("0ns", "no such limit")
    activation_limit = assumed(0, "no such limit")
    write_buffer_size = assumed(4, "as many as the 82443BX takes requests (data sheet: in-order queue)")


class Northbridge(MemCtrl):
    min_writes_per_switch = assumed(1, "reads pass posted writes")
    write_low_thresh_perc = assumed(0, "writes go when no read waits")
