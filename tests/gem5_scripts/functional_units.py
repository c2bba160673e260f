"""Functional-unit pools of both pipelines, with classes imported from gem5's own modules."""

import sys

import m5
from common_system import whole_system
from m5.objects.BaseMinorCPU import *
from m5.objects.FUPool import FUPool
from m5.objects.FuncUnitConfig import *
from m5.objects import Root


class SlowMultiplier(IntMultDiv):
    opList = [OpDesc(opClass="IntMult", opLat=7), OpDesc(opClass="IntDiv", opLat=30, pipelined=False)]
    count = 1


class MyPool(FUPool):
    FUList = [IntALU(count=2), SlowMultiplier(), FP_ALU(), FP_MultDiv(), ReadPort(), SIMD_Unit(), WritePort(),
              RdWrPort(), IprPort()]  # fmt: skip


class MyMinorPool(MinorFUPool):
    funcUnits = [
        MinorDefaultIntFU(), MinorDefaultIntMulFU(opLat=5), MinorDefaultIntDivFU(), MinorDefaultFloatSimdFU(),
        MinorDefaultPredFU(), MinorDefaultMemFU(), MinorDefaultMiscFU(),
    ]  # fmt: skip


if sys.argv[2] == "o3":
    system = whole_system(sys.argv[1], cpu="O3CPU", caches=True, fuPool=MyPool())
else:
    system = whole_system(sys.argv[1], cpu="MinorCPU", caches=True, executeFuncUnits=MyMinorPool())
root = Root(full_system=True, system=system)
m5.instantiate()
print(m5.simulate().getCause())
