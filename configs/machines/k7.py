"""AMD Athlon K7 (Thunderbird, 1.4 GHz, PC133 memory): three macro-ops wide, out-of-order, no prefetcher, exclusive L2.

A load with its operation, or a store, is one macro-op. Flags are renamed apart. REP MOVS goes element by element, at
any alignment alike.

Not modelled: address units apart from the load and store pipes, two stores of 4 bytes in one cycle, integer schedulers
of six entries each (one joint queue with the floating-point one here), banks of the first level. It has SSE here for
the MMX extensions that came with it (movntq, prefetchnta, sfence), which this core has; floating-point SSE it has not.
It runs 32-bit routines in 64-bit mode, which the hardware has not.
"""

from m5.objects import X86O3CPU, BiModeBP, L2XBar, ReturnAddrStack, SimpleBTB

from machines.constructors import L2, OUT_OF_ORDER, constructor, machine_of
from machines.families import early, x86
from machines.families.outoforder import dividers, pool, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "k7"
DESCRIPTION = "AMD Athlon K7 (Thunderbird, 1.4 GHz): 3-wide out-of-order, 64 KiB L1, 256 KiB exclusive L2"
ISA = "x86"

row = rows_of("k7")
CLOCK = row(clock_mhz="1400MHz")
LOAD_TO_USE = {"L1": 3, "L2": 21}  # cycles; what `breakeven machines show k7` measures

ONE = calibrated(1, "k7/port_map", "one such pipe")
ALUS = calibrated(2, "k7/port_map", "three, and one of them multiplies")
MMX = {  # on both of its pipes
    **sourced({"SimdAdd": 2, "SimdAddAcc": 2, "SimdAlu": 2, "SimdCmp": 2}, "k7/lat_simd_add"),
    **assumed({"SimdMisc": 2, "SimdExt": 2, "SimdShift": 2, "SimdReduceAlu": 3}, "as the additions"),
}
FLOATS = {"FloatAdd": 4, "FloatCmp": 4, "FloatCvt": 4, "SimdFloatAdd": 4, "SimdFloatCmp": 4, "SimdFloatAlu": 4}
PRODUCTS = {"vector products": 3, "SimdReduceAdd": 3}
FLOAT_PRODUCTS = {"FloatMult": 4, "FloatMultAcc": 8, "SimdFloatMult": 4, "SimdFloatMultAcc": 8}
INT_DIVIDER = dividers(integer=assumed(42, "a bit a cycle"))
DIVIDER = dividers(**assumed({"divide": 16, "root": 19}, "as in its optimization guide's examples"))


class K7CPU(X86O3CPU):
    fetchBufferSize = row(fetch_bytes_per_cycle=16)
    fetchWidth = assumed(6, "more than the decoders take")
    fetchToDecodeDelay = calibrated(4, "k7/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = assumed(18, "the decoders' queue")
    decodeWidth, renameWidth, dispatchWidth, commitWidth = row(decode_width=3, rename_width=(3, 3), retire_width=3)
    issueWidth = wbWidth = row(order=9)
    squashWidth = assumed(72, "recovery does not walk")
    numROBEntries = row(rob_size=72)
    numIQEntries = calibrated(54, "k7/scheduler_size", "both schedulers")
    numPhysIntRegs = calibrated(128, "k7/int_prf", "values live in the ROB, so registers never run out")
    numPhysFloatRegs = calibrated(120, "k7/scheduler_size", "88, and 32 that the model sets aside")
    LQEntries, SQEntries = row(load_queue=44, store_queue=44)
    cacheLoadPorts, cacheStorePorts = row(tput_load=2, tput_store=1)
    branchPred = BiModeBP(  # gem5's nearest to a table of counters chosen by history and address
        btb=SimpleBTB(numEntries=row(btb=2048)),
        ras=ReturnAddrStack(numEntries=row(btb=12)),
        **sourced({"globalPredictorSize": 2048, "choicePredictorSize": 2048}, "k7/btb"),
    )
    fuPool = pool(
        unit("Alu", ALUS, sourced({"IntAlu": 1}, "k7/lat_int_add")),
        unit("AluMul", ONE, {"IntAlu": 1, "IntMult": row(lat_imul=4)}, INT_DIVIDER),
        unit("FloatAdd", ONE, {**MMX, **FLOATS, "SimdCvt": 4, "SimdFloatCvt": 4}),
        unit("FloatMul", ONE, {**MMX, **PRODUCTS, **FLOAT_PRODUCTS, "float rest": 2, "SimdFloatExt": 2}, DIVIDER),
        unit("Loads", row(tput_load=2), {"loads": 1}),
        unit("Store", row(tput_store=1), {"stores": 1}),
    )


class L1Cache(x86.SiliconCache):
    size, assoc = row(l1d_size_kb="64KiB", l1d_assoc=2)
    tag_latency = data_latency = calibrated(2, "k7/l1d_latency", "with the core's own cycle, 3 to the use")
    mshrs = row(mshr_l1d=8)
    tgts_per_mshr = assumed(88, "no limit, all loads and stores there are")
    write_buffers = assumed(8, "as mshrs")
    writeback_clean = row(l2_size_kb=True)


class L2Cache(x86.SiliconCache):
    size, assoc = row(l2_size_kb="256KiB", l2_assoc=16)
    tag_latency, data_latency = calibrated((4, 8), "k7/l2_latency", "the first level and the bus add the rest")
    mshrs = write_buffers = assumed(8, "as the first level's")
    clusivity = row(l2_size_kb="mostly_excl")


def ours(board):
    """Address translation, and what a real gem5 cannot express."""
    cpu = board.cpu
    # The page tables of its time had two levels; the walker's caches know the upper one.
    x86.hardware(board, early.k7_microcode())
    x86.memory_order(board, "k7")
    cpu.forwardFailPenalty = calibrated(4, "k7/stlf_fail_penalty", "with the store's way to the cache, 11")
    cpu.aliasCheckBits = calibrated(12, "k7/alias_4k", "bits 11 to 2")
    cpu.aliasPenalty = row(alias_4k=4)
    granules = {"granule": 8, "granule_cross_load": 1, "granule_cross_store": 1}
    x86.put(cpu.misaligned, row(unaligned_within_line=granules))
    cpu.misaligned.line_cross_load, cpu.misaligned.line_cross_store = row(split_load_cost=2, split_store_cost=2)
    cpu.misaligned.page_cross_load, cpu.misaligned.page_cross_store = row(page_cross_load=4, page_cross_store=4)
    cpu.mmu.itb.size = assumed(24, "the instruction side's")
    cpu.mmu.dtb.size = row(dtlb_entries=32)
    cpu.mmu.dtb.l2_size, cpu.mmu.dtb.l2_assoc, cpu.mmu.dtb.l2_latency = row(stlb_entries=(256, 4), stlb_hit_penalty=3)
    cpu.write_combining = x86.write_combining(buffers=row(wc_buffers=4))
    early.without_sse2(cpu.isa[0])


@constructor(*OUT_OF_ORDER, *L2)
def K7Board(**options):
    memory = early.memory(
        delay=calibrated("40ns", "k7/dram_latency_ns", "the open page's 175 ns"),
        burst_length=calibrated(8, "k7/line_bytes", "64 bytes by 8"),
        tBURST=assumed("60ns", "eight beats of 133 MHz"),
    )
    caches = (L1Cache(), L1Cache(), L2Cache())
    buses = (L2XBar(width=assumed(8, "64 bits between the levels")),)
    return x86.silicon_board(K7CPU(isa=x86.amd("Athlon")), CLOCK, ours, memory, caches, buses, **options)


machine = machine_of(K7Board)
