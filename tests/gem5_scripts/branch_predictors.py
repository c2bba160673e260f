"""Predictors with their parts: direction, targets, return addresses."""

import sys

import m5
from common_system import whole_system
from m5.objects import *

predictor = getattr(m5.objects, sys.argv[2])()
predictor.btb = SimpleBTB(numEntries=1024, tagBits=16)
predictor.ras = ReturnAddrStack(numEntries=8)
predictor.indirectBranchPred = SimpleIndirectPredictor(indirectSets=128)
system = whole_system(sys.argv[1], cpu="O3CPU", caches=True, branchPred=predictor)
root = Root(full_system=True, system=system)
m5.instantiate()
event = m5.simulate()
m5.stats.dump()
with open(f"{m5.options.outdir}/stats.txt") as file:
    found = [line.split()[:2] for line in file if ".branchPred.condPredicted " in line]
assert float(found[-1][1]) > 0, found
print(event.getCause(), found[-1][0])
