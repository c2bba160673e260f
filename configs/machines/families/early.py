"""x86 about 2000: memory, and the micro-ops of the Pentium III (P6) and the Athlon (K7).

The memory is PC133 SDRAM (3-3-3) on a bus of 8 bytes behind a northbridge; rows stay open.

What a machine says itself: how many beats a line takes (`burst_length`, `tBURST`), and its northbridge's latency.
Timing is the standard's: written data goes with its command, only reads wait for `tCL`.

A northbridge of the time posts a few lines (the 82443BX takes four requests from the processor's bus at once), lets
reads pass them, and writes them when none waits. gem5's default, 64 lines of which 16 go at a time, is a later one.

The guest's buffers are contiguous, so with the 64 KiB that the rows of one module span, what a stream writes and what
the second level writes back for it, 128 KiB behind, would always meet in one bank. A kernel's pages are scattered over
all modules; that four modules' rows follow each other here stands for that.
"""

from m5 import objects
from m5.objects import DRAMInterface, MemCtrl

from machines.families import x86
from machines.provenance import assumed, calibrated, sourced


class PC133(DRAMInterface):
    device_size = assumed("32MiB", "has no effect")
    device_bus_width = devices_per_rank = assumed(8, "eight chips make 8 bytes")
    ranks_per_channel = assumed(8, "four double-sided modules, what the 82443BX and the Apollo Pro133A take")
    banks_per_rank = assumed(4, "SDRAM's")
    device_rowbuffer_size = assumed("1KiB", "rows of 8 KiB")
    beats_per_clock = assumed(1, "single data rate")
    page_policy = assumed("open", "pentium3/dram_latency_ns tells open pages from others")
    tCK = assumed("7.5ns", "133 MHz")
    tCL = tRCD = tRP = assumed("22.5ns", "three clocks")
    tCWL = assumed("0ns", "the standard's; data goes with the command")
    tRAS = assumed("45ns", "six clocks")
    tRRD = tWR = assumed("15ns", "two clocks")
    tRTP = tWTR = tRTW = tCS = assumed("7.5ns", "a clock")
    tRFC = assumed("67.5ns", "nine clocks")
    tREFI = assumed("15.6us", "4096 rows in 64 ms")
    tXAW, activation_limit = assumed(("0ns", 0), "no such limit")
    write_buffer_size = assumed(4, "as many as the 82443BX takes requests (data sheet: in-order queue)")


class Northbridge(MemCtrl):
    min_writes_per_switch = assumed(1, "reads pass posted writes")
    write_low_thresh_perc = assumed(0, "writes go when no read waits")


def memory(delay, **timing):
    """Modules behind a northbridge, which takes `delay` before them and as much after."""
    return Northbridge(
        dram=PC133(range=x86.board_range(x86.MEMORY_SIZE), **timing),
        static_frontend_latency=delay,
        static_backend_latency=delay,
    )


def without_sse2(isa):
    """What came after the Pentium III and the Athlon."""
    x86.without(isa, *x86.SINCE_SSE2)
    isa.enable_clflush = assumed(True, "came later too, but the measuring guest makes buffers cold with it")


def p6_string_modes(startup_uops, bytes_per_cycle):
    """Fast: lines, the destination's written without being read. Otherwise an element at a time.

    A start-up's micro-ops all need a computing port here and go two a cycle; on the hardware some load or store.
    """
    conditions, slow = "pentium3/rep_movs_fast_conditions", "pentium3/rep_movs_slow_bytes_per_cycle"
    return [
        objects.X86StringMode(
            min_count=sourced(64, conditions),
            co_alignment=sourced(8, conditions),
            min_distance=sourced(32, conditions),
            startup_uops=startup_uops,
            block=sourced(32, "pentium3/line_bytes"),
            bytes_per_cycle=bytes_per_cycle,
            whole_lines=sourced(True, "pentium3/rep_movs_fast_bus_action"),
        ),
        objects.X86StringMode(
            backwards=sourced(True, conditions),
            startup_uops=assumed(20, "ten cycles"),
            block=calibrated(0, "pentium3/rep_movs_slow_uops", "by element"),
            element_cycles=calibrated(2, slow, "2.4 for four bytes"),
            bytes_per_cycle=calibrated(10, slow, "as element_cycles"),
            element_uops=calibrated(3, "pentium3/rep_movs_slow_uops", "with sequencer, load and store, six"),
        ),
    ]


