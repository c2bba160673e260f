"""A model beside the host on whole routines, which no probe is made of: errors, and how often the winner is right.

Every routine of the host's instruction set, 17 sizes, two source offsets, one call between fences (latency) and 16
calls in a row (throughput), warm.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from breakeven.analysis.across_engines import LONG, NO_SMAP
from breakeven.engines.embedded import EmbeddedEngine
from breakeven.engines.native import NativeEngine
from breakeven.points import Point, unpack_results
from breakeven.points.machine_spec import HOST, MachineSpec
from breakeven.points.record import MEASURES

SIZES = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024, 1448, 4096, 16384)
OFFSETS = (0, 3)
CALLS = 16
#: measurements of a simulated point: predictors of branches need some hundreds of calls, and a check takes minutes
REPETITIONS = 41
#: a host's lead that matters
LEAD = 0.1
#: a long call is right within this share, a short one within so many cycles
SHARE, CYCLES = 0.1, 2.0

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Question:
    """One point that both answer."""

    routine: str
    kind: str
    offset: int
    size: int
    measure: str

    @property
    def key(self) -> str:
        """As files keep it."""
        return f"{self.routine}|{self.kind}|{self.offset}|{self.size}|{self.measure}"

    @property
    def group(self) -> tuple[str, int, int, str]:
        """What those have alike of which one wins."""
        return self.kind, self.offset, self.size, self.measure

    def point(self, repetitions: int) -> Point:
        """The point to run."""
        throughput = {"measure": MEASURES.index("throughput"), "calls": CALLS} if self.measure == "throughput" else {}
        return Point(self.routine, self.size, src_offset=self.offset, repetitions=repetitions, **throughput)


def questions() -> list[Question]:
    """Those of the host's routines."""
    routines = [each for each in NativeEngine().routines() if not each.missing_extension and not each.origin]
    return [
        Question(each.name, each.kind, offset, size, measure)
        for each in routines for offset in OFFSETS for size in SIZES for measure in ("latency", "throughput")
    ]  # fmt: skip


def kept_questions(keys: Iterable[str]) -> list[Question]:
    """Those of kept numbers."""
    found = []
    for key in keys:
        routine, kind, offset, size, measure = key.split("|")
        found.append(Question(routine, kind, int(offset), int(size), measure))
    return found


def native(asked: list[Question], progress: Progress | None = None) -> dict[str, float]:
    """Cycles on the host, by key."""
    session = NativeEngine().open(MachineSpec(HOST))
    return _answers(session.run(_packed(asked, 21), progress=progress), asked)


def simulated(
    machine: str, asked: list[Question], threads: int = 0, progress: Progress | None = None
) -> dict[str, float]:
    """Cycles of the model, by key."""
    session = EmbeddedEngine().open(MachineSpec(machine, (NO_SMAP,)))
    has = {each.name for each in session.routines() if not each.missing_extension}
    mine = [each for each in asked if each.routine in has]
    return _answers(session.run(_packed(mine, REPETITIONS), threads, progress), mine)


def _packed(asked: list[Question], repetitions: int) -> bytes:
    return b"".join(each.point(repetitions).pack() for each in asked)


def _answers(results: bytes, asked: list[Question]) -> dict[str, float]:
    found = zip(asked, unpack_results(results), strict=True)
    return {each.key: float(result.cycles_median) for each, result in found if result.ok}


@dataclass(frozen=True)
class Judged:
    """Some points: those of one kind and measure, or of all."""

    long: int
    #: of long calls, the median error, the error's bias, and the share within `SHARE`
    error: float
    bias: float
    within: float
    short: int
    #: of short calls, the median difference (cycles) and the share within `CYCLES`
    apart: float
    short_within: float
    pairs: int
    right: float


def judge(host: Mapping[str, float], model: Mapping[str, float], chosen: Callable[[Question], bool]) -> Judged:
    """The points that both have."""
    asked = [each for each in kept_questions(host) if each.key in model and chosen(each)]
    share = {each.key: CALLS if each.measure == "throughput" else 1 for each in asked}
    long = [key for key, calls in share.items() if host[key] / calls >= LONG]
    short = [key for key, calls in share.items() if host[key] / calls < LONG]
    errors = [(model[key] - host[key]) / host[key] for key in long]
    apart = [abs(model[key] - host[key]) / share[key] for key in short]
    right = _right(asked, host, model)
    return Judged(
        len(long), _median(map(abs, errors)), _median(errors), _share(abs(each) <= SHARE for each in errors),
        len(short), _median(apart), _share(each <= CYCLES for each in apart), len(right), _share(right),
    )  # fmt: skip


def _right(asked: list[Question], host: Mapping[str, float], model: Mapping[str, float]) -> list[bool]:
    """Of each pair of routines that the host tells apart, whether the model names the same winner."""
    groups: dict[tuple[str, int, int, str], list[str]] = {}
    for each in asked:
        groups.setdefault(each.group, []).append(each.key)
    found = []
    for keys in groups.values():
        for i, one in enumerate(keys):
            for other in keys[:i]:
                low, high = sorted((host[one], host[other]))
                if low > 0 and high > (1 + LEAD) * low:
                    wins = host[one] < host[other]
                    found.append(model[one] != model[other] and (model[one] < model[other]) == wins)
    return found


def _median(values: Iterable[float]) -> float:
    found = list(values)
    return statistics.median(found) if found else float("nan")


def _share(values: Iterable[bool]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else float("nan")


def rows(host: Mapping[str, float], model: Mapping[str, float]) -> list[tuple[str, str, Judged]]:
    """Of all, then kind by kind: kind, measure, what was found."""
    measures = ("latency", "throughput")
    found = [("all", name, judge(host, model, lambda each, name=name: each.measure == name)) for name in measures]  # type: ignore[misc]
    found.insert(0, ("all", "both", judge(host, model, lambda each: True)))
    for kind in dict.fromkeys(each.kind for each in kept_questions(host)):
        for name in measures:
            chosen = lambda each, kind=kind, name=name: (each.kind, each.measure) == (kind, name)  # noqa: E731
            found.append((kind, name, judge(host, model, chosen)))
    return found


def by_size(host: Mapping[str, float], model: Mapping[str, float]) -> list[tuple[int, Judged]]:
    """Size by size."""
    sizes = sorted({each.size for each in kept_questions(host)})
    return [(size, judge(host, model, lambda each, size=size: each.size == size)) for size in sizes]  # type: ignore[misc]
