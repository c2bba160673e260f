"""A cache hierarchy and a processor of the script's own on a board of the library."""

import sys

from gem5.components.boards.simple_board import SimpleBoard
from gem5.components.cachehierarchies.classic.abstract_classic_cache_hierarchy import (
    AbstractClassicCacheHierarchy,
)
from gem5.components.cachehierarchies.classic.caches.l1dcache import L1DCache
from gem5.components.cachehierarchies.classic.caches.l1icache import L1ICache
from gem5.components.memory.dram_interfaces.ddr4 import DDR4_2400_8x8
from gem5.components.memory.memory import ChanneledMemory
from gem5.components.processors.base_cpu_core import BaseCPUCore
from gem5.components.processors.base_cpu_processor import BaseCPUProcessor
from gem5.isas import ISA
from gem5.resources.resource import BinaryResource
from gem5.simulate.simulator import Simulator
from gem5.utils.override import overrides
from m5.objects import BadAddr, RiscvO3CPU, SystemXBar, TournamentBP


class MyHierarchy(AbstractClassicCacheHierarchy):
    def __init__(self):
        super().__init__()
        self.membus = SystemXBar(width=32)
        self.membus.badaddr_responder = BadAddr()
        self.membus.default = self.membus.badaddr_responder.pio

    @overrides(AbstractClassicCacheHierarchy)
    def get_mem_side_port(self):
        return self.membus.mem_side_ports

    @overrides(AbstractClassicCacheHierarchy)
    def get_cpu_side_port(self):
        return self.membus.cpu_side_ports

    @overrides(AbstractClassicCacheHierarchy)
    def incorporate_cache(self, board):
        board.connect_system_port(self.membus.cpu_side_ports)
        for _, port in board.get_mem_ports():
            self.membus.mem_side_ports = port
        for core in board.get_processor().get_cores():
            core.l1i = L1ICache(size="8KiB", assoc=4)
            core.l1d = L1DCache(size="8KiB", assoc=4, tag_latency=2)
            core.connect_icache(core.l1i.cpu_side)
            core.connect_dcache(core.l1d.cpu_side)
            core.l1i.mem_side = self.membus.cpu_side_ports
            core.l1d.mem_side = self.membus.cpu_side_ports
            core.connect_walker_ports(self.membus.cpu_side_ports, self.membus.cpu_side_ports)
            core.connect_interrupt()


class SmallO3(RiscvO3CPU):
    fetchWidth = decodeWidth = renameWidth = issueWidth = wbWidth = commitWidth = 2
    numROBEntries = 32
    branchPred = TournamentBP()


board = SimpleBoard(
    clk_freq="2GHz",
    processor=BaseCPUProcessor([BaseCPUCore(core=SmallO3(), isa=ISA.RISCV)]),
    memory=ChanneledMemory(DDR4_2400_8x8, 1, 64, size="128MiB"),
    cache_hierarchy=MyHierarchy(),
)
board.set_se_binary_workload(BinaryResource(sys.argv[1]))
simulator = Simulator(board=board)
simulator.run()
core = simulator.get_stats()["board"]["processor"]["cores"]
print(simulator.get_last_exit_event_cause(), "misses", core["l1i"]["overallMisses"]["value"]["total"] > 0)
