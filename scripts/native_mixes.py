"""Writes results/native/PRESET/mixes.md: calls of sizes drawn at random, on a preset and on this host's processor.

`python scripts/native_mixes.py PRESET` measures all routines of this host; `--simulated PRESET` sets the preset anew
beside the native numbers that are kept (mixes.csv), on any host.
"""

from __future__ import annotations

import csv
import itertools
import sys
from pathlib import Path

import numpy as np

from breakeven import points as pt
from breakeven.analysis.across_engines import NO_SMAP
from breakeven.engines.embedded import EmbeddedEngine
from breakeven.engines.native import NativeEngine
from breakeven.engines.run_points import run_points
from breakeven.machine.host import cpu_info, fit_for
from breakeven.points.engine import Session
from breakeven.points.machine_spec import HOST, MachineSpec
from breakeven.points.mix import mix_of

sys.path.insert(0, str(Path(__file__).resolve().parent))
from native import RESULTS, machine_rows  # noqa: E402

#: what is drawn, and the working set in bytes
MIXES = (("1..256", 16 << 10), ("spec2017", 64 << 10), ("spec2017", 1 << 20))
#: routines that do the same thing compete
JOBS = {"copy": "copy", "user-copy": "copy", "move": "copy"}
#: the host's lead counts where it is larger; the model's two are a tie within this
LEAD, TIE = 1.10, 0.01
SHOWN = 6
#: mix, working set, routine -> job, cycles per call
Kept = dict[tuple[str, int, str], tuple[str, float]]


def measured(session: Session, jobs: dict[str, str]) -> Kept:
    """Cycles per call of each routine in each mix; a wrong output ends it."""
    found: Kept = {}
    for text, working_set in MIXES:
        drawn = mix_of(text).drawn(working_set)
        points = [pt.Point(name, working_set, measure=pt.MIX, calls=drawn.calls, mix=drawn.name) for name in jobs]
        for name, result in zip(jobs, run_points(session, points, threads=0), strict=True):
            if not result.ok:
                sys.exit(f"{name}: {result.problem}")
            found[text, working_set, name] = jobs[name], result.cycles_median / drawn.calls
    return found


def host_jobs() -> tuple[Session, dict[str, str]]:
    """This host, and what each of breakeven's routines that run on it does."""
    session = NativeEngine().open(MachineSpec(HOST))
    own = [routine for routine in session.routines() if not (routine.origin or routine.missing_extension)]
    return session, {routine.name: JOBS.get(routine.kind, routine.kind) for routine in own}


def simulated(preset: str, jobs: dict[str, str]) -> Kept:
    session = EmbeddedEngine().open(MachineSpec(preset, (NO_SMAP,)))
    lacking = {routine.name for routine in session.routines() if routine.missing_extension}
    return measured(session, {name: job for name, job in jobs.items() if name not in lacking})


def read_native(path: Path, column: str = "native") -> Kept:
    with path.open(newline="") as file:
        return {
            (row["mix"], int(row["working_set"]), row["routine"]): (row["does"], float(row[column]))
            for row in csv.DictReader(file)
            if row[column]
        }


def read_simulated(path: Path) -> Kept:
    return read_native(path, "simulated")


def write_csv(path: Path, native: Kept, model: Kept) -> None:
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["mix", "working_set", "does", "routine", "native", "simulated"])
        for key, (does, cycles) in native.items():
            beside = f"{model[key][1]:.2f}" if key in model else ""
            out.writerow([key[0], key[1], does, key[2], f"{cycles:.2f}", beside])


def pairs(native: Kept, model: Kept, mix: tuple[str, int]) -> tuple[int, int, int]:
    """Pairs of routines that do the same and of which the host has one ahead; those in which the model names it, and
    those that tie there."""
    of_job: dict[str, list[str]] = {}
    for (text, working_set, name), (does, _) in native.items():
        if (text, working_set) == mix and (*mix, name) in model:
            of_job.setdefault(does, []).append(name)
    decided = right = ties = 0
    for names in of_job.values():
        for a, b in itertools.combinations(names, 2):
            ours, theirs = (each[(*mix, a)][1] / each[(*mix, b)][1] for each in (model, native))
            if max(theirs, 1 / theirs) <= LEAD:
                continue
            decided += 1
            ties += abs(ours - 1) <= TIE
            right += abs(ours - 1) > TIE and (ours < 1) == (theirs < 1)
    return decided, right, ties


