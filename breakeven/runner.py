"""How points are run: a sweep or a study asks an `Engine` for a session on a machine and never knows what is behind it.

`EmbeddedEngine` is the simulator inside this process; another engine (a real gem5) is another class.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from breakeven.errors import UserError
from breakeven.points import RESULT_BYTES, Point, Result, pack, unpack_results
from breakeven.resolved import resolve

if TYPE_CHECKING:
    from breakeven.resolved import Machine
    from breakeven.store import Identity

#: what a machine is called that is the host's own processor
HOST = "native"
#: points done, points in all
Progress = Callable[[int, int], None]
#: numbers of points that are done (32-bit, little-endian) and their results, as they come
Results = Callable[[bytes, bytes], None]


@dataclass(frozen=True, slots=True)
class MachineSpec:
    """A preset's name or a machine file, and the parameters that differ from it (``path=value``, applied in order)."""

    name: str
    settings: tuple[str, ...] = ()

    def with_settings(self, *more: str) -> MachineSpec:
        return MachineSpec(self.name, self.settings + more)

    def __str__(self) -> str:
        return " ".join([self.name, *self.settings])


#: flags of a routine (docs/guests.md) that name an extension: the extension and the ISA object's parameter
_NEEDS = {1: ("Zbb", "enable_Zbb"), 4: ("ADX", "enable_adx"), 8: ("AVX2", "enable_avx2"), 16: ("SSE2", "enable_sse2")}
#: flags of a routine in words
FLAG_NAMES = {
    **{bit: f"needs {extension}" for bit, (extension, _) in _NEEDS.items()},
    2: "issues misaligned accesses",
}


class Routine(NamedTuple):
    """A routine that a guest holds."""

    name: str
    kind: str
    flags: int
    #: what the machine it was asked of lacks for it, with the fix; empty: nothing
    lacks: str = ""
    #: the user's file that it was added from; empty: it is breakeven's
    origin: str = ""

    @property
    def notes(self) -> str:
        """What its flags say."""
        return ", ".join(words for bit, words in FLAG_NAMES.items() if self.flags & bit)


class Session(Protocol):
    """A booted guest on one machine, ready to run points."""

    machine: MachineSpec
    machine_hash: str

    def routines(self) -> list[Routine]:
        """The routines of the guest."""

    def run(
        self, records: bytes, threads: int = 0, progress: Progress | None = None, on_results: Results | None = None
    ) -> bytes:
        """The results of packed points, in their order; the same for every number of threads (0: one a core)."""


class Engine(Protocol):
    """Something that runs points on machines."""

    def check(self, machine: MachineSpec, routines: Sequence[str] = ()) -> None:
        """Raises when `machine` cannot be built or cannot run one of `routines`; cheap."""

    def machine_hash(self, machine: MachineSpec) -> str:
        """What identifies the machine's description."""

    def open(self, machine: MachineSpec) -> Session:
        """Builds `machine` and boots the guest on it."""


class StorableEngine(Engine, Protocol):
    """An engine whose results depend on nothing but an identity and the point, and may so be kept."""

    def identity(self, machine: MachineSpec) -> tuple[Identity, str]:
        """What decides the results on `machine`, and its canonical description."""

    def routines(self, machine: MachineSpec) -> list[Routine]:
        """The routines of the guest for `machine`, without booting it."""


def guest_elf(isa: str, elf: Path | None = None) -> bytes:
    """The guest that holds the routines of `isa`: `elf`, or the one that comes with breakeven."""
    if elf is None:
        from breakeven.paths import find_data

        elf = find_data("guests", f"{isa}.elf")
    return read_file(elf, "guest")


def read_file(path: Path, what: str) -> bytes:
    """The bytes of a file that the user named; one sentence when it cannot be read."""
    from breakeven.paths import read_bounded

    try:
        return read_bounded(path)
    except OSError as error:
        raise UserError(f"cannot read the {what} {str(path)!r}: {(error.strerror or str(error)).lower()}") from None


