"""Parameters that are accepted and change nothing are named, each once."""

import sys

import m5
from common_system import whole_system
from m5.objects import *

system = whole_system(sys.argv[1], caches=True)
for cache in (system.cpu.icache, system.cpu.dcache):
    cache.warmup_percentage = 50
system.num_work_ids = 8
system.cpu.socket_id = 0
root = Root(full_system=True, system=system)
m5.instantiate()
print(m5.simulate().getCause())
