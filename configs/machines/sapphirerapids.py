"""Intel Sapphire Rapids (Xeon of 2023): Golden Cove as a server part, with 2 MiB of second level and a mesh.

The file of `goldencove` is used; what differs is here: a larger second level, a third level and a memory that are
farther away. With AVX-512, whose 64-byte loads may take all three load ports (hardware: two) and whose operations take
any vector port (hardware: two of three). Not modelled, beside what is not there of `goldencove`: its floating point.
"""

from machines import goldencove
from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.extensions import sliced
from machines.families import intel, x86
from machines.provenance import assumed, calibrated, rows_of, sourced

NAME = "sapphirerapids"
DESCRIPTION = "Intel Sapphire Rapids server (3.7 GHz): Golden Cove, 2 MiB of second level, a mesh behind it"
ISA = "x86"

row = rows_of("sapphirerapids")
CLOCK = sourced("3700MHz", "goldencove/clock_mhz")
LOAD_TO_USE = {"L1": 5, "L2": 16, "L3": 259}  # cycles; what `breakeven machines show sapphirerapids` measures


class ServerL2Cache(goldencove.L2Cache):
    size, assoc = row(l2_size_kb="2MiB", l2_assoc=16)
    data_latency = calibrated(8, "sapphirerapids/l2_latency", "the first level and the bus add the rest")


class ServerL3Cache(goldencove.L3Cache):
    size, assoc = row(l3_size_kb="38400KiB", l3_assoc=15)
    tag_latency = assumed(60, "the way over the mesh and back to a memory controller")
    data_latency = calibrated(246, "sapphirerapids/l3_latency", "the levels before it add the rest")


def ours(board):
    """Address translation, and what a real gem5 cannot express."""
    goldencove.ours(board)
    isa = board.cpu.isa[0]
    isa.enable_avx512 = row(avx512=True)
    isa.microcode.max_access = row(avx512=64)
    isa.microcode.max_store = calibrated(32, "goldencove/l1d_store_bytes_per_cycle", "two halves a cycle")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def SapphireRapidsBoard(**options):
    rest = "the caches and buses on the way add the rest"
    cpu = goldencove.GoldenCoveCPU(isa=x86.intel("Sapphire Rapids"))
    l3 = sliced(ServerL3Cache(), assumed(20, "1.875 MiB each, of 2048 sets"), gem5s="30MiB")
    latency = calibrated("88ns", "sapphirerapids/dram_latency_ns", rest)
    memory = x86.memory(latency, assumed("30GiB/s", "as Golden Cove's"))
    caches = (goldencove.L1ICache(), goldencove.L1Cache(), ServerL2Cache(), l3)
    buses = (intel.LineBus(), intel.Ring())
    return x86.silicon_board(cpu, CLOCK, ours, memory, caches, buses, **options)


machine = machine_of(SapphireRapidsBoard)
