"""T-Head C908 as in the Kendryte K230 (CanMV-K230, its core with vectors): dual-issue, in-order, RVV 1.0 of 128 bits.

LLVM's scheduler for the SpacemiT X60 was written from this core's manual; its units are here: two scalar ones that take
a load or a store a cycle each, one for vector accesses that moves a datapath's width a cycle, one that does every
vector operation, and a second that sums and multiplies, too. A vector access takes the time of its whole register group
whatever vl is, as instructions timed on both boards do. Caches beyond their sizes, predictor and memory are assumed.
Not modelled: segment accesses (hardware: of 2 to 4 fields three cycles a beat of load, of more a cycle an element),
slower products of 64 bits, prefetchers, fusion.
"""

from m5 import objects

from machines.constructors import IN_ORDER, L2, MEMORY, RISCV, constructor, machine_of
from machines.families import inorder, riscv
from machines.families.inorder import pool, unit
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "c908"
DESCRIPTION = "T-Head C908 (Kendryte K230, 1.6 GHz): dual-issue in-order, RVV 1.0 of 128 bits, 32 KiB L1, 256 KiB L2"
ISA = "riscv"

row = rows_of("c908")
CLOCK = row(clock_mhz="1600MHz")
LOAD_TO_USE = {"L1": 3, "L2": 17}  # cycles; what `breakeven machines show c908` measures

INT = unit("C908IntFU", objects.MinorDefaultIntFU, opLat=assumed(3, inorder.FORWARDING))
CONFIG = unit("C908ConfigFU", inorder.MISC, "SimdConfig", opLat=row(lat_vsetvl=1))
MUL = unit("C908MulFU", objects.MinorDefaultIntMulFU, opLat=row(lat_mul=6))
DIV = unit("C908DivFU", objects.MinorDefaultIntDivFU, **sourced({"opLat": 20, "issueLat": 20}, "c908/lat_div"))
MEM = unit(
    *("C908MemFU", objects.MinorDefaultMemFU, "MemRead", "MemWrite", "FloatMemRead", "FloatMemWrite"),
    opLat=calibrated(2, "c908/lat_load_l1", "with the cache's cycle, 3 to the use"),
)
VECTOR_MEM = unit(
    *("C908VectorMemFU", objects.MinorDefaultMemFU, *inorder.VECTOR_MEMORY),
    opLat=assumed(2, "as the scalar unit's"),
)
VECTOR_LATENCY = calibrated(6, "c908/lat_vector", "a source may come 2 cycles before its due time")
VECTOR = unit("C908VectorFU", inorder.FLOAT, opLat=VECTOR_LATENCY)
SECOND_VECTOR = unit(
    *("C908SecondVectorFU", inorder.FLOAT, "SimdAdd", "SimdAddAcc", "SimdMult", "SimdMultAcc"),
    *("SimdFloatAdd", "SimdFloatMult", "SimdFloatMultAcc"),
    opLat=VECTOR_LATENCY,
)


class C908CPU(objects.RiscvMinorCPU):
    fetch2InputBufferSize = assumed(1, "gem5's fit of another dual-issue core (u74)")
    decodeInputWidth = executeInputWidth = executeIssueLimit = row(decode_width=2)
    decodeInputBufferSize = assumed(2, "as fetch2InputBufferSize")
    executeCommitLimit = executeMemoryCommitLimit = assumed(2, "as many as issue")
    executeMemoryIssueLimit = row(port_map=2)
    executeInputBufferSize = assumed(4, "as fetch2InputBufferSize")
    executeMaxAccessesInMemory = assumed(4, "a few misses at a time")
    executeLSQStoreBufferSize = assumed(8, "a small core")
    executeBranchDelay = calibrated(5, "c908/branch_mispredict", "the stages before it add the rest")
    branchPred = objects.LocalBP(
        btb=objects.SimpleBTB(numEntries=assumed(64, "a small core")),
        ras=objects.ReturnAddrStack(numEntries=assumed(12, "a small core")),
        localPredictorSize=assumed(8192, "as the C906's"),
    )
    executeFuncUnits = pool(
        *(INT, INT, CONFIG, MUL, DIV),
        *(SECOND_VECTOR, VECTOR),  # first the unit that others need less
        *(inorder.PREDICATES, MEM, MEM, VECTOR_MEM, inorder.MISC),
    )


class L1ICache(inorder.InstructionCache):
    size = row(l1i_size_kb="32KiB")
    assoc = assumed(4, "four ways")


class L1DCache(inorder.DataCache):
    size = row(l1d_size_kb="32KiB")
    assoc = assumed(4, "four ways")
    tag_latency = data_latency = calibrated(1, "c908/lat_load_l1", "with the unit's two cycles, 3 to the use")
    mshrs = assumed(4, "as executeMaxAccessesInMemory")
    tgts_per_mshr = assumed(8, "pieces of a vector that miss together")
    write_buffers = assumed(4, "a small core")


class L2Cache(riscv.SiliconCache):
    size = row(l2_size_kb="256KiB")
    assoc = assumed(16, "sixteen ways")
    tag_latency = assumed(6, "half of the data's")
    data_latency = assumed(12, "no source; the u74's is 20")
    mshrs = write_buffers = assumed(8, "twice the first level's")
    tgts_per_mshr = assumed(8, "as the first level's")


def ours(board):
    """What a real gem5 cannot express: there, misaligned accesses are free but for crossing a line."""
    cpu, isa = board.cpu, board.cpu.isa[0]
    cpu.misaligned.policy = row(unaligned="hardware")
    crossing = {"line_cross_load": 1, "line_cross_store": 1}
    riscv.put(cpu.misaligned, assumed(crossing, "a second access of the cache"))
    cpu.misaligned.split_slots = assumed(1, "a split access takes the memory pipeline twice")
    cpu.mmu.itb.size = assumed(32, "as the data side's first level")
    riscv.put(cpu.mmu.dtb, assumed({"size": 32, "l2_size": 512}, "as cores of its class"))
    cpu.mmu.dtb.l2_assoc = assumed(4, "four ways")
    cpu.mmu.dtb.l2_latency = assumed(4, "a look-up of a small array")
    isa.clmul_latency, isa.whole_vector_groups = row(lat_clmul=2, vl_dispatch=True)
    isa.vector_chaining = row(chaining="beat")
    isa.vector_startup_cycles = calibrated(0, "c908/vector_units", "beats alone make up what it takes")
    isa.vector_memory_startup_cycles = calibrated(0, "x60/vec_load_cycles", "as vector_startup_cycles")
    isa.strided_element_cycles = sourced(1, "x60/vec_strided_cycles")
    isa.indexed_element_cycles = assumed(1, "as strided_element_cycles")


def c908_board(clock, vlen, datapath, l2, latency, **options):
    """The board of this core and of those built from it; bits of a vector register, and moved a cycle."""

    def vector_unit(board):
        ours(board)
        board.cpu.isa[0].dlen = datapath

    memory = riscv.memory(latency, assumed("4GiB/s", "one core of a 32-bit LPDDR4"))
    caches = (L1ICache(), L1DCache(), l2)
    buses = (riscv.Bus(),)
    return riscv.silicon_board(C908CPU(isa=vlen), clock, vector_unit, memory, caches, buses, **options)


@constructor(*IN_ORDER, *L2, *MEMORY, *RISCV)
def C908Board(**options):
    vectors, datapath = riscv.vectors(128, "c908/vlen"), row(dlen=64)
    return c908_board(CLOCK, vectors, datapath, L2Cache(), assumed("120ns", "LPDDR of its time"), **options)


machine = machine_of(C908Board)
