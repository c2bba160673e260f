"""Intel Golden Cove (the large core of Alder Lake, at the clock of its measurements): six-wide, FSRM.

Ports are functional units: 0, 1, 5, 6, 10 compute, 2, 3 and 11 load, 4 and 9 store (address units are not told apart).
Not modelled: memory renaming (a load whose store is known takes no time), the elimination of inc and of additions of
small constants, the micro-op cache (fetch brings 64 bytes a cycle at any time), that two stores a cycle must go to one
line, separate first-level TLBs for loads and stores. The three schedulers are one queue of their joint size. Copies of
up to 128 bytes by REP MOVSB have a mode of their own (FSRM); beyond it is ERMS. How long one of 129 to 511 bytes takes
alone was measured, and kept; one after another they overlap here, on the hardware less. REP STOS is as on Broadwell.
"""

from m5.objects import X86O3CPU

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.extensions import sliced
from machines.families import intel, x86
from machines.families.outoforder import dividers, pool, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "goldencove"
DESCRIPTION = "Intel Golden Cove (Alder Lake, 3.19 GHz): 6-wide out-of-order, three loads a cycle, REP MOVSB with FSRM"
ISA = "x86"

row = rows_of("goldencove")
CLOCK = row(clock_mhz="3190MHz")
LOAD_TO_USE = {"L1": 5, "L2": 17, "L3": 79}  # cycles; what `breakeven machines show goldencove` measures

ONE = row(port_map=1)
LOGIC = sourced({"vector logic": 1}, "goldencove/lat_simd_add")
ARITHMETIC = {
    **assumed({"vector products": 5, "conversions": 5}, "as Skylake"),
    **assumed({"float adds": 3}, "fast adders"),
    **assumed({"float products": 4, "SimdShift": 1}, "as Skylake"),
}
DIVIDER = dividers(**assumed({"integer": 14, "divide": 11, "root": 13}, "a faster divider than Skylake's"))


