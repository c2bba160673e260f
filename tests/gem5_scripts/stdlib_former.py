"""Idioms of scripts for earlier versions of gem5's standard library: parts without an instruction set, resources under
former names, parts that are imported and never used, numbers as arguments of a program."""

import sys

import m5
from m5.objects import NULL, TaggedPrefetcher

from gem5.components.boards.simple_board import SimpleBoard
from gem5.components.cachehierarchies.classic.caches.l1dcache import L1DCache
from gem5.components.cachehierarchies.classic.caches.l2cache import L2Cache
from gem5.components.cachehierarchies.classic.caches.mmu_cache import MMUCache
from gem5.components.cachehierarchies.classic.private_l1_cache_hierarchy import PrivateL1CacheHierarchy
from gem5.components.cachehierarchies.ruby.mesi_two_level_cache_hierarchy import MESITwoLevelCacheHierarchy
from gem5.components.memory import SingleChannelDDR3_1600
from gem5.components.processors.base_cpu_core import BaseCPUCore
from gem5.components.processors.cpu_types import CPUTypes
from gem5.components.processors.simple_processor import SimpleProcessor
from gem5.isas import ISA
from gem5.resources.resource import CustomResource, Resource
from gem5.resources.workload import CustomWorkload
from gem5.simulate.simulator import Simulator


def refused(what):
    try:
        what()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
    else:
        print("accepted!")


class Small(L1DCache):
    def __init__(self):
        super().__init__("16KiB", 4, tag_latency=2, PrefetcherCls=NULL)


small = Small()
assert (small.size, small.assoc, small.tag_latency, small.mshrs, small.prefetcher) == (16384, 4, 2, 16, NULL)
assert type(L2Cache("1MiB", PrefetcherCls=TaggedPrefetcher).prefetcher) is TaggedPrefetcher
refused(lambda: MMUCache("8KiB", PrefetcherCls=TaggedPrefetcher))
refused(lambda: L2Cache("8KiB", 4, assoc=4))
refused(lambda: MESITwoLevelCacheHierarchy(l1d_size="16KiB"))
assert BaseCPUCore(m5.objects.RiscvO3CPU()).get_isa() is ISA.RISCV

board = SimpleBoard(
    clk_freq="1GHz",
    processor=SimpleProcessor(cpu_type=CPUTypes.TIMING, num_cores=1),
    memory=SingleChannelDDR3_1600("64MB"),
    cache_hierarchy=PrivateL1CacheHierarchy("16kB", "16kB"),
)
binary = CustomResource(sys.argv[1])
how = sys.argv[2]
if how == "workload":
    board.set_workload(CustomWorkload("set_se_binary_workload", {"binary": binary, "arguments": [25, 1.5]}))
    assert board.processor.get_cores()[0].core.workload[0].cmd[1:] == ["25", "1.5"]
elif how == "program":
    board.set_workload(Resource(sys.argv[1]))
else:
    board.set_se_binary_workload(binary)
if how == "loose":
    root = m5.objects.Root(full_system=False, system=board)
    refused(m5.instantiate)
elif how == "joined":
    board._pre_instantiate()
    root = m5.objects.Root(full_system=False, board=board)
    m5.instantiate()
    print(m5.simulate().getCause())
else:
    Simulator(board=board, full_system=False).run()
