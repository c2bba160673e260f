"""Speed beside a gem5: both run the reference guest under the same script, one after the other, on this machine.

A run's seconds are those of its process with its start. Instructions are the guest's, counted by the atomic core.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench import ELFS, REPO, child

CONFIG = REPO / "tests/data/gem5/config.py"
CPUS = ("atomic", "timing", "minor", "o3")


class Mistake(Exception):
    """What the user can mend, in a sentence."""


class Speeds(NamedTuple):
    """Of one core: million instructions a host second (medians)."""

    name: str
    gem5: float
    ours: float

    @property
    def ratio(self) -> float:
        return self.ours / self.gem5


def instructions(isa: str) -> int:
    """The reference guest's."""
    machine = "atomic" if isa == "riscv" else "x86_atomic"
    out, _, _ = child(str(REPO / ".venv/bin/breakeven"), "exec", str(ELFS[isa]), "--machine", machine, "--json")
    return int(json.loads(out)["instructions"])


def seconds(command: list[str], isa: str, cpu: str) -> float:
    """Wall seconds of one run. Raises `Mistake` with the simulator's last words."""
    with tempfile.TemporaryDirectory(prefix="breakeven-") as folder:
        words = [*command, f"--outdir={folder}", str(CONFIG), str(ELFS[isa]), "--isa", isa, "--cpu", cpu]
        start = time.perf_counter()
        done = subprocess.run(words, capture_output=True, text=True, errors="replace")
        took = time.perf_counter() - start
    if done.returncode or "EXIT" not in done.stdout:
        last = " ".join((done.stderr or done.stdout).strip().splitlines()[-1:]) or "it said nothing"
        raise Mistake(f"{Path(command[0]).name} gave up on {isa} {cpu} (status {done.returncode}): {last}")
    return took


def measure(gem5: str, isas: list[str], cpus: list[str], repeat: int) -> list[Speeds]:
    """Both simulators take turns, so that a busy machine slows both."""
    ours = [sys.executable, "-P", "-m", "breakeven", "gem5"]
    found = []
    for isa in isas:
        count = instructions(isa)
        for cpu in cpus:
            turns = [(seconds([gem5], isa, cpu), seconds(ours, isa, cpu)) for _ in range(repeat)]
            mips = [count / statistics.median(side) / 1e6 for side in zip(*turns, strict=True)]
            found.append(Speeds(f"{isa}.{cpu}", mips[0], mips[1]))
    return found


def table(speeds: list[Speeds]) -> list[str]:
    head = f"{'MIPS':14} {'gem5':>8} {'ours':>8} {'ratio':>7}"
    return [head, *(f"{s.name:14} {s.gem5:8.3f} {s.ours:8.3f} {s.ratio:7.1f}" for s in speeds)]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="scripts/bench --gem5", description=__doc__.split("\n")[0])
    parser.add_argument("gem5", metavar="PATH", help="a gem5 binary")
    parser.add_argument("--isa", choices=list(ELFS), action="append", help="all unless told")
    parser.add_argument("--cpu", choices=CPUS, action="append", help="all unless told")
    parser.add_argument("--repeat", type=int, default=3, help="runs per number (the median counts)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args(arguments)
    if asked.repeat < 1:
        raise Mistake(f"--repeat {asked.repeat}: at least one run makes a number")
    binary = shutil.which(asked.gem5)
    if binary is None:
        raise Mistake(f"{asked.gem5} is no program: give the path of a gem5 binary")
    speeds = measure(binary, asked.isa or list(ELFS), asked.cpu or list(CPUS), asked.repeat)
    if asked.json:
        print(json.dumps({s.name: {"gem5": round(s.gem5, 4), "ours": round(s.ours, 4)} for s in speeds}))
    else:
        print("\n".join(table(speeds)))


if __name__ == "__main__":
    try:
        main()
    except (Mistake, OSError) as error:
        sys.exit(f"bench: {error}")
