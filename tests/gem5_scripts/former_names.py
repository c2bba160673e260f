"""Ports by the names that they had before gem5 21, which gem5 still takes."""

import sys

import m5
from common_system import bare_system, join_dram
from m5.objects import *

system = bare_system("X86", "TimingSimpleCPU", sys.argv[1])
system.cpu.icache_port = system.membus.slave
system.cpu.dcache_port = system.membus.slave
system.cpu.createInterruptController()
system.cpu.interrupts[0].pio = system.membus.master
system.cpu.interrupts[0].int_master = system.membus.slave
system.cpu.interrupts[0].int_slave = system.membus.master
system.cpu.mmu.connectWalkerPorts(system.membus.slave, system.membus.slave)
join_dram(system)
root = Root(full_system=True, system=system)
m5.instantiate()
print(m5.simulate().getCause())
