"""Intel Nehalem server (Xeon X5570 at its base clock): four-wide, out-of-order, three ways of REP MOVS by count.

Ports are functional units: 0, 1, 5 compute, 2 loads, 3 and 4 store (one unit). An adc is two micro-ops and two cycles;
one that reads what dec left of the flags waits, with its fused load, until all before it has retired. One decoder of
the four makes several micro-ops. Not modelled: the register file's three read ports, that branches have port 5 only,
the uncore's own clock. `westmere` uses this file.
"""

from m5.objects import X86O3CPU, L2XBar

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, constructor, machine_of
from machines.families import intel, x86
from machines.families.outoforder import dividers, pool, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "nehalem"
DESCRIPTION = "Intel Nehalem server (X5570, 2.93 GHz): 4-wide out-of-order, adc of two cycles, REP MOVS by count"
ISA = "x86"

row = rows_of("nehalem")
CLOCK = row(clock_mhz="2930MHz")
LOAD_TO_USE = {"L1": 4, "L2": 11, "L3": 40}  # cycles; what `breakeven machines show nehalem` measures

ONE = row(port_map=1)
ADD = {**sourced({"SimdAdd": 1, "SimdAddAcc": 1}, "nehalem/lat_simd_add"), "SimdReduceAlu": 3}
LOGIC = assumed({"SimdAlu": 1, "SimdCmp": 1}, "as the additions")
MULTIPLY = {"IntMult": row(lat_imul=3)}
PRODUCTS = {"single float products": 5, "fused float products": 9, "float rest": 1}
DIVIDER = dividers(**assumed({"integer": 25, "divide": 14, "root": 18}, "a radix-16 divider"))
SHUFFLES = {x86.SHIFT: 1, **LOGIC, **ADD, "SimdExt": 1, "SimdMisc": 1}
SUMS = {"SimdShift": 1, "vector products": 3, "SimdReduceAdd": 3, "float adds": 3, "conversions": 3}


