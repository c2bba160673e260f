"""What an engine is: something that runs points on machines. The simulator in this process, a dask scheduler's workers,
a real gem5 and the host's own processor are such (`breakeven.engines`); a sweep or a study never knows which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple, Protocol

from breakeven.points import Point, Result
from breakeven.points.machine_spec import MachineSpec

#: points done, points in all
Progress = Callable[[int, int], None]
#: numbers of points that are done (32-bit, little-endian) and their results, as they come
Results = Callable[[bytes, bytes], None]


#: flags of a routine (docs/guests.md) that name an extension: the extension and the ISA object's parameter
FLAG_NEEDS = {
    1: ("Zbb", "enable_Zbb"), 4: ("ADX", "enable_adx"), 8: ("AVX2", "enable_avx2"), 16: ("SSE2", "enable_sse2"),
    32: ("V", "enable_rvv"), 64: ("AVX-512", "enable_avx512"), 128: ("Zbc", "enable_Zbc"),
    256: ("SSE4.2", "enable_sse4_2"), 512: ("Zicboz", "enable_Zicboz_fs"),
}  # fmt: skip
#: flags of a routine in words
FLAG_NAMES = {
    **{bit: f"needs {extension}" for bit, (extension, _) in FLAG_NEEDS.items()},
    2: "issues misaligned accesses",
}


class Routine(NamedTuple):
    """A routine that a guest holds."""

    name: str
    kind: str
    flags: int
    #: what the machine it was asked of lacks for it, with the fix; empty: nothing
    missing_extension: str = ""
    #: the user's file that it was added from; empty: it is breakeven's
    origin: str = ""

    @property
    def notes(self) -> str:
        """What its flags say."""
        return ", ".join(words for bit, words in FLAG_NAMES.items() if self.flags & bit)


@dataclass(frozen=True, slots=True)
class PointResult(Result):
    """A point's result with what it is of."""

    point: Point = None  # type: ignore[assignment]
    #: the machine's name with its settings, and the hash of its description (of this host: empty)
    machine: str = ""
    machine_hash: str = ""
    #: of a wrong result: what the routine needs or does that may explain it
    notes: str = ""
    #: whether the trace that was wanted is whole; None: none was wanted
    traced: bool | None = None


def point_result(session: Session, point: Point, result: Result, traced: bool | None = None) -> PointResult:
    """`result` of `point` as a verb gives it."""
    notes = "" if result.ok else next((r.notes for r in session.routines() if r.name == point.routine), "")
    told = replace(point, repetitions=result.repetitions)
    values = {field.name: getattr(result, field.name) for field in fields(Result)}
    return PointResult(**values, point=told, machine=str(session.machine), machine_hash=session.machine_hash,
                       notes=notes, traced=traced)  # fmt: skip


class Session(Protocol):
    """A booted guest on one machine, ready to run points."""

    @property
    def machine(self) -> MachineSpec:
        """What it runs on, as it was asked for."""

    @property
    def machine_hash(self) -> str:
        """What identifies the machine's description; empty: it has none."""

    def routines(self) -> list[Routine]:
        """The routines of the guest."""

    def run(
        self, records: bytes, threads: int = 0, progress: Progress | None = None, on_results: Results | None = None
    ) -> bytes:
        """The results of packed points, in their order; the same for every number of threads (0: one a core)."""


class SimulatorSession(Session, Protocol):
    """A session of the simulator in this process, whether or not a store or the user's guests stand before it."""

    def boot(self, routines: Sequence[str]) -> None:
        """Boots now what the first point of these routines would boot."""


class Engine(Protocol):
    """Something that runs points on machines. Its classes inherit what an engine without a store answers."""

    def check(self, machine: MachineSpec, routines: Sequence[str] = ()) -> None:
        """Raises when `machine` cannot be built or cannot run one of `routines`; cheap."""

    def machine_hash(self, machine: MachineSpec) -> str:
        """What identifies the machine's description."""

    def open(self, machine: MachineSpec) -> Session:
        """Builds `machine` and boots the guest on it."""

    @property
    def simulated(self) -> int | None:
        """Points run so far because the store had none of them; None: there is no store, each point is run."""
        return None

    def kept(self, machine: MachineSpec, points: Sequence[bytes]) -> list[bool]:
        """Which of these packed points need no run on `machine` because a store has their results."""
        return [False] * len(points)

    def half_iqr_of(self, record: bytes) -> float | None:
        """Half the interquartile range (in cycles) of the rounds of a packed point that has been run; None: this
        engine's measurements have no rounds."""
        return None

    def note(self, machine: MachineSpec, question: str, answer: str) -> None:
        """Keeps what was found out about a machine that this engine has opened, if it keeps anything."""
        return

    def noted(self, machine: MachineSpec, question: str) -> str | None:
        """What was found out earlier about a machine that this engine has opened; None: nothing is known."""
        return None


class StorableEngine(Engine, Protocol):
    """An engine whose results depend on nothing but an identity and the point, and may so be kept."""

    def identity(self, machine: MachineSpec) -> tuple[Identity, str]:
        """What decides the results on `machine`, and its canonical description."""

    def routines(self, machine: MachineSpec) -> list[Routine]:
        """The routines of the guest for `machine`, without booting it."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement of a point, from the inside."""

    result: Result
    #: core cycles between the two readings of the cycle counter: the result's, with what an empty measurement costs
    cycles: int
    #: all statistics of those cycles: name, value, unit, description; none for a point without a right result
    stats: list[tuple[str, float, str, str]]
    #: the same of the measurement that the result has without: of empty calls, of a slope half as many calls
    subtracted: list[tuple[str, float, str, str]]
    #: whether the trace that was wanted is whole
    traced: bool
    #: core cycles from reset to the first of the readings
    begin: int


#: how the fingerprints of engines begin that are not breakeven's: no version of ours replaces them
FOREIGN = "foreign:"


class Identity(NamedTuple):
    """What decides a result besides the point."""

    engine: str
    machine_hash: str
    guest: str


#: progress callback: points done, points in all, what is running
SweepProgress = Callable[[int, int, str], None]
