"""Statistics of three phases: each dump is a section, each reset begins anew. The script reads its own stats.txt."""

import os
import sys

import m5
from common_system import whole_system
from m5.objects import Root

root = Root(full_system=True, system=whole_system(sys.argv[1]))
m5.instantiate()
for phase in range(3):
    m5.stats.reset()
    m5.simulate(m5.ticks.fromSeconds(1e-6))
    m5.stats.dump()

with open(os.path.join(m5.options.outdir, m5.options.stats_file)) as file:
    text = file.read()
sections = text.split("---------- Begin Simulation Statistics ----------")[1:]
assert len(sections) == 3 and all("---------- End Simulation Statistics   ----------" in each for each in sections)
for section in sections:
    (line,) = [line for line in section.splitlines() if line.startswith("simTicks ")]
    print(line.split("#")[0].split())
