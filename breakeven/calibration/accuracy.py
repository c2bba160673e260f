"""How near a model is to the host on whole routines, which no probe contains, and how often it names the winner.

Every routine of the host's instruction set at 17 sizes and two source offsets, warm: one call between fences (latency)
and 64 calls more in a row, 16 from 1 KiB on (throughput).
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from breakeven.analysis.across_engines import LONG, NO_SMAP
from breakeven.engines.embedded import EmbeddedEngine
from breakeven.engines.native import NativeEngine
from breakeven.points import Point, unpack_results
from breakeven.points.machine_spec import HOST, MachineSpec
from breakeven.points.record import MEASURES
from breakeven.routine.build import KINDS

SIZES = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 1448, 4096, 16384)
OFFSETS = (0, 3)
#: a throughput is the cycles of so many calls, of fewer from a size on. Where the exit of only one of both loops is
#: mispredicted, some 20 cycles should not matter
CALLS, FEW_CALLS, FEW_FROM = 64, 16, 1024
HOST_REPETITIONS = 21
#: by measure; of single calls more than on the host, where hundreds of calls have trained the branch predictors before
MODEL_REPETITIONS = {"latency": 41, "throughput": 21}
#: pairs of routines count if the host's lead is above this share
LEAD = 0.1
_MOST_ROUTINES = 1000
#: a long call is near within this share, a short one within so many cycles
NEAR_SHARE, NEAR_CYCLES = 0.1, 2.0

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class RoutinePoint:
    """One routine at one size and offset, by one measure."""

    routine: str
    kind: str
    offset: int
    size: int
    measure: str

    @property
    def key(self) -> str:
        """Its name in the file of measurements."""
        return f"{self.routine}|{self.kind}|{self.offset}|{self.size}|{self.measure}"

    @property
    def rivals(self) -> tuple[str, int, int, str]:
        """The same for all points among which a winner is sought."""
        return self.kind, self.offset, self.size, self.measure

    @property
    def calls(self) -> int:
        """It is the cycles of so many calls."""
        if self.measure != "throughput":
            return 1
        return CALLS if self.size < FEW_FROM else FEW_CALLS

    def pack(self, repetitions: int) -> bytes:
        """The record for an engine."""
        measure = {"measure": MEASURES.index("throughput"), "calls": self.calls} if self.measure == "throughput" else {}
        return Point(self.routine, self.size, src_offset=self.offset, repetitions=repetitions, **measure).pack()


def host_points() -> list[RoutinePoint]:
    """All points of the routines that come with breakeven and that the host can run."""
    routines = [each for each in NativeEngine().routines() if not each.missing_extension and not each.origin]
    return [
        RoutinePoint(each.name, each.kind, offset, size, measure)
        for each in routines for offset in OFFSETS for size in SIZES for measure in ("latency", "throughput")
    ]  # fmt: skip


def parsed(keys: Iterable[str]) -> list[RoutinePoint]:
    """The points of these keys. Raises `ValueError` for what is no key."""
    found = []
    for key in keys:
        routine, kind, offset, size, measure = key.split("|")
        if measure not in ("latency", "throughput") or kind not in KINDS:
            raise ValueError(f"{key!r} is of no measure or kind")
        if int(size) not in SIZES or int(offset) not in OFFSETS:
            raise ValueError(f"{key!r} is of another size or offset")
        found.append(RoutinePoint(routine, kind, int(offset), int(size), measure))
    # All routines are compared with one another.
    if len({point.routine for point in found}) > _MOST_ROUTINES:
        raise ValueError(f"there are more than {_MOST_ROUTINES} routines")
    return found


def measure_on_host(points: list[RoutinePoint], progress: Progress | None = None) -> dict[str, float]:
    """Key -> cycles on the host."""
    records = b"".join(each.pack(HOST_REPETITIONS) for each in points)
    return _cycles(NativeEngine().open(MachineSpec(HOST)).run(records, progress=progress), points)


def simulate(
    machine: MachineSpec, points: list[RoutinePoint], threads: int = 0, progress: Progress | None = None
) -> dict[str, float]:
    """Key -> cycles of the model, without the routines that it cannot run."""
    session = EmbeddedEngine().open(machine.with_settings(NO_SMAP))
    known = {each.name for each in session.routines() if not each.missing_extension}
    possible = [each for each in points if each.routine in known]
    records = b"".join(each.pack(MODEL_REPETITIONS[each.measure]) for each in possible)
    return _cycles(session.run(records, threads, progress), possible)


def _cycles(results: bytes, points: list[RoutinePoint]) -> dict[str, float]:
    found = zip(points, unpack_results(results), strict=True)
    return {point.key: float(result.cycles_median) for point, result in found if result.ok}


@dataclass(frozen=True)
class Accuracy:
    """How near a model is on some points; an error is (model - host) / host."""

    #: points whose call takes the host `LONG` cycles and more
    long: int
    median_error: float
    #: the median error with its sign
    bias: float
    #: share of the long points within `NEAR_SHARE`
    long_near: float
    #: the other points
    short: int
    #: median of absolute differences, and of signed ones, in cycles per call
    difference: float
    short_bias: float
    #: share of the short points within `NEAR_CYCLES`
    short_near: float
    #: pairs of routines with a lead on the host, and the share of them in which the model names the winner
    pairs: int
    winner_right: float


def accuracy(host: Mapping[str, float], model: Mapping[str, float], points: Iterable[RoutinePoint]) -> Accuracy:
    """Of those points that the host and the model have."""
    points = [each for each in points if each.key in host and each.key in model]
    long, short = [], []
    for point in points:
        measured, simulated = (cycles[point.key] / point.calls for cycles in (host, model))
        if measured >= LONG:
            long.append((simulated - measured) / measured)
        else:
            short.append(simulated - measured)
    right = _winners_right(points, host, model)
    return Accuracy(
        len(long), _median(map(abs, long)), _median(long), _share(abs(each) <= NEAR_SHARE for each in long),
        len(short), _median(map(abs, short)), _median(short), _share(abs(each) <= NEAR_CYCLES for each in short),
        len(right), _share(right),
    )  # fmt: skip


def _winners_right(points: list[RoutinePoint], host: Mapping[str, float], model: Mapping[str, float]) -> list[bool]:
    """For each pair of rivals that the host tells apart: whether the model names the same winner."""
    rivals: dict[tuple[str, int, int, str], list[str]] = {}
    for point in points:
        rivals.setdefault(point.rivals, []).append(point.key)
    right = []
    for keys in rivals.values():
        for pair in combinations(keys, 2):
            winner, loser = sorted(pair, key=lambda key: host[key])
            if 0 < host[winner] * (1 + LEAD) < host[loser]:
                right.append(model[winner] < model[loser])
    return right


def _median(values: Iterable[float]) -> float:
    found = list(values)
    return statistics.median(found) if found else float("nan")


def _share(values: Iterable[bool]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else float("nan")


def by_kind(host: Mapping[str, float], model: Mapping[str, float]) -> list[tuple[str, str, Accuracy]]:
    """(kind, measure, accuracy): of all points, then of each kind of routine."""
    points, measures = parsed(host), ("latency", "throughput")
    rows = [("all", "both", accuracy(host, model, points))]
    for kind in ["all", *dict.fromkeys(each.kind for each in points)]:
        for measure in measures:
            chosen = [each for each in points if each.measure == measure and kind in ("all", each.kind)]
            rows.append((kind, measure, accuracy(host, model, chosen)))
    return rows


def by_size(host: Mapping[str, float], model: Mapping[str, float]) -> list[tuple[int, Accuracy]]:
    """(size, accuracy) of all points of each size."""
    points = parsed(host)
    sizes = sorted({each.size for each in points})
    return [(size, accuracy(host, model, [each for each in points if each.size == size])) for size in sizes]
