"""Intel Ivy Bridge server (Xeon E5-2660 v2 at its base clock): four-wide, out-of-order, the first with ERMS.

Ports are functional units: 0, 1, 5 compute, 2 and 3 load and take stores' addresses (the one port for stores' data is
the cache's, `cacheStorePorts`). An adc takes two, and two cycles. Not modelled: that branches have port 5 only, the
micro-op cache (fetch brings its 32 bytes a cycle at any time), three-component lea, the uncore's own clock. The string
engine is Broadwell's (the rows of both say the same of start-up and conditions; what misalignment costs was measured
there only) at this one's pace. The buses between the caches are half-duplex on the hardware; here each level hands out
lines at the rate that makes a copy as fast, to loads alone too.
"""

from m5.objects import L2XBar

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.extensions import sliced
from machines.families import intel, x86
from machines.families.outoforder import dividers, pool, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "ivybridge"
DESCRIPTION = (
    "Intel Ivy Bridge server (E5-2660 v2, 2.2 GHz): 4-wide out-of-order, adc of two cycles, REP MOVSB with ERMS"
)
ISA = "x86"

row = rows_of("ivybridge")
CLOCK = row(clock_mhz="2200MHz")
LOAD_TO_USE = {"L1": 4, "L2": 13, "L3": 57}  # cycles; what `breakeven machines show ivybridge` measures

ONE = row(port_map=1)
ADD = {**sourced({"SimdAdd": 1, "SimdAddAcc": 1}, "ivybridge/lat_simd_add"), "SimdReduceAlu": 3}
LOGIC = assumed({"SimdAlu": 1, "SimdCmp": 1}, "as the additions")
MOVES = {"SimdExt": 1, "SimdMisc": 1}
PRODUCTS = {"vector products": 5, "SimdReduceAdd": 5, "float products": 5}
DIVIDER = dividers(**assumed({"integer": 25, "divide": 14, "root": 18}, "a radix-16 divider"))
MULTIPLY = {"IntMult": row(lat_imul=3)}
STARTUP_UOPS = calibrated(96, "ivybridge/rep_movs_startup", "three a cycle, and 64 bytes make 35 cycles")


