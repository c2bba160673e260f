"""Objects, children, classes and the errors at the line that is wrong."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

import breakeven.m5.objects as o
from breakeven.config import library
from breakeven.config.errors import PortError
from breakeven.config.params import NULL, Param, VectorParam
from breakeven.config.simobject import SimObject


def line_of(error: BaseException) -> str:
    """The source line in this file that raised."""
    return [frame.line or "" for frame in traceback.extract_tb(error.__traceback__) if frame.filename == __file__][-1]


def test_unknown_parameters_name_the_near_ones_at_their_line() -> None:
    cache = o.Cache()
    with pytest.raises(AttributeError, match="did you mean 'assoc'") as caught:
        cache.asoc = 4
    assert "cache.asoc = 4" in line_of(caught.value)
    with pytest.raises(AttributeError, match="tag_latency"):
        o.Cache(tag_latancy=2)
    with pytest.raises(AttributeError, match="'size'"):
        print(cache.sizes)


def test_bad_values_are_type_errors_at_their_line() -> None:
    cache = o.Cache()
    with pytest.raises(TypeError, match=r"Cache\.size \(MemorySize\).*small k") as caught:
        cache.size = "32KB"
    assert 'cache.size = "32KB"' in line_of(caught.value)
    with pytest.raises(TypeError, match="a LRURP is not a BranchPredictor"):
        o.RiscvMinorCPU().branchPred = o.LRURP()
    with pytest.raises(TypeError, match=r"make an object of it: LocalBP\(\)"):
        o.RiscvMinorCPU().branchPred = o.LocalBP
    with pytest.raises(TypeError, match="write NULL"):
        o.RiscvMinorCPU().branchPred = None


def test_errors_in_a_class_body_are_at_their_line() -> None:
    with pytest.raises(AttributeError, match="'mshrs'") as unknown:

        class Wrong(o.Cache):
            size = "32KiB"
            mshr = 4

    assert "mshr = 4" in line_of(unknown.value)
    with pytest.raises(TypeError, match=r"Bad\.assoc") as bad:

        class Bad(o.Cache):
            assoc = "many"
            size = "32KiB"

    assert 'assoc = "many"' in line_of(bad.value)
    with pytest.raises(TypeError, match=r"Odd\.ways \(Int\)"):

        class Odd(o.Cache):
            ways = Param.Int("x", "a default that is no integer")


def test_unset_parameters_say_so() -> None:
    with pytest.raises(AttributeError, match="has not been set"):
        print(o.Cache().size)
    with pytest.raises(AttributeError, match="no SimObject class 'RiscvMinorCpu'; did you mean 'RiscvMinorCPU'"):
        print(o.RiscvMinorCpu)


def test_subclasses_override_defaults_and_objects_override_classes() -> None:
    class L1(o.Cache):
        size = "32KiB"
        assoc = 8

    class Bigger(L1):
        size = "64KiB"

    assert (L1().size, Bigger().size, Bigger().assoc, Bigger(assoc=4).assoc) == (32768, 65536, 8, 4)
    early = L1()
    L1.assoc = 2
    assert (early.assoc, Bigger().assoc) == (2, 2)
    assert L1.size == 32768


def test_own_parameters_and_ports_can_be_declared() -> None:
    class Widget(SimObject):
        count = Param.Int(3, "how many")
        names = VectorParam.String([], "which")
        friend = Param.Widget(NULL, "another one")
        out = o.RequestPort("out")

    assert Widget(names="a").names == ["a"]
    assert Widget().count == 3
    assert Widget().friend is NULL
    assert type(Widget().out).__name__ == "PortRef"


def test_children_are_adopted_and_named() -> None:
    system = o.System()
    system.cpu = [o.RiscvMinorCPU() for _ in range(2)]
    assert [cpu.get_name() for cpu in system.cpu] == ["cpu0", "cpu1"]
    system.alone = [o.RiscvMinorCPU()]
    assert system.alone[0].get_name() == "alone"
    system.cpu[0].icache = o.Cache(size="1KiB")
    o.Root(full_system=True, system=system)
    assert system.cpu[0].icache.path() == "system.cpu0.icache"
    assert system.cpu[0][0] is system.cpu[0]
    pool = o.RiscvMinorCPU().executeFuncUnits
    assert pool.funcUnits[3].get_name() == "funcUnits3"
    assert pool.funcUnits[4].opClasses.opClasses[7].get_name() == "opClasses07"


def test_a_replaced_child_is_let_go_and_a_parent_is_kept() -> None:
    cpu = o.RiscvMinorCPU()
    first = cpu.branchPred
    cpu.branchPred = o.LocalBP()
    assert not first.has_parent()
    assert cpu.branchPred.get_parent() is cpu
    cpu.branchPred = NULL
    assert cpu.branchPred is NULL
    system = o.System()
    domain = o.SrcClockDomain(clock="1GHz")
    system.clk_domain = domain
    cpu.clk_domain = domain
    assert domain.get_parent() is system
    with pytest.raises(TypeError, match="own descendant"):
        system.clk_domain.loop = system


def test_class_level_children_are_copied_for_each_object() -> None:
    class Predictor(o.TournamentBP):
        ras = o.ReturnAddrStack(numEntries=12)
        ras.numThreads = 1

    one, two = Predictor(), Predictor()
    one.ras.numEntries = 5
    assert (one.ras.numEntries, two.ras.numEntries, Predictor.ras.numEntries) == (5, 12, 12)
    assert one.ras is not two.ras

    class Cpu(o.RiscvMinorCPU):
        branchPred = Predictor()

    assert Cpu().branchPred is not Cpu().branchPred
    assert Cpu().branchPred.ras.numEntries == 12


def test_class_level_joins_are_copied() -> None:
    class Board(o.System):
        bus = o.SystemXBar()
        bad = o.BadAddr()
        bus.default = bad.pio
        system_port = bus.cpu_side_ports

    one, two = Board(), Board()
    assert [str(peer) for peer in one.bus.default.peers] == ["<Board>.bad.pio"]
    assert one.bus.default.peers[0].owner is one.bad
    assert two.bus.default.peers[0].owner is two.bad
    assert one.system_port.peers[0].owner is one.bus
    assert len(one.bus.cpu_side_ports) == 1


def test_objects_can_be_copied_by_calling_them() -> None:
    cache = o.Cache(size="32KiB", assoc=4)
    copy = cache(size="64KiB")
    assert (copy.size, copy.assoc, cache.size) == (65536, 4, 32768)
    assert copy.replacement_policy is not cache.replacement_policy


def test_ports_join_in_either_direction() -> None:
    cpu, cache = o.RiscvMinorCPU(), o.Cache()
    cache.cpu_side = cpu.dcache_port
    assert cpu.dcache_port.peers[0].owner is cache
    cpu.icache = o.Cache()
    cpu.icache_port = cpu.icache.cpu_side
    assert cpu.icache.cpu_side.peers[0].owner is cpu
    bus = o.L2XBar()
    cache.mem_side = bus.cpu_side_ports
    bus.cpu_side_ports = cpu.icache.mem_side
    assert len(bus.cpu_side_ports) == 2


@pytest.mark.parametrize(
    ("join", "says"),
    [
        (lambda a, b, bus: setattr(a, "cpu_side", b.cpu_side), "response ports go with request ports"),
        (lambda a, b, bus: setattr(a, "mem_side", bus.mem_side_ports), "request ports go with response ports"),
        (lambda a, b, bus: setattr(a, "mem_side", bus), "name the port"),
        (lambda a, b, bus: (a.mem_side.connect(bus.cpu_side_ports), a.mem_side.connect(b.cpu_side)), "already joined"),
        (lambda a, b, bus: setattr(a, "mem_side", [bus.cpu_side_ports] * 2), "takes one peer"),
    ],
)
def test_ports_that_do_not_fit_are_refused(join: Callable[[Any, Any, Any], None], says: str) -> None:
    with pytest.raises(PortError, match=says):
        join(o.Cache(), o.Cache(), o.SystemXBar())


def test_every_class_of_the_library_can_be_made() -> None:
    for name, cls in library.all_classes():
        assert cls.__name__ == name
        made: Any = cls()
        for param in cls._params:
            made._value(param)  # converts the default


def test_cpu_methods() -> None:
    cpu = o.RiscvMinorCPU()
    cpu.createInterruptController()
    cpu.createThreads()
    assert type(cpu.interrupts[0]).__name__ == "RiscvInterrupts"
    assert type(cpu.isa[0]).__name__ == "RiscvISA"
    assert cpu.decoder[0].isa is cpu.isa[0]
    assert (o.RiscvMinorCPU.memory_mode(), o.RiscvAtomicSimpleCPU.memory_mode()) == ("timing", "atomic")
    with pytest.raises(TypeError, match="no instruction set"):
        o.BaseMinorCPU().createThreads()
    two = o.X86MinorCPU()
    two.createInterruptController()
    two.addTwoLevelCacheHierarchy(o.Cache(), o.Cache(), o.Cache())
    bus = o.SystemXBar()
    two.connectBus(bus)
    assert len(bus.cpu_side_ports) == 2  # the second level and the interrupt requestor
    assert len(bus.mem_side_ports) == 2
