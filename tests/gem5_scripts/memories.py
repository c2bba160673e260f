"""Memories by name: DRAM interfaces behind a controller, and a simple memory."""

import sys

import m5
from common_system import bare_system, join_core, join_dram
from m5.objects import *

system = bare_system("Riscv", "TimingSimpleCPU", sys.argv[1])
join_core(system)
if sys.argv[2] == "SimpleMemory":
    system.mem_ctrl = SimpleMemory(latency="50ns", bandwidth="0GiB/s", range=system.mem_ranges[0])
    system.mem_ctrl.port = system.membus.mem_side_ports
else:
    join_dram(system, getattr(m5.objects, sys.argv[2]))
root = Root(full_system=True, system=system)
m5.instantiate()
print(m5.simulate().getCause())
