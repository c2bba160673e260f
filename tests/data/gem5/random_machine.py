"""A machine drawn at random from gem5's own parameters: the same seed gives the same machine in every engine.

`--default NAME,...` sets parameters that were drawn back to gem5's default; what else is drawn stays.
Seeds from 1000 on draw more: a third level, crossbars, replacement, a second prefetcher, TLBs, TAGE, delays backwards,
TSO, DRAM policies.
"""

import argparse
import json
import random

import m5
from m5.objects import *

p = argparse.ArgumentParser()
p.add_argument("elf")
p.add_argument("--isa", choices=["riscv", "x86"], required=True)
p.add_argument("--cpu", choices=["timing", "minor", "o3"], default="o3")
p.add_argument("--seed", type=int, required=True)
p.add_argument("--default", default="", help="comma-separated parameters that take gem5's default")
a = p.parse_args()
R = random.Random(a.seed)
#: what the seed gives, and gem5's defaults
drawn, plain = {}, {}
defaults = set(filter(None, a.default.split(",")))
more = a.seed >= 1000


def pick(name, *choices):
    """One of the choices; the first is gem5's default."""
    drawn[name], plain[name] = R.choice(choices), choices[0]
    return plain[name] if name in defaults else drawn[name]


I = {"riscv": "Riscv", "x86": "X86"}[a.isa]
C = {"timing": "TimingSimpleCPU", "minor": "MinorCPU", "o3": "O3CPU"}[a.cpu]
s = System()
s.clk_domain = SrcClockDomain(clock=pick("clock", "2GHz", "1GHz", "3GHz"), voltage_domain=VoltageDomain())
s.mem_mode = "timing"
base = 0x80000000 if a.isa == "riscv" else 0
s.mem_ranges = [AddrRange(base, size="512MB")]
s.cpu = globals()[I + C]()
s.membus = SystemXBar()
s.membus.badaddr_responder = BadAddr()
s.membus.default = s.membus.badaddr_responder.pio


def cache(name, size, assoc, lat, mshrs, tgts, wbufs):
    return Cache(
        size=pick(name + ".size", *size),
        assoc=pick(name + ".assoc", *assoc),
        tag_latency=pick(name + ".tag_latency", *lat),
        data_latency=pick(name + ".data_latency", *lat),
        response_latency=pick(name + ".response_latency", *lat),
        mshrs=pick(name + ".mshrs", *mshrs),
        tgts_per_mshr=pick(name + ".tgts_per_mshr", *tgts),
        write_buffers=pick(name + ".write_buffers", *wbufs),
    )


s.cpu.icache = cache("l1i", ("32kB", "16kB", "64kB"), (8, 2, 4), (2, 1, 3, 4), (10, 2, 4), (20, 8, 4), (8, 2, 4))
s.cpu.dcache = cache(
    "l1d",
    ("32kB", "8kB", "16kB", "64kB"),
    (8, 2, 4),
    (2, 1, 3, 4),
    (10, 3 if more else 1, 2, 4, 16),
    (20, 4, 8, 16),
    (8, 1, 2, 4),
)
s.l2bus = L2XBar()
s.l2 = cache("l2", ("256kB", "128kB", "512kB"), (8, 4, 16), (10, 4, 6, 14), (20, 4, 8), (12, 4, 8), (8, 2, 4))
pf = pick("prefetcher", None, "stride", "tagged")
if drawn["prefetcher"]:
    degree = pick("degree", 4, 1, 2)
if pf:
    s.cpu.dcache.prefetcher = {"stride": StridePrefetcher, "tagged": TaggedPrefetcher}[pf](degree=degree)
