"""AMD Zen 4 (EPYC of the 9004 series at its highest clock): Zen 3's core with longer queues and twice the second level.

The file of `zen3` is used; what differs is here, and what is not published of Zen 4 is Zen 3's. Not modelled, beside
what is not there either: AVX-512's floating point, and that REP MOVS is half as fast at distances of 16 to 31 bytes
within a page (measured on one: docs/native.md).

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5.objects import ReturnAddrStack, SimpleBTB

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.extensions import extend
from machines.provenance import assumed, calibrated, sourced
from machines.x86_board import board_range
from machines.x86_silicon import MEMORY_SIZE, fences
from machines.zen3 import (
    L1Cache,
    L2Cache,
    L3Cache,
    Memory,
    Zen3BranchPredictor,
    Zen3CPU,
    microcode,
    ours,
    zen_board,
    zen_cpu,
)

NAME = "zen4"
DESCRIPTION = "AMD Zen 4 (EPYC 9004, 3.7 GHz): Zen 3 with longer queues, 1 MiB of second level, REP MOVS as there"
ISA = "x86"

CLOCK = calibrated("3700MHz", "zen4/clock_mhz", "Genoa's highest")
LOAD_TO_USE = {"L1": 4, "L2": 15, "L3": 60}  # cycles; what `breakeven machines show zen4` measures
BYTES = {
    **calibrated(
        {"short": 53, "long": 120}, "zen4/rep_movs_startup_long", "back to back 15 cycles up to 112 bytes, 31 of 128"
    ),
    "misaligned": assumed(180, "as much more as on Zen 3"),
}
ONE_BY_ONE = calibrated(75, "zen4/rep_movs_by_element", "1024 bytes make 1145")
MOVS = sourced(28.9, "zen4/rep_movs_bytes_per_cycle")
STOS = sourced(31, "zen4/rep_stos_bytes_per_cycle")


class Zen4BranchPredictor(Zen3BranchPredictor):
    btb = SimpleBTB(
        numEntries=calibrated(7168, "zen4/btb", "7 K, the second level's"),
        associativity=assumed(7, "1024 sets"),
    )
    ras = ReturnAddrStack(numEntries=sourced(32, "zen4/btb"))


class Zen4CPU(Zen3CPU):
    numROBEntries = sourced(320, "zen4/rob_size")
    numPhysIntRegs = sourced(224, "zen4/int_prf")
    numPhysFloatRegs = sourced(192, "zen4/vec_prf")
    LQEntries = calibrated(136, "zen4/load_queue", "waiting and executing ones")
    branchPred = Zen4BranchPredictor()


class Zen4L2Cache(L2Cache):
    size = sourced("1MiB", "zen4/l2_size_kb")
    data_latency = calibrated(8, "zen4/l2_latency", "the first level and the bus add the rest")


class Zen4L3Cache(L3Cache):
    data_latency = calibrated(48, "zen4/l3_latency", "the levels before it add the rest")


class Zen4Memory(Memory):
    latency = calibrated("71ns", "zen4/dram_latency_ns", "the caches and buses on the way add the rest")


def zen4s(cpu, dcache, l2):
    """What a real gem5 cannot express."""
    ours(cpu, dcache, l2, microcode(MOVS, STOS, startups=BYTES, one_by_one=ONE_BY_ONE))
    cpu.loopBufferSize = calibrated(4 * 6912, "zen4/op_cache", "four bytes of code an operation")
    fences(cpu, calibrated(12, "zen4/mfence", "8 cycles are hidden"))
    cpu.isa[0].enable_avx512 = sourced(True, "zen4/avx512")
    cpu.isa[0].microcode.max_operation = calibrated(32, "zen4/avx512", "256-bit units")
    cpu.mmu.dtb.l2_size = sourced(3072, "zen4/stlb_entries")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def Zen4Board(**options):
    cpu = zen_cpu(Zen4CPU, "Zen 4")
    cpu.mmu.dtb.size = sourced(72, "zen4/dtlb_entries")
    dcache, l2 = L1Cache(), Zen4L2Cache()
    extend(zen4s, cpu, dcache, l2)
    return zen_board(cpu, CLOCK, dcache, l2, Zen4L3Cache(), Zen4Memory(range=board_range(MEMORY_SIZE)), **options)


machine = machine_of(Zen4Board)
