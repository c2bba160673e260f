"""An engine with a store before it: what has been simulated is read, what has not is simulated and kept.

Looks like any `Engine`; a session boots its guest only when a point is missing. Sessions of several processes on one
store share the work (`Leases`): each simulates the points that no other has under way, then waits for the rest.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from breakeven.errors import UserError
from breakeven.points import POINT_BYTES, RESULT_BYTES, Point
from breakeven.points.engine import Engine, Measured, Progress, Results, Routine, Session, StorableEngine
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.result import OUT_OF_RANGE
from breakeven.store import Store
from breakeven.store.leases import Leases

#: points leased and run at a time: the first part, and the most; a part that takes less than `PART_SECONDS` doubles
FIRST_PART, MOST_PART = 64, 1024
PART_SECONDS = 0.5
#: how often points of another process are looked for while there is nothing else to do (s)
LOOK_SECONDS = 0.05
#: a holder that keeps nothing for so long is not waited for: stopped, or in a very long point (s)
PATIENCE = 60.0


class _Counts:
    """Points of all sessions of an engine, which run in any number of threads."""

    def __init__(self) -> None:
        self.read = self.simulated = 0
        self._turn = threading.Lock()

    def add(self, read: int = 0, simulated: int = 0) -> None:
        with self._turn:
            self.read += read
            self.simulated += simulated


class StoredSession:
    """A session that asks the store first. `counts`: where its points are counted, too."""

    def __init__(
        self, machine: MachineSpec, engine: StorableEngine, store: Store, counts: _Counts | None = None
    ) -> None:
        self.machine = machine
        self._engine = engine
        self._store = store
        self._counts = counts or _Counts()
        self._inner: Session | None = None
        self._identity, self._description = engine.identity(machine)
        self.machine_hash = self._identity.machine_hash
        self._found: int | None = None
        self._routines: list[Routine] | None = None
        #: points that this session took from the store, and that it simulated
        self.read, self.simulated = 0, 0

    def find(self) -> int | None:
        """The context in the store, when there is one; a row that has lost something is written again."""
        if self._found is None:
            self._found = self._store.find(self._identity)
            if self._found is None and self._store.has(self._identity):
                self._found = self.context()
        return self._found

    def context(self) -> int:
        """The context in the store, kept from now on: to be called when there is something to keep in it.

        A machine that is refused when its guest boots leaves none.
        """
        if self._found is None:
            self._found = self._store.context(self._identity, str(self.machine), self._description)
        return self._found

    @property
    def _session(self) -> Session:
        if self._inner is None:
            session = self._engine.open(self.machine)
            if session.machine_hash != self.machine_hash:
                raise UserError(f"{self.machine} is another machine than it was: its file was changed; run it again")
            self._inner = session
        return self._inner

    def routines(self) -> list[Routine]:
        if self._routines is None:
            self._routines = self._engine.routines(self.machine)
        return self._routines

    def boot(self, routines: Sequence[str]) -> None:
        """As a `SimulatorSession`'s."""
        session: Any = self._session  # the simulator's: only it is asked
        session.boot(routines)

    def measured(
        self, point: Point, trace: Path | None = None, trace_limit: int = 1 << 30, units: bool = False
    ) -> Measured:
        """As `EmbeddedSession.measured`, always simulated: the store keeps no statistics and no traces."""
        session: Any = self._session
        found: Measured = session.measured(point, trace, trace_limit, units)
        return found

    def run(
        self, records: bytes, threads: int = 0, progress: Progress | None = None, on_results: Results | None = None
    ) -> bytes:
        """As a session's; the results of points that are asked for twice are the same."""
        points = [records[at : at + POINT_BYTES] for at in range(0, len(records), POINT_BYTES)]
        found = self._known(points)
        missing = list(dict.fromkeys(p for p, r in zip(points, found, strict=True) if r is None))
        had = len(set(points)) - len(missing)
        self.read += had
        self._counts.add(read=had)
        fresh: dict[bytes, bytes] = {}
        if missing:
            self._fill(missing, fresh, threads, progress, len(points))
        if progress is not None:
            progress(len(points), len(points))
        results = [r if r is not None else fresh[p] for p, r in zip(points, found, strict=True)]
        return b"".join(i.to_bytes(4, "little") + r[4:] for i, r in enumerate(results))

    def _known(self, points: list[bytes]) -> list[bytes | None]:
        """The results that the store has; rows that are damaged are told and count as missing."""
        with self._store.telling("simulated again"):
            context = self.find()
            return [None] * len(points) if context is None else self._store.known(context, points)

    def _fill(
        self, missing: list[bytes], fresh: dict[bytes, bytes], threads: int, progress: Progress | None, total: int
    ) -> None:
        """Fills `fresh` with the results of `missing`: simulated here, or by another process at the same time."""
        leases = Leases(self._store.path, "\n".join(self._identity).encode())
        size, changed = FIRST_PART, time.monotonic()
        try:
            while missing:
                start = time.monotonic()
                with leases.take(missing, size) as leased:
                    # A lease that has just ended left its point in the store.
                    self._look(leased or missing, fresh)
                    part = [p for p in leased if p not in fresh]
                    self._simulate(part, fresh, threads, _shifted(progress, total - len(missing), total))
                left = [p for p in missing if p not in fresh]
                now = time.monotonic()
                if part and now - start < PART_SECONDS:
                    size = min(2 * size, MOST_PART)
                if len(left) < len(missing):
                    missing, changed = left, now
                elif now - changed < PATIENCE:
                    time.sleep(LOOK_SECONDS)
                else:
                    self._simulate(left, fresh, threads, _shifted(progress, total - len(left), total))
                    missing = []
        finally:
            leases.close()

    def _look(self, points: list[bytes], fresh: dict[bytes, bytes]) -> None:
        """Adds to `fresh` what other processes have kept of `points`."""
        found = self._known(points)
        fresh.update((p, r) for p, r in zip(points, found, strict=True) if r is not None)

    def _simulate(self, part: list[bytes], fresh: dict[bytes, bytes], threads: int, progress: Progress | None) -> None:
        if not part:
            return

        def keep(indices: bytes, results: bytes) -> None:
            which = [int.from_bytes(indices[at : at + 4], "little") for at in range(0, len(indices), 4)]
            rows = [results[at : at + RESULT_BYTES] for at in range(0, len(results), RESULT_BYTES)]
            # What the guest does not take has no result to keep.
            taken = [(part[i], row) for i, row in zip(which, rows, strict=True) if _status(row) != OUT_OF_RANGE]
            if taken:
                self._store.add(self.context(), [point for point, _ in taken], [row for _, row in taken])
            fresh.update((part[i], row) for i, row in zip(which, rows, strict=True))
            self.simulated += len(rows)
            self._counts.add(simulated=len(rows))

        session = self._session  # boots the guest, which may take seconds
        if progress is not None:
            progress(0, len(part))  # raises if the caller has given up meanwhile
        session.run(b"".join(part), threads, progress, keep)
        if any(p not in fresh for p in part):
            raise UserError(f"the guest left fewer results than points on {self.machine}")


