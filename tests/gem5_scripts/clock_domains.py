"""The core's clock is twice the bus's: a derived clock domain, and what a period is."""

import sys

import m5
from common_system import whole_system
from m5.objects import *

system = whole_system(sys.argv[1], caches=True)
system.cpu_clk = SrcClockDomain(clock="2GHz", voltage_domain=VoltageDomain(voltage="0.9V"))
system.slow = DerivedClockDomain(clk_domain=system.clk_domain, clk_divider=2)
system.cpu.clk_domain = system.cpu_clk
system.membus.clk_domain = system.slow
root = Root(full_system=True, system=system)
m5.instantiate()
event = m5.simulate()
stats = m5.stats.gem5stats.get_simstat(root).to_json()
cycles = stats["system"]["cpu"]["numCycles"]["value"]
print(event.getCause(), "ticks a cycle", round(m5.curTick() / cycles))
