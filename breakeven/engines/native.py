"""The processor in front of the user as an engine: the routines for it run on it, in the harness that the guests have.

``<isa>-native`` (workloads/native/native.c) measures: pinned to one CPU, a counter scaled to core cycles by a chain of
dependent additions timed beside each point. Here the rounds become one result and its interquartile range. Nothing is
kept in the store: the same point on the same host may take another time tomorrow. The program of a routine that was
added holds code that may be somebody else's: it runs confined, and only when the user has said so.
"""

from __future__ import annotations

import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from breakeven import points as pt
from breakeven.engines.user_routines import UserRoutinesSession
from breakeven.errors import UserError
from breakeven.files import sandbox
from breakeven.files.binaries import guest_elf, load_engine
from breakeven.files.data import find_data
from breakeven.machine.host import cpu_info
from breakeven.points.engine import FLAG_NAMES, Engine, Progress, Results, Routine
from breakeven.points.machine_spec import HOST, MachineSpec
from breakeven.points.record import REPETITIONS_AT, lists_of
from breakeven.points.sequence import know
from breakeven.routine.checks import check_known
from breakeven.routine.registry import UserRoutineFile, user_file_by_routine, user_files

if TYPE_CHECKING:
    import numpy as np

#: times that the points are gone through; the median of them counts
ROUNDS = 5
#: points of one run of the program: progress is told between them
_CHUNK = 256
#: Linux puts the program's heap at random into the GiB behind it: once in some 300 runs where the buffers have to lie
_ATTEMPTS = 4
#: of a program with somebody else's code: a chunk of points ends in minutes, an endless loop never
_LIMITS = sandbox.Limits(seconds=3600, processor_seconds=None)
#: a program's results: what holds cycles, and more than any measurement takes
_CYCLES, _MOST_CYCLES = ("cycles_min", "cycles_median", "cycles_total", "overhead"), (1 << 53) - 1
#: the greatest status of a program: those beyond it tell of the simulator
_MOST_STATUS = pt.WRONG[-1]
#: core cycles a tick at most, and the counters that a program may name
_FASTEST, _COUNTERS = 1e9, ("tsc", "rdcycle", "rdcycle,perf", "rdtime")
#: what steers the harness
_VARIABLES = ("BREAKEVEN_COUNTER",)
#: instruction set by what Python calls the machine
_ISAS = {"x86_64": "x86", "riscv64": "riscv"}
#: flags of a routine (docs/guests.md) that name an extension, as ``/proc/cpuinfo`` calls it
_CPU_FLAGS = {
    "x86": {4: "adx", 8: "avx2", 16: "sse2", 64: "avx512bw", 256: "sse4_2"},
    "riscv": {1: "zbb", 32: "v", 128: "zbc", 512: "zicboz"},
}


def extensions(isa: str, info: dict[str, str]) -> list[str]:
    """What a processor that ``/proc/cpuinfo`` describes so has beyond the base of its instruction set."""
    if isa == "riscv":
        # Single letters behind rv64, then words.
        letters, *words = info.get("isa", "").lower().split("_")
        return [*letters.removeprefix("rv64"), *words]
    return info.get("flags", "").split()


def host_name() -> str:
    """The host's processor in words."""
    info = cpu_info()
    return info.get("model name") or info.get("uarch") or platform.processor() or platform.machine()