class NehalemCPU(X86O3CPU):
    fetchBufferSize = row(fetch_bytes_per_cycle=16)
    fetchWidth = assumed(6, "the predecoder finds up to six instructions a cycle")
    fetchToDecodeDelay = calibrated(9, "nehalem/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = sourced(28, "nehalem/idq_size", "the queue behind the decoders that loops run from")
    decodeWidth, renameWidth, dispatchWidth, commitWidth = row(decode_width=4, rename_width=(4, 4), retire_width=4)
    issueWidth = wbWidth = calibrated(6, "nehalem/port_map", "six ports")
    squashWidth = assumed(128, "recovery does not walk")
    numROBEntries, numIQEntries = row(rob_size=128, scheduler_size=36)
    numPhysIntRegs = calibrated(256, "nehalem/int_prf", "values live in the ROB, so registers never run out")
    numPhysFloatRegs = calibrated(256, "nehalem/int_prf", "as numPhysIntRegs")
    LQEntries, SQEntries = row(load_queue=48, store_queue=32)
    cacheLoadPorts, cacheStorePorts = row(tput_load=1, tput_store=1)
    branchPred = intel.predictor(
        btb=assumed(4096, "nehalem/btb says two levels, without numbers"),
        returns=row(btb=16),
        lengths=x86.SHORTER_PATHS,
    )
    fuPool = pool(
        unit("Port5", ONE, {"IntAlu": 1, **SHUFFLES, "SimdFloatExt": 1}),
        unit("Port0", ONE, {"IntAlu": 1, **SHUFFLES, **PRODUCTS}, DIVIDER),
        unit("Port1", ONE, {"IntAlu": 1, **MULTIPLY, **LOGIC, **SUMS}),
        unit("PortLoad", ONE, {"loads": 1}),
        unit("PortStore", ONE, {"stores": 1}),
    )


class L1Cache(x86.SiliconCache):
    size, assoc = row(l1d_size_kb="32KiB", l1d_assoc=8)
    tag_latency = data_latency = calibrated(3, "nehalem/l1d_latency", "with the core's own cycle, 4 to the use")
    mshrs, write_buffers = row(mshr_l1d=10, wc_buffers=10)


class L2Cache(x86.SiliconCache):
    size, assoc = row(l2_size_kb="256KiB", l2_assoc=8)
    tag_latency, data_latency = calibrated((2, 4), "nehalem/l2_latency", "the first level and the bus add the rest")
    mshrs = write_buffers = assumed(16, "Intel's superqueue")


class L3Cache(x86.SiliconCache):
    size, assoc = row(l3_size_kb="8MiB", l3_assoc=16)
    tag_latency = assumed(14, "half of the data's")
    data_latency = calibrated(28, "nehalem/l3_latency", "the levels before it add the rest")
    mshrs = calibrated(12, "nehalem/dram_bw_single_core_gbps", "what one core has under way to memory")
    write_buffers = assumed(32, "as mshrs")


def ours(board):
    """Address translation, and what a real gem5 cannot express."""
    cpu = board.cpu
    adc = {"latency": row(lat_adc=2), "uops": assumed(2, "as pentium3/uops_adc_rr")}
    rates = (row(rep_movs_bytes_per_cycle=rate) for rate in (14.2, 13.1))
    fill = row(rep_stos_bytes_per_cycle=15.4)
    code = intel.early_microcode(
        fuse_cmp_test=assumed(True, "since Core, in 64-bit mode since Nehalem"),
        split_stores=row(port_map=True),
        flag_merge=row(partial_flag_stall="stall"),
        flag_stall=calibrated(2, "nehalem/adc_dec_loop", "four such loops and partial_flag_stall"),
        first_decoder=row(decode_width=True),
        max_access=row(tput_load=16),
        instructions=[
            x86.instruction("adc sbb", **adc),
            x86.instruction("mul", latency=assumed(3, "as imul; a micro-op a result")),
            x86.instruction("psadbw", latency=row(lat_psadbw=3)),
            x86.instruction(x86.SHIFTS, opClass=x86.SHIFT, latency=row(lat_shift=1)),
        ],
        rep_movs=intel.by_count(*rates),
        rep_stos=intel.by_count(fill, fill),
    )
    x86.hardware(board, code)
    x86.memory_order(board, "nehalem")
    intel.prefetchers(cpu.dcache, board.l2, "nehalem")
    x86.without(cpu.isa[0], *x86.SINCE_SANDY_BRIDGE)
    cpu.loopBufferSize = assumed(256, "the loop stream detector's 28 micro-ops, in bytes of code")
    cpu.forwardFailPenalty = calibrated(4, "nehalem/stlf_fail_penalty", "with the store's way to the cache, 11")
    cpu.aliasCheckBits = row(alias_4k=12)
    cpu.misaligned.line_cross_load = calibrated(4, "nehalem/split_load_cost", "4.5 are not whole")
    cpu.misaligned.line_cross_store = row(split_store_cost=4)
    cpu.misaligned.split_slots = calibrated(3, "nehalem/split_load_cost", "a split every four to five cycles")
    cpu.misaligned.page_cross_load, cpu.misaligned.page_cross_store = row(page_cross_load=20, page_cross_store=27)
    cpu.mmu.itb.size = assumed(128, "Intel's of the time")
    cpu.mmu.dtb.size, cpu.mmu.dtb.assoc = row(dtlb_entries=(64, 4))
    cpu.mmu.dtb.l2_size, cpu.mmu.dtb.l2_assoc, cpu.mmu.dtb.l2_latency = row(stlb_entries=(512, 4), stlb_hit_penalty=6)
    cpu.write_combining = x86.write_combining(
        buffers=row(wc_buffers=10), posted=assumed(True, "free when the uncore's queue has the line")
    )
    board.mem_ctrl.write_buffer_size = assumed(16, "the write tracker of the uncore's global queue")


def nehalem_board(name, clock, l3, latency, **options):
    """A machine of this core with a third level, and a memory of this latency."""
    l2bus = L2XBar(width=row(l2_l1_bytes_per_cycle=32))
    l3bus = L2XBar(width=assumed(32, "as between the levels before"))
    memory = x86.memory(latency, assumed("24GiB/s", "three quarters of three channels of DDR3-1333"))
    caches = (L1Cache(assoc=row(l1i_assoc=4)), L1Cache(), L2Cache(), l3)
    buses = (l2bus, l3bus)
    return x86.silicon_board(NehalemCPU(isa=x86.intel(name)), clock, ours, memory, caches, buses, **options)


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, "prefetchers")
def NehalemBoard(**options):
    latency = calibrated("55ns", "nehalem/dram_latency_ns", "the caches and buses on the way add the rest")
    return nehalem_board("Nehalem", CLOCK, L3Cache(), latency, **options)


machine = machine_of(NehalemBoard)
