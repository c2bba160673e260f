"""Machines drawn at random from gem5's own parameters, on this engine and on a gem5.

A seed draws a machine (tests/data/gem5/random_machine.py, which runs unmodified in both). Each runs gem5's reference
guest of 34 kernels, or the ELFs named by `--guest` (bare-metal programs that end with gem5's exit, e.g. riscv-tests'
benchmarks built so). gem5's side comes from the binary of `--gem5` or, without one, from the cycles kept in
tests/data/gem5/random.csv (`--reference FILE`), which hold kernels only. Printed: how many agree by core, and the
numbers that differ most.

`--bisect N`: of the N machines that differ most, each parameter that is not gem5's default is set to it, one by one.
With `--gem5` in both, and what matters is which of them makes the difference go; else in ours alone, and what matters
is which of them the kernel's cycles hang on.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import NamedTuple

from gem5_agreement import sections

REPO = Path(__file__).resolve().parents[1]
DATA = REPO / "tests" / "data" / "gem5"
SCRIPT = DATA / "random_machine.py"
GUESTS = {"riscv": DATA / "micro.rv64.elf", "x86": DATA / "micro.x86.elf"}
CYCLES = "cycles"
#: what is compared, by the names of the reference's columns
COUNTS = {
    CYCLES: "system.cpu.numCycles",
    "insts": "simInsts",
    "dcache_accesses": "system.cpu.dcache.overallAccesses::total",
    "dcache_misses": "system.cpu.dcache.overallMisses::total",
    "l2_accesses": "system.l2.overallAccesses::total",
    "l2_misses": "system.l2.overallMisses::total",
    "cond_incorrect": "system.cpu.branchPred.condIncorrect",
}
#: a difference of counts below so many events is none that one looks for
_FEW = 2


class Mistake(Exception):
    """What the user can mend, in a sentence."""


class Machine(NamedTuple):
    isa: str
    cpu: str
    seed: int

    def __str__(self) -> str:
        return f"{self.isa} {self.cpu} {self.seed}"


class Pair(NamedTuple):
    """One number of one kernel (or of a whole guest)."""

    machine: Machine
    kernel: str
    count: str
    gem5: float
    ours: float

    @property
    def percent(self) -> float:
        """The difference to gem5's; 0 where it is a few events."""
        if abs(self.ours - self.gem5) <= _FEW:
            return 0.0
        return 100 * (self.ours / self.gem5 - 1) if self.gem5 else 100.0


#: kernel -> count -> value
Numbers = dict[str, dict[str, float]]


class Simulator(NamedTuple):
    """A command that takes gem5's options."""

    name: str
    command: tuple[str, ...]

    def run(
        self, machine: Machine, guest: Path, defaults: Iterable[str] = ()
    ) -> tuple[list[str], list[dict[str, float]]]:
        """The parameters that are not gem5's default, and the statistics of every dump. Raises `Mistake` with the
        simulator's last words."""
        with tempfile.TemporaryDirectory(prefix="breakeven-") as folder:
            words = [*self.command, f"--outdir={folder}", str(SCRIPT), str(guest), "--isa", machine.isa]
            words += ["--cpu", machine.cpu, "--seed", str(machine.seed), "--default", ",".join(defaults)]
            done = subprocess.run(words, capture_output=True, text=True, errors="replace")
            drawn = re.search(r"^CHANGED (\[.*\])$", done.stdout, re.MULTILINE)
            stats = Path(folder, "stats.txt")
            if done.returncode or drawn is None or not stats.is_file():
                last = " ".join((done.stderr or done.stdout).strip().splitlines()[-1:]) or "it said nothing"
                raise Mistake(f"{self.name} gave up on {machine} with {guest.name} (status {done.returncode}): {last}")
            return json.loads(drawn[1]), list(sections(stats))


OURS = Simulator("breakeven", (sys.executable, "-P", "-m", "breakeven", "gem5"))


def kernels() -> list[str]:
    """The reference guest's, in their order."""
    with open(DATA / "cycles-rv64.csv", newline="") as file:
        return list(dict.fromkeys(row["kernel"] for row in csv.DictReader(file)))


