"""How points are run: a sweep or a study asks an `Engine` for a session on a machine and never knows what is behind it.

`EmbeddedEngine` is the simulator inside this process; another engine (a real gem5) is another class.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from breakeven.errors import UserError
from breakeven.m5.errors import near
from breakeven.points import RESULT_BYTES, Point, Result, pack, unpack_results

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class MachineSpec:
    """A preset's name or a machine file, and the parameters that differ from it (``path=value``, applied in order)."""

    name: str
    settings: tuple[str, ...] = ()

    def with_settings(self, *more: str) -> MachineSpec:
        return MachineSpec(self.name, self.settings + more)

    def __str__(self) -> str:
        return " ".join([self.name, *self.settings])


class Routine(NamedTuple):
    """A routine that a guest holds."""

    name: str
    kind: str
    flags: int

    @property
    def notes(self) -> str:
        """What its flags say."""
        words = ["needs Zbb"] if self.flags & 1 else []
        if self.flags & 2:
            words.append("issues misaligned accesses")
        return ", ".join(words)


class Session(Protocol):
    """A booted guest on one machine, ready to run points."""

    machine: MachineSpec
    machine_hash: str

    def routines(self) -> list[Routine]:
        """The routines of the guest."""

    def run(self, records: bytes, threads: int = 0, progress: Progress | None = None) -> bytes:
        """The results of packed points, in their order; the same for every number of threads (0: one a core)."""


class Engine(Protocol):
    """Something that runs points on machines."""

    def check(self, machine: MachineSpec) -> None:
        """Raises when `machine` cannot be built; cheap."""

    def machine_hash(self, machine: MachineSpec) -> str:
        """What identifies the machine's description."""

    def open(self, machine: MachineSpec) -> Session:
        """Builds `machine` and boots the guest on it."""


def describe(machine: MachineSpec) -> tuple[dict[str, Any], str]:
    """The machine's description and its text for the engine."""
    from breakeven import m5
    from breakeven.machines import describe_machine

    description = describe_machine(machine.name, machine.settings)
    return description, m5.canonical(description)


def isa_of(description: dict[str, Any]) -> str:
    """The instruction set of the CPU in a description."""
    for item in description["objects"]:
        if "BaseCPU" in item["bases"]:
            names = [item["type"], *item["bases"]]
            for isa, prefix in (("riscv", "Riscv"), ("x86", "X86")):
                if any(name.startswith(prefix) for name in names):
                    return isa
    raise UserError("the machine has no CPU of a known instruction set (a Riscv or X86 CPU)")


def guest_elf(isa: str, elf: Path | None = None) -> bytes:
    """The guest that holds the routines of `isa`: `elf`, or the one that comes with breakeven."""
    if elf is None:
        from breakeven.paths import find_data

        elf = find_data("guests", f"{isa}.elf")
    return read_file(elf, "guest")


def read_file(path: Path, what: str) -> bytes:
    """The bytes of a file that the user named; one sentence when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read the {what} {str(path)!r}: {(error.strerror or str(error)).lower()}") from None


def load_engine() -> Any:
    """The compiled engine module; one sentence when it is not built."""
    try:
        from breakeven import _engine
    except ImportError as error:
        raise UserError(f"the engine is not built ({error}): run scripts/setup, or install the wheel") from None
    return _engine


class EmbeddedSession:
    """A session on the simulator inside this process."""

    def __init__(self, machine: MachineSpec, elf: Path | None = None) -> None:
        engine = load_engine()
        description, text = describe(machine)
        self.machine = machine
        #: of the canonical description, as `breakeven.m5.machine_hash`
        self.machine_hash = hashlib.sha256(text.encode()).hexdigest()
        self._elf = guest_elf(isa_of(description), elf)
        self._list = engine.routines
        self._sweep = engine.Sweep(text, self._elf)

    def routines(self) -> list[Routine]:
        return [Routine(row["name"], row["kind"], row["flags"]) for row in self._list(self._elf)]

    def run(self, records: bytes, threads: int = 0, progress: Progress | None = None) -> bytes:
        return self._sweep.run(records, threads=threads, on_progress=progress)


class EmbeddedEngine:
    """The simulator inside this process. `elf`: a guest of the user's own instead of breakeven's."""

    def __init__(self, elf: Path | None = None) -> None:
        self.elf = elf

    def check(self, machine: MachineSpec) -> None:
        errors = load_engine().check_description(describe(machine)[1])
        if errors:
            raise UserError(f"{machine}: {'; '.join(errors)}")

    def machine_hash(self, machine: MachineSpec) -> str:
        return hashlib.sha256(describe(machine)[1].encode()).hexdigest()

    def open(self, machine: MachineSpec) -> EmbeddedSession:
        return EmbeddedSession(machine, self.elf)


def guest_routines(isa: str, elf: Path | None = None) -> list[Routine]:
    """The routines of a guest, without booting it."""
    return [Routine(row["name"], row["kind"], row["flags"]) for row in load_engine().routines(guest_elf(isa, elf))]


def check_routines(session: Session, names: list[str]) -> None:
    """Raises `UserError` with near matches for a routine that the guest does not hold."""
    known = [routine.name for routine in session.routines()]
    for name in names:
        if name not in known:
            hint = near(name, known, all_of="there are")
            raise UserError(f"there is no routine {name!r}{hint}")


def run_points(
    session: Session, points: list[Point], threads: int = 1, progress: Progress | None = None
) -> list[Result]:
    """A few points, typed in and out."""
    records = pack(points)
    check_routines(session, sorted({point.routine for point in points}))
    data = session.run(records, threads, progress)
    if len(data) != len(points) * RESULT_BYTES:
        raise UserError(f"the guest left {len(data)} bytes of results for {len(points)} points")
    return unpack_results(data)
