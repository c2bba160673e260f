"""An engine before which the user's routines stand beside breakeven's: each point runs in the guest of its routine.

Looks like any `Engine`. What is behind it is an engine for each guest that is asked of, made when it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from breakeven.errors import UserError
from breakeven.machine.resolve import resolve
from breakeven.points import POINT_BYTES, RESULT_BYTES, Point, routine_in, routines_of
from breakeven.points.engine import Engine, Measured, Progress, Results, Routine, Session
from breakeven.points.machine_spec import MachineSpec
from breakeven.routine.checks import check_known
from breakeven.routine.guest import guest_routines
from breakeven.routine.registry import UserRoutineFile, check_harness, home, user_file_by_routine

#: makes the engine for a guest; None: breakeven's own
Make = Callable[[Path | None], Engine]


class UserRoutinesSession:
    """A session whose points run where their routines are."""

    def __init__(
        self,
        machine: MachineSpec,
        own: dict[str, UserRoutineFile],
        open_guest: Callable[[Path | None], Session],
        routines: Callable[[], list[Routine]] | None = None,
    ) -> None:
        self.machine = machine
        self._own = own
        self._open = open_guest
        self._routines = routines or (lambda: guest_routines(machine)[1])
        self._sessions: dict[Path | None, Session] = {}

    def _session(self, guest: Path | None) -> Session:
        if guest not in self._sessions:
            for own in {file.folder: file for file in self._own.values() if file.guest == guest}.values():
                check_harness(own)
            self._sessions[guest] = self._open(guest)
        return self._sessions[guest]

    def _guest_of(self, routine: str) -> Path | None:
        return _guest_of(self._own, routine)

    @property
    def machine_hash(self) -> str:
        opened = next(iter(self._sessions), None)
        return self._session(opened).machine_hash

    def routines(self) -> list[Routine]:
        return self._routines()

    def boot(self, routines: Sequence[str]) -> None:
        """Boots each guest that has one of these routines."""
        for guest in {self._guest_of(routine) for routine in routines}:
            session: Any = self._session(guest)  # the simulator's: only it is asked
            session.boot(routines)

    def run(
        self, records: bytes, threads: int = 0, progress: Progress | None = None, on_results: Results | None = None
    ) -> bytes:
        """As a session's, guest after guest."""
        total = len(records) // POINT_BYTES
        places: dict[Path | None, list[int]] = {}
        for i in range(total):
            name = routine_in(records[i * POINT_BYTES : (i + 1) * POINT_BYTES])
            places.setdefault(self._guest_of(name), []).append(i)
        if len(places) == 1:
            return self._session(next(iter(places))).run(records, threads, progress, on_results)
        rows: list[bytes] = [b""] * total
        done = 0
        for guest, indices in places.items():
            part = b"".join(records[i * POINT_BYTES : (i + 1) * POINT_BYTES] for i in indices)
            shown = None if progress is None else _shifted(progress, done, total)
            results = self._session(guest).run(part, threads, shown, _renumbered(on_results, indices))
            if len(results) != len(indices) * RESULT_BYTES:
                raise UserError(f"a guest left {len(results)} bytes of results for {len(indices)} points")
            for i, row in zip(indices, _numbered(results, indices), strict=True):
                rows[i] = row
            done += len(indices)
        return b"".join(rows)

    def measured(
        self, point: Point, trace: Path | None = None, trace_limit: int = 1 << 30, units: bool = False
    ) -> Measured:
        """As `EmbeddedSession.measured`."""
        check_known(self.routines(), [point.routine], self.machine)
        session: Any = self._session(self._guest_of(point.routine))  # the embedded engine's: only it is asked
        measured: Measured = session.measured(point, trace, trace_limit, units)
        return measured


def _guest_of(own: dict[str, UserRoutineFile], routine: str) -> Path | None:
    """The user's guest that holds a routine, or both of a sequence; None: it is breakeven's."""
    file = own.get(routines_of(routine)[0])
    return file.guest if file else None


def _numbered(results: bytes, indices: Sequence[int]) -> list[bytes]:
    """Result records, each with the number of its point in the whole."""
    starts = range(0, len(results), RESULT_BYTES)
    return [
        i.to_bytes(4, "little") + results[at + 4 : at + RESULT_BYTES] for i, at in zip(indices, starts, strict=True)
    ]


def _shifted(progress: Progress, done: int, total: int) -> Progress:
    return lambda count, _: progress(done + count, total)


def _renumbered(on_results: Results | None, indices: Sequence[int]) -> Results | None:
    if on_results is None:
        return None

    def report(which: bytes, results: bytes) -> None:
        some = [indices[int.from_bytes(which[at : at + 4], "little")] for at in range(0, len(which), 4)]
        on_results(b"".join(i.to_bytes(4, "little") for i in some), b"".join(_numbered(results, some)))

    return report


class UserRoutinesEngine(Engine):
    """The engines that `make` gives, chosen by routine."""

    def __init__(self, make: Make) -> None:
        self._make = make
        self._engines: dict[Path | None, Engine] = {}

    def _engine(self, guest: Path | None) -> Engine:
        if guest not in self._engines:
            self._engines[guest] = self._make(guest)
        return self._engines[guest]

    def check(self, machine: MachineSpec, routines: Sequence[str] = ()) -> None:
        self._engine(None).check(machine)
        check_known(guest_routines(machine)[1], routines, machine)
        own = user_file_by_routine(resolve(machine, unread=True).isa)
        names = [each for name in routines for each in routines_of(name)]
        for file in {own[name].folder: own[name] for name in names if name in own}.values():
            check_harness(file)

    def machine_hash(self, machine: MachineSpec) -> str:
        return self._engine(None).machine_hash(machine)

    def open(self, machine: MachineSpec) -> UserRoutinesSession:
        own = user_file_by_routine(resolve(machine, unread=True).isa)
        return UserRoutinesSession(machine, own, lambda guest: self._engine(guest).open(machine))

    def kept(self, machine: MachineSpec, points: Sequence[bytes]) -> list[bool]:
        """As `StoredEngine.kept`, each point in the guest of its routine."""
        own = user_file_by_routine(resolve(machine, unread=True).isa)
        guests = [_guest_of(own, routine_in(point)) for point in points]
        found: dict[bytes, bool] = {}
        for guest in dict.fromkeys(guests):
            some = [point for point, where in zip(points, guests, strict=True) if where == guest]
            found |= dict(zip(some, self._engine(guest).kept(machine, some), strict=True))
        return [found[point] for point in points]

    def note(self, machine: MachineSpec, question: str, answer: str) -> None:
        """As `StoredEngine.note`, where all points ran in one guest: its hash stands for the routines."""
        if len(self._engines) == 1:
            next(iter(self._engines.values())).note(machine, question, answer)

    def noted(self, machine: MachineSpec, question: str) -> str | None:
        """As `StoredEngine.noted`, likewise."""
        return next(iter(self._engines.values())).noted(machine, question) if len(self._engines) == 1 else None

    @property
    def simulated(self) -> int | None:
        """As `Engine.simulated`, of all guests together."""
        counts = [engine.simulated for engine in self._engines.values()]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None


def with_user_routines(make: Make) -> Engine:
    """The engine that `make` gives for breakeven's guests, with the user's routines beside if there are any."""
    folder = home() / "routines"
    if not folder.is_dir() or next(folder.glob("*/*/"), None) is None:
        return make(None)
    return UserRoutinesEngine(make)
