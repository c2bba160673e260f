"""Runs the points of several studies ahead of the studies, in one pool of threads.

A study asks for one grid after the other, most of them small: at the end of each, and while a search decides, a
machine is built or a figure is drawn, processors would wait. So all points of all grids go into one pool, those of the
first study first, long ones before short ones, and each search is run there by itself. The studies then ask an engine
that knows the results. What it does not know it runs: that the pool was there changes no result.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from breakeven.points import POINT_BYTES, RESULT_BYTES
from breakeven.points.engine import Engine, Progress, Results, Routine, Session, SweepProgress
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.study import Outcome, Study, as_asked, run_search, run_study
from breakeven.sweeps.spec import SweepSpec

#: pieces of a study's points for each thread, so that none of them is long
PIECES = 16
#: what a measurement costs beside its bytes, in bytes
MEASUREMENT = 300

Piece = tuple[MachineSpec, list[bytes]]
Known = dict[tuple[MachineSpec, bytes], bytes]


class Stopped(Exception):
    """The studies are over (an error, Ctrl-C): what is under way in the pool ends."""


class AheadSession:
    """A session that runs only what is not known."""

    def __init__(self, machine: MachineSpec, engine: Engine, known: Known, stop: threading.Event) -> None:
        self.machine = machine
        self._engine, self._known, self._stop = engine, known, stop
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
            results = self._session.run(b"".join(missing), threads, self._stoppable(progress))
            for i, point in enumerate(missing):
                self._known[self.machine, point] = results[i * RESULT_BYTES : (i + 1) * RESULT_BYTES]
        if progress is not None:
            progress(len(points), len(points))
        found = (self._known[self.machine, point] for point in points)
        # A result begins with the number of its point.
        return b"".join(i.to_bytes(4, "little") + result[4:] for i, result in enumerate(found))

    def _stoppable(self, progress: Progress | None) -> Progress:
        def report(done: int, total: int) -> None:
            if self._stop.is_set():
                raise Stopped
            if progress is not None:
                progress(done, total)

        return report


class AheadEngine(Engine):
    """`engine`, whose results are remembered for as long as the studies run. `stop`: ends what is under way."""

    def __init__(self, engine: Engine, stop: threading.Event | None = None) -> None:
        self._engine, self._stop = engine, stop or threading.Event()
        self._known: Known = {}

    def check(self, machine: MachineSpec, routines: Sequence[str] = ()) -> None:
        self._engine.check(machine, routines)

    def machine_hash(self, machine: MachineSpec) -> str:
        return self._engine.machine_hash(machine)

    def open(self, machine: MachineSpec) -> AheadSession:
        return AheadSession(machine, self._engine, self._known, self._stop)


def run_studies(
    studies: Sequence[Study], engine: Engine, threads: int = 0, progress: SweepProgress | None = None
) -> Iterator[Outcome]:
    """Runs studies, `threads` points at a time (0: one a core); an outcome for each, in order, when it is whole."""
    threads = threads or len(os.sched_getaffinity(0))
    stop = threading.Event()
    ahead = AheadEngine(engine, stop)
    parts = [_parts(study, threads) for study in studies]
    count = _Count(progress, sum(len(piece) for _, pieces in parts for _, piece in pieces))
    with ThreadPoolExecutor(threads) as pool:
        try:
            submitted = [
                [_submit(pool, each) for each in _tasks(study, searches, pieces, ahead, count)]
                for study, (searches, pieces) in zip(studies, parts, strict=True)
            ]
            for study, futures in zip(studies, submitted, strict=True):
                for future in futures:
                    future.result()
                yield run_study(study, ahead, 1)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def _submit(pool: ThreadPoolExecutor, task: Callable[[], Any]) -> Future[Any]:
    # The machines of the request (`breakeven.machine.resolve`) are those of the pool's threads, too.
    return pool.submit(contextvars.copy_context().run, task)


def _tasks(
    study: Study, searches: list[SweepSpec], pieces: list[Piece], ahead: AheadEngine, count: _Count
) -> Iterator[Callable[[], Any]]:
    """Searches first: one of them is one point after the other."""
    for spec in searches:
        yield partial(_search, spec, ahead, count, study.name)
    for machine, piece in pieces:
        yield partial(_run, ahead, machine, piece, count, study.name)


def _search(spec: SweepSpec, ahead: AheadEngine, count: _Count, study: str) -> None:
    run_search(spec, ahead, 1, count.of_search(study))


def _run(ahead: AheadEngine, machine: MachineSpec, piece: list[bytes], count: _Count, study: str) -> None:
    ahead.check(machine)
    ahead.open(machine).run(b"".join(piece), 1, count.of_piece(study, len(piece)))


def _parts(study: Study, threads: int) -> tuple[list[SweepSpec], list[Piece]]:
    """The searches of a study, and the points of its grids in pieces, the longest first."""
    weights: dict[MachineSpec, dict[bytes, float]] = {}
    for _, spec in study.grids.values():
        table = as_asked(spec).records()
        rows = dict(zip((row.tobytes() for row in table), _weights(table), strict=True))
        for machine, _ in spec.variants():
            weights.setdefault(machine, {}).update(rows)
    most = sum(sum(rows.values()) for rows in weights.values()) / (PIECES * threads)
    pieces: list[tuple[float, MachineSpec, list[bytes]]] = []
    for machine, rows in weights.items():
        weight = 0.0
        piece: list[bytes] = []
        for row, own in sorted(rows.items(), key=lambda item: -item[1]):
            if piece and weight + own > most:
                pieces.append((weight, machine, piece))
                weight, piece = 0.0, []
            piece.append(row)
            weight += own
        pieces.append((weight, machine, piece))
    pieces.sort(key=lambda each: -each[0])
    searches = [as_asked(spec) for _, spec in study.searches.values()]
    return searches, [(machine, piece) for _, machine, piece in pieces]


def _weights(table: np.ndarray) -> list[float]:
    """About how long each point takes."""
    calls = (table["repetitions"].astype("f8") + table["warmup"]) * np.maximum(table["calls"], 1)
    return [float(weight) for weight in calls * (table["size"] + table["size2"] + MEASUREMENT)]


class _Count:
    """The progress of the pool's threads as one."""

    def __init__(self, progress: SweepProgress | None, total: int) -> None:
        self._progress, self._total = progress, total
        self._done, self._turn = 0, threading.Lock()

    def of_piece(self, label: str, points: int) -> Progress:
        """For a session's run of so many points, some of which it may know."""
        before = 0

        def report(done: int, _: int) -> None:
            nonlocal before
            self._add(min(done, points) - before, label)
            before = min(done, points)

        return report

    def of_search(self, label: str) -> SweepProgress:
        """For a search, whose points are no part of the total."""
        return lambda _done, _total, _label: self._add(0, label)

    def _add(self, points: int, label: str) -> None:
        if self._progress is not None:
            with self._turn:
                self._done += points
                self._progress(self._done, self._total, label)
