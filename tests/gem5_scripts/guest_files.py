"""The guest reads a file of the host's and writes one into the output folder; it is handed a number, too."""

import sys

import m5
from common_system import whole_system
from m5.objects import Root

system = whole_system(sys.argv[1], cpu="AtomicSimpleCPU")
system.readfile = sys.argv[2]
system.init_param = 7
root = Root(full_system=True, system=system)
m5.instantiate()
event = m5.simulate()
print(event.getCause(), event.getCode())
