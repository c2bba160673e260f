"""A generic large out-of-order core: eight-wide, a window of 512, three loads and two stores a cycle, TAGE, prefetchers
at every level. Of no maker: every value is assumed, from the middle of what such cores have (server and phone cores
of the early 2020s). It answers whether a conclusion holds where nearly everything is hidden; for a definite core, write
its own file (docs/machines.md).
"""

from m5 import objects

from machines.constructors import L2, OUT_OF_ORDER, RISCV, constructor, machine_of
from machines.extensions import several
from machines.families import riscv
from machines.families.outoforder import pool, unit
from machines.provenance import assumed

NAME = "o3_large"
DESCRIPTION = "Generic large out-of-order core (values assumed): 3.5 GHz, 8-wide, 512-entry ROB, L-TAGE"
ISA = "riscv"

CLOCK = assumed("3500MHz", "a server core")
LOAD_TO_USE = {"L1": 4, "L2": 19}  # cycles; what `breakeven machines show o3_large` measures


class LargeCPU(objects.RiscvO3CPU):
    fetchQueueSize = assumed(64, "eight fetches")
    issueWidth = wbWidth = assumed(12, "one a unit that matters")
    squashWidth = assumed(16, "twice the commit's")
    numROBEntries = assumed(512, "a large window")
    numIQEntries = assumed(192, "over a third of the window")
    numPhysIntRegs = numPhysFloatRegs = assumed(320, "for the window")
    LQEntries = assumed(192, "over a third of the window")
    SQEntries = assumed(96, "under a fifth of the window")
    cacheLoadPorts = assumed(3, "as the load units")
    cacheStorePorts = assumed(2, "as the store units")
    branchPred = objects.LTAGE(
        btb=objects.SimpleBTB(numEntries=assumed(8192, "as large cores have")),
        ras=objects.ReturnAddrStack(numEntries=assumed(32, "as large cores have")),
    )
    fuPool = pool(
        unit("LargeIntALU", assumed(5, "five"), base=objects.IntALU),
        unit("LargeMulDiv", assumed(2, "two"), base=objects.IntMultDiv),
        unit("LargeLoad", assumed(3, "three loads a cycle"), {"loads": 1}),
        unit("LargeStore", assumed(2, "two stores a cycle"), {"stores": 1}),
        *(objects.FP_ALU, objects.FP_MultDiv, objects.SIMD_Unit),
    )


class L1Cache(riscv.SiliconCache):
    size = assumed("64KiB", "a large core")
    assoc = assumed(8, "eight ways")
    tag_latency = data_latency = assumed(3, "4 cycles load to use")
    mshrs = write_buffers = assumed(16, "as large cores have")


class L2Cache(riscv.SiliconCache):
    size = assumed("2MiB", "a large core")
    assoc = assumed(16, "sixteen ways")
    tag_latency = assumed(5, "under half of the data's")
    data_latency = assumed(12, "with the way to it, 20 cycles load to use")
    mshrs, write_buffers = assumed((48, 32), "as large cores have")


def ours(board):
    """What a real gem5 cannot express."""
    cpu = board.cpu
    board.l2.prefetcher = several(objects.StreamPrefetcher(), objects.AdjacentLinePrefetcher())
    cpu.misaligned.policy = assumed("hardware", "as such cores do")
    riscv.put(cpu.misaligned, assumed({"line_cross_load": 1, "line_cross_store": 1}, "a second access"))
    riscv.put(cpu.misaligned, assumed({"page_cross_load": 4, "page_cross_store": 4}, "two translations"))
    cpu.mmu.dtb.l2_size = assumed(2048, "as large cores have")
    cpu.mmu.dtb.l2_assoc = assumed(8, "eight ways")
    cpu.mmu.dtb.l2_latency = assumed(6, "a look-up of a large array")


@constructor(*OUT_OF_ORDER, *L2, *RISCV, "prefetchers")
def O3LargeBoard(**options):
    dcache = L1Cache(prefetcher=objects.StridePrefetcher(degree=assumed(4, "gem5's")))
    memory = riscv.dram(objects.DDR4_2400_8x8)
    caches = (L1Cache(), dcache, L2Cache())
    buses = (objects.L2XBar(width=assumed(64, "a line a cycle between the levels")),)
    return riscv.silicon_board(LargeCPU(), CLOCK, ours, memory, caches, buses, **options)


machine = machine_of(O3LargeBoard)
