"""What gem5's own configs/common (under se.py and many a course's scripts) ask of m5: lists of classes by inspection,
plain values of parameters, a memory's controller, one channel as an interleaved range, settings as text."""

import inspect
import sys

import m5
import m5.internal.params
from common_system import bare_system
from m5.objects import *
from m5.util.convert import *

from gem5.runtime import get_supported_isas


def classes(base):
    def fits(cls):
        try:
            return issubclass(cls, base) and not cls.abstract
        except (TypeError, AttributeError):
            return False

    return dict(inspect.getmembers(m5.objects, fits))


assert {"AtomicSimpleCPU", "RiscvO3CPU", "X86MinorCPU"} <= classes(m5.objects.BaseCPU).keys()
assert {"LTAGE", "TournamentBP"} <= classes(m5.objects.BranchPredictor).keys()
assert "RoRaBaCoCh" in getattr(m5.internal.params, "enum_AddrMap", None).__members__
assert getattr(m5.internal.params, "enum_NoSuch", None) is None
assert [isa.name for isa in get_supported_isas()] == ["RISCV", "X86"]
assert toMemorySize("2MB") / kibi == 2048 and toFrequency("2GHz") / mega == 2000

system = bare_system("Riscv", "TimingSimpleCPU", sys.argv[1])
system.cpu.connectBus(system.membus)
system.cpu.createInterruptController()
kind = classes(m5.objects.AbstractMemory)["DDR3_1600_8x8"]
interface = kind()
assert interface.addr_mapping.value == "RoRaBaCoCh" and interface.addr_mapping == interface.addr_mapping.value
row = interface.device_rowbuffer_size.value * interface.devices_per_rank.value
assert (row, system.cache_line_size.getValue()) == (8192, 64)
whole = system.mem_ranges[0]
try:
    AddrRange(whole.start, size=whole.size(), intlvHighBit=7, xorHighBit=0, intlvBits=1, intlvMatch=0)
except TypeError as error:
    print(error)
interface.range = AddrRange(whole.start, size=whole.size(), intlvHighBit=6, xorHighBit=0, intlvBits=0, intlvMatch=0)
controllers = [interface.controller()]
controllers[0].port = system.membus.mem_side_ports
system.mem_ctrls = controllers
memory = SimpleMemory()
assert memory.controller() is memory

root = Root(full_system=True, system=system)
root.apply_config(["system.cpu.max_insts_any_thread = 1000", "system.mem_ctrls.dram.tCL = 20ns"])
m5.instantiate()
system.cpu.scheduleInstStop(0, 200, "a slice is over")
for _ in range(3):
    print(m5.simulate(ticks=10**12).getCause(), system.cpu.getCurrentInstCount(0))
