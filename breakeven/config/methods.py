"""What gem5's classes do besides holding parameters: CPUs make their interrupt controllers and threads and join their
ports, the Root announces itself to the script that builds it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from breakeven.config.current import current
from breakeven.config.gem5_build import compatible_workload
from breakeven.config.overrides import apply_override
from breakeven.config.params import hooks


def _object(name: str) -> Any:
    return hooks.find_class(name)


def isa_prefix(cpu: Any) -> str:
    """The prefix of the classes that belong to the CPU's instruction set."""
    for cls in type(cpu).__mro__:
        if cls.__name__ in ("RiscvCPU", "X86CPU"):
            return cls.__name__.removesuffix("CPU")
    raise TypeError(f"{cpu.path()} is a {type(cpu).__name__}, which has no instruction set; use e.g. RiscvMinorCPU")


_INTERRUPTS = {"Riscv": "RiscvInterrupts", "X86": "X86LocalApic"}


def create_interrupt_controller(self: Any) -> None:
    """One interrupt controller a thread."""
    made = _object(_INTERRUPTS[isa_prefix(self)])
    self.interrupts = [made() for _ in range(self.numThreads)]


def create_threads(self: Any) -> None:
    """One ISA object (unless the script gave its own) and one decoder a thread."""
    isa = isa_prefix(self)
    if not self.isa:
        self.isa = [_object(f"{isa}ISA")() for _ in range(self.numThreads)]
    elif len(self.isa) != self.numThreads:
        raise TypeError(f"{self.path()} has {len(self.isa)} isa objects for {self.numThreads} threads")
    if self.decoder:
        raise TypeError(f"{self.path()}.decoder is made by createThreads(); do not set it before")
    self.decoder = [_object(f"{isa}Decoder")(isa=one) for one in self.isa]


def connect_cached_ports(self: Any, in_ports: Any) -> None:
    """Join everything that goes through caches with a bus."""
    isa_prefix(self)  # a CPU without an instruction set has no walkers to join
    for port in getattr(self, "_uncached", None) or _cached_ports(self):
        in_ports.connect(port)


def _cached_ports(cpu: Any) -> list[Any]:
    """The ports of `cpu` that nobody has joined yet: caches' below it, else its own, and the walkers'."""
    children = cpu._children
    ports = []
    for cache, port in (("icache", "icache_port"), ("dcache", "dcache_port")):
        ports.append(children[cache].mem_side if cache in children else getattr(cpu, port))
    for cache, tlb in (("itb_walker_cache", "itb"), ("dtb_walker_cache", "dtb")):
        ports.append(children[cache].mem_side if cache in children else getattr(cpu.mmu, tlb).walker.port)
    return ports


def connect_uncached_ports(self: Any, in_ports: Any, out_ports: Any) -> None:
    """Join the interrupt controllers' ports (x86 has some, RISC-V none)."""
    if isa_prefix(self) == "X86":
        for controller in self.interrupts:
            controller.pio = out_ports
            controller.int_requestor = in_ports
            controller.int_responder = out_ports


def connect_all_ports(self: Any, cached_in: Any, uncached_in: Any, uncached_out: Any) -> None:
    connect_cached_ports(self, cached_in)
    connect_uncached_ports(self, uncached_in, uncached_out)


def connect_bus(self: Any, bus: Any) -> None:
    connect_all_ports(self, bus.cpu_side_ports, bus.cpu_side_ports, bus.mem_side_ports)


def schedule_inst_stop(self: Any, thread: int, insts: int, cause: str) -> None:
    """``m5.simulate`` comes back after `insts` more instructions with `cause`; there is one thread."""
    current().schedule_inst_stop(int(insts), cause)


def current_insts(self: Any, thread: int = 0) -> int:
    """Instructions since reset."""
    return current().insts()


def connect_walkers(self: Any, instruction: Any, data: Any) -> None:
    """Join the page-table walkers, as gem5's MMUs do."""
    self.itb.walker.port = instruction
    self.dtb.walker.port = data


def add_private_split_l1_caches(self: Any, ic: Any, dc: Any, iwc: Any = None, dwc: Any = None) -> None:
    """Give the CPU its first-level caches, and walker caches when there are any."""
    self.icache = ic
    self.dcache = dc
    self.icache_port = ic.cpu_side
    self.dcache_port = dc.cpu_side
    if iwc is not None and dwc is not None:
        self.itb_walker_cache = iwc
        self.dtb_walker_cache = dwc
        connect_walkers(self.mmu, iwc.cpu_side, dwc.cpu_side)