def summary(native: Kept, model: Kept) -> list[str]:
    lines = ["| mix | working set | routines | median error | within 10 % | pairs | winner named | tie |",
             "|---|---:|---:|---:|---:|---:|---:|---:|"]  # fmt: skip
    for mix in MIXES:
        both = [key for key in native if key[:2] == mix and key in model]
        errors = np.array([abs(model[key][1] / native[key][1] - 1) for key in both])
        decided, right, ties = pairs(native, model, mix)
        lines.append(
            f"| {mix[0]} | {mix[1] >> 10} KiB | {len(both)} | {np.median(errors):.1%} | {np.mean(errors <= 0.1):.0%} | "
            f"{decided} | {right / decided:.1%} | {ties / decided:.1%} |"
        )
    return [*lines, ""]


def fastest(native: Kept, model: Kept, mix: tuple[str, int], does: str) -> list[str]:
    """The fastest routines of the host, and their places in the model."""
    theirs, ours = (
        {key[2]: cycles for key, (job, cycles) in each.items() if key[:2] == mix and job == does}
        for each in (native, model)
    )
    places = sorted(ours, key=lambda name: ours[name])
    lines = [f"{does}, {mix[0]} in {mix[1] >> 10} KiB, cycles per call:", "",
             "| routine | host | simulated | place there |", "|---|---:|---:|---:|"]  # fmt: skip
    for name in sorted(theirs, key=lambda name: theirs[name])[:SHOWN]:
        beside = f"{ours[name]:.1f} | {places.index(name) + 1}" if name in ours else "- | -"
        lines.append(f"| {name} | {theirs[name]:.1f} | {beside} |")
    return [*lines, ""]


def main(arguments: list[str]) -> None:
    if not arguments or arguments[-1].startswith("-"):
        sys.exit("usage: scripts/native_mixes.py [--simulated] PRESET")
    preset = arguments[-1]
    folder = RESULTS / preset
    page, points = folder / "mixes.md", folder / "mixes.csv"
    if arguments[0] == "--simulated":
        native = read_native(points)
        host = next(line for line in page.read_text().splitlines() if line.startswith("Host: "))
        jobs = {name: does for (_, _, name), (does, _) in native.items()}
    else:
        info, (session, jobs) = cpu_info(), host_jobs()
        fit, native = fit_for(info), measured(session, jobs)
        core = fit.core if fit else "unknown"
        host = f"Host: {info.get('model name')}, family {info.get('cpu family')}, model {info.get('model')} ({core})."
        folder.mkdir(parents=True, exist_ok=True)
    model = simulated(preset, jobs)
    write_csv(points, native, model)
    lines = [
        f"# Mixes: {preset} beside the host's own processor", "",
        "Written by `python scripts/native_mixes.py`: calls in a row whose sizes are drawn at random "
        "([what a mix is](../../../docs/cli.md#mixes)), of every routine, on both with the same harness. "
        "No value of the preset was fitted to a mix. Every number: [mixes.csv](mixes.csv).", "",
        host, "", *machine_rows(preset), "",
        "A pair counts where the host has one of two routines that do the same ahead by more than "
        f"{LEAD - 1:.0%}; in the model, {TIE:.0%} and less is a tie.", "",
        *summary(native, model),
        *fastest(native, model, MIXES[1], "copy"), *fastest(native, model, MIXES[1], "checksum"),
        *fastest(native, model, MIXES[1], "set"),
    ]  # fmt: skip
    page.write_text("\n".join(lines).rstrip("\n") + "\n")
    print("\n".join(summary(native, model)))


if __name__ == "__main__":
    main(sys.argv[1:])