class NativeEngine(Engine):
    """The host's processor. Raises `UserError` where there is none that runs routines of ours.

    `trusts`: whether the user has said of a routine that was added, whose code may be somebody else's, that it may run
    on this host.
    """

    def __init__(self, trusts: Callable[[str], bool] = lambda name: False) -> None:
        isa = _ISAS.get(platform.machine())
        if isa is None or not cpu_info():
            raise UserError(
                "--engine native runs the routines on Linux on an x86-64 or RISC-V (rv64) host; this is "
                f"{platform.system()} on {platform.machine()}"
            )
        self._trusts = trusts
        #: the instruction set of the host, as `Machine.isa`
        self.isa = isa
        #: the CPU that everything is pinned to: the last one allowed, where the least else happens
        self.cpu = max(os.sched_getaffinity(0))
        #: of each point, whatever number of measurements it took last, what `half_iqr_of` says
        self._half_iqrs: dict[bytes, float] = {}
        #: core cycles a tick of the counter: the least and the greatest seen
        self.clock: tuple[float, float] | None = None
        #: what counted: ``tsc``, ``rdcycle`` (``rdcycle,perf``: by perf's leave), ``rdtime``; empty: nothing has run
        self.counter = ""
        #: points during which the clock never held still
        self.unsteady = 0

    def routines(self) -> list[Routine]:
        """The routines of the host's instruction set, and what this host lacks for each."""
        has = extensions(self.isa, cpu_info())
        found = [
            Routine(row["name"], row["kind"], row["flags"], _lacking(self.isa, row["flags"], has))
            for row in load_engine().routines(guest_elf(self.isa))
        ]
        for own in user_files(self.isa):
            missing = "" if own.native else f"was added without a program for this host: add it again ({own.source})"
            found += [
                Routine(
                    row["name"], row["kind"], row["flags"],
                    missing or _lacking(self.isa, row["flags"], has), own.source,
                )
                for row in load_engine().routines(own.guest.read_bytes())
            ]  # fmt: skip
        return found

    def check(self, machine: MachineSpec, routines: Sequence[str] = ()) -> None:
        _refuse_settings(machine)
        check_known(self.routines(), routines, MachineSpec(host_name()))
        own = user_file_by_routine(self.isa)
        for name in (each for routine in routines for each in pt.routines_of(routine)):
            if name in own:
                self.check_trusted(own[name], name)

    def check_trusted(self, own: UserRoutineFile, name: str) -> None:
        """Raises `UserError` where nobody has said that the code of the file `own`, which has the routine `name`, may
        run here."""
        if not self._trusts(name):
            raise UserError(
                f"{name} was added from {own.source}: its code would run on this host as you: say that it may with "
                "--trust-native (Python: trust_native=True)"
            )

    def machine_hash(self, machine: MachineSpec) -> str:
        raise UserError("the host's processor has no description")

    def half_iqr_of(self, record: bytes) -> float | None:
        return self._half_iqrs.get(_without_repetitions(record))

    def note_half_iqr(self, record: bytes, cycles: float) -> None:
        """Of a packed point that has been run."""
        self._half_iqrs[_without_repetitions(record)] = cycles

    def open(self, machine: MachineSpec) -> UserRoutinesSession:
        _refuse_settings(machine)
        own = user_file_by_routine(self.isa)
        by_guest = {file.guest: file for file in own.values()}
        return UserRoutinesSession(
            machine, own, lambda guest: NativeSession(self, by_guest[guest] if guest else None), self.routines
        )


def _without_repetitions(record: bytes) -> bytes:
    return record[:REPETITIONS_AT] + record[REPETITIONS_AT + 4 :]


def _refuse_settings(machine: MachineSpec) -> None:
    if machine.settings:
        raise UserError(f"the host's processor has no parameters to set: {machine.settings[0]}")


def _lacking(isa: str, flags: int, has: Sequence[str]) -> str:
    for bit, name in _CPU_FLAGS[isa].items():
        if flags & bit and name not in has:
            return f"{FLAG_NAMES[bit]}, which this host lacks"
    return ""


def _program(isa: str, own: UserRoutineFile | None) -> Path:
    if own is None:
        return find_data("guests", f"{isa}-native")
    if own.native is None:
        raise UserError(f"{own.routines[0]} has no program for this host: add it again ({own.source})")
    return own.native


