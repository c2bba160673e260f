"""How points are run: a sweep or a study asks an `Engine` for a session on a machine and never knows what is behind it.

`EmbeddedEngine` is the simulator inside this process; another engine (a real gem5) is another class.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from breakeven.errors import UserError
from breakeven.files.binaries import guest_elf, load_engine
from breakeven.machine.resolve import resolve
from breakeven.points import Point, unpack_results
from breakeven.points.engine import Engine, Identity, Measured, Progress, Results, Routine
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.record import lists_of
from breakeven.routine.checks import check_known, check_routines
from breakeven.routine.guest import _routines_on

if TYPE_CHECKING:
    from breakeven.machine.resolve import Machine
    from breakeven.points.engine import Identity


class Program:
    """The guest of an engine: `elf`, or breakeven's. It stays what it was when it was first read: a result is kept by
    its hash, and `add` may put another file there meanwhile."""

    def __init__(self, elf: Path | None = None) -> None:
        self.elf = elf
        self._read: dict[str, bytes] = {}

    def of(self, isa: str) -> bytes:
        """The ELF for an instruction set."""
        if isa not in self._read:
            self._read[isa] = guest_elf(isa, self.elf)
        return self._read[isa]

    def routines(self, machine: Machine) -> list[Routine]:
        """The routines that it has for a machine, with what the machine lacks for each."""
        return _routines_on(machine.description, self.of(machine.isa))


class EmbeddedSession:
    """A session on the simulator inside this process."""

    def __init__(
        self, machine: MachineSpec, program: Program, watch: Callable[[], None] | None, detailed: bool
    ) -> None:
        engine = load_engine()
        resolved = resolve(machine)
        self.machine = machine
        self.machine_hash = resolved.hash
        code = program.of(resolved.isa)
        if program.elf is None:
            _check_memory(resolved)
        self._routines = _routines_on(resolved.description, code)
        self._watch = watch
        self._sweep = engine.Sweep(resolved.text, code, watch, detailed_everything=detailed)

    def routines(self) -> list[Routine]:
        return self._routines

    def run(
        self, records: bytes, threads: int = 0, progress: Progress | None = None, on_results: Results | None = None
    ) -> bytes:
        return self._sweep.run(
            records, threads=threads, on_progress=progress, on_results=on_results, lists=lists_of(records)
        )

    def boot(self, routines: Sequence[str]) -> None:
        """The guest is booted."""

    def measured(
        self, point: Point, trace: Path | None = None, trace_limit: int = 1 << 30, units: bool = False
    ) -> Measured:
        """One point with a look into the measurement that its median comes from.

        `units`: the trace tells the functional unit of each micro-op."""
        check_routines(self, [point.routine])
        record = point.pack()
        result, begin, end, stats, subtracted, traced = self._sweep.measured(
            record, trace, trace_limit, self._watch, lists_of(record), units
        )
        told = replace(unpack_results(result)[0], repetitions=point.repetitions)
        return Measured(told, end - begin, stats, subtracted, traced, begin)


class EmbeddedEngine(Engine):
    """The simulator inside this process. `elf`: a guest of the user's own instead of breakeven's.

    `watch`: called every few milliseconds while a guest boots or a measurement is looked into; what it raises ends
    that. `detailed`: what is not measured is simulated in detail, too, as in a real gem5, instead of being executed
    functionally.
    """

    def __init__(
        self, elf: Path | None = None, watch: Callable[[], None] | None = None, detailed: bool = False
    ) -> None:
        self.program = Program(elf)
        self._watch = watch
        self._detailed = detailed

    def check(self, machine: MachineSpec, routines: Sequence[str] = ()) -> None:
        resolved = resolve(machine)
        errors = load_engine().check_description(resolved.text)
        if errors:
            raise UserError(f"{machine}: {'; '.join(errors)}")
        if routines:
            check_known(self.routines(machine), routines, machine)

    def machine_hash(self, machine: MachineSpec) -> str:
        return resolve(machine).hash

    def identity(self, machine: MachineSpec) -> tuple[Identity, str]:
        resolved = resolve(machine)
        guest = hashlib.sha256(self.program.of(resolved.isa))
        if self._detailed:
            # Other numbers than without, of the same engine, machine and guest.
            guest.update(b"detailed")
        return Identity(load_engine().fingerprint, resolved.hash, guest.hexdigest()), resolved.text

    def routines(self, machine: MachineSpec) -> list[Routine]:
        return self.program.routines(resolve(machine))

    def open(self, machine: MachineSpec) -> EmbeddedSession:
        return EmbeddedSession(machine, self.program, self._watch, self._detailed)


#: bytes of memory that breakeven's guests lay their buffers out in (docs/guests.md)
GUEST_MEMORY = 512 << 20


def _check_memory(machine: Machine) -> None:
    """Raises `UserError` for a machine whose memory is too small for breakeven's guests."""
    for item in machine.description["objects"]:
        for each in item["params"].get("mem_ranges", ()) if item["type"] == "System" else ():
            size = each["end"] - each["start"]
            if size < GUEST_MEMORY:
                raise UserError(
                    f"the machine has {size / (1 << 20):g} MiB of memory, and the guests need {GUEST_MEMORY >> 20}: "
                    f'say board_range("{GUEST_MEMORY >> 20}MiB")'
                )