if more:
    policies = {"LRU": LRURP, "FIFO": FIFORP, "TreePLRU": TreePLRURP}
    for name, of in (("l1d", s.cpu.dcache), ("l2", s.l2)):
        of.replacement_policy = policies[pick(name + ".replacement_policy", *policies)]()
        of.sequential_access = pick(name + ".sequential_access", False, True)
    s.l2.clusivity = pick("l2.clusivity", "mostly_incl", "mostly_excl")
    pf2 = pick("l2.prefetcher", None, "stride", "tagged")
    if pf2:
        s.l2.prefetcher = {"stride": StridePrefetcher, "tagged": TaggedPrefetcher}[pf2]()
    for name, bus, latencies in (("l2bus", s.l2bus, (1, 0, 1)), ("membus", s.membus, (3, 4, 2))):
        bus.width = pick(name + ".width", 32 if bus is s.l2bus else 16, 8, 64)
        bus.frontend_latency = pick(name + ".frontend_latency", latencies[0], 1, 2, 5)
        bus.forward_latency = pick(name + ".forward_latency", latencies[1], 0, 1, 3)
        bus.response_latency = pick(name + ".response_latency", latencies[2], 1, 3, 4)
    for name, of in (("itb", s.cpu.mmu.itb), ("dtb", s.cpu.mmu.dtb)):
        of.size = pick(name + ".size", 64, 8, 16, 256)
s.cpu.icache.cpu_side = s.cpu.icache_port
s.cpu.dcache.cpu_side = s.cpu.dcache_port
s.cpu.icache.mem_side = s.l2bus.cpu_side_ports
s.cpu.dcache.mem_side = s.l2bus.cpu_side_ports
s.l2.cpu_side = s.l2bus.mem_side_ports
if more and pick("l3", False, True):
    s.l3bus = L2XBar()
    s.l3 = cache("l3", ("1MB", "2MB", "512kB"), (16, 8, 4), (20, 8, 30), (20, 8), (12, 8), (8, 4))
    s.l2.mem_side = s.l3bus.cpu_side_ports
    s.l3.cpu_side = s.l3bus.mem_side_ports
    s.l3.mem_side = s.membus.cpu_side_ports
else:
    s.l2.mem_side = s.membus.cpu_side_ports
for w in (s.cpu.mmu.itb, s.cpu.mmu.dtb):
    w.walker.port = s.l2bus.cpu_side_ports

c = s.cpu


def put(name, *choices):
    setattr(c, name, pick(name, *choices))


if a.cpu in ("minor", "o3"):
    predictors = {"Tournament": TournamentBP, "Local": LocalBP, "BiMode": BiModeBP}
    if more:
        predictors |= {"TAGE": TAGE, "LTAGE": LTAGE}
    c.branchPred = predictors[pick("branchPred", *predictors)]()
    c.branchPred.btb = SimpleBTB(numEntries=pick("btb", 4096, 64, 512))
    c.branchPred.ras = ReturnAddrStack(numEntries=pick("ras", 16, 4, 8))
if a.cpu == "minor":
    put("decodeInputWidth", 2, 1, 3)
    put("executeInputWidth", 2, 1, 3)
    put("executeIssueLimit", 2, 1, 3)
    put("executeCommitLimit", 2, 1, 3)
    put("executeInputBufferSize", 7, 3, 5, 12)
    put("decodeInputBufferSize", 3, 1, 2, 4)
    put("fetch2InputBufferSize", 2, 1, 4)
    put("fetch1FetchLimit", 1, 2)
    put("fetch1ToFetch2ForwardDelay", 1, 2)
    put("fetch2ToDecodeForwardDelay", 1, 2)
    put("decodeToExecuteForwardDelay", 1, 2)
    put("executeBranchDelay", 1, 2, 3)
    put("executeMemoryIssueLimit", 1, 2)
    put("executeMaxAccessesInMemory", 2, 1, 4, 8)
    put("executeLSQRequestsQueueSize", 1, 2, 4)
    put("executeLSQTransfersQueueSize", 2, 1, 4)
    put("executeLSQStoreBufferSize", 5, 1, 2, 8)
    put("executeLSQMaxStoreBufferStoresPerCycle", 2, 1)
    put("executeMemoryWidth", 0, 8, 16, 64)
    put("executeAllowEarlyMemoryIssue", True, False)
