"""Runs the points of several studies ahead of the studies, in one pool of threads.

A study asks for one grid after the other, most of them small: at the end of each, and while a search decides, a
machine is built or a figure is drawn, processors would wait. So all points of all grids go into one pool, those of the
first study first, long ones before short ones, and each search is run there by itself. The studies then ask an engine
that knows the results. What it does not know it runs: that the pool was there changes no result.

Progress is told in the work of the points that are simulated (`Work`); those that a store has are no part of it.
"""

from __future__ import annotations

import itertools
import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import numpy as np

from breakeven.analysis.search import budget_of
from breakeven.machine.resolve import of_request
from breakeven.points import POINT_BYTES, RESULT_BYTES, point_dtype
from breakeven.points.engine import Engine, Progress, Results, Routine, Session, SweepProgress
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.study import Outcome, Study, as_asked, run_search, run_study
from breakeven.sweeps.spec import SweepSpec

#: pieces of a study's points for each thread, so that none of them is long
PIECES = 16
#: what a measurement costs beside its bytes, in bytes
MEASUREMENT = 300
#: about what judging, drawing and writing a study takes, in the same unit
REPORT = 30_000_000

Known = dict[tuple[MachineSpec, bytes], bytes]


#: what it is expected to simulate, and what does it
Task = tuple[int, Callable[["AheadEngine"], None]]


class Stopped(Exception):
    """The studies are over (an error, Ctrl-C): what is under way in the pool ends."""


class Work:
    """The work of several studies, done by any number of threads and told as one progress. Its unit is about what a
    byte of a measurement takes (`weights`)."""

    def __init__(self, progress: SweepProgress | None = None) -> None:
        self._progress = progress
        self._turn = threading.Lock()
        #: of this thread's task: what it is still expected to do
        self._task = threading.local()
        self._done = self._total = 0
        #: the study that is waited for
        self.study = ""

    def expect(self, amount: int) -> None:
        """There is so much more to do."""
        with self._turn:
            self._total += amount

    @contextmanager
    def task(self, expected: int) -> Iterator[None]:
        """A part of the work, run by this thread; what it leaves undone was not needed."""
        self._task.left = expected
        yield
        left, self._task.left = self._task.left, 0
        self._tell(0, -left)

    def add(self, amount: int) -> None:
        """This thread has done so much."""
        left = getattr(self._task, "left", 0)
        self._task.left = max(left - amount, 0)
        self._tell(amount, max(amount - left, 0))

    def _tell(self, done: int, more: int) -> None:
        with self._turn:
            self._done += done
            self._total += more
            if self._progress is not None:
                self._progress(self._done, self._total, self.study)


class AheadSession:
    """A session that runs only what is not known."""

    def __init__(self, machine: MachineSpec, engine: Engine, known: Known, stop: threading.Event, work: Work) -> None:
        self.machine = machine
        self._engine, self._known, self._stop, self._work = engine, known, stop, work
        self._opened: Session | None = None

    @property
    def _session(self) -> Session:
        if self._opened is None:
            self._opened = self._engine.open(self.machine)
        return self._opened

    @property
    def machine_hash(self) -> str:
        return self._engine.machine_hash(self.machine)

    def routines(self) -> list[Routine]:
        return self._session.routines()

    def run(
        self, records: bytes, threads: int = 0, progress: Progress | None = None, on_results: Results | None = None
    ) -> bytes:
        """As a session's."""
        points = [records[at : at + POINT_BYTES] for at in range(0, len(records), POINT_BYTES)]
        missing = [point for point in dict.fromkeys(points) if (self.machine, point) not in self._known]
        if missing:
            fresh = self._fresh(missing)
            results = self._session.run(b"".join(missing), threads, self._told(progress, len(missing), fresh))
            for i, point in enumerate(missing):
                self._known[self.machine, point] = results[i * RESULT_BYTES : (i + 1) * RESULT_BYTES]
        if progress is not None:
            progress(len(points), len(points))
        found = (self._known[self.machine, point] for point in points)
        # A result begins with the number of its point.
        return b"".join(i.to_bytes(4, "little") + result[4:] for i, result in enumerate(found))

    def _fresh(self, points: list[bytes]) -> list[bytes]:
        """Those that no store has."""
        kept = self._engine.kept(self.machine, points)
        return [point for point, has in zip(points, kept, strict=True) if not has]

    def _told(self, progress: Progress | None, points: int, fresh: list[bytes]) -> Progress:
        """Ends the run of so many points when all is over, and tells of the work; what a store has comes first."""
        behind = list(itertools.accumulate(_weights(fresh), initial=0))
        told = 0

        def report(done: int, total: int) -> None:
            nonlocal told
            if self._stop.is_set():
                raise Stopped
            if progress is not None:
                progress(done, total)
            now = behind[max(done - (points - len(fresh)), 0)]
            if now > told:
                self._work.add(now - told)
                told = now

        return report