def p6_microcode(bytes_per_cycle):
    """Micro-ops of the Pentium III in place of gem5's; `bytes_per_cycle` of a fast REP MOVS."""
    return objects.X86Microcode(
        gem5=assumed(False, "hardware has its own"),
        **assumed({"micro_fusion": False, "stack_engine": False}, "since the Pentium M"),
        split_stores=sourced(True, "pentium3/uops_mov_store"),
        zero_idioms=assumed(False, "later"),
        flag_merge=sourced("stall", "pentium3/partial_flag_stall"),
        max_access=calibrated(8, "pentium3/tput_movaps_load", "two accesses for 16 bytes"),
        instructions=[
            x86.instruction("adc sbb", latency=sourced(2, "pentium3/lat_adc"), uops=sourced(2, "pentium3/uops_adc_rr")),
            x86.instruction(
                "mul", latency=calibrated(4, "pentium3/lat_mul_wide", "two micro-ops, the second a cycle later")
            ),
            x86.instruction("bswap", latency=sourced(2, "pentium3/lat_bswap"), uops=assumed(2, "one a cycle")),
            x86.instruction("psadbw", latency=sourced(5, "pentium3/lat_psadbw")),
            x86.instruction(x86.SHIFTS, opClass=x86.SHIFT, latency=sourced(1, "pentium3/lat_shift")),
            x86.instruction("cmove cmovne cmovb cmovae", uops=assumed(2, "as adc")),
            *x86.slow_loops(),
        ],
        rep_movs=p6_string_modes(
            startup_uops=calibrated(172, "pentium3/rep_movs_startup", "86 cycles"), bytes_per_cycle=bytes_per_cycle
        ),
        rep_stos=p6_string_modes(
            startup_uops=calibrated(148, "pentium3/rep_movs_fast_uops", "185, as 172 are for 215"),
            bytes_per_cycle=sourced(5.7, "pentium3/rep_stos_bytes_per_cycle"),
        ),
    )


def by_element(startup_uops, bytes_per_cycle, **conditions):
    """K7: an element a cycle, and its bytes' share of a third of one. A start-up is three micro-ops a cycle, and 3
    cycles."""
    return objects.X86StringMode(
        startup_uops=startup_uops,
        block=calibrated(0, "k7/rep_movs_cycles", "by element"),
        element_cycles=calibrated(1, "k7/rep_movs_cycles", "a third more by bytes"),
        bytes_per_cycle=bytes_per_cycle,
        **conditions,
    )


def k7_moves():
    """15 + 4/3 n cycles for any element, 25 and as many going down."""
    startup, pace, cycles = "k7/rep_movs_startup", "k7/rep_movs_bytes_per_cycle", "k7/rep_movs_cycles"
    forward, words = calibrated(36, startup, "12 cycles"), calibrated(36, cycles, "12 cycles")
    down = calibrated(66, startup, "22 cycles")
    return [
        by_element(forward, calibrated(11.5, pace, "a third of a cycle for four bytes"), min_element=4),
        by_element(words, calibrated(6, cycles, "a third of a cycle for two bytes"), min_element=2),
        by_element(forward, calibrated(2.6, pace, "over a third of a cycle for a byte"), min_element=1),
        by_element(down, calibrated(2.6, pace, "as forward"), min_element=1, backwards=True),
    ]


def k7_fills():
    """14 + n cycles."""
    startup, each = calibrated(33, "k7/rep_movs_startup", "11 cycles"), "a cycle an element"
    return [by_element(startup, calibrated(0, "k7/rep_movs_cycles", each), min_element=1, backwards=True)]


def k7_microcode():
    """Micro-ops of the K7 in place of gem5's."""
    return objects.X86Microcode(
        gem5=assumed(False, "hardware has its own"),
        micro_fusion=sourced(True, "k7/rename_width"),
        split_stores=sourced(False, "k7/rename_width"),
        stack_engine=assumed(False, "later"),
        zero_idioms=assumed(True, "AMD's guides advise them"),
        flag_merge=sourced("none", "k7/partial_flag_stall"),
        max_access=sourced(8, "k7/l1d_store_bytes_per_cycle"),
        instructions=[
            x86.instruction("adc sbb", latency=sourced(1, "k7/lat_adc")),
            x86.instruction("lea", latency=sourced(2, "k7/lat_lea")),
            x86.instruction("bswap", latency=sourced(1, "k7/lat_bswap")),
            x86.instruction("psadbw", latency=sourced(3, "k7/lat_psadbw")),
            x86.instruction("mul", latency=calibrated(3, "k7/lat_mul_wide", "two micro-ops, the second a cycle later")),
            *x86.slow_loops(),
        ],
        rep_movs=k7_moves(),
        rep_stos=k7_fills(),
    )
