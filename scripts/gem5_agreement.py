#!/usr/bin/env python3
"""Every number of gem5's reference runs beside ours, name by name: writes docs/gem5-agreement.md.

Runs gem5's own configuration script (tests/data/gem5/config.py) unmodified in `breakeven gem5`, reads stats.txt as any
parser of gem5's output would, and compares it with cycles-rv64.csv and cycles-x86.csv.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

REPO = Path(__file__).resolve().parents[1]
DATA = REPO / "tests" / "data" / "gem5"
OURS = DATA / "ours.csv"
BOUNDS = DATA / "bounds.csv"
CPUS = ("timing", "minor", "o3")
ISAS = {"rv64": "riscv", "x86": "x86"}
ISA_TITLES = {"rv64": "RISC-V", "x86": "x86-64"}
TITLES = {"timing": "TimingSimple", "minor": "Minor", "o3": "O3"}

#: column of the reference -> statistic
NAMES = {
    "cycles": "system.cpu.numCycles",
    "insts": "simInsts",
    "micro_ops": "simOps",
    "dcache_accesses": "system.cpu.dcache.overallAccesses::total",
    "dcache_misses": "system.cpu.dcache.overallMisses::total",
    "dcache_mshr_misses": "system.cpu.dcache.overallMshrMisses::total",
    "l2_accesses": "system.l2.overallAccesses::total",
    "l2_misses": "system.l2.overallMisses::total",
    "dcache_writebacks": "system.cpu.dcache.writebacks::total",
    "cond_predicted": "system.cpu.branchPred.condPredicted",
    "cond_incorrect": "system.cpu.branchPred.condIncorrect",
    "commit_mispredicts": "system.cpu.commit.branchMispredicts",
}


class Pair(NamedTuple):
    """One number: the kernel, gem5's and ours."""

    kernel: str
    gem5: float
    ours: float

    @property
    def close(self) -> bool:
        """Within 5 % or two events."""
        return abs(self.ours - self.gem5) <= max(2, 0.05 * self.gem5)


class Bound(NamedTuple):
    """What the tests hold of a core's cycles, in per cent, and why the kernel that differs most does."""

    median: float
    #: kernels within 2 %
    within_2: int
    worst: float
    kernel: str
    cause: str


def bounds() -> dict[tuple[str, str], Bound]:
    """By instruction set ("rv64", "x86") and core."""
    with open(BOUNDS, newline="") as file:
        return {
            (row["isa"], row["cpu"]): Bound(
                float(row["median"]), int(row["within_2"]), float(row["worst"]), row["kernel"], row["cause"]
            )
            for row in csv.DictReader(file)
        }


def sections(path: Path) -> Iterator[dict[str, float]]:
    """The dumps of a stats.txt: name -> value."""
    values: dict[str, float] = {}
    for line in path.read_text().splitlines():
        if line.startswith("---------- Begin"):
            values = {}
        elif line.startswith("---------- End"):
            yield values
        elif line:
            name, value = line.split()[:2]
            values[name] = float(value)


def compare(isa: str, cpu: str) -> dict[str, list[Pair]]:
    """Column -> its pairs, of one instruction set ("rv64", "x86") and core."""
    from breakeven.m5.loader import run_script

    with open(DATA / f"cycles-{isa}.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["cpu"] == cpu]
    with tempfile.TemporaryDirectory() as folder:
        arguments = [str(DATA / f"micro.{isa}.elf"), "--isa", ISAS[isa], "--cpu", cpu]
        run_script(DATA / "config.py", arguments, outdir=folder)
        dumps = list(sections(Path(folder) / "stats.txt"))[: len(rows)]
    found: dict[str, list[Pair]] = {}
    for column, name in NAMES.items():
        if column == "commit_mispredicts" and cpu != "o3":
            continue
        if all(float(row[column]) == 0 for row in rows) and not any(name in dump for dump in dumps):
            continue
        found[column] = [
            # gem5 leaves out a vector in which nothing was counted.
            Pair(row["kernel"], float(row[column]), dump.get(name, 0.0))
            for row, dump in zip(rows, dumps, strict=True)
        ]
    return found


def keep(found: dict[tuple[str, str], dict[str, list[Pair]]]) -> None:
    """Writes our numbers."""
    with open(OURS, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["isa", "cpu", "kernel", *NAMES])
        for (isa, cpu), columns in found.items():
            for i, pair in enumerate(columns["cycles"]):
                counts = (f"{columns[name][i].ours:.0f}" if name in columns else "" for name in NAMES)
                writer.writerow([isa, cpu, pair.kernel, *counts])


def stored() -> dict[tuple[str, str], dict[str, list[Pair]]]:
    """What `keep` wrote, beside gem5's numbers."""
    with open(OURS, newline="") as file:
        ours = {(row["isa"], row["cpu"], row["kernel"]): row for row in csv.DictReader(file)}
    found: dict[tuple[str, str], dict[str, list[Pair]]] = {}
    for isa in ISAS:
        with open(DATA / f"cycles-{isa}.csv", newline="") as file:
            for row in csv.DictReader(file):
                columns = found.setdefault((isa, row["cpu"]), {})
                for name in NAMES:
                    count = ours[isa, row["cpu"], row["kernel"]][name]
                    if count:
                        columns.setdefault(name, []).append(Pair(row["kernel"], float(row[name]), float(count)))
    return found


def render(found: dict[tuple[str, str], dict[str, list[Pair]]]) -> str:
    """The counts as Markdown: how many are gem5's, how many near, and which are not."""
    lines: list[str] = []
    for (isa, cpu), columns in found.items():
        lines += [f"### {TITLES[cpu]}, {ISA_TITLES[isa]}", ""]
        lines += ["| statistic | equal | within 5 % | further off: kernel gem5 → ours |", "|---|--:|--:|---|"]
        for column, pairs in columns.items():
            equal = sum(pair.gem5 == pair.ours for pair in pairs)
            near = sum(pair.close and pair.gem5 != pair.ours for pair in pairs)
            far = [f"{pair.kernel} {pair.gem5:.0f} → {pair.ours:.0f}" for pair in pairs if not pair.close]
            lines.append(f"| `{NAMES[column]}` | {equal} | {near} | {', '.join(far)} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    keep({(isa, cpu): compare(isa, cpu) for isa in ISAS for cpu in CPUS})
    print(f"wrote {OURS}", file=sys.stderr)


if __name__ == "__main__":
    main()
