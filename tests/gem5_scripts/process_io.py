"""A process's standard streams as files, its environment, and its exit status."""

import sys

import m5
from m5.objects import *

system = System(mem_mode="atomic", mem_ranges=[AddrRange("64MiB")])
system.clk_domain = SrcClockDomain(clock="1GHz", voltage_domain=VoltageDomain())
system.cpu = RiscvAtomicSimpleCPU()
system.membus = SystemXBar()
system.cpu.connectAllPorts(system.membus.cpu_side_ports, system.membus.cpu_side_ports, system.membus.mem_side_ports)
system.cpu.createInterruptController()
system.memory = SimpleMemory(range=system.mem_ranges[0], port=system.membus.mem_side_ports)
system.system_port = system.membus.cpu_side_ports
system.workload = SEWorkload.init_compatible(sys.argv[1])
system.cpu.workload = Process(
    executable=sys.argv[1], cmd=["echo", "argument"], env=["NAME=value"], input=sys.argv[2], output="out.txt",
    errout="err.txt",
)  # fmt: skip
system.cpu.createThreads()
root = Root(full_system=False, system=system)
m5.instantiate()
event = m5.simulate()
print(event.getCause(), event.getCode())
