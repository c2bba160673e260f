"""Runs what identity_runs.py lists and compares every cycle and statistic with the baseline in the repository.

The baseline is the only place of this repository that holds simulated cycles for tests. What moves it is the engine, a
machine's preset or a study's routine. cycles.csv has the cycles of each run and a hash of its statistics (of a probe:
what it comes to, in its unit); statistics.csv the sums over a group's runs, in clear. `differences` names the run, the
statistic, the old and the new value; `movements` says by machine how much has moved.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

REPO = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPO), str(REPO / "scripts")]

from identity_runs import FOLDER, RESULTS, Group, Run, can_probe, measure, studies  # noqa: E402

__all__ = ["Group", "Run", "measure"]
#: Relative changes are of at least this: a probe may come to nothing.
NOTHING = 0.1


class Baseline(NamedTuple):
    #: (group, run) -> cycles, digest of the statistics (of the run "machine": of its description)
    runs: dict[tuple[str, str], tuple[str, str]]
    #: (group, statistic) -> sum over the runs
    sums: dict[tuple[str, str], str]

    def where(self, holds: Callable[[str, str], bool]) -> Baseline:
        """The runs of which it holds, by group and run, and the sums of their groups."""
        runs = {key: value for key, value in self.runs.items() if holds(*key)}
        groups = {group for group, _ in runs}
        return Baseline(runs, {key: value for key, value in self.sums.items() if key[0] in groups})

    def joined(self, other: Baseline) -> Baseline:
        return Baseline(self.runs | other.runs, self.sums | other.sums)

    def sample_of(self, other: Baseline) -> Baseline:
        """Without the probes that `other`, a sample of them, has not."""
        return self.where(lambda group, run: not group.endswith(" probes") or (group, run) in other.runs)


def baseline_of(groups: Iterable[Group]) -> Baseline:
    runs: dict[tuple[str, str], tuple[str, str]] = {}
    sums: dict[tuple[str, str], str] = {}
    for group in groups:
        runs[group.name, "machine"] = ("", group.machine)
        runs.update({(group.name, run.name): (run.cycles, run.digest) for run in group.runs})
        # A statistic that never counted says nothing but that it is there, which the digest holds.
        sums.update({(group.name, name): f"{value:.12g}" for name, value in group.sums().items() if value})
    return Baseline(runs, sums)


def read(folder: Path | None = None) -> Baseline:
    folder = folder or FOLDER
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


def write(baseline: Baseline, folder: Path | None = None) -> None:
    folder = folder or FOLDER
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
            unit = "" if group.endswith(" probes") else "cycles "
            yield f"{group}: {run}: {unit}{before[0]} -> {after[0]}"
        elif before != after:
            also = "" if group in counted else "; none of its group's sums does: compare two --dump files"
            yield f"{group}: {run}: the same cycles, but statistics differ{also}"
    for group, name in sorted(old.sums.keys() | new.sums.keys()):
        before, after = old.sums.get((group, name), "0"), new.sums.get((group, name), "0")
        if before != after:
            yield f"{group}: {name} (all runs together): {before} -> {after}"


class Movement(NamedTuple):
    """What has moved of a machine's runs, or of its probes."""

    machine: str
    kind: str
    of: int
    #: relative change of the cycles, and the run with its cycles before and after
    changes: list[tuple[float, str]]
    #: runs with the same cycles and other statistics
    statistics: int
    #: runs that only one of the two has
    unmatched: int
    #: another description
    described: bool

    def __str__(self) -> str:
        parts = []
        if self.changes:
            largest, run = max(self.changes, key=lambda change: abs(change[0]))
            median = statistics.median(change for change, _ in self.changes)
            parts.append(f"{len(self.changes)} of {self.of} {self.kind} moved")
            parts.append(f"median {median:+.2%}, largest {largest:+.2%} ({run})")
        if self.statistics:
            parts.append(f"{self.statistics} of {self.of} {self.kind} have the same cycles and other statistics")
        if self.unmatched:
            parts.append(f"{self.unmatched} {self.kind} are new or gone")
        if self.described:
            parts.append("its description is another one")
        return f"{self.machine}: {'; '.join(parts)}"