def _status(result: bytes) -> int:
    return int.from_bytes(result[4:8], "little")


def _shifted(progress: Progress | None, done: int, total: int) -> Progress | None:
    """Tells of a part's points as of points of the whole, of which `done` were there before."""
    if progress is None:
        return None
    return lambda count, _total: progress(done + count, total)


class StoredEngine(Engine):
    """`engine` with `store` before it. A booted guest lives as long as its session, which the engine does not keep."""

    def __init__(self, engine: StorableEngine, store: Store) -> None:
        self._engine = engine
        self._store = store
        self._counts = _Counts()
        self._opened: set[MachineSpec] = set()

    def check(self, machine: MachineSpec, routines: Sequence[str] = ()) -> None:
        self._engine.check(machine, routines)

    def machine_hash(self, machine: MachineSpec) -> str:
        return self._engine.machine_hash(machine)

    def open(self, machine: MachineSpec) -> StoredSession:
        self._opened.add(machine)
        return self._session(machine)

    def _session(self, machine: MachineSpec) -> StoredSession:
        return StoredSession(machine, self._engine, self._store, self._counts)

    def kept(self, machine: MachineSpec, points: Sequence[bytes]) -> list[bool]:
        context = self._store.find(self._engine.identity(machine)[0])
        if context is None:
            return [False] * len(points)
        return [result is not None for result in self._store.known(context, points)]

    def note(self, machine: MachineSpec, question: str, answer: str) -> None:
        """Keeps what was found out about a machine that this engine has opened."""
        if machine in self._opened:
            self._store.note(self._session(machine).context(), question, answer)

    def noted(self, machine: MachineSpec, question: str) -> str | None:
        """What was found out earlier about a machine that this engine has opened; None: nothing."""
        if machine not in self._opened:
            return None
        with self._store.telling("found out again"):
            context = self._session(machine).find()
            return None if context is None else self._store.noted(context, question)

    @property
    def read(self) -> int:
        """Points taken from the store so far."""
        return self._counts.read

    @property
    def simulated(self) -> int:
        """Points simulated so far."""
        return self._counts.simulated
