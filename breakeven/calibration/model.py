"""Measures the probes in a model: one bare-metal program holds all bodies, and a run executes one of them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from breakeven.analysis.load_to_use import load_to_use
from breakeven.calibration.host_program import gcc
from breakeven.calibration.probe import START, STOP, Body, PointerChase, Probe
from breakeven.errors import UserError
from breakeven.files.binaries import load_engine
from breakeven.m5 import canonical
from breakeven.machine.presets import describe_machine, load_machine
from breakeven.machine.template import NotSimple, Template
from breakeven.points.machine_spec import MachineSpec

if TYPE_CHECKING:
    from breakeven.config.simobject import SimObject

#: gem5's pseudo-instructions with both arguments zero
_PSEUDO = "xor edi, edi\nxor esi, esi\n.byte 0x0f, 0x04\n.word {:#x}"
_INIT_PARAM, _RESET, _DUMP, _EXIT = (_PSEUDO.format(function) for function in (0x30, 0x40, 0x41, 0x21))
#: enables the vector registers of an extension: OSXSAVE in CR4, then XCR0
_ENABLE = "mov rax, cr4\nor eax, 0x40600\nmov cr4, rax\nxor ecx, ecx\nxor edx, edx\nmov eax, {:#x}\nxsetbv\n"
_ENABLE_EXTENSION = {"": "", "avx2": _ENABLE.format(0x7), "avx512f": _ENABLE.format(0xE7)}
#: addresses of the program, of both buffers (multiples of 128 MiB, as on the host) and of the stack's end
_PROGRAM, _SOURCE, _DESTINATION, _STACK = 0x20_0000, 0x800_0000, 0x1000_0000, 0x700_0000
#: calls of a body before the one that counts; calls of a random body, all of which count
_WARM_UP, _RANDOM = 24, 60
_MOST_INSTRUCTIONS = 200_000_000


def _elf(bodies: Sequence[Body]) -> bytes:
    """The program; the init parameter of a run is the number of the body to execute."""
    # A page for each body: what lies before it then changes neither its lines nor its place in the branch predictors.
    pointers = f"mov rdi, {_DESTINATION}\nmov rsi, {_SOURCE}"
    code = f".intel_syntax noprefix\n.globl _start\n_start:\nmov rsp, {_STACK}\n{_INIT_PARAM}\n"
    code += "lea r14, [rip+table]\njmp [r14+rax*8]\n.balign 8\ntable:\n"
    code += "".join(f".quad entry_{i}\n" for i in range(len(bodies)))
    for i, body in enumerate(bodies):
        warm_up = "" if body.random else f"mov r15d, {_WARM_UP}\n8: call body_{i}\ndec r15d\njnz 8b\n"
        calls = _RANDOM if body.random else 1
        counted = f"mov r15d, {calls}\n9: {_RESET}\ncall body_{i}\n{_DUMP}\ndec r15d\njnz 9b\n{_EXIT}"
        code += f".balign 4096\nentry_{i}: {_ENABLE_EXTENSION[body.extension]}{pointers}\n{body.prepare}\n"
        code += f"{warm_up}{counted}\n"
        code += f".balign 64\nbody_{i}: {pointers}\n{START}\n{body.code}\n{STOP}\ncld\nret\n"
    with tempfile.TemporaryDirectory(prefix="breakeven-") as name:
        folder = Path(name)
        source, elf = folder / "bodies.S", folder / "bodies.elf"
        source.write_text(code)
        layout = ["-Wl,-n", "-Wl,--build-id=none", f"-Wl,-Ttext={_PROGRAM:#x}"]
        gcc(folder, "-m64", "-nostdlib", "-static", "-no-pie", *layout, source, "-o", elf)
        return elf.read_bytes()


class ModelProgram:
    """Bodies to measure in any machine."""

    def __init__(self, bodies: Iterable[Body]) -> None:
        self._numbers = {body: i for i, body in enumerate(dict.fromkeys(bodies))}
        self._elf = _elf(list(self._numbers))

    def cycles(self, body: Body, machine: str) -> float:
        """Cycles of `body` in the machine of this canonical description."""
        guest = load_engine().Machine(machine, self._elf, init_param=self._numbers[body])
        end = guest.run(max_insts=_MOST_INSTRUCTIONS)
        if not end["cause"].startswith("m5_exit"):
            raise UserError(f"a probe does not end in the model: {end['detail'] or end['cause']}")
        found = [value for dump in guest.dumps() for name, value, *_ in dump if name == "system.cpu.numCycles"]
        return sum(found) / len(found)


class Model:
    """The base with any settings. Each result is kept, so that a search may ask for it again."""

    def __init__(self, base: str, probes: Iterable[Probe | PointerChase]) -> None:
        self.base = base
        self.probes = {probe.name: probe for probe in probes}
        short = [probe for probe in self.probes.values() if isinstance(probe, Probe)]
        self._program = ModelProgram(body for probe in short for body in probe.bodies)
        self._template = Template(base)
        #: settings -> canonical description
        self._descriptions: dict[tuple[str, ...], str] = {}
        #: by canonical description
        self._cycles: dict[tuple[str, Body], float] = {}
        self._load_to_use: dict[str, dict[int, float]] = {}

    @cached_property
    def root(self) -> SimObject:
        """The base's objects."""
        return load_machine(self.base)

    def measure(self, names: Iterable[str], settings: tuple[str, ...] = ()) -> dict[str, float]:
        """Cycles of these probes with these settings."""
        machine = self._description(settings)
        return {name: self._measure(self.probes[name], machine, settings) for name in names}

    def _description(self, settings: tuple[str, ...]) -> str:
        if settings not in self._descriptions:
            try:
                self._descriptions[settings] = self._template.variant(settings).text
            except NotSimple:
                self._descriptions[settings] = canonical(describe_machine(self.base, settings))
        return self._descriptions[settings]

    def _measure(self, probe: Probe | PointerChase, machine: str, settings: tuple[str, ...]) -> float:
        if isinstance(probe, Probe):
            body, baseline = (self._body_cycles(each, machine) for each in probe.bodies)
            return (body - baseline) / probe.parts
        if machine not in self._load_to_use:
            levels = load_to_use(MachineSpec(self.base, settings))
            caches = [each.cycles for each in levels if each.level != "memory"]
            self._load_to_use[machine] = {0: levels[-1].cycles, **dict(enumerate(caches, 1))}
        return self._load_to_use[machine][probe.level]

    def _body_cycles(self, body: Body, machine: str) -> float:
        key = machine, body
        if key not in self._cycles:
            self._cycles[key] = self._program.cycles(body, machine)
        return self._cycles[key]