def add_two_level_cache_hierarchy(
    self: Any, ic: Any, dc: Any, l2c: Any, iwc: Any = None, dwc: Any = None, xbar: Any = None
) -> None:
    """First-level caches and a private second level behind a bus (`xbar`, by default an ``L2XBar``)."""
    add_private_split_l1_caches(self, ic, dc, iwc, dwc)
    self.toL2Bus = xbar if xbar is not None else _object("L2XBar")()
    connect_cached_ports(self, self.toL2Bus.cpu_side_ports)
    self.l2cache = l2c
    self.toL2Bus.mem_side_ports = self.l2cache.cpu_side
    object.__setattr__(self, "_uncached", [self.l2cache.mem_side])


def op_class_set(op_classes: Iterable[str]) -> Any:
    """gem5's ``minorMakeOpClassSet``: the operations that a unit of Minor's takes, by their names."""
    return _object("MinorOpClassSet")(opClasses=[_object("MinorOpClass")(opClass=name) for name in op_classes])


def apply_config(self: Any, settings: Iterable[str]) -> None:
    """Set parameters below this object: ``"system.cpu.max_insts_any_thread = 42"`` each; `OverrideError` names the one
    that does not fit."""
    for setting in settings:
        apply_override(self, setting)


def _root_init(self: Any, **values: Any) -> None:
    before = current().root
    if before is not None:
        # A board that makes a Root of its own, and then a script that makes another, as scripts before gem5 22.1 do.
        for name in list(before._children):
            if before._children[name] in values.values():
                before._release(name)

    _object("SimObject").__init__(self, **values)
    current().root = self


def _root_instance() -> Any:
    return current().root


def _init_compatible(path: Any) -> Any:
    return _object(compatible_workload(str(path)))()


def _controlled(self: Any) -> Any:
    """The controller that drives this DRAM interface."""
    return _object("MemCtrl")(dram=self)


def _front_port(self: Any) -> Any:
    """The port that a DRAM interface had before gem5 20.1: that of a controller, which is put in front of it."""
    front = self._children.get("front")
    if front is None:
        front = _object("MemCtrl")(dram=self)
        self.add_child("front", front)
        kind = type(self).__name__
        what = f"a {kind} has no port of its own: a MemCtrl is put in front of it; write MemCtrl(dram={kind}())"
        print(f"warn: {what}", file=sys.stderr)
    return front.port


def _join_front(self: Any, other: Any) -> None:
    _front_port(self).connect(other)


def _itself(self: Any) -> Any:
    """A memory that is its own controller."""
    return self


def _mode(name: str) -> Any:
    return classmethod(lambda cls: name)


def _says(answer: bool) -> Any:
    return classmethod(lambda cls: answer)


METHODS: dict[str, dict[str, Any]] = {
    "SimObject": {"apply_config": apply_config},
    "Root": {"__init__": _root_init, "getInstance": staticmethod(_root_instance)},
    "BaseCPU": {
        "createInterruptController": create_interrupt_controller,
        "createThreads": create_threads,
        "connectCachedPorts": connect_cached_ports,
        "connectUncachedPorts": connect_uncached_ports,
        "connectAllPorts": connect_all_ports,
        "connectBus": connect_bus,
        "addPrivateSplitL1Caches": add_private_split_l1_caches,
        "addTwoLevelCacheHierarchy": add_two_level_cache_hierarchy,
        "scheduleInstStop": schedule_inst_stop,
        "getCurrentInstCount": current_insts,
        "totalInsts": current_insts,
        "memory_mode": _mode("invalid"),
        "require_caches": _says(False),
        "support_take_over": _says(False),
    },
    "DRAMInterface": {"controller": _controlled, "port": property(_front_port, _join_front)},
    "SimpleMemory": {"controller": _itself},
    "BaseMMU": {"connectWalkerPorts": connect_walkers},
    "SEWorkload": {"init_compatible": staticmethod(_init_compatible)},
    "BaseAtomicSimpleCPU": {"memory_mode": _mode("atomic"), "support_take_over": _says(True)},
    "BaseTimingSimpleCPU": {"memory_mode": _mode("timing"), "support_take_over": _says(True)},
    "BaseMinorCPU": {"memory_mode": _mode("timing"), "require_caches": _says(True), "support_take_over": _says(True)},
    "BaseO3CPU": {"memory_mode": _mode("timing"), "require_caches": _says(True), "support_take_over": _says(True)},
}