class NativeSession:
    """Points of the routines that one program holds."""

    machine_hash = ""

    def __init__(self, engine: NativeEngine, own: UserRoutineFile | None) -> None:
        self.machine = MachineSpec(HOST)
        self._engine = engine
        self._own = own
        self._program = _program(engine.isa, own)

    def routines(self) -> list[Routine]:
        return self._engine.routines()

    def run(
        self, records: bytes, threads: int = 0, progress: Progress | None = None, on_results: Results | None = None
    ) -> bytes:
        """As a session's; one CPU measures, whatever `threads` says."""
        import numpy as np

        if self._own is not None:
            know(self._own.routines)
            for name in self._own.routines:
                if name in _names_of(records):
                    self._engine.check_trusted(self._own, name)
        total = len(records) // pt.POINT_BYTES
        if np.any(np.frombuffer(records, pt.point_dtype())["flags"] & pt.FLAG_HUGE_PAGES):
            raise UserError("--engine native has 4 KiB pages only: leave out --huge-pages")
        done = []
        for start in range(0, total, _CHUNK):
            part = records[start * pt.POINT_BYTES : (start + _CHUNK) * pt.POINT_BYTES]
            results = self._measure(part)
            results["index"] += start
            done.append(results.tobytes())
            if on_results is not None:
                on_results(results["index"].astype("<u4").tobytes(), done[-1])
            if progress is not None:
                progress(min(start + _CHUNK, total), total)
        return b"".join(done)

    def _measure(self, records: bytes) -> np.ndarray:
        """The results of some points: of each the median of its rounds."""
        import numpy as np

        count = len(records) // pt.POINT_BYTES
        with sandbox.terminable(), tempfile.TemporaryDirectory(prefix="breakeven-") as folder:
            points, out = Path(folder, "points.bin"), Path(folder, "results.bin")
            points.write_bytes(pt.points_file(records, lists_of(records)))
            run = _run if self._own is None else partial(_run_confined, self._engine.isa)
            said = run(self._program, Path(folder), [points, out, ROUNDS, self._engine.cpu])
            self._note(said, count * ROUNDS)
            left = out.read_bytes()
        if len(left) != count * ROUNDS * pt.RESULT_BYTES:
            raise UserError(f"{self._program.name} left {len(left)} bytes of results for {count} points")
        rounds = self._possible(np.frombuffer(left, pt.result_dtype()).reshape(ROUNDS, count))
        medians = np.sort(rounds["cycles_median"].astype("f8"), axis=0)
        for i, half_iqr in enumerate((medians[-2] - medians[1]) / 2):  # of five rounds: the quartiles
            self._engine.note_half_iqr(records[i * pt.POINT_BYTES : (i + 1) * pt.POINT_BYTES], float(half_iqr))
        # A round that went wrong is the one to tell.
        worst = np.argmax(rounds["status"], axis=0)
        results: np.ndarray = rounds[worst, np.arange(count)].copy()
        results["index"] = np.arange(count)
        right = results["status"] == 0
        results["cycles_median"][right] = medians[ROUNDS // 2][right]
        results["detail"][right] = np.sort(rounds["detail"], axis=0)[ROUNDS // 2][right]
        results["cycles_min"][right] = rounds["cycles_min"].min(axis=0)[right]
        return results

    def _possible(self, results: np.ndarray) -> np.ndarray:
        """Results that a program has left, of which somebody else's code may be the writer. Raises `UserError` for
        those that none of ours leaves."""
        impossible = f"{self._program.name} left impossible results"
        if (results["status"] > _MOST_STATUS).any():
            raise UserError(f"{impossible}: a status that no native program has")
        right, results = results["status"] == 0, results.copy()
        # Of a right result it is cycles, too.
        if any((results[name][right] > _MOST_CYCLES).any() for name in (*_CYCLES, "detail")):
            raise UserError(f"{impossible}: a measurement of 2^53 cycles and more")
        for name in _CYCLES:
            results[name][results[name] > _MOST_CYCLES] = 0  # of a wrong one it means nothing
        results["instructions"] = 0  # not counted here
        return results

    def _note(self, text: str, runs: int) -> None:
        """Takes what a program says of so many runs of points; somebody else's code may have said it."""
        try:
            low, _, high, unsteady, counter = text.split()
            measured = float(low), float(high), int(unsteady)
            if not (0 <= measured[0] <= measured[1] <= _FASTEST and measured[2] <= runs and unsteady.isdecimal()):
                raise ValueError
            if counter not in _COUNTERS:
                raise ValueError
        except ValueError:
            raise UserError(f"the native engine gave up: {self._program.name} said {text[:100]!r}") from None
        self._engine.counter = counter
        before = self._engine.clock or measured[:2]
        self._engine.clock = (min(before[0], measured[0]), max(before[1], measured[1]))
        self._engine.unsteady += measured[2]


def _names_of(records: bytes) -> set[str]:
    """The routines that packed points name."""
    starts = range(0, len(records), pt.POINT_BYTES)
    names = {pt.routine_in(records[at : at + pt.ROUTINE_BYTES]) for at in starts}
    return {each for name in names for each in pt.routines_of(name)}


def _executable(program: Path, folder: Path) -> Path:
    if not os.access(program, os.X_OK):
        # An installer of wheels need not keep the permission.
        program = Path(shutil.copy(program, folder / program.name))
        program.chmod(0o700)
    return program


def _run(program: Path, folder: Path, arguments: Sequence[object]) -> str:
    """Runs breakeven's own program."""
    program = _executable(program, folder)

    return _tried(lambda: sandbox.attend([str(program), *map(str, arguments)], os.environ))


def _run_confined(isa: str, program: Path, folder: Path, arguments: Sequence[object]) -> str:
    """Runs a program that holds somebody else's code: it computes, and has the files of points and results, open."""
    program, confine = (_executable(each, folder) for each in (program, find_data("guests", f"{isa}-confine")))
    variables = {name: os.environ[name] for name in _VARIABLES if name in os.environ}

    def start() -> tuple[int, str, str]:
        with Path(str(arguments[0])).open("rb") as points, Path(str(arguments[1])).open("wb") as results:
            files = [points.fileno(), results.fileno()]
            words = [*(f"/dev/fd/{file}" for file in files), *map(str, arguments[2:])]
            command = [str(confine), str(program), *words]
            return sandbox.run(command, [confine, program], limits=_LIMITS, variables=variables, files=files)

    try:
        return _tried(start)
    except sandbox.TimedOut:
        raise UserError(f"the native engine gave up: the routine has not returned for {_LIMITS.seconds} s") from None


def _tried(start: Callable[[], tuple[int, str, str]]) -> str:
    """What a program says that ends as `start` tells (status, output, errors)."""
    for _ in range(_ATTEMPTS):
        status, out, err = start()
        if "no room for the buffers" not in err:
            break
    if status:
        raise UserError(f"the native engine gave up: {err.strip() or f'it ended with status {status}'}")
    return out
