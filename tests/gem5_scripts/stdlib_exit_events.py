"""Handlers of exit events: a generator, a list of functions, and the order that is expected."""

import sys

import m5
from gem5.components.boards.simple_board import SimpleBoard
from gem5.components.cachehierarchies.classic.no_cache import NoCache
from gem5.components.memory.single_channel import SingleChannelDDR3_1600
from gem5.components.processors.cpu_types import CPUTypes
from gem5.components.processors.simple_processor import SimpleProcessor
from gem5.isas import ISA
from gem5.resources.resource import BinaryResource
from gem5.simulate.exit_event import ExitEvent
from gem5.simulate.simulator import Simulator

board = SimpleBoard(
    clk_freq="1GHz",
    processor=SimpleProcessor(cpu_type=CPUTypes.TIMING, num_cores=1, isa=ISA.RISCV),
    memory=SingleChannelDDR3_1600("64MiB"),
    cache_hierarchy=NoCache(),
)
board.set_se_binary_workload(BinaryResource(sys.argv[1]))


def begin():
    print("region of interest begins")
    m5.stats.reset()
    yield False


def end():
    m5.stats.dump()
    return False


simulator = Simulator(
    board=board,
    on_exit_event={ExitEvent.WORKBEGIN: begin(), ExitEvent.WORKEND: [end]},
    expected_execution_order=[ExitEvent.WORKBEGIN, ExitEvent.WORKEND, ExitEvent.EXIT],
)
simulator.run()
assert len(simulator.get_tick_stopwatch()) == 3
print("ticks of the region", simulator.get_roi_ticks()[0] > 0, "last", simulator.get_last_exit_event().value)
