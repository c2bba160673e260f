"""The probes in a model: a bare-metal program of all bodies, of which a run takes the one that its parameter names."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from breakeven.analysis.load_to_use import load_to_use
from breakeven.calibration.host_program import gcc
from breakeven.calibration.probe import START, STOP, Body, Probe, Ring
from breakeven.errors import UserError
from breakeven.files.binaries import load_engine
from breakeven.m5 import canonical
from breakeven.machine.presets import describe_machine, load_machine
from breakeven.machine.template import NotSimple, Template
from breakeven.points.machine_spec import MachineSpec

if TYPE_CHECKING:
    from breakeven.config.simobject import SimObject

#: gem5's pseudo-instructions with both arguments zero
_OPERATION = "xor edi, edi\nxor esi, esi\n.byte 0x0f, 0x04\n.word {:#x}"
INIT_PARAM, RESET, DUMP, EXIT = (_OPERATION.format(function) for function in (0x30, 0x40, 0x41, 0x21))
#: what lets a program use vector registers of an extension: CR4's OSXSAVE and XCR0
_ALLOW = "mov rax, cr4\nor eax, 0x40600\nmov cr4, rax\nxor ecx, ecx\nxor edx, edx\nmov eax, {:#x}\nxsetbv\n"
ALLOWED = {"": "", "avx2": _ALLOW.format(0x7), "avx512f": _ALLOW.format(0xE7)}
#: where the program lies; where a body has what the host has at multiples of 128 MiB; the stack's end
_BASE, SOURCE, DESTINATION, _STACK = 0x20_0000, 0x800_0000, 0x1000_0000, 0x700_0000
#: turns of a body that nothing counts, and of a body that depends on chance: all of these count
WARM, MEAN = 24, 60
_MOST_INSTRUCTIONS = 200_000_000


def program(bodies: Sequence[Body]) -> bytes:
    """An ELF of all bodies; what initparam gives chooses one."""
    pointers = f"mov rdi, {DESTINATION}\nmov rsi, {SOURCE}"
    code = f".intel_syntax noprefix\n.globl _start\n_start:\nmov rsp, {_STACK}\n{INIT_PARAM}\n"
    code += "lea r14, [rip+table]\njmp [r14+rax*8]\n.balign 8\ntable:\n"
    code += "".join(f".quad entry_{i}\n" for i in range(len(bodies)))
    for i, body in enumerate(bodies):
        point = f"{pointers}\n{START}\n{body.text}\n{STOP}\ncld"
        warm = "" if body.mean else f"mov r15d, {WARM}\n8: call body_{i}\ndec r15d\njnz 8b\n"
        counted = f"mov r15d, {MEAN if body.mean else 1}\n9: {RESET}\ncall body_{i}\n{DUMP}\ndec r15d\njnz 9b\n{EXIT}"
        code += f"entry_{i}: {ALLOWED[body.needs]}{pointers}\n{body.prepare}\n{warm}{counted}\n"
        code += f".balign 64\nbody_{i}: {point}\nret\n"
    with tempfile.TemporaryDirectory(prefix="breakeven-") as folder:
        source, elf = Path(folder, "bodies.S"), Path(folder, "bodies.elf")
        source.write_text(code)
        flags = ["-m64", "-nostdlib", "-static", "-no-pie", "-Wl,-n", "-Wl,--build-id=none", f"-Wl,-Ttext={_BASE:#x}"]
        gcc(*flags, source, "-o", elf)
        return elf.read_bytes()


class Program:
    """The bodies as one bare-metal program."""

    def __init__(self, bodies: Iterable[Body]) -> None:
        self._numbers = {body: i for i, body in enumerate(dict.fromkeys(bodies))}
        self._elf = program(list(self._numbers))

    def cycles(self, body: Body, machine: str) -> float:
        """What `body` takes on the machine that the canonical description `machine` describes."""
        guest = load_engine().Machine(machine, self._elf, init_param=self._numbers[body])
        end = guest.run(max_insts=_MOST_INSTRUCTIONS)
        if not end["cause"].startswith("m5_exit"):
            raise UserError(f"a probe does not end in the model: {end['detail'] or end['cause']}")
        found = [value for dump in guest.dumps() for name, value, *_ in dump if name == "system.cpu.numCycles"]
        return sum(found) / len(found)


class Model:
    """The base with any settings, measured. What was measured once is kept."""

    def __init__(self, base: str, probes: Iterable[Probe | Ring]) -> None:
        self.base = base
        self.probes = {probe.name: probe for probe in probes}
        self._program = Program(
            each for probe in self.probes.values() if isinstance(probe, Probe) for each in probe.texts
        )
        self._template = Template(base)
        self._kept: dict[tuple[str, Body], float] = {}
        self._rings: dict[str, dict[int, float]] = {}
        self._texts: dict[tuple[str, ...], str] = {}

    @cached_property
    def root(self) -> SimObject:
        """The base's tree."""
        return load_machine(self.base)

    def measure(self, names: Iterable[str], settings: tuple[str, ...] = ()) -> dict[str, float]:
        """The numbers of these probes."""
        text = self._text(settings)
        return {name: self._measured(self.probes[name], text, settings) for name in names}

    def _text(self, settings: tuple[str, ...]) -> str:
        if settings not in self._texts:
            try:
                self._texts[settings] = self._template.variant(settings).text
            except NotSimple:
                self._texts[settings] = canonical(describe_machine(self.base, settings))
        return self._texts[settings]

    def _measured(self, probe: Probe | Ring, text: str, settings: tuple[str, ...]) -> float:
        if isinstance(probe, Ring):
            return self._along(text, settings)[probe.level]
        body, beside = (self._cycles(each, text) for each in probe.texts)
        return (body - beside) / probe.each

    def _cycles(self, body: Body, text: str) -> float:
        key = text, body
        if key not in self._kept:
            self._kept[key] = self._program.cycles(body, text)
        return self._kept[key]

    def _along(self, text: str, settings: tuple[str, ...]) -> dict[int, float]:
        if text not in self._rings:
            found = load_to_use(MachineSpec(self.base, settings))
            caches = [each.cycles for each in found if each.level != "memory"]
            self._rings[text] = {0: found[-1].cycles, **dict(enumerate(caches, 1))}
        return self._rings[text]