def _cycles(text: str) -> float:
    """Of a run: the median of its measurements where there are several."""
    return float(text.split("/")[1] if "/" in text else text)


def movements(old: Baseline, new: Baseline) -> list[Movement]:
    """What has moved, by machine; its probes apart."""
    by_machine: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for group, run in sorted(old.runs.keys() | new.runs.keys()):
        kind = "probes" if group.endswith(" probes") else "runs"
        by_machine[group.partition(" ")[0], kind].append((group, run))
    found = [_movement(machine, kind, keys, old, new) for (machine, kind), keys in sorted(by_machine.items())]
    return [each for each in found if each.changes or each.statistics or each.unmatched or each.described]


def _movement(machine: str, kind: str, keys: list[tuple[str, str]], old: Baseline, new: Baseline) -> Movement:
    changes, others, unmatched, described = [], 0, 0, False
    for group, run in keys:
        before, after = old.runs.get((group, run)), new.runs.get((group, run))
        if run == "machine":
            described |= before is not None and after is not None and before != after
        elif before is None or after is None:
            unmatched += 1
        elif before[0] != after[0]:
            was, now = _cycles(before[0]), _cycles(after[0])
            shown = (f"{value:.4g}" for value in (was, now)) if kind == "probes" else (before[0], after[0])
            words = f"{group.partition(' ')[2]}: {run}: {' -> '.join(shown)}"
            changes.append(((now - was) / max(abs(was), NOTHING), words))
        else:
            others += before != after
    of = sum(run != "machine" for _, run in keys)
    return Movement(machine, kind, of, changes, others, unmatched, described)


def stale_studies(machines: Collection[str]) -> list[str]:
    """The studies with committed results that simulate one of the machines."""
    found = []
    for study in studies() if machines else []:
        specs = [spec for _, spec in (*study.grids.values(), *study.searches.values())]
        uses = {machine.name for spec in specs for machine in spec.machines}
        if uses & set(machines) and (RESULTS / study.name / "grids.csv").is_file():
            found.append(study.name)
    return found


def told(old: Baseline, new: Baseline) -> Iterator[str]:
    """What has moved, by machine and by how much, and what is to be run again."""
    moved = movements(old, new)
    yield from map(str, moved)
    for study in stale_studies({each.machine for each in moved if each.changes or each.described}):
        yield f"results of {study} were computed by another engine or machine: run scripts/reproduce {study}"


def dump(groups: Iterable[Group], path: Path) -> None:
    lines = [
        f"{group.name}\t{run.name}\t{name}\t{value:.17g}\n"
        for group in groups
        for run in group.runs
        for name, value in run.stats.items()
    ]
    path.write_text("".join(sorted(lines)))


def asked(group: str, machines: Collection[str]) -> bool:
    """Whether a group of the baseline is measured here and now."""
    if group.endswith(" probes") and not can_probe():
        return False
    return not machines or group.partition(" ")[0] in machines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help="only these machines; every one by default")
    parser.add_argument("--update", action="store_true", help="accept what has moved: write the baseline and its page")
    parser.add_argument("--dump", type=Path, metavar="FILE", help="write every statistic of every run to FILE, too")
    options = parser.parse_args()
    groups = measure(options.machines)
    if not groups:
        parser.error(f"nothing is measured on {', '.join(options.machines)}")
    if options.dump:
        dump(groups, options.dump)
    kept, now = read(), baseline_of(groups)
    old = kept.where(lambda group, _: asked(group, options.machines))
    for line in [] if options.update else differences(old, now):
        print(line)
    found = list(told(old, now))
    for line in found:
        print(line)
    if not found:
        print(f"identical: {sum(len(group.runs) for group in groups)} runs, {len(now.sums)} sums of statistics")
    if options.update:
        write(kept.where(lambda group, _: not asked(group, options.machines)).joined(now))
        subprocess.run([sys.executable, "scripts/docs.py", "--update"], cwd=REPO, check=True)
        return 0
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
