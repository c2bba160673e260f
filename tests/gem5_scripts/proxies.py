"""Values that are found in the tree: Parent and Self, in classes of the script's own with parameters of their own."""

import sys

import m5
from common_system import whole_system
from m5.objects import *
from m5.params import *
from m5.proxy import *
from m5.SimObject import SimObject


class Shape(SubSystem):
    lines = Param.Unsigned(64, "Lines of the data cache")
    ways = Param.Unsigned(Self.default_ways, "Its ways")
    default_ways = Param.Unsigned(4, "What they are unless said otherwise")
    kinds = VectorParam.String(["data"], "What it is for")


system = whole_system(sys.argv[1], caches=True)
system.shape = Shape(lines=128)
system.cpu.dcache.size = system.shape.lines * 64
system.cpu.dcache.mshrs = Parent.shape.ways
system.cpu.dcache.assoc = Parent.shape.default_ways
assert isinstance(system.shape, SimObject) and system.shape.kinds == ["data"]
root = Root(full_system=True, system=system)
m5.instantiate()
with open(f"{m5.options.outdir}/config.ini") as file:
    section = file.read().split("[system.cpu.dcache]")[1].split("[")[0]
print(sorted(line for line in section.splitlines() if line.startswith(("size=", "mshrs=", "assoc="))))
print(m5.simulate().getCause())
