"""Intel Skylake server (Xeon Gold 6148 at its base clock): four-wide, out-of-order, a third level that holds victims.

Ports are functional units: 0, 1, 5, 6 compute, 2 and 3 load, 4 stores (address units are not told apart). Not modelled:
the micro-op cache (fetch brings its 32 bytes a cycle at any time), AVX-512, three-component lea, the mesh's own clock.
The string engine is Broadwell's (the rows of both say the same of start-up and conditions; what misalignment costs was
measured there only) at this one's pace.
"""

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.extensions import sliced
from machines.families import intel, x86
from machines.families.outoforder import dividers, pool, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "skylake"
DESCRIPTION = "Intel Skylake server (Gold 6148, 2.4 GHz): 4-wide out-of-order, AVX2, victim L3, REP MOVSB with ERMS"
ISA = "x86"

row = rows_of("skylake")
CLOCK = row(clock_mhz="2400MHz")
LOAD_TO_USE = {"L1": 4, "L2": 15, "L3": 84}  # cycles; what `breakeven machines show skylake` measures

ONE = row(port_map=1)
LOGIC = sourced({"vector logic": 1}, "skylake/lat_simd_add")
ARITHMETIC = assumed(
    {"vector products": 5, "conversions": 5, "float adds": 4, "float products": 4, "SimdShift": 1}, "its manual"
)
DIVIDER = dividers(**assumed({"integer": 25, "divide": 13, "root": 16}, "a radix-16 divider"))


class SkylakeCPU(intel.FourWide):
    fetchBufferSize = assumed(32, "the micro-op cache's window; past it, 16")
    fetchToDecodeDelay = calibrated(10, "skylake/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = row(idq_size=64)
    decodeWidth, renameWidth, dispatchWidth, commitWidth = row(decode_width=4, rename_width=(4, 4), retire_width=4)
    issueWidth = wbWidth = calibrated(8, "skylake/port_map", "eight ports")
    numROBEntries, numIQEntries = row(rob_size=224, scheduler_size=97)
    numPhysIntRegs, numPhysFloatRegs = row(int_prf=180, vec_prf=168)
    LQEntries, SQEntries = row(load_queue=72, store_queue=56)
    cacheLoadPorts, cacheStorePorts = row(tput_load=2, tput_store=1)
    branchPred = intel.predictor(*row(btb=(4096, 16)), x86.SHORTER_PATHS)
    fuPool = pool(
        unit("Port6", ONE, {"IntAlu": 1}),
        unit("Port5", ONE, {"IntAlu": 1, **LOGIC, "shuffles": 1, "reductions": 3}),
        unit("Port1", ONE, {"IntAlu": 1, "IntMult": row(lat_imul=3), **LOGIC, **ARITHMETIC}),
        unit("Port0", ONE, {"IntAlu": 1, **LOGIC, **ARITHMETIC, "float rest": 1}, DIVIDER),
        unit("PortsLoad", row(port_map=2), {"loads": 1}),
        unit("PortStore", ONE, {"stores": 1}),
    )


class L1Cache(x86.SiliconCache):
    size, assoc = row(l1d_size_kb="32KiB", l1d_assoc=8)
    tag_latency = data_latency = calibrated(3, "skylake/l1d_latency", "with the core's own cycle, 4 to the use")
    mshrs, write_buffers = row(mshr_l1d=12, wc_buffers=12)


class L2Cache(x86.SiliconCache):
    size = row(l2_size_kb="1024KiB")
    assoc = calibrated(16, "skylake/l2_size_kb", "the server part of the row")
    tag_latency, data_latency = calibrated((2, 8), "skylake/l2_latency", "the first level and the bus add the rest")
    mshrs = write_buffers = assumed(32, "the superqueue, and room for the streamer's")
    writeback_clean = sourced(True, "skylake/l3_size_kb", "the level below holds what this one drops")


class L3Cache(intel.L3Cache):
    size = calibrated("28160KiB", "skylake/l3_size_kb", "20 cores' parts")
    assoc = assumed(11, "1408 KiB are eleven ways of 2048 lines")
    data_latency = calibrated(72, "skylake/l3_latency", "the levels before it add the rest")
    mshrs = calibrated(20, "skylake/dram_bw_single_core_gbps", "what one core has under way to memory")
    write_buffers = assumed(32, "as the second level's")
    clusivity = row(l3_size_kb="mostly_excl")


def ours(board):
    """Address translation, and what a real gem5 cannot express."""
    cpu = board.cpu
    intel.four_wide(
        board,
        "skylake",
        max_access=row(l1d_store_bytes_per_cycle=32),
        instructions=[
            x86.instruction("adc sbb", latency=row(lat_adc=1)),
            x86.instruction("adcx adox", latency=assumed(1, "as adc")),
            x86.instruction("mul mulx", latency=assumed(3, "as imul, a micro-op a result")),
            x86.instruction("psadbw vpsadbw", latency=row(lat_psadbw=3)),
        ],
        rep_movs=intel.erms(row(rep_movs_bytes_per_cycle=28.9)),
        rep_stos=intel.erms(row(rep_stos_bytes_per_cycle=43)),
    )
    cpu.misaligned.page_cross_load = row(page_cross_load=5)
    cpu.mmu.dtb.size, cpu.mmu.dtb.assoc = row(dtlb_entries=(64, 4))
    cpu.mmu.dtb.l2_size, cpu.mmu.dtb.l2_assoc = row(stlb_entries=(1536, 12))
    cpu.mmu.dtb.l2_latency = assumed(7, "as Broadwell's")
    cpu.write_combining = x86.write_combining(buffers=row(wc_buffers=12))


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def SkylakeBoard(**options):
    l3 = sliced(L3Cache(), assumed(20, "one a core, of 2048 sets"), gem5s="22MiB")
    latency = calibrated("67ns", "skylake/dram_latency_ns", "the caches and buses on the way add the rest")
    memory = x86.memory(latency, calibrated("30GiB/s", "skylake/dram_bw_single_core_gbps", "by the copy's"))
    caches = (L1Cache(), L1Cache(), L2Cache(), l3)
    buses = (intel.LineBus(), intel.Ring())
    return x86.silicon_board(SkylakeCPU(isa=x86.intel("Skylake")), CLOCK, ours, memory, caches, buses, **options)


machine = machine_of(SkylakeBoard)
