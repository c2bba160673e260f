"""What scripts/identity measures: fixed programs, a point of each study and the probes of the x86 presets.

The programs are files of tests/data (gem5's reference guest, one build of the guests and of the emulation's self-test):
a change of the guests' sources does not move them. The studies' points run in the guests as they are built, as the
studies do: a change of a routine moves them, and the committed results are then stale.
"""

from __future__ import annotations

import csv
import hashlib
import platform
import shutil
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from breakeven.points.machine_spec import MachineSpec
    from breakeven.studies.study import Study

REPO = Path(__file__).resolve().parent.parent
DATA = REPO / "tests" / "data"
FOLDER = DATA / "identity"
RESULTS = REPO / "results"

#: gem5's reference guest, 34 kernels: machine -> program
REFERENCE = {
    **dict.fromkeys(("timing", "minor", "o3"), "gem5/micro.rv64.elf"),
    **dict.fromkeys(("x86_timing", "x86_minor", "x86_o3"), "gem5/micro.x86.elf"),
}
#: Every misaligned access, emulated in a trap handler.
SELF_TEST = "identity/riscv-emulation.elf"
SELF_TESTED = ("minor", "o3")
EMULATED = "cpu.misaligned.policy=trap"
#: machine -> routine, size, offsets of source and destination, cache state, measure
POINTS: dict[str, list[tuple[str, int, int, int, str, str]]] = {
    "minor": [
        ("rv-copy-user-2021", 1448, 3, 0, "warm", "latency"),
        ("rv-word", 256, 0, 0, "cold", "latency"),
        ("rv-do-csum-2024", 100, 1, 0, "l2", "latency"),
        ("rv-byte", 33, 0, 5, "warm", "throughput"),
        ("rv-memcpy-ucb", 4000, 0, 0, "src-cold", "stream"),
    ],
    "u74": [
        ("rv-word-noalign", 64, 1, 0, "warm", "latency"),
        ("rv-copy-user-2024", 1448, 0, 4, "dst-cold", "latency"),
        ("csum-generic-c", 1500, 2, 0, "receive", "latency"),
        ("rv-copy-user-2017", 512, 3, 3, "warm", "throughput"),
        ("rv-glibc-noalign", 700, 5, 2, "src-l2", "latency"),
    ],
    "o3_small": [
        ("rv-copy-user-2021", 512, 3, 0, "warm", "latency"),
        ("rv-csum-ipxe", 300, 1, 0, "warm", "throughput"),
        ("rv-word-unrolled8", 2048, 0, 0, "cold", "latency"),
        ("rv-glibc-noalign", 100, 7, 1, "l2", "latency"),
        ("rv-memcpy-croce-c", 250, 2, 5, "warm", "interleaved"),
    ],
    "c910": [
        ("rv-word-noalign", 1448, 1, 2, "warm", "latency"),
        ("rv-copy-user-2021", 96, 0, 7, "warm", "throughput"),
        ("rv-copy-user-2024", 1500, 2, 0, "send", "latency"),
        ("rv-word-unrolled8", 4096, 0, 8, "cold", "stream"),
        ("rv-byte", 16, 1, 1, "dst-l2", "latency"),
    ],
    "x86_minor": [
        ("x64-copy-unrolled", 1448, 3, 0, "warm", "latency"),
        ("x64-copy-string", 256, 0, 1, "cold", "latency"),
        ("x64-csum-herbert", 100, 1, 0, "warm", "throughput"),
        ("i386-copy-user-mmx", 512, 0, 0, "l2", "latency"),
        ("x64-memcpy-orig", 77, 5, 2, "warm", "interleaved"),
    ],
    "x86_o3": [
        ("x64-copy-unrolled", 1448, 3, 0, "warm", "latency"),
        ("x64-csum-naive-adc", 256, 0, 0, "cold", "latency"),
        ("x64-memcpy-orig", 130, 4, 9, "warm", "throughput"),
        ("i386-csumcopy-ppro", 576, 2, 0, "warm", "latency"),
        ("x64-copy-nocache-old", 1024, 0, 0, "src-cold", "stream"),
    ],
    "katmai": [
        ("i386-copy-user-intel", 1448, 1, 0, "warm", "latency"),
        ("i386-csumcopy-ppro", 256, 0, 3, "l2", "latency"),
        ("i386-movsl-plain", 4096, 0, 0, "cold", "latency"),
        ("i386-csumcopy-486", 40, 2, 2, "warm", "throughput"),
        ("i386-copy-user-generic", 1000, 4, 4, "dst-cold", "latency"),
    ],
    "zen3": [
        ("x64-copy-erms", 1448, 0, 1, "warm", "latency"),
        ("folly-memcpy-avx2", 200, 33, 7, "warm", "throughput"),
        ("x64-csum-adx", 1500, 2, 0, "receive", "latency"),
        ("glibc-vec-erms-avx2", 4096, 0, 16, "cold", "stream"),
        ("x64-copy-nocache-2023", 2048, 0, 8, "src-l2-dst-cold", "latency"),
    ],
}
#: A study's point is of its first grid in which no measurement takes more cycles.
LONGEST = 100_000
#: A sample of the probes: every so many of each preset.
SAMPLE = 20