class GoldenCoveCPU(X86O3CPU):
    fetchBufferSize = assumed(64, "eight micro-ops a cycle out of the micro-op cache; past it, 32 bytes")
    fetchWidth = row(decode_width=8)
    fetchToDecodeDelay = calibrated(11, "goldencove/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize, decodeWidth = row(idq_size=144, decode_width=6)
    renameWidth = dispatchWidth = row(rename_width=6)
    issueWidth = wbWidth = calibrated(12, "goldencove/port_map", "twelve ports")
    commitWidth, numROBEntries = row(retire_width=8, rob_size=512)
    squashWidth = assumed(128, "recovery does not walk")
    numIQEntries = calibrated(186, "goldencove/scheduler_size", "the three together")
    numPhysIntRegs, numPhysFloatRegs = row(int_prf=280, vec_prf=332)
    LQEntries, SQEntries = row(load_queue=192, store_queue=114)
    cacheLoadPorts, cacheStorePorts = row(tput_load=3, tput_store=2)
    branchPred = intel.predictor(
        btb=calibrated(12288, "goldencove/btb", "12 K"),
        ways=assumed(6, "2048 sets"),
        returns=assumed(16, "as its relatives"),
    )
    fuPool = pool(
        unit("Ports6And10", calibrated(2, "goldencove/port_map", "two ports"), {"IntAlu": 1}),
        unit("Port5", ONE, {"IntAlu": 1, **LOGIC, "shuffles": 1, "reductions": 3}),
        unit("Port1", ONE, {"IntAlu": 1, "IntMult": row(lat_imul=3), **LOGIC, **ARITHMETIC}),
        unit("Port0", ONE, {"IntAlu": 1, **LOGIC, **ARITHMETIC, "float rest": 1}, DIVIDER),
        unit("PortsLoad", row(port_map=3), {"loads": 1}),
        unit("PortsStore", row(port_map=2), {"stores": 1}),
    )


class L1Cache(x86.SiliconCache):
    size, assoc = row(l1d_size_kb="48KiB", l1d_assoc=12)
    tag_latency = data_latency = calibrated(4, "goldencove/l1d_latency", "with the core's own cycle, 5 to the use")
    mshrs, write_buffers = row(mshr_l1d=16, wc_buffers=16)


class L1ICache(L1Cache):
    size, assoc = assumed(("32KiB", 8), "as its relatives")


class L2Cache(x86.SiliconCache):
    size = row(l2_size_kb="1280KiB")
    assoc = assumed(10, "ten ways of 2048 lines")
    tag_latency, data_latency = calibrated((2, 9), "goldencove/l2_latency", "the first level and the bus add the rest")
    mshrs = row(mshr_l2=48)
    write_buffers = assumed(48, "as mshrs")
    writeback_clean = assumed(True, "the level below holds what this one drops")


class L3Cache(intel.L3Cache):
    size = assumed("30MiB", "the i9-12900K's")
    assoc = assumed(12, "twelve ways")
    data_latency = calibrated(66, "goldencove/l3_latency", "the levels before it add the rest")
    mshrs = calibrated(22, "goldencove/dram_bw_single_core_gbps", "what one core has under way to memory")
    write_buffers = assumed(48, "as the second level's")
    clusivity = assumed("mostly_excl", "as Skylake's server")


#: cycles of mul; bytes a cycle of REP MOVS and of REP STOS; micro-ops that begin the latter
MUL = assumed(3, "as imul, a micro-op a result")
MOVS = row(rep_movs_pace=64)
STOS = row(rep_stos_bytes_per_cycle=61)
STARTUP_UOPS = calibrated(130, "goldencove/rep_movs_startup", "of rep stos, five a cycle")


def ours(board, mul=MUL, movs=MOVS, stos=STOS, streams=None):
    """Address translation, and what a real gem5 cannot express."""
    cpu = board.cpu
    intel.large_core(
        board,
        "goldencove",
        second=streams,
        max_access=calibrated(32, "goldencove/l1d_store_bytes_per_cycle", "two stores a cycle"),
        instructions=[
            x86.instruction("adc sbb", latency=row(lat_adc=1)),
            x86.instruction("adcx adox", latency=assumed(1, "as adc")),
            x86.instruction("mul mulx", latency=mul),
            x86.instruction("psadbw vpsadbw", latency=row(lat_psadbw=3)),
        ],
        rep_movs=intel.fsrm(movs, STARTUP_UOPS),
        rep_stos=intel.erms(stos, STARTUP_UOPS),
    )
    cpu.loopBufferSize = calibrated(576, "goldencove/idq_size", "four bytes of code a micro-op")
    fence = {"latency": 8, "after_stores": 7}
    x86.fences(cpu, **calibrated(fence, "goldencove/mfence", "2 cycles are hidden, none behind stores"))
    cpu.forwardFailPenalty = calibrated(8, "goldencove/stlf_fail_penalty", "with the store's way to the cache, 15")
    cpu.misaligned.line_cross_load = row(split_load_cost=6)
    cpu.misaligned.page_cross_load = row(page_cross_load=10)
    cpu.mmu.itb.size = assumed(256, "as its relatives")
    cpu.mmu.dtb.size, cpu.mmu.dtb.assoc = row(dtlb_entries=(96, 6))
    cpu.mmu.dtb.l2_size = calibrated(2048, "goldencove/stlb_entries", "both halves")
    cpu.mmu.dtb.l2_assoc = row(stlb_entries=8)
    cpu.mmu.dtb.l2_latency = assumed(7, "as Broadwell's")
    cpu.write_combining = x86.write_combining(buffers=row(wc_buffers=16))


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def GoldenCoveBoard(**options):
    cpu = GoldenCoveCPU(isa=x86.intel("Golden Cove"))
    l3 = sliced(L3Cache(), assumed(10, "3 MiB each, of 4096 sets"), gem5s="24MiB")
    latency = calibrated("80ns", "goldencove/dram_latency_ns", "the caches and buses on the way add the rest")
    bandwidth = calibrated("30GiB/s", "goldencove/dram_bw_single_core_gbps", "by the copy's")
    memory = x86.memory(latency, bandwidth)
    caches = (L1ICache(), L1Cache(), L2Cache(), l3)
    buses = (intel.LineBus(), intel.Ring())
    return x86.silicon_board(cpu, CLOCK, ours, memory, caches, buses, **options)


machine = machine_of(GoldenCoveBoard)
