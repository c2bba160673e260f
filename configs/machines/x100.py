"""SpacemiT X100 as in the K3: four-wide, out-of-order, RVV 1.0 of 256 bits; its authors began from the open C910.

The file of `c910` is used; what differs is here. The ROB holds up to three micro-ops an entry: here 192 micro-ops.
Vectors are loaded 32 bytes a cycle and stored 16 (instructions timed on the board). Not modelled:
which micro-ops may share an entry of the ROB, its fusion, and its queues (here one of their joint size).
"""

from m5 import objects

from machines import c910
from machines.constructors import L2, MEMORY, OUT_OF_ORDER, RISCV, constructor, machine_of
from machines.families import riscv
from machines.families.outoforder import dividers, pool, unit
from machines.provenance import assumed, calibrated, rows_of

NAME = "x100"
DESCRIPTION = "SpacemiT X100 (K3, 2.4 GHz): 4-wide out-of-order, RVV 1.0 of 256 bits, misaligned in hardware"
ISA = "riscv"

row = rows_of("x100")
CLOCK = row(clock_mhz="2400MHz")
LOAD_TO_USE = {"L1": 3, "L2": 22}  # cycles; what `breakeven machines show x100` measures

ALUS = calibrated(3, "x100/port_map", "two ALUs and the branch unit, which gem5's classes do not tell apart")
MULTIPLY = {"IntMult": row(lat_mul=3)}
DIVIDER = dividers(integer=row(lat_div=22), because="one divider")
STORES = calibrated(1, "x100/vec_store_bytes", "16 bytes a cycle")


class X100CPU(c910.C910CPU):
    fetchWidth = assumed(8, "32 bytes: wider than the C910's, by its authors")
    decodeWidth = renameWidth = dispatchWidth = row(decode_width=4)
    numROBEntries = row(rob_size=192)
    LQEntries, SQEntries = assumed((32, 24), "twice the C910's; the queue that issues has 16")
    numPhysIntRegs = numPhysFloatRegs = assumed(192, "no limit before the ROB")
    cacheLoadPorts = calibrated(2, "x100/vec_load_bytes", "16 bytes each")
    cacheStorePorts = calibrated(1, "x100/vec_store_bytes", "16 bytes a cycle")
    fuPool = pool(
        unit("X100IntALU", ALUS, base=objects.IntALU),
        unit("X100MulDiv", row(port_map=1), MULTIPLY, DIVIDER),
        *c910.FLOATS,
        unit("X100Load", row(port_map=2), {"loads": 1, "vector loads": 1}),
        unit("X100Store", STORES, {"stores": 1, "vector stores": 1}),
        c910.VECTOR,
    )


class L1DCache(c910.L1DCache):
    tag_latency = data_latency = calibrated(2, "x100/lat_load_l1", "with the core's own cycle, 3 to the use")


class L2Cache(c910.L2Cache):
    size = assumed("4MiB", "a cluster's share")
    tag_latency = assumed(8, "half of the data's")
    data_latency = assumed(16, "no source; less than the C910's, by its authors")


def ours(board):
    """What a real gem5 cannot express: there, misaligned accesses are free but for crossing a line."""
    cpu, isa = board.cpu, board.cpu.isa[0]
    line, page = {"line_cross_load": 1, "line_cross_store": 1}, {"page_cross_load": 10, "page_cross_store": 10}
    riscv.put(cpu.misaligned, assumed({"policy": "hardware", **line, **page}, "as the C910"))
    cpu.mmu.itb.size = assumed(32, "the instruction side's first level")
    cpu.mmu.dtb.size = assumed(32, "as the instruction side")
    cpu.mmu.dtb.l2_size = assumed(1024, "as the C910")
    cpu.mmu.dtb.l2_assoc = assumed(4, "four ways")
    cpu.mmu.dtb.l2_latency = assumed(4, "a look-up of a small array")
    isa.dlen = row(dlen=128)
    isa.clmul_latency, isa.whole_vector_groups = row(lat_clmul=2, vl_dispatch=True)
    isa.strided_element_cycles = row(vec_strided_cycles=1)
    isa.indexed_element_cycles = assumed(1, "as strided_element_cycles")
    board.l2.prefetcher = objects.StreamPrefetcher()


@constructor(*OUT_OF_ORDER, *L2, *MEMORY, *RISCV, "prefetchers")
def X100Board(**options):
    cpu = X100CPU(isa=riscv.vectors(256, "x100/vlen"))
    memory = riscv.memory(assumed("90ns", "LPDDR5"), assumed("8GiB/s", "one core of it"))
    caches = (c910.L1ICache(), L1DCache(), L2Cache())
    buses = (riscv.Bus(),)
    return riscv.silicon_board(cpu, CLOCK, ours, memory, caches, buses, **options)


machine = machine_of(X100Board)