class IvyBridgeCPU(intel.FourWide):
    fetchBufferSize = row(fetch_bytes_per_cycle=32)
    fetchToDecodeDelay = calibrated(10, "ivybridge/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = row(idq_size=56)
    decodeWidth, renameWidth, dispatchWidth, commitWidth = row(decode_width=4, rename_width=(4, 4), retire_width=4)
    issueWidth = wbWidth = calibrated(6, "ivybridge/port_map", "six ports")
    numROBEntries, numIQEntries = row(rob_size=168, scheduler_size=54)
    numPhysIntRegs, numPhysFloatRegs = row(int_prf=160, vec_prf=144)
    LQEntries, SQEntries = row(load_queue=64, store_queue=36)
    cacheLoadPorts, cacheStorePorts = row(tput_load=2, tput_store=1)
    branchPred = intel.predictor(*row(btb=(4096, 16)), x86.SHORTER_PATHS)
    fuPool = pool(
        unit("Port5", ONE, {"IntAlu": 1, **LOGIC, **ADD, **MOVES, "SimdFloatExt": 1}),
        unit("Port0", ONE, {"IntAlu": 1, **LOGIC, "SimdShift": 1, **PRODUCTS, "float rest": 1}, DIVIDER),
        unit("Port1", ONE, {"IntAlu": 1, **MULTIPLY, **LOGIC, **ADD, **MOVES, "conversions": 3, "float adds": 3}),
        unit("Ports23", row(port_map=2), {"loads": 1, "stores": 1}),
    )


class L1Cache(x86.SiliconCache):
    size, assoc = row(l1d_size_kb="32KiB", l1d_assoc=8)
    tag_latency = data_latency = calibrated(3, "ivybridge/l1d_latency", "with the core's own cycle, 4 to the use")
    mshrs, write_buffers = row(mshr_l1d=10, wc_buffers=10)


class L2Cache(x86.SiliconCache):
    size, assoc = row(l2_size_kb="256KiB", l2_assoc=8)
    tag_latency, data_latency = calibrated((2, 6), "ivybridge/l2_latency", "the first level and the bus add the rest")
    mshrs = assumed(24, "Intel's superqueue of 16, and room for the streamer's")
    write_buffers = assumed(16, "the superqueue")


class L3Cache(intel.L3Cache):
    size, assoc = row(l3_size_kb="25600KiB", l3_assoc=20)
    data_latency = calibrated(45, "ivybridge/l3_latency", "the levels before it add the rest")
    mshrs = calibrated(20, "ivybridge/dram_bw_single_core_gbps", "what one core has under way to memory")
    write_buffers = assumed(32, "twice the requests")


def ours(board):
    """Address translation, and what a real gem5 cannot express."""
    cpu = board.cpu
    adc = {
        "latency": row(lat_adc=2),
        "uops": assumed(2, "a cycle each"),
        "carry_latency": row(tput_adc=1),
        "simple_zero": row(lat_adc_zero=True),
    }
    intel.four_wide(
        board,
        "ivybridge",
        flag_merge_note="an adc after dec reads one writer's flags",
        max_access=row(tput_load=16),
        instructions=[
            x86.instruction("adc sbb", **adc),
            x86.instruction("mul", latency=row(lat_mul_wide=3)),
            x86.instruction("psadbw vpsadbw", latency=row(lat_psadbw=5)),
        ],
        rep_movs=intel.erms(row(rep_movs_bytes_per_cycle=14.4), STARTUP_UOPS),
        rep_stos=intel.erms(row(rep_stos_bytes_per_cycle=15.8), STARTUP_UOPS),
    )
    x86.without(cpu.isa[0], "avx2", "bmi1", "bmi2", "lzcnt", "movbe", note="since Haswell")
    x86.without(cpu.isa[0], "adx", "smap", note="since Broadwell")
    x86.without(cpu.isa[0], "clflushopt", "clwb", note="since Skylake")
    cpu.misaligned.page_cross_load = row(page_cross_load=27)
    cpu.mmu.dtb.size, cpu.mmu.dtb.assoc = row(dtlb_entries=(64, 4))
    cpu.mmu.dtb.l2_size, cpu.mmu.dtb.l2_assoc, cpu.mmu.dtb.l2_latency = row(stlb_entries=(512, 4), stlb_hit_penalty=7)
    cpu.write_combining = x86.write_combining(buffers=row(wc_buffers=10))
    board.l2.bandwidth = calibrated(13, "ivybridge/l2_copy_gbps", "by the copy's")
    board.l3.bandwidth = calibrated(8, "ivybridge/l3_copy_gbps", "by the copy's")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def IvyBridgeBoard(**options):
    cpu = IvyBridgeCPU(isa=x86.intel("Ivy Bridge"))
    l3 = sliced(L3Cache(), assumed(10, "one a core, of 2048 sets"), gem5s="20MiB")
    l2bus = L2XBar(width=row(l2_l1_bytes_per_cycle=32))
    l3bus = L2XBar(width=row(l3_l2_bytes_per_cycle=32))
    latency = calibrated("65ns", "ivybridge/dram_latency_ns", "the caches and buses on the way add the rest")
    bandwidth = calibrated("16GiB/s", "ivybridge/dram_bw_single_core_gbps", "by the copy's")
    memory = x86.memory(latency, bandwidth)
    caches = (L1Cache(), L1Cache(), L2Cache(), l3)
    buses = (l2bus, l3bus)
    return x86.silicon_board(cpu, CLOCK, ours, memory, caches, buses, **options)


machine = machine_of(IvyBridgeBoard)