class AheadEngine(Engine):
    """`engine`, whose results are remembered for as long as the studies run. `stop`: ends what is under way. `work`:
    is told what is simulated."""

    def __init__(self, engine: Engine, stop: threading.Event | None = None, work: Work | None = None) -> None:
        self._engine, self._stop, self._work = engine, stop or threading.Event(), work or Work()
        self._known: Known = {}

    def check(self, machine: MachineSpec, routines: Sequence[str] = ()) -> None:
        self._engine.check(machine, routines)

    def machine_hash(self, machine: MachineSpec) -> str:
        return self._engine.machine_hash(machine)

    def open(self, machine: MachineSpec) -> AheadSession:
        return AheadSession(machine, self._engine, self._known, self._stop, self._work)


def run_studies(
    studies: Sequence[Study], engine: Engine, threads: int = 0, progress: SweepProgress | None = None
) -> Iterator[Outcome]:
    """Runs studies, `threads` points at a time (0: one a core); an outcome for each, in order, when it is whole.

    `progress`: work done, all of it (what a caller does with an outcome among it), the study that is waited for.
    """
    threads = threads or len(os.sched_getaffinity(0))
    stop, work = threading.Event(), Work(progress)
    ahead = AheadEngine(engine, stop, work)
    tasks = [list(_tasks(study, engine, threads)) for study in studies]
    work.expect(sum(expected for each in tasks for expected, _ in each) + REPORT * len(studies))
    with ThreadPoolExecutor(threads) as pool:
        try:
            submitted = [[pool.submit(of_request(_do, task, ahead, work)) for task in each] for each in tasks]
            for number, (study, futures) in enumerate(zip(studies, submitted, strict=True), 1):
                work.study = f"{study.name} ({number} of {len(studies)})"
                for future in futures:
                    future.result()
                outcome = run_study(study, ahead, 1)
                with work.task(REPORT):
                    yield outcome
                    work.add(REPORT)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def _do(task: Task, ahead: AheadEngine, work: Work) -> None:
    expected, run = task
    with work.task(expected):
        run(ahead)


def _tasks(study: Study, engine: Engine, threads: int) -> Iterator[Task]:
    """What the pool does for a study. Searches first: one of them is one point after the other."""
    for _, spec in study.searches.values():
        asked = as_asked(spec)
        yield _search_work(asked), partial(_search, asked)
    for expected, machine, piece in _pieces(study, engine, threads):
        yield expected, partial(_run, machine, piece)


def _search(spec: SweepSpec, ahead: AheadEngine) -> None:
    run_search(spec, ahead, 1)


def _run(machine: MachineSpec, piece: list[bytes], ahead: AheadEngine) -> None:
    ahead.check(machine)
    ahead.open(machine).run(b"".join(piece), 1)


def _search_work(spec: SweepSpec) -> int:
    """About what a search simulates: of each row of its grid what a search may probe."""
    values = math.prod(len(values) for values in spec.parameters.values())
    along = len(spec.sizes) if len(spec.sizes) > 1 else values
    return sum(_weights([row.tobytes() for row in spec.records()])) * values * budget_of(along) // along


def _pieces(study: Study, engine: Engine, threads: int) -> list[tuple[int, MachineSpec, list[bytes]]]:
    """The points of a study's grids that no store has, in pieces with their work, the longest first."""
    points: dict[MachineSpec, dict[bytes, None]] = {}
    for _, spec in study.grids.values():
        rows = dict.fromkeys(row.tobytes() for row in as_asked(spec).records())
        for machine, _ in spec.variants():
            points.setdefault(machine, {}).update(rows)
    weights: dict[MachineSpec, dict[bytes, int]] = {}
    for machine, asked in points.items():
        kept = engine.kept(machine, list(asked))
        fresh = [point for point, has in zip(asked, kept, strict=True) if not has]
        weights[machine] = dict(zip(fresh, _weights(fresh), strict=True))
    most = sum(sum(rows.values()) for rows in weights.values()) / (PIECES * threads)
    pieces: list[tuple[int, MachineSpec, list[bytes]]] = []
    for machine, weighed in weights.items():
        weight = 0
        piece: list[bytes] = []
        for row, own in sorted(weighed.items(), key=lambda item: -item[1]):
            if piece and weight + own > most:
                pieces.append((weight, machine, piece))
                weight, piece = 0, []
            piece.append(row)
            weight += own
        if piece:
            pieces.append((weight, machine, piece))
    pieces.sort(key=lambda each: -each[0])
    return pieces


def _weights(points: Sequence[bytes]) -> list[int]:
    """About how long each point takes."""
    table = np.frombuffer(b"".join(points), point_dtype())
    calls = (table["repetitions"].astype("i8") + table["warmup"]) * np.maximum(table["calls"], 1)
    return [int(weight) for weight in calls * (table["size"].astype("i8") + table["size2"] + MEASUREMENT)]