class Run(NamedTuple):
    """One measurement: its name, its cycles, its statistics."""

    name: str
    cycles: str
    stats: dict[str, float]

    @property
    def digest(self) -> str:
        text = "\n".join(f"{name} {value!r}" for name, value in sorted(self.stats.items()))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


class Group(NamedTuple):
    """The runs of one machine and program. Its name begins with the machine's."""

    name: str
    runs: list[Run]
    #: of the machine's description
    machine: str

    def sums(self) -> dict[str, float]:
        total: dict[str, float] = {}
        for run in self.runs:
            for name, value in run.stats.items():
                total[name] = total.get(name, 0.0) + value
        return total


def _stats(rows: Iterable[tuple[str, float, str, str]]) -> dict[str, float]:
    """What does not depend on the host."""
    return {name: value for name, value, _, _ in rows if not name.startswith("host")}


def _describe(machine: str, *settings: str) -> tuple[str, str]:
    from breakeven.m5 import canonical
    from breakeven.machine.presets import describe_machine

    text = canonical(describe_machine(machine, settings))
    return text, hashlib.sha256(text.encode()).hexdigest()[:16]


def run_reference(machine: str, described: tuple[str, str]) -> Group:
    from breakeven import _engine

    description, digest = described
    guest = _engine.Machine(description, (DATA / REFERENCE[machine]).read_bytes())
    end = guest.run()
    assert end["cause"] == "m5_exit instruction encountered", end
    dumps = [_stats(rows) for rows in guest.dumps()]
    runs = [Run(f"kernel {i}", f"{stats['system.cpu.numCycles']:.0f}", stats) for i, stats in enumerate(dumps, 1)]
    return Group(f"{machine} reference", runs, digest)


def run_self_test(machine: str, described: tuple[str, str]) -> Group:
    from breakeven import _engine

    description, digest = described
    guest = _engine.Machine(description, (DATA / SELF_TEST).read_bytes())
    end = guest.run()
    assert (end["cause"], end["code"]) == ("m5_exit instruction encountered", 0), end
    return Group(f"{machine} self-test", [Run("all", str(end["cycles"]), _stats(guest.stats()))], digest)


def _measured(sweep: Any, record: bytes, name: str) -> Run:
    """A point, with the statistics of the measurement that its median comes from."""
    from breakeven.points import unpack_results

    data, begin, end, rows, _, _ = sweep.measured(record)
    result = unpack_results(data)[0]
    assert result.ok, f"{name}: {result.problem}"
    stats = _stats(rows) | {"result.instructions": float(result.instructions), "result.window": float(end - begin)}
    return Run(name, f"{result.cycles_min}/{result.cycles_median}/{result.cycles_total}-{result.overhead}", stats)


