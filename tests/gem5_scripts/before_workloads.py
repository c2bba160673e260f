"""A script for gem5 20.0: no system.workload, ports by their former names, a DRAM interface on the bus, options and
other words apart."""

import m5
from m5.objects import *

m5.util.addToPath("../../")

from common import SimpleOpts

SimpleOpts.add_option("--clock", default="1GHz", help="a clock")
SimpleOpts.set_usage("usage: %prog [options] <binary to execute>")
(opts, args) = SimpleOpts.parse_args()
if len(args) != 1:
    SimpleOpts.print_help()
    m5.fatal("Expected a binary to execute as positional argument")

system = System(mem_mode="timing", mem_ranges=[AddrRange("64MB")])
system.clk_domain = SrcClockDomain(clock=opts.clock, voltage_domain=VoltageDomain())
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
system.mem_ctrl = DDR3_1600_8x8()
system.mem_ctrl.range = system.mem_ranges[0]
system.mem_ctrl.port = system.membus.master
process = Process()
process.cmd = [args[0]]
system.cpu.workload = process
system.cpu.createThreads()
root = Root(full_system=False, system=system)
m5.instantiate()
print(m5.simulate().getCause())