def load_engine() -> Any:
    """The compiled engine module; one sentence when it is not built."""
    try:
        from breakeven import _engine
    except ImportError as error:
        raise UserError(f"the engine is not built ({error}): run scripts/setup, or install the wheel") from None
    return _engine


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement of a point, from the inside."""

    result: Result
    #: core cycles between the two readings of the cycle counter: the result's, with what an empty measurement costs
    cycles: int
    #: all statistics of those cycles: name, value, unit, description; none for a point without a right result
    stats: list[tuple[str, float, str, str]]
    #: whether the trace that was wanted is whole
    traced: bool


class EmbeddedSession:
    """A session on the simulator inside this process."""

    def __init__(self, machine: MachineSpec, elf: Path | None = None) -> None:
        engine = load_engine()
        resolved = resolve(machine)
        self.machine = machine
        self.machine_hash = resolved.hash
        program = guest_elf(resolved.isa, elf)
        self._routines = _routines_on(resolved.description, program)
        self._sweep = engine.Sweep(resolved.text, program)

    def routines(self) -> list[Routine]:
        return self._routines

    def run(
        self, records: bytes, threads: int = 0, progress: Progress | None = None, on_results: Results | None = None
    ) -> bytes:
        return self._sweep.run(records, threads=threads, on_progress=progress, on_results=on_results)

    def measured(self, point: Point, trace: Path | None = None, trace_limit: int = 1 << 30) -> Measured:
        """One point with a look into the measurement that its median comes from."""
        check_routines(self, [point.routine])
        result, begin, end, stats, traced = self._sweep.measured(point.pack(), trace, trace_limit)
        return Measured(unpack_results(result)[0], end - begin, stats, traced)


class EmbeddedEngine:
    """The simulator inside this process. `elf`: a guest of the user's own instead of breakeven's."""

    def __init__(self, elf: Path | None = None) -> None:
        self.elf = elf

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
        from breakeven.store import Identity

        resolved = resolve(machine)
        guest = hashlib.sha256(guest_elf(resolved.isa, self.elf)).hexdigest()
        return Identity(load_engine().fingerprint, resolved.hash, guest), resolved.text

    def routines(self, machine: MachineSpec) -> list[Routine]:
        return routines_in(resolve(machine), self.elf)

    def open(self, machine: MachineSpec) -> EmbeddedSession:
        return EmbeddedSession(machine, self.elf)


def routines_in(machine: Machine, elf: Path | None = None) -> list[Routine]:
    """The routines of the guest for a machine (`elf`: of that guest), with what the machine lacks for each."""
    return _routines_on(machine.description, guest_elf(machine.isa, elf))


def guest_routines(machine: MachineSpec, elf: Path | None = None) -> tuple[str, list[Routine]]:
    """The instruction set of `machine` and the routines there are for it (`elf`: in that guest), without booting it."""
    resolved = resolve(machine, unread=True)
    isa, description = resolved.isa, resolved.description
    found = _routines_on(description, guest_elf(isa, elf))
    if elf is None:
        from breakeven.extensions import lacks_of
        from breakeven.own import own_files

        for own in own_files(isa):
            for each in _routines_on(description, own.guest.read_bytes()):
                lacks = each.lacks or lacks_of(description, own.extensions)
                found.append(each._replace(origin=own.source, lacks=lacks))
    return isa, found


def _routines_on(description: dict[str, Any], program: bytes) -> list[Routine]:
    """The routines of a guest with what the described machine lacks for each."""
    found = []
    for row in load_engine().routines(program):
        found.append(Routine(row["name"], row["kind"], row["flags"], _lacking(description, row["flags"])))
    return found


def _lacking(description: dict[str, Any], flags: int) -> str:
    """What the described machine lacks of what a routine's flags ask for."""
    for bit, (extension, parameter) in _NEEDS.items():
        for item in description["objects"] if flags & bit else ():
            if item["params"].get(parameter) is False:
                setting = f"{item['path'].removeprefix('system.')}.{parameter}=true"
                return f"needs {extension}, which this machine lacks: add --set {setting}"
    return ""


def check_known(known: list[Routine], names: Sequence[str], machine: MachineSpec) -> None:
    """Raises `UserError` for a routine that is not known (with near matches) or that `machine` cannot run."""
    by_name = {routine.name: routine for routine in known}
    for name in names:
        if name not in by_name:
            from breakeven.routine_errors import unknown_routine

            raise UserError(unknown_routine(name, by_name, machine))
        if by_name[name].lacks:
            raise UserError(f"{name} on {machine}: it {by_name[name].lacks}")


def check_routines(session: Session, names: Sequence[str], one_job: bool = False) -> None:
    """Raises `UserError` for a routine that the guest does not hold (with near matches) or the machine cannot run;
    with `one_job`, which a comparison asks for, also for routines of different kinds."""
    known = session.routines()
    check_known(known, names, session.machine)
    if one_job:
        from breakeven.routine_errors import check_one_job

        check_one_job(known, names)


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
