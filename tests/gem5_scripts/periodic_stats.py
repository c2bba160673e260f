"""A dump and a reset every microsecond."""

import sys

import m5
from common_system import whole_system
from m5.objects import Root

root = Root(full_system=True, system=whole_system(sys.argv[1]))
m5.instantiate()
m5.stats.periodicStatDump(1000000)
m5.simulate(3500000)
m5.stats.periodicStatDump(0)
m5.simulate(3500000)
with open(f"{m5.options.outdir}/stats.txt") as file:
    print("dumps", file.read().count("Begin Simulation Statistics"), "at", m5.curTick())