def measure(simulator: Simulator, machine: Machine, guests: list[Path], defaults: Iterable[str] = ()) -> Numbers:
    """The counts of the machine's runs: by kernel of the reference guest, of any other by its name and section."""
    found: Numbers = {}
    for guest in guests or [GUESTS[machine.isa]]:
        _, dumps = simulator.run(machine, guest, defaults)
        names = kernels() if guest in GUESTS.values() else [f"{guest.stem}[{i}]" for i in range(len(dumps))]
        for name, dump in zip(names, dumps, strict=False):
            # gem5 leaves out a vector in which nothing was counted.
            found[name] = {count: dump.get(stat, 0.0) for count, stat in COUNTS.items()}
    return found


def stored(path: Path) -> dict[Machine, Numbers]:
    """gem5's numbers of a table; an empty cell is not known."""
    found: dict[Machine, Numbers] = {}
    with open(path, newline="") as file:
        rows = csv.DictReader(file)
        lacking = {"isa", "cpu", "seed", "kernel", CYCLES} - set(rows.fieldnames or ())
        if lacking:
            raise Mistake(f"{path} has no column {', '.join(sorted(lacking))}: it is no table of gem5's cycles")
        for number, row in enumerate(rows, 2):
            try:
                machine = Machine(row["isa"], row["cpu"], int(row["seed"]))
                counts = {name: float(row[name]) for name in COUNTS if row.get(name)}
            except (TypeError, ValueError):
                raise Mistake(f"{path}, line {number}: not a row of numbers") from None
            found.setdefault(machine, {})[row["kernel"]] = counts
    return found


def compare(machine: Machine, gem5: Numbers, ours: Numbers) -> list[Pair]:
    return [
        Pair(machine, kernel, count, value, ours[kernel][count])
        for kernel, counts in gem5.items()
        if kernel in ours
        for count, value in counts.items()
        if count in ours[kernel]
    ]


def summary(pairs: list[Pair]) -> list[str]:
    """A line for every core and instruction set: how near the cycles are."""
    lines = []
    for isa, cpu in dict.fromkeys((pair.machine.isa, pair.machine.cpu) for pair in pairs):
        of = [p for p in pairs if (p.machine.isa, p.machine.cpu) == (isa, cpu) and p.count == CYCLES]
        apart = [abs(p.percent) for p in of]
        equal = sum(p.gem5 == p.ours for p in of)
        near = sum(percent <= 2 for percent in apart)
        lines.append(
            f"{isa} {cpu}: {len(of)} runs, median difference {median(apart):.2f} %, {equal} equal, "
            f"{100 * near / len(of):.1f} % within 2 %, {sum(percent > 10 for percent in apart)} beyond 10 %"
        )
    return lines


def ranked(pairs: list[Pair], top: int) -> list[str]:
    """The numbers that differ most, cycles before counts."""
    apart = sorted((p for p in pairs if p.percent), key=lambda p: (p.count != CYCLES, -abs(p.percent)))
    lines = [f"{'machine':16} {'kernel':14} {'count':16} {'gem5':>12} {'ours':>12} {'%':>8}"]
    lines += [
        f"{p.machine!s:16} {p.kernel:14} {p.count:16} {p.gem5:12.0f} {p.ours:12.0f} {p.percent:+8.2f}"
        for p in apart[:top]
    ]
    return lines if apart else ["no number differs"]


def bisect(pair: Pair, gem5: Simulator | None, guests: list[Path], pool: ThreadPoolExecutor) -> list[str]:
    """What becomes of a pair's numbers with each parameter at gem5's default, the most telling first."""
    guest = next((g for g in guests if pair.kernel.startswith(f"{g.stem}[")), GUESTS[pair.machine.isa])

    def one(name: str) -> tuple[str, float, float | None]:
        of = [OURS, gem5] if gem5 else [OURS]
        values = [measure(side, pair.machine, [guest], [name])[pair.kernel][pair.count] for side in of]
        return name, values[0], values[1] if gem5 else None

    rows = list(pool.map(one, OURS.run(pair.machine, guest)[0]))
    head = f"{pair.machine}, {pair.kernel}, {pair.count}: "
    head += f"gem5 {pair.gem5:.0f}, ours {pair.ours:.0f} ({pair.percent:+.2f} %)"
    if gem5 is None:
        rows.sort(key=lambda row: -abs(row[1] - pair.ours))
        return [head, *(f"  {name:40} ours {ours:.0f} ({ours - pair.ours:+.0f})" for name, ours, _ in rows)]
    left = [(name, Pair(pair.machine, pair.kernel, pair.count, theirs or 0.0, ours)) for name, ours, theirs in rows]
    left.sort(key=lambda row: abs(row[1].percent))
    return [head, *(f"  {name:40} gem5 {p.gem5:.0f}, ours {p.ours:.0f} ({p.percent:+.2f} %)" for name, p in left)]


