"""Everything that a script may import as m5, and where it is said that nothing is there."""

import m5
import m5.core
import m5.debug
import m5.defines
import m5.event
import m5.objects
import m5.options
import m5.params
import m5.proxy
import m5.SimObject
import m5.stats
import m5.ticks
import m5.trace
import m5.util
import m5.util.convert
from m5 import fatal, options
from m5.event import *
from m5.objects import *
from m5.params import *
from m5.proxy import *
from m5.util import *
from m5.util import addToPath

assert m5.defines.buildEnv["USE_RISCV_ISA"] and not m5.defines.buildEnv["USE_ARM_ISA"]
assert m5.objects.Cache is Cache and Cache.__name__ == "Cache"
assert options.outdir and m5.options is options
assert m5.core.gem5Version and callable(fatal) and callable(addToPath)
if buildEnv := m5.defines.buildEnv.get("PROTOCOL"):
    print("protocol", buildEnv)
try:
    import m5.intrinsic
except ImportError as error:
    print(type(error).__name__, error.name)