if a.cpu == "o3":
    for n in (
        "fetchWidth",
        "decodeWidth",
        "renameWidth",
        "dispatchWidth",
        "issueWidth",
        "wbWidth",
        "commitWidth",
        "squashWidth",
    ):
        put(n, 8, 2, 3, 4, 6)
    put("numROBEntries", 192, 24, 48, 96, 300)
    put("numIQEntries", 64, 12, 24, 40, 120)
    put("LQEntries", 32, 6, 12, 24, 72)
    put("SQEntries", 32, 4, 10, 20, 48)
    put("numPhysIntRegs", 256, 96, 128)
    put("fetchBufferSize", 64, 16, 32)
    put("fetchQueueSize", 32, 8, 16)
    put("fetchToDecodeDelay", 1, 2, 3)
    put("decodeToRenameDelay", 1, 2)
    put("renameToIEWDelay", 2, 1, 3)
    put("issueToExecuteDelay", 1, 2)
    put("iewToCommitDelay", 1, 2)

    put("cacheLoadPorts", 200, 1, 2, 3)
    put("cacheStorePorts", 200, 1, 2)
    put("LFSTSize", 1024, 64)
    put("SSITSize", "1024", "128")
    if more:
        for n in ("commitToDecodeDelay", "commitToFetchDelay", "commitToIEWDelay", "commitToRenameDelay"):
            put(n, 1, 2)
        for n in ("decodeToFetchDelay", "renameToDecodeDelay", "renameToROBDelay"):
            put(n, 1, 2)
        put("iewToRenameDelay", 1, 2)
        put("trapLatency", 13, 2, 30)
        put("store_set_clear_period", 250000, 1000)
        put("needsTSO", a.isa == "x86", a.isa != "x86")
    fu = pick("fu", False, True)
    if drawn["fu"]:

        class IntA(IntALU):
            count = pick("IntALU", 6, 1, 2, 4)

        class IntM(IntMultDiv):
            count = pick("IntMultDiv", 2, 1)

        class LS(RdWrPort):
            count = pick("RdWrPort", 4, 1, 2, 3)

        if fu:
            c.fuPool = FUPool(
                FUList=[
                    IntA(),
                    IntM(),
                    FP_ALU(),
                    FP_MultDiv(),
                    ReadPort(),
                    SIMD_Unit(),
                    PredALU(),
                    WritePort(),
                    LS(),
                    IprPort(),
                ]
            )
c.createInterruptController()
if a.isa == "x86":
    c.interrupts[0].pio = s.membus.mem_side_ports
    c.interrupts[0].int_requestor = s.membus.cpu_side_ports
    c.interrupts[0].int_responder = s.membus.mem_side_ports
s.system_port = s.membus.cpu_side_ports
mem = pick("mem", "DDR3", "DDR4", "LPDDR", "simple")
if drawn["mem"] == "simple":
    latency = pick("latency", "30ns", "60ns", "100ns")
    bandwidth = pick("bandwidth", "12.8GB/s", "3.2GB/s", "25.6GB/s")
if mem == "simple":
    s.mem_ctrl = SimpleMemory(range=s.mem_ranges[0], latency=latency, bandwidth=bandwidth)
else:
    s.mem_ctrl = MemCtrl(
        dram={"DDR3": DDR3_1600_8x8, "DDR4": DDR4_2400_8x8, "LPDDR": LPDDR3_1600_1x32}[mem](range=s.mem_ranges[0])
    )
if more and mem != "simple":
    s.mem_ctrl.dram.page_policy = pick("page_policy", "open_adaptive", "open", "close", "close_adaptive")
    s.mem_ctrl.dram.addr_mapping = pick("addr_mapping", "RoRaBaCoCh", "RoRaBaChCo", "RoCoRaBaCh")
s.mem_ctrl.port = s.membus.mem_side_ports
if a.isa == "riscv":
    s.workload = RiscvBareMetal(bootloader=a.elf)
    s.cpu.mmu.pma_checker = PMAChecker(misaligned=s.mem_ranges)
else:
    s.workload = X86FsWorkload(object_file=a.elf)
c.createThreads()
root = Root(full_system=True, system=s)
m5.instantiate()
unknown = defaults - drawn.keys()
assert not unknown, f"--default names what is not drawn: {', '.join(sorted(unknown))}"
print("DRAWN", json.dumps(drawn))
print("CHANGED", json.dumps([name for name, value in drawn.items() if value != plain[name]]))
e = m5.simulate(10**14)
print("EXIT", m5.curTick(), e.getCause(), e.getCode())