def seeds(text: str) -> list[int]:
    found = re.fullmatch(r"(\d+)(?:\.\.(\d+))?", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is no range of seeds: 1..5 or 3")
    return list(range(int(found[1]), int(found[2] or found[1]) + 1))


def names(*known: str):  # type: ignore[no-untyped-def]
    def parse(text: str) -> list[str]:
        unknown = set(text.split(",")) - set(known)
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))}: there is {', '.join(known)}")
        return text.split(",")

    return parse


def options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/gem5_differential", description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=seeds, default=seeds("1..5"), metavar="A..B")
    parser.add_argument("--isa", type=names("riscv", "x86"), default=["riscv", "x86"], metavar="ISA,...")
    parser.add_argument("--cpu", type=names("timing", "minor", "o3"), default=["minor", "o3"], metavar="CPU,...")
    parser.add_argument(
        "--guest", type=Path, action="append", default=[], metavar="ELF", help="instead of the 34 kernels"
    )
    parser.add_argument("--gem5", metavar="PATH", help="a gem5 binary (also $GEM5)", default=os.environ.get("GEM5"))
    parser.add_argument(
        "--reference", type=Path, default=DATA / "random.csv", metavar="FILE", help="cycles without a gem5"
    )
    parser.add_argument("--top", type=int, default=30, metavar="N", help="numbers that are listed")
    parser.add_argument("--bisect", type=int, default=0, metavar="N", help="machines whose parameters are tried")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="simulations at a time")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    asked = options(arguments)
    gem5 = None
    if asked.gem5:
        binary = shutil.which(asked.gem5)
        if binary is None:
            raise Mistake(f"{asked.gem5} is no program: give --gem5 the path of a gem5 binary")
        gem5 = Simulator("gem5", (binary,))
    elif asked.guest:
        raise Mistake("--guest needs --gem5: no cycles of other guests are kept")
    machines = [Machine(isa, cpu, seed) for isa in asked.isa for cpu in asked.cpu for seed in asked.seeds]
    kept = {} if gem5 else stored(asked.reference)
    known = [machine for machine in machines if gem5 or machine in kept]
    for machine in machines:
        if machine not in known:
            print(f"{machine}: no cycles are kept of it; --gem5 PATH measures them", file=sys.stderr)
    if not known:
        raise Mistake(f"{asked.reference} has none of these machines: choose other --seeds, or give --gem5 PATH")
    with ThreadPoolExecutor(asked.jobs) as pool:
        ours = list(pool.map(lambda machine: measure(OURS, machine, asked.guest), known))
        theirs = list(pool.map(lambda m: measure(gem5, m, asked.guest) if gem5 else kept[m], known))
        found = zip(known, theirs, ours, strict=True)
        pairs = [pair for machine, a, b in found for pair in compare(machine, a, b)]
        print("\n".join([*summary(pairs), "", *ranked(pairs, asked.top)]))
        worst = {p.machine: p for p in sorted(pairs, key=lambda p: abs(p.percent)) if p.count == CYCLES and p.percent}
        for pair in sorted(worst.values(), key=lambda p: -abs(p.percent))[: asked.bisect]:
            print("\n" + "\n".join(bisect(pair, gem5, asked.guest, pool)), flush=True)


if __name__ == "__main__":
    try:
        main()
    except (Mistake, OSError) as error:
        sys.exit(f"gem5_differential: {error}")
