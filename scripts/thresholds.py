"""Writes results/thresholds: each threshold of `tune --target` on the cores that ship: what it gains, where it loses.

`python scripts/thresholds.py [TARGET...]`; without names all. A run of all takes a quarter of an hour on two cores. The
page is of the machines as they are: a preset that changes wants it again (tests/test_docs.py).
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

from breakeven.engines.open import open_named
from breakeven.m5 import machine_hash
from breakeven.machine.presets import describe_machine
from breakeven.points.machine_spec import MachineSpec
from breakeven.tuning.targets import TARGETS, Answer, answer

RESULTS = Path(__file__).resolve().parent.parent / "results" / "thresholds"
X86 = ("zen3", "zen4", "zen5", "goldencove", "lioncove", "crestmont")
VECTORS = ("c908", "c920", "x60", "x100", "x280")
CORES = {
    "glibc-rep-movsb": X86, "glibc-non-temporal": ("skylake", "zen4", "goldencove"), "kernel-fsrm": X86,
    "go-memmove": X86, "kernel-riscv-v": VECTORS, "rvv-memcpy": VECTORS,
}  # fmt: skip
COLUMNS = ["target", "machine", "way", "threshold", "loss", "today", "today_loss", "worst_size", "worst", "line"]


def answers(names: list[str]) -> Iterator[Answer]:
    with open_named("embedded", None, None, False) as engine:
        for name in names:
            for machine in CORES[name]:
                yield answer(TARGETS[name], MachineSpec(machine), engine)


def kept() -> dict[tuple[str, str], dict[str, str]]:
    """The rows of the last run, by target and machine."""
    file = RESULTS / "thresholds.csv"
    if not file.is_file():
        return {}
    with file.open(newline="") as rows:
        return {(row["target"], row["machine"]): row for row in csv.DictReader(rows)}


def table(rows: list[dict[str, str]]) -> list[str]:
    lines = [
        "| core | from | way above | loses | today's loses | gains | at worst | line |",
        "|---|---:|---|---:|---:|---:|---|---|",
    ]
    for row in rows:
        size = f"{row['threshold']} B" if row["threshold"] else "never"
        loss, today, worst = (float(row[name]) for name in ("loss", "today_loss", "worst"))
        place = f"{worst:.0%} at {row['worst_size']} B" if worst else "-"
        line = "<br>".join(f"`{part}`" for part in row["line"].splitlines())
        cells = (row["machine"], size, row["way"], f"{loss:.1%}", f"{today:.1%}", f"{today - loss:.1%}", place, line)
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def machine_rows() -> list[str]:
    """The machines and their settings with the hash of each description."""
    found = {}
    for name, machines in CORES.items():
        for machine in machines:
            settings = list(TARGETS[name].settings)
            found[" ".join([machine, *settings])] = machine_hash(describe_machine(machine, settings))[:16]
    return ["| machine | description |", "|---|---|", *(f"| {name} | `{digest}` |" for name, digest in found.items())]


ABOUT = """# Thresholds that others ship, core by core

Written by `python scripts/thresholds.py` ([how](../../docs/tune.md#thresholds-that-others-ship)): below a size
one way, from it on another. *From* is the size that loses least. A loss is a share of the better way's time, averaged
over the sizes and offsets tried, each alike. *Gains* is what today's threshold loses less that. *At worst*: where the
threshold found loses most. Rows: [thresholds.csv](thresholds.csv).
"""


def section(name: str, rows: dict[tuple[str, str], dict[str, str]]) -> list[str]:
    target = TARGETS[name]
    today = {None: "never", 0: "at every size"}.get(target.today, f"from {target.today} B on")
    sizes = f"{len(target.sizes)} sizes from {target.sizes[0]} to {target.sizes[-1]} B"
    offsets = ", ".join(f"{src}/{dst}" for src, dst in target.pairs)
    tried = f"{sizes}, source and destination at {offsets}, {target.cache}, {target.measure}"
    about = f"{target.what[0].upper()}{target.what[1:]}; today {today}. {tried}."
    return [f"## {name}", "", about, "", *table([rows[name, machine] for machine in CORES[name]])]


def page(rows: dict[tuple[str, str], dict[str, str]]) -> str:
    sections = [line for name in CORES for line in section(name, rows)]
    return "\n".join([ABOUT, *sections, "## What was run", "", *machine_rows(), ""])


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/thresholds.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"these alone of {', '.join(CORES)}")
    names = parser.parse_args().targets or list(CORES)
    if unknown := set(names) - set(CORES):
        parser.error(f"there is no target {min(unknown)}: one of {', '.join(CORES)}")
    rows = kept()
    for found in answers(names):
        row = {name: "" if value is None else str(value) for name, value in found.as_dict().items()}
        rows[row["target"], row["machine"]] = row
        print(f"{row['target']} on {row['machine']}: {row['line'].splitlines()[0]}", flush=True)
    RESULTS.mkdir(parents=True, exist_ok=True)
    ordered = [rows[name, machine] for name, machines in CORES.items() for machine in machines]
    with (RESULTS / "thresholds.csv").open("w", newline="") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(ordered)
    (RESULTS / "README.md").write_text(page(rows))


if __name__ == "__main__":
    main()