def run_points(machine: str, described: tuple[str, str]) -> Group:
    from breakeven import _engine
    from breakeven.points import CACHE_STATES, MEASURES, Point

    description, digest = described
    isa = "riscv" if POINTS[machine][0][0].startswith("rv") else "x86"
    sweep = _engine.Sweep(description, (FOLDER / f"{isa}.elf").read_bytes())
    runs = []
    for routine, size, src, dst, state, measure in POINTS[machine]:
        calls = 1 if measure == "latency" else 4
        # Fixed: what a request takes by default is no matter of the engine.
        at = {"repetitions": 3, "cache_state": CACHE_STATES.index(state), "calls": calls}
        at["measure"] = MEASURES.index(measure)
        record = Point(routine, size, src, dst, **at).pack()
        runs.append(_measured(sweep, record, f"{routine} {size}+{src}+{dst} {state} {measure}"))
    return Group(f"{machine} points", runs, digest)


def studies() -> list[Study]:
    from breakeven.studies.finding import find_studies

    return find_studies([])


def point_of(study: Study) -> tuple[str, MachineSpec, Any] | None:
    """A study's point: its grid, its machine, its record. None where every grid is longer, or none has run yet.

    Of the first short grid the point two thirds on: neither an end nor the start of an axis.
    """
    for grid, (_, spec) in study.grids.items():
        path = RESULTS / study.name / f"data-{grid}.csv"
        if not path.is_file():
            continue
        with path.open(newline="", encoding="utf-8") as file:
            longest = max(int(row["cycles_median"]) for row in csv.DictReader(file))
        if longest <= LONGEST:
            variant, record = divmod(2 * spec.count() // 3, spec.points_per_machine())
            return grid, [machine for machine, _ in spec.variants()][variant], spec.records()[record]
    return None


def run_study(study: str, grid: str, machine: MachineSpec, record: Any) -> Group:
    from breakeven import _engine
    from breakeven.files.binaries import guest_elf
    from breakeven.machine.resolve import resolve
    from breakeven.points import CACHE_STATES, MEASURES

    resolved = resolve(machine)
    sweep = _engine.Sweep(resolved.text, guest_elf(resolved.isa))
    place = f"{record['size']}+{record['src_offset']}+{record['dst_offset']}"
    how = f"{CACHE_STATES[record['cache_state']]} {MEASURES[record['measure']]}"
    run = _measured(sweep, record.tobytes(), f"{grid}: {record['routine'].decode()} {place} {how}")
    return Group(f"{machine.name} {study}", [run], resolved.hash[:16])


def can_probe() -> bool:
    """Whether this host assembles the probes."""
    return shutil.which("gcc") is not None and platform.machine() == "x86_64"


def run_probes(preset: str, probes: Collection[str]) -> Group:
    """What they come to, each in its own unit; they keep no statistics."""
    from tests.probes.x86 import PROBES, Machine

    machine = Machine(preset)
    runs = [Run(probe, repr(PROBES[probe].model(machine)), {}) for probe in probes]
    return Group(f"{preset} probes", runs, _describe(preset)[1])


def probes_of(every: int) -> dict[str, list[str]]:
    """Preset -> its probes, every so many of them and at least two: another first one in each preset."""
    from tests.probes.comparison import PRESETS, comparison

    chosen = {}
    for first, preset in enumerate(PRESETS):
        names = [row.probe for row in comparison(preset).rows]
        step = min(every, len(names) // 2)
        chosen[preset] = names[first % step :: step]
    return chosen


def measure(machines: Collection[str] = (), every: int = 1) -> list[Group]:
    """Every group of these machines, or all; `every` so many of the probes, 0 for none.

    It runs on all processors; the results do not depend on their number.
    """
    # The longest first.
    work: list[tuple[str, Callable[[], Group]]] = []
    if every and can_probe():
        work += [(preset, partial(run_probes, preset, probes)) for preset, probes in probes_of(every).items()]
    work += [(machine, partial(run_reference, machine, _describe(machine))) for machine in reversed(REFERENCE)]
    for study in studies():
        if (point := point_of(study)) is not None:
            work.append((point[1].name, partial(run_study, study.name, *point)))
    work += [(machine, partial(run_points, machine, _describe(machine))) for machine in POINTS]
    work += [(machine, partial(run_self_test, machine, _describe(machine, EMULATED))) for machine in SELF_TESTED]
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(run) for machine, run in work if not machines or machine in machines]
        return [each.result() for each in asked]
