"""Runs fixed programs on fixed machines and compares every cycle and statistic with the baseline in the repository.

The programs are files of tests/data (gem5's reference guest, one build of the guests and of the emulation's self-test):
a change of the guests' sources does not move the baseline. What moves it is the engine, or a machine's preset, which is
then named. cycles.csv has the cycles of each run and a hash of its statistics; statistics.csv the sums over a group's
runs, in clear. `differences` names the run, the statistic, the old and the new value.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

REPO = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))
DATA = REPO / "tests" / "data"
FOLDER = DATA / "identity"

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
    """The runs of one machine and program."""

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


class Baseline(NamedTuple):
    #: (group, run) -> cycles, digest of the statistics (of the run "machine": of its description)
    runs: dict[tuple[str, str], tuple[str, str]]
    #: (group, statistic) -> sum over the runs
    sums: dict[tuple[str, str], str]


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


def run_points(machine: str, described: tuple[str, str]) -> Group:
    from breakeven import _engine
    from breakeven.points import CACHE_STATES, MEASURES, Point, unpack_results

    description, digest = described
    isa = "riscv" if POINTS[machine][0][0].startswith("rv") else "x86"
    sweep = _engine.Sweep(description, (FOLDER / f"{isa}.elf").read_bytes())
    runs = []
    for routine, size, src, dst, state, measure in POINTS[machine]:
        calls = 1 if measure == "latency" else 4
        # Fixed: what a request takes by default is no matter of the engine.
        at = {"repetitions": 3, "cache_state": CACHE_STATES.index(state), "calls": calls}
        at["measure"] = MEASURES.index(measure)
        data, begin, end, rows, _ = sweep.measured(Point(routine, size, src, dst, **at).pack())
        result = unpack_results(data)[0]
        assert result.ok, f"{machine}: {routine}: {result.problem}"
        stats = _stats(rows) | {"result.instructions": float(result.instructions), "result.window": float(end - begin)}
        cycles = f"{result.cycles_min}/{result.cycles_median}/{result.cycles_total}-{result.overhead}"
        runs.append(Run(f"{routine} {size}+{src}+{dst} {state} {measure}", cycles, stats))
    return Group(f"{machine} points", runs, digest)


def measure() -> list[Group]:
    """Every group, on all processors; the results do not depend on their number."""
    # The longest first. Machines are described here: a preset's file is no business of several threads.
    work = [(run_reference, machine, _describe(machine)) for machine in reversed(REFERENCE)]
    work += [(run_points, machine, _describe(machine)) for machine in POINTS]
    work += [(run_self_test, machine, _describe(machine, EMULATED)) for machine in SELF_TESTED]
    with ThreadPoolExecutor() as pool:
        return [each.result() for each in [pool.submit(*each) for each in work]]


def baseline_of(groups: Iterable[Group]) -> Baseline:
    runs: dict[tuple[str, str], tuple[str, str]] = {}
    sums: dict[tuple[str, str], str] = {}
    for group in groups:
        runs[group.name, "machine"] = ("", group.machine)
        runs.update({(group.name, run.name): (run.cycles, run.digest) for run in group.runs})
        # A statistic that never counted says nothing but that it is there, which the digest holds.
        sums.update({(group.name, name): f"{value:.12g}" for name, value in group.sums().items() if value})
    return Baseline(runs, sums)


def read(folder: Path = FOLDER) -> Baseline:
    with open(folder / "cycles.csv", newline="") as file:
        runs = {(row["group"], row["run"]): (row["cycles"], row["statistics"]) for row in csv.DictReader(file)}
    with open(folder / "statistics.csv", newline="") as file:
        table = csv.DictReader(file)
        sums = {
            (group, row["statistic"]): value
            for row in table
            for group, value in row.items()
            if group != "statistic" and value
        }
    return Baseline(runs, sums)


def write(baseline: Baseline, folder: Path = FOLDER) -> None:
    with open(folder / "cycles.csv", "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["group", "run", "cycles", "statistics"])
        rows.writerows([*key, *value] for key, value in sorted(baseline.runs.items()))
    groups = sorted({group for group, _ in baseline.sums})
    with open(folder / "statistics.csv", "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["statistic", *groups])
        for name in sorted({name for _, name in baseline.sums}):
            rows.writerow([name, *(baseline.sums.get((group, name), "") for group in groups)])


def differences(old: Baseline, new: Baseline) -> Iterator[str]:
    """What differs, one line each: the run or statistic, the old value and the new."""
    counted = {group for group, _ in old.sums.keys() ^ new.sums.keys()}
    counted |= {key[0] for key in old.sums.keys() & new.sums.keys() if old.sums[key] != new.sums[key]}
    for group, run in sorted(old.runs.keys() | new.runs.keys()):
        before, after = old.runs.get((group, run)), new.runs.get((group, run))
        if before is None or after is None:
            yield f"{group}: {run}: {'new' if before is None else 'gone'}"
        elif run == "machine":
            if before != after:
                yield f"{group}: the machine's description is another one (its preset or the m5 layer has changed)"
        elif before[0] != after[0]:
            yield f"{group}: {run}: cycles {before[0]} -> {after[0]}"
        elif before != after:
            also = "" if group in counted else "; none of its group's sums does: compare two --dump files"
            yield f"{group}: {run}: the same cycles, but statistics differ{also}"
    for group, name in sorted(old.sums.keys() | new.sums.keys()):
        before, after = old.sums.get((group, name), "0"), new.sums.get((group, name), "0")
        if before != after:
            yield f"{group}: {name} (all runs together): {before} -> {after}"


def dump(groups: Iterable[Group], path: Path) -> None:
    lines = [
        f"{group.name}\t{run.name}\t{name}\t{value:.17g}\n"
        for group in groups
        for run in group.runs
        for name, value in run.stats.items()
    ]
    path.write_text("".join(sorted(lines)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write the baseline")
    parser.add_argument("--dump", type=Path, metavar="FILE", help="write every statistic of every run to FILE, too")
    options = parser.parse_args()
    groups = measure()
    if options.dump:
        dump(groups, options.dump)
    now = baseline_of(groups)
    if options.update:
        write(now)
        return 0
    found = list(differences(read(), now))
    for line in found:
        print(line)
    same = f"identical: {sum(len(group.runs) for group in groups)} runs, {len(now.sums)} sums of statistics"
    print(f"{len(found)} differences" if found else same, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
