"""Intel's small cores: what Bonnell, in order, decodes to, and what Crestmont and Skymont have alike."""

from m5 import objects
from m5.objects import L2XBar

from machines.families import intel, x86
from machines.provenance import assumed, calibrated, sourced

STARTUP_UOPS = assumed(100, "no source: some twenty cycles, as other cores with FSRM")


def pineview_strings(bytes_per_cycle):
    """Microcode, as fast for single bytes as for words. What a line's accesses take comes on top of the pace."""
    return [
        objects.X86StringMode(
            startup_uops=calibrated(120, "bonnell/rep_movs_startup", "60 cycles at two a cycle"),
            block=sourced(64, "bonnell/line_bytes"),
            bytes_per_cycle=bytes_per_cycle,
        ),
        objects.X86StringMode(
            startup_uops=assumed(120, "as going up"),
            **assumed({"backwards": True, "block": 0, "element_cycles": 4}, "microcode by element"),
        ),
    ]


def in_order_microcode():
    """Bonnell's micro-ops in place of gem5's."""
    return objects.X86Microcode(
        gem5=assumed(False, "hardware has its own"),
        split_stores=sourced(False, "bonnell/alu_mem_fused"),
        stack_engine=assumed(True, "push and pop are one pass"),
        zero_idioms=assumed(True, "as later cores"),
        flag_merge=sourced("none", "bonnell/partial_flag_stall"),
        max_access=sourced(16, "bonnell/l1d_load_bytes_per_cycle"),
        instructions=[
            x86.instruction("adc sbb", latency=sourced(2, "bonnell/lat_adc")),
            x86.instruction("paddq", latency=sourced(5, "bonnell/lat_simd_add")),
            x86.instruction(
                "movdqu movups lddqu",
                uops=calibrated(8, "bonnell/tput_movdqu_load", "as many as an instruction has here"),
            ),
        ],
        rep_movs=pineview_strings(bytes_per_cycle=calibrated(10.7, "bonnell/rep_movs_bytes_per_cycle", "5.6 in all")),
        rep_stos=pineview_strings(bytes_per_cycle=calibrated(32, "bonnell/rep_stos_bytes_per_cycle", "10.6 in all")),
    )


def small_core(board, adc, movs, stos, split):
    """Cycles of adc, bytes a cycle of REP MOVS and REP STOS; `split`: cycles that an access across two lines keeps its
    port beyond two."""
    cpu = board.cpu
    code = intel.microcode(
        split_stores=assumed(True, "as the large cores"),
        flag_merge=assumed("none", "as the large cores"),
        max_access=calibrated(16, "crestmont/tput_load_ymm", "32 bytes are two"),
        instructions=[
            x86.instruction("adc sbb adcx adox", latency=adc),
            x86.instruction("mul mulx", latency=assumed(5, "as imul and a second result")),
            x86.instruction("psadbw vpsadbw", latency=sourced(3, "crestmont/lat_psadbw")),
        ],
        rep_movs=intel.erms(movs, STARTUP_UOPS),
        rep_stos=intel.erms(stos, STARTUP_UOPS),
    )
    x86.hardware(board, code)
    cpu.forwardLatency = assumed(3, "no source: with the store's and the load's own cycles, 5")
    cpu.partialForwardPolicy = assumed("penalty", "as the large cores")
    cpu.forwardFailPenalty = assumed(8, "as Golden Cove")
    cpu.aliasCheckBits = assumed(12, "as the large cores")
    cpu.aliasPenalty = assumed(5, "as Golden Cove")
    cpu.misaligned.policy = assumed("hardware", "as every x86")
    cpu.misaligned.split_slots = split
    cpu.misaligned.line_cross_store = assumed(1, "a second access")
    crossing = {"line_cross_load": 6, "page_cross_load": 10, "page_cross_store": 25}
    x86.put(cpu.misaligned, assumed(crossing, "as Golden Cove"))
    cpu.mmu.dtb.l2_latency = assumed(7, "as Golden Cove")
    cpu.write_combining = x86.write_combining(buffers=assumed(16, "as Golden Cove"))
    cpu.dcache.prefetcher = assumed(objects.NextLinePrefetcher(), "as the large cores")
    board.l2.prefetcher = assumed(x86.streamer_and_pairs(), "as the large cores")


def small_board(cpu, clock, ours, latency, caches, **options):
    """A machine of such a core; `latency` of its memory."""
    buses = (L2XBar(width=assumed(64, "a line a cycle to the second level")), L2XBar(width=assumed(32, "the ring")))
    plain = x86.memory(latency, assumed("25GiB/s", "one small core of DDR5"))
    return x86.silicon_board(cpu, clock, ours, plain, caches, buses, **options)
