"""Intel Broadwell server (Xeon E5-2650 v4 at its base clock): four-wide, out-of-order, REP MOVSB with ERMS.

Ports are functional units: 0, 1, 5, 6 compute, 2 and 3 load, 4 stores (address units are not told apart). Not modelled:
the micro-op cache (fetch brings its 32 bytes a cycle at any time), three-component lea, the uncore's own clock.
"""

from m5.objects import L2XBar

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.extensions import sliced
from machines.families import intel, x86
from machines.families.outoforder import dividers, pool, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "broadwell"
DESCRIPTION = "Intel Broadwell server (E5-2650 v4, 2.2 GHz): 4-wide out-of-order, AVX2, ADX, REP MOVSB with ERMS"
ISA = "x86"

row = rows_of("broadwell")
CLOCK = row(clock_mhz="2200MHz")
LOAD_TO_USE = {"L1": 4, "L2": 13, "L3": 62}  # cycles; what `breakeven machines show broadwell` measures

ONE = row(port_map=1)
LOGIC = sourced({"SimdAlu": 1, "SimdCmp": 1, "SimdMisc": 1, "SimdExt": 1}, "broadwell/lat_simd_add")
PRODUCTS = {"single float products": 3, "fused float products": 5, "vector products": 5, "SimdReduceAdd": 5}
DIVIDER = dividers(**assumed({"integer": 25, "divide": 13, "root": 16}, "a radix-16 divider"))


class BroadwellCPU(intel.FourWide):
    fetchBufferSize = row(fetch_bytes_per_cycle=32)
    fetchToDecodeDelay = calibrated(10, "broadwell/branch_mispredict", "the stages that a new path goes through")
    fetchQueueSize = row(idq_size=56)
    decodeWidth, renameWidth, dispatchWidth, commitWidth = row(decode_width=4, rename_width=(4, 4), retire_width=4)
    issueWidth = wbWidth = calibrated(8, "broadwell/port_map", "eight ports")
    numROBEntries, numIQEntries = row(rob_size=192, scheduler_size=60)
    numPhysIntRegs, numPhysFloatRegs = row(int_prf=168, vec_prf=168)
    LQEntries, SQEntries = row(load_queue=72, store_queue=42)
    cacheLoadPorts, cacheStorePorts = row(tput_load=2, tput_store=1)
    branchPred = intel.predictor(*row(btb=(4096, 16)), x86.SHORTER_PATHS)
    fuPool = pool(
        unit("Port6", ONE, {"IntAlu": 1}),
        unit(
            "Port5", ONE, {"IntAlu": 1, **LOGIC, "SimdAdd": 1, "SimdAddAcc": 1, "SimdFloatExt": 1, "SimdReduceAlu": 3}
        ),
        unit(
            "Port1",
            ONE,
            {"IntAlu": 1, "IntMult": row(lat_imul=3), **LOGIC, "SimdAdd": 1, "SimdAddAcc": 1},
            {"float adds": 3},
        ),
        unit(
            "Port0", ONE, {"IntAlu": 1, **LOGIC, "SimdShift": 1, **PRODUCTS, "conversions": 3, "float rest": 1}, DIVIDER
        ),
        unit("PortsLoad", row(port_map=2), {"loads": 1}),
        unit("PortStore", ONE, {"stores": 1}),
    )


class L1Cache(x86.SiliconCache):
    size, assoc = row(l1d_size_kb="32KiB", l1d_assoc=8)
    tag_latency = data_latency = calibrated(3, "broadwell/l1d_latency", "with the core's own cycle, 4 to the use")
    mshrs, write_buffers = row(mshr_l1d=10, wc_buffers=10)


class L2Cache(x86.SiliconCache):
    size, assoc = row(l2_size_kb="256KiB", l2_assoc=8)
    tag_latency, data_latency = calibrated((2, 6), "broadwell/l2_latency", "the first level and the bus add the rest")
    mshrs = write_buffers = assumed(16, "Intel's superqueue")


class L3Cache(intel.L3Cache):
    size, assoc = row(l3_size_kb="30MiB", l3_assoc=20)
    data_latency = calibrated(50, "broadwell/l3_latency", "the levels before it add the rest")
    mshrs = calibrated(10, "broadwell/dram_bw_single_core_gbps", "what one core has under way to memory")
    write_buffers = assumed(32, "as mshrs")


def ours(board):
    """Address translation, and what a real gem5 cannot express."""
    cpu = board.cpu
    mul = sourced(3, "broadwell/lat_mul_wide", "a micro-op a result, one after the other")
    intel.four_wide(
        board,
        "broadwell",
        max_access=row(tput_load=32),
        instructions=[
            x86.instruction("adc sbb", latency=row(lat_adc=1)),
            x86.instruction("adcx adox", latency=row(lat_adcx_adox=1)),
            x86.instruction("mul mulx", latency=mul),
            x86.instruction("psadbw vpsadbw", latency=row(lat_psadbw=5)),
        ],
        rep_movs=intel.erms(row(rep_movs_bytes_per_cycle=29.7)),
        rep_stos=intel.erms(row(rep_stos_bytes_per_cycle=30.9)),
    )
    x86.without(cpu.isa[0], "clflushopt", "clwb", note="since Skylake")
    cpu.misaligned.page_cross_load = row(page_cross_load=100)
    cpu.mmu.dtb.size = row(dtlb_entries=64)
    cpu.mmu.dtb.l2_size, cpu.mmu.dtb.l2_assoc = row(stlb_entries=(1536, 6))
    cpu.mmu.dtb.l2_latency = row(stlb_hit_penalty=7)
    cpu.write_combining = x86.write_combining(buffers=row(wc_buffers=10))


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def BroadwellBoard(**options):
    l3 = sliced(L3Cache(), calibrated(12, "broadwell/l3_size_kb", "twelve of 2560 KiB"), gem5s="20MiB")
    l2bus = L2XBar(width=row(l2_l1_bytes_per_cycle=64))
    l3bus = L2XBar(width=row(l3_l2_bytes_per_cycle=32))
    latency = calibrated("65ns", "broadwell/dram_latency_ns", "the caches and buses on the way add the rest")
    bandwidth = calibrated("10.5GiB/s", "broadwell/dram_bw_single_core_gbps", "by the copy's")
    memory = x86.memory(latency, bandwidth)
    caches = (L1Cache(), L1Cache(), L2Cache(), l3)
    buses = (l2bus, l3bus)
    return x86.silicon_board(BroadwellCPU(isa=x86.intel("Broadwell")), CLOCK, ours, memory, caches, buses, **options)


machine = machine_of(BroadwellBoard)
