"""Intel Sapphire Rapids (Xeon of 2023): Golden Cove as a server part, with 2 MiB of second level and a mesh.

The file of `goldencove` is used; what differs is here: a larger second level, a third level and a memory that are
farther away. With AVX-512, whose 64-byte loads may take all three load ports (hardware: two) and whose operations take
any vector port (hardware: two of three). Not modelled, beside what is not there of `goldencove`: its floating point.

Each value names its row of uarch.csv; `assumed`: no source; `calibrated`: chosen so that a measured row comes out.
"""

from m5.objects import SimpleMemory

from machines.constructors import L3, MEMORY, OUT_OF_ORDER, X86, constructor, machine_of
from machines.extensions import extend, sliced
from machines.goldencove import GoldenCoveCPU, L1Cache, L2Cache, L3Cache, cove_board, cove_cpu, microcode, ours
from machines.provenance import assumed, calibrated, sourced
from machines.x86_board import board_range
from machines.x86_silicon import MEMORY_SIZE

NAME = "sapphirerapids"
DESCRIPTION = "Intel Sapphire Rapids server (3.7 GHz): Golden Cove, 2 MiB of second level, a mesh behind it"
ISA = "x86"

CLOCK = sourced("3700MHz", "goldencove/clock_mhz")
LOAD_TO_USE = {"L1": 5, "L2": 16, "L3": 259}  # cycles; what `breakeven machines show sapphirerapids` measures


class ServerL2Cache(L2Cache):
    size = sourced("2MiB", "sapphirerapids/l2_size_kb")
    assoc = sourced(16, "sapphirerapids/l2_assoc")
    data_latency = calibrated(8, "sapphirerapids/l2_latency", "the first level and the bus add the rest")


class ServerL3Cache(L3Cache):
    size = sourced("38400KiB", "sapphirerapids/l3_size_kb")
    assoc = sourced(15, "sapphirerapids/l3_assoc")
    tag_latency = assumed(60, "the way over the mesh and back to a memory controller")
    data_latency = calibrated(246, "sapphirerapids/l3_latency", "the levels before it add the rest")


def server(cpu, dcache, l2):
    """What a real gem5 cannot express."""
    ours(cpu, dcache, l2, microcode())
    cpu.isa[0].enable_avx512 = sourced(True, "sapphirerapids/avx512")
    cpu.isa[0].microcode.max_access = sourced(64, "sapphirerapids/avx512")
    cpu.isa[0].microcode.max_store = calibrated(32, "goldencove/l1d_store_bytes_per_cycle", "two halves a cycle")


@constructor(*OUT_OF_ORDER, *L3, *MEMORY, *X86, "prefetchers")
def SapphireRapidsBoard(**options):
    cpu = cove_cpu(GoldenCoveCPU, "Sapphire Rapids")
    dcache, l2, l3 = L1Cache(), ServerL2Cache(), ServerL3Cache()
    extend(server, cpu, dcache, l2)
    sliced(l3, assumed(20, "1.875 MiB each, of 2048 sets"), gem5s="30MiB")
    memory = SimpleMemory(
        range=board_range(MEMORY_SIZE),
        latency=calibrated("88ns", "sapphirerapids/dram_latency_ns", "the caches and buses on the way add the rest"),
        bandwidth=assumed("30GiB/s", "as Golden Cove's"),
    )
    return cove_board(cpu, CLOCK, memory, dcache, l2, l3, **options)


machine = machine_of(SapphireRapidsBoard)
