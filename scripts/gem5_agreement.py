#!/usr/bin/env python3
"""Every number of gem5's reference runs beside ours, name by name: writes docs/gem5-agreement-counts.md.

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
PAGE = REPO / "docs" / "gem5-agreement-counts.md"
CPUS = ("timing", "minor", "o3")
ISAS = {"rv64": "riscv", "x86": "x86"}

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


def render(found: dict[tuple[str, str], dict[str, list[Pair]]]) -> str:
    lines = [HEAD]
    for (isa, cpu), columns in found.items():
        lines += [f"## {TITLES[cpu]}, {'RISC-V' if isa == 'rv64' else 'x86-64'}", ""]
        lines += ["| statistic | equal | within 5 % | further off: kernel gem5 → ours |", "|---|--:|--:|---|"]
        for column, pairs in columns.items():
            equal = sum(pair.gem5 == pair.ours for pair in pairs)
            near = sum(pair.close and pair.gem5 != pair.ours for pair in pairs)
            far = [f"{pair.kernel} {pair.gem5:.0f} → {pair.ours:.0f}" for pair in pairs if not pair.close]
            lines.append(f"| `{NAMES[column]}` | {equal} | {near} | {', '.join(far)} |")
        lines.append("")
    return "\n".join(lines)


TITLES = {"timing": "TimingSimple", "minor": "Minor", "o3": "O3"}
HEAD = """# gem5's numbers and ours, name by name

Written by `scripts/gem5_agreement.py`: gem5's configuration script (`tests/data/gem5/config.py`), unmodified, runs
under `breakeven gem5`, and `stats.txt` is compared with what gem5 24.0.0.1 wrote for the same guest. Of the 34 kernels
each line says how many have gem5's number, how many are within 5 % of it (or two events), and names the rest. Causes
of the differences: [gem5-agreement.md](gem5-agreement.md).
"""


def generate() -> str:
    return render({(isa, cpu): compare(isa, cpu) for isa in ISAS for cpu in CPUS})


def main() -> None:
    PAGE.write_text(generate())
    print(f"wrote {PAGE}", file=sys.stderr)


if __name__ == "__main__":
    main()
