"""A parameter that takes an object: policies by name."""

import sys

import m5
from common_system import whole_system
from m5.objects import *

policies = {name: getattr(m5.objects, name) for name in ("LRURP", "FIFORP", "RandomRP", "TreePLRURP")}
system = whole_system(sys.argv[1], caches=True)
system.cpu.dcache.replacement_policy = policies[sys.argv[2]]()
root = Root(full_system=True, system=system)
m5.instantiate()
print(m5.simulate().getCause())
