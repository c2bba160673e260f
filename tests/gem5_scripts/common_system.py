"""What this folder's scripts share: a bare-metal system without and with caches. They import it as a neighbour."""

import m5.objects
from m5.objects import *


def bare_system(isa, cpu, binary, **cpu_params):
    """A System with one core of `isa` ("Riscv", "X86") and kind `cpu` ("TimingSimpleCPU") that runs `binary`."""
    system = System(mem_mode="atomic" if "Atomic" in cpu else "timing")
    system.clk_domain = SrcClockDomain(clock="1GHz", voltage_domain=VoltageDomain())
    system.mem_ranges = [AddrRange(0x80000000 if isa == "Riscv" else 0, size="64MiB")]
    system.cpu = getattr(m5.objects, isa + cpu)(**cpu_params)
    system.membus = SystemXBar()
    system.membus.badaddr_responder = BadAddr()
    system.membus.default = system.membus.badaddr_responder.pio
    system.system_port = system.membus.cpu_side_ports
    if isa == "Riscv":
        system.workload = RiscvBareMetal(bootloader=binary)
    else:
        system.workload = X86FsWorkload(object_file=binary)
    system.cpu.createThreads()
    return system


def join_core(system, icache=None, dcache=None):
    """The core's ports to the bus, through caches if there are any."""
    for cache, port in ((icache, "icache_port"), (dcache, "dcache_port")):
        if cache is None:
            setattr(system.cpu, port, system.membus.cpu_side_ports)
    if icache is not None:
        system.cpu.icache = icache
        icache.cpu_side = system.cpu.icache_port
        icache.mem_side = system.membus.cpu_side_ports
    if dcache is not None:
        system.cpu.dcache = dcache
        dcache.cpu_side = system.cpu.dcache_port
        dcache.mem_side = system.membus.cpu_side_ports
    system.cpu.mmu.connectWalkerPorts(system.membus.cpu_side_ports, system.membus.cpu_side_ports)
    system.cpu.createInterruptController()
    if "X86" in type(system.cpu).__name__:
        system.cpu.interrupts[0].pio = system.membus.mem_side_ports
        system.cpu.interrupts[0].int_requestor = system.membus.cpu_side_ports
        system.cpu.interrupts[0].int_responder = system.membus.mem_side_ports


def join_dram(system, kind=DDR3_1600_8x8):
    system.mem_ctrl = MemCtrl(dram=kind(range=system.mem_ranges[0]), port=system.membus.mem_side_ports)


def whole_system(binary, isa="Riscv", cpu="TimingSimpleCPU", caches=False, **cpu_params):
    """Everything at once."""
    system = bare_system(isa, cpu, binary, **cpu_params)
    if caches:
        small = dict(assoc=2, tag_latency=1, data_latency=1, response_latency=1, mshrs=4, tgts_per_mshr=8)
        join_core(system, Cache(size="4KiB", **small), Cache(size="4KiB", **small))
    else:
        join_core(system)
    join_dram(system)
    return system
