"""AMD Zen 4 (EPYC of the 9004 series at its highest clock): Zen 3's core with longer queues and twice the second level.

The file of `zen3` is used; what differs is here, and what is not published of Zen 4 is Zen 3's. Not modelled, beside
what is not there either: AVX-512's floating point, and that REP MOVS is half as fast at distances of 16 to 31 bytes
within a page (measured on one: docs/native.md).
"""

from machines import zen3
from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.families import x86, zen
from machines.provenance import assumed, calibrated, rows_of

NAME = "zen4"
DESCRIPTION = "AMD Zen 4 (EPYC 9004, 3.7 GHz): Zen 3 with longer queues, 1 MiB of second level, REP MOVS as there"
ISA = "x86"

row = rows_of("zen4")
CLOCK = calibrated("3700MHz", "zen4/clock_mhz", "Genoa's highest")
LOAD_TO_USE = {"L1": 4, "L2": 15, "L3": 60}  # cycles; what `breakeven machines show zen4` measures

#: micro-ops that begin a REP MOVSB, as `zen.BYTES`
BYTES = {
    **calibrated(
        {"short": 53, "long": 120}, "zen4/rep_movs_startup_long", "back to back 15 cycles up to 112 bytes, 31 of 128"
    ),
    "misaligned": assumed(180, "as much more as on Zen 3"),
}


class Zen4CPU(zen3.Zen3CPU):
    numROBEntries = row(rob_size=320)
    numPhysIntRegs, numPhysFloatRegs = row(int_prf=224, vec_prf=192)
    LQEntries = calibrated(136, "zen4/load_queue", "waiting and executing ones")
    branchPred = zen.predictor(
        entries=calibrated(7168, "zen4/btb", "7 K, the second level's"),
        ways=assumed(7, "1024 sets"),
        returns=row(btb=32),
    )


class L2Cache(zen3.L2Cache):
    size = row(l2_size_kb="1MiB")
    data_latency = calibrated(8, "zen4/l2_latency", "the first level and the bus add the rest")


class L3Cache(zen3.L3Cache):
    data_latency = calibrated(48, "zen4/l3_latency", "the levels before it add the rest")


def ours(board):
    """Address translation, and what a real gem5 cannot express."""
    cpu = board.cpu
    zen3.schedulers(cpu)
    zen.zen_core(
        board,
        movs=row(rep_movs_bytes_per_cycle=28.9),
        stos=row(rep_stos_bytes_per_cycle=31),
        startups=BYTES,
        one_by_one=calibrated(75, "zen4/rep_movs_by_element", "1024 bytes make 1145"),
    )
    x86.fences(cpu, calibrated(12, "zen4/mfence", "8 cycles are hidden"))
    cpu.isa[0].enable_avx512 = row(avx512=True)
    cpu.isa[0].microcode.max_operation = calibrated(32, "zen4/avx512", "256-bit units")
    cpu.mmu.dtb.size = row(dtlb_entries=72)
    cpu.mmu.dtb.l2_size = row(stlb_entries=3072)


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def Zen4Board(**options):
    latency = calibrated("71ns", "zen4/dram_latency_ns", "the caches and buses on the way add the rest")
    memory = x86.memory(latency, zen3.BANDWIDTH)
    caches = (zen3.L1Cache(), zen3.L1Cache(), L2Cache(), L3Cache())
    return zen.zen_board(Zen4CPU(isa=x86.amd("Zen 4")), CLOCK, ours, memory, caches, **options)


machine = machine_of(Zen4Board)
