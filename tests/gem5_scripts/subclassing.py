"""Classes with values, objects and joins in their bodies; instances change what they like."""

import sys

import m5
from common_system import bare_system, join_core, join_dram
from m5.objects import *


class MyL1(Cache):
    assoc = 4
    tag_latency = data_latency = response_latency = 1
    mshrs = 8
    tgts_per_mshr = 8
    size = "8KiB"


class MyData(MyL1):
    size = "16KiB"
    prefetcher = StridePrefetcher(degree=2)
    replacement_policy = TreePLRURP()


class FastCore(RiscvMinorCPU):
    executeIssueLimit = 1
    branchPred = LocalBP(localPredictorSize=512)


system = bare_system("Riscv", "MinorCPU", sys.argv[1])
system.cpu = FastCore()
system.cpu.createThreads()
join_core(system, MyL1(), MyData(size="32KiB"))
join_dram(system)
root = Root(full_system=True, system=system)
m5.instantiate()
cpu = system.cpu
assert MyData.size == 16384 and cpu.dcache.size == 32768 and cpu.icache.assoc == 4
assert cpu.dcache.prefetcher is not MyData.prefetcher and cpu.dcache.prefetcher.degree == 2
assert cpu.branchPred.localPredictorSize == 512 and cpu.path() == "system.cpu"
print(m5.simulate().getCause())
