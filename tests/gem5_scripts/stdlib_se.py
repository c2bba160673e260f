"""The standard library's first example: a board, a program, a simulator."""

import argparse

from gem5.components.boards.simple_board import SimpleBoard
from gem5.components.cachehierarchies.classic.no_cache import NoCache
from gem5.components.cachehierarchies.classic.private_l1_cache_hierarchy import PrivateL1CacheHierarchy
from gem5.components.cachehierarchies.classic.private_l1_private_l2_cache_hierarchy import (
    PrivateL1PrivateL2CacheHierarchy,
)
from gem5.components.cachehierarchies.classic.private_l1_shared_l2_cache_hierarchy import (
    PrivateL1SharedL2CacheHierarchy,
)
from gem5.components.cachehierarchies.classic.private_l1_shared_l2_walk_cache_hierarchy import (
    PrivateL1SharedL2WalkCacheHierarchy,
)
from gem5.components.memory import SingleChannelDDR3_1600
from gem5.components.memory.simple import SingleChannelSimpleMemory
from gem5.components.processors.cpu_types import CPUTypes, get_cpu_type_from_str
from gem5.components.processors.simple_processor import SimpleProcessor
from gem5.isas import ISA, get_isa_from_str
from gem5.resources.resource import BinaryResource, obtain_resource
from gem5.simulate.simulator import Simulator
from gem5.utils.requires import requires

parser = argparse.ArgumentParser()
parser.add_argument("binary")
parser.add_argument("arguments", nargs="*")
parser.add_argument("--isa", type=get_isa_from_str, default=ISA.RISCV)
parser.add_argument("--cpu", type=get_cpu_type_from_str, default=CPUTypes.TIMING)
parser.add_argument("--hierarchy", default="none")
parser.add_argument("--simple-memory", action="store_true")
args = parser.parse_args()

requires(isa_required=args.isa)
hierarchy = {
    "none": NoCache,
    "l1": lambda: PrivateL1CacheHierarchy(l1d_size="16KiB", l1i_size="16KiB"),
    "private": lambda: PrivateL1PrivateL2CacheHierarchy(l1d_size="16KiB", l1i_size="16KiB", l2_size="128KiB"),
    "shared": lambda: PrivateL1SharedL2CacheHierarchy(l1d_size="16KiB", l1i_size="16KiB", l2_size="128KiB"),
    "walk": lambda: PrivateL1SharedL2WalkCacheHierarchy(l1d_size="16KiB", l1i_size="16KiB", l2_size="128KiB"),
}[args.hierarchy]()
if args.simple_memory:
    memory = SingleChannelSimpleMemory(latency="50ns", latency_var="0ns", bandwidth="8GiB/s", size="64MiB")
else:
    memory = SingleChannelDDR3_1600("64MiB")
board = SimpleBoard(
    clk_freq="3GHz",
    processor=SimpleProcessor(cpu_type=args.cpu, num_cores=1, isa=args.isa),
    memory=memory,
    cache_hierarchy=hierarchy,
)
binary = obtain_resource(args.binary)
assert isinstance(binary, BinaryResource)
board.set_se_binary_workload(binary, arguments=args.arguments)
simulator = Simulator(board=board)
simulator.run()
print(f"Exiting @ tick {simulator.get_current_tick()} because {simulator.get_last_exit_event_cause()}.")
stats = simulator.get_stats()
core = stats["board"]["processor"]["cores"]["core"]
print("cycles", core["numCycles"]["value"] > 0, "status", simulator.get_last_exit_event_code())
