"""A limit of instructions, then on to the end."""

import sys

import m5
from common_system import whole_system
from m5.objects import Root

root = Root(full_system=True, system=whole_system(sys.argv[1], max_insts_any_thread=500))
m5.instantiate()
print(m5.simulate().getCause())
print(m5.simulate().getCause())
