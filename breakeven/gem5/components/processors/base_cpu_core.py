"""A core around a CPU of `m5.objects`."""

from __future__ import annotations

from typing import Any

from breakeven.config.methods import isa_prefix
from breakeven.gem5.components.processors.abstract_core import AbstractCore
from breakeven.gem5.isas import ISA
from breakeven.gem5.utils.requires import requires
from breakeven.m5.objects import BaseO3CPU


class BaseCPUCore(AbstractCore):
    """`core`: a CPU (``RiscvO3CPU()``), also of a script's own class; `isa`: its instruction set, by default
    that of the CPU's class."""

    def __init__(self, core: Any, isa: ISA | None = None) -> None:
        super().__init__()
        isa = ISA[isa_prefix(core).upper()] if isa is None else isa
        requires(isa_required=isa)
        self._isa = isa
        self.core = core
        self.core.createThreads()

    def get_simobject(self) -> Any:
        return self.core

    def get_isa(self) -> ISA:
        return self._isa

    def requires_send_evicts(self) -> bool:
        return self._isa is ISA.X86 or isinstance(self.core, BaseO3CPU)

    def connect_icache(self, port: Any) -> None:
        self.core.icache_port = port

    def connect_dcache(self, port: Any) -> None:
        self.core.dcache_port = port

    def connect_walker_ports(self, port1: Any, port2: Any) -> None:
        self.core.mmu.connectWalkerPorts(port1, port2)

    def connect_interrupt(self, interrupt_requestor: Any = None, interrupt_responce: Any = None) -> None:
        """Make the interrupt controller; on x86 join it with the bus."""
        self.core.createInterruptController()
        if self._isa is ISA.X86:
            controller = self.core.interrupts[0]
            if interrupt_requestor is not None:
                controller.pio = interrupt_requestor
                controller.int_responder = interrupt_requestor
            if interrupt_responce is not None:
                controller.int_requestor = interrupt_responce

    def set_workload(self, process: Any) -> None:
        self.core.workload = process

    def set_switched_out(self, value: bool) -> None:
        self.core.switched_out = value

    def get_mmu(self) -> Any:
        return self.core.mmu

    def _set_inst_stop_any_thread(self, inst: int, board_initialized: bool) -> None:
        if board_initialized:
            raise RuntimeError("a limit of instructions is set before the simulation begins")
        self.core.max_insts_any_thread = inst
