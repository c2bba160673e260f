"""What a gem5 that was built for one instruction set calls its own, as the scripts of such builds use it: CPUs without
the instruction set in their names, the build's name for it, and modules that the star import leaves behind."""

import m5
from m5.defines import buildEnv
from m5.objects import *

from gem5.isas import ISA
from gem5.runtime import get_runtime_isa

isa = buildEnv["TARGET_ISA"]
assert "TARGET_ISA" in buildEnv and buildEnv.get("TARGET_ISA") == isa
assert get_runtime_isa() is ISA[isa.upper()]


class Core(DerivO3CPU):
    numROBEntries = 32


for plain in (AtomicSimpleCPU, TimingSimpleCPU, NonCachingSimpleCPU, MinorCPU, O3CPU, Core):
    cpu = plain()
    cpu.createInterruptController()
    print(isa, type(cpu).__name__, type(cpu).__mro__[1].__name__, len(cpu.interrupts))
print(os.path.basename(sys.argv[0]), math.floor(1.5), re.escape("."))
try:
    buildEnv["TARGET"]
except KeyError as error:
    print("KeyError", error)
