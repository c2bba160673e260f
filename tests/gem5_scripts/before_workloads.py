"""A script for a gem5 before 21.0: no system.workload, ports by their former names."""

import sys

import m5
from m5.objects import *

system = System(mem_mode="timing", mem_ranges=[AddrRange("64MB")])
system.clk_domain = SrcClockDomain(clock="1GHz", voltage_domain=VoltageDomain())
system.cpu = TimingSimpleCPU()
system.membus = SystemXBar()
system.cpu.icache_port = system.membus.slave
system.cpu.dcache_port = system.membus.slave
system.cpu.createInterruptController()
if m5.defines.buildEnv["TARGET_ISA"] == "x86":
    system.cpu.interrupts.pio = system.membus.master
    system.cpu.interrupts.int_master = system.membus.slave
    system.cpu.interrupts.int_slave = system.membus.master
system.system_port = system.membus.slave
system.mem_ctrl = MemCtrl(dram=DDR3_1600_8x8(range=system.mem_ranges[0]))
system.mem_ctrl.port = system.membus.master
process = Process()
process.cmd = [sys.argv[1]]
system.cpu.workload = process
system.cpu.createThreads()
root = Root(full_system=False, system=system)
m5.instantiate()
print(m5.simulate().getCause())
