"""The generated blocks of the pages, by name; each is made from files of this repository alone."""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import gem5_agreement as agreement

RESULTS = agreement.REPO / "results"
CORES = [(isa, cpu) for isa in agreement.ISAS for cpu in agreement.CPUS]


def table(columns: Iterable[str], rows: Iterable[Iterable[Any]], numbers: Iterable[int] = ()) -> str:
    """A Markdown table; `numbers`: the columns that are set flush right."""
    columns, right = list(columns), set(numbers)
    marks = ("---:" if i in right else "---" for i in range(len(columns)))
    lines = [f"| {' | '.join(columns)} |", f"|{'|'.join(marks)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


@cache
def _cycles() -> dict[tuple[str, str], dict[str, tuple[float, float]]]:
    """(instruction set, core) -> kernel -> gem5's cycles and ours."""
    stored = agreement.stored()
    return {key: {pair.kernel: (pair.gem5, pair.ours) for pair in stored[key]["cycles"]} for key in CORES}


def _errors(isa: str, cpu: str) -> dict[str, float]:
    """Kernel -> difference of cycles in per cent."""
    return {kernel: 100 * (ours - gem5) / gem5 for kernel, (gem5, ours) in _cycles()[isa, cpu].items()}


def agreement_summary() -> str:
    rows = []
    for isa, cpu in CORES:
        errors, bound = _errors(isa, cpu), agreement.bounds()[isa, cpu]
        rows.append(
            [
                f"{agreement.TITLES[cpu]}, {agreement.ISA_TITLES[isa]}",
                sum(error == 0 for error in errors.values()),
                bound.within_2,
                f"{bound.median} %",
                f"{errors[bound.kernel]:+.1f} % (`{bound.kernel}`)",
                bound.cause,
            ]
        )
    columns = ("core", "kernels with gem5's cycles, of 34", "within 2 %", "median difference", "largest", "its cause")
    return table(columns, rows, (1, 2, 3))


def agreement_sentence() -> str:
    of = {cpu: agreement.bounds()["rv64", cpu] for cpu in agreement.CPUS}
    return (
        f"Where gem5 models hardware plainly, the cycles agree with its own: over 34 RISC-V kernels by "
        f"{max(bound.median for bound in of.values())} % in the\nmedian, at worst by {of['minor'].worst} % (in order) "
        f"and {of['o3'].worst} % (out of order). [Table and causes](docs/gem5-agreement.md)."
    )


def agreement_cycles() -> str:
    parts = []
    for isa, title in agreement.ISA_TITLES.items():
        head = ["kernel"]
        for cpu in agreement.CPUS:
            head += [f"{agreement.TITLES[cpu]}, gem5", "ours", "%"]
        rows = []
        for kernel in _cycles()[isa, "timing"]:
            row: list[Any] = [kernel]
            for cpu in agreement.CPUS:
                gem5, ours = _cycles()[isa, cpu][kernel]
                row += [f"{gem5:.0f}", f"{ours:.0f}", f"{100 * (ours - gem5) / gem5:+.2f}"]
            rows.append(row)
        parts += [f"{title}:", table(head, rows, range(1, 10))]
    return "\n\n".join(parts)


def agreement_counts() -> str:
    return agreement.render(agreement.stored())


def presets() -> str:
    """Of each x86 preset: rows that are sure, and how many it meets."""
    from tests.probes.comparison import PRESETS, SURE, comparison
    from tests.probes.document import modelled, use

    shown = []
    for preset in PRESETS:
        said = comparison(preset)
        sure = [row for row in said.rows if row.confidence in SURE]
        own = [row for row in sure if not use(said, row)]
        met, predicted = (sum(row.agrees(modelled(row)) for row in kept) for kept in (sure, own))
        shown.append([f"`{preset}`", len(sure), met, len(own), predicted])
    columns = ("preset", "sure rows", "within 10 %", "neither set nor calibrated", "within 10 %")
    return table(columns, shown, range(1, 5))


def native() -> str:
    """The hosts that results/native has a page of."""
    text = (RESULTS / "native" / "README.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return re.sub(r"\]\((\w)", r"](../results/native/\1", "\n".join(lines))


def claims() -> str:
    """How many of the published rows came out."""
    text = (RESULTS / "README.md").read_text(encoding="utf-8")
    lines = [line for line in text.partition("[The ledger]")[0].splitlines() if line.startswith("|")]
    return "\n".join(lines)


def blind() -> str:
    """A sentence on the blind studies."""
    from breakeven.studies.ledger import BLIND

    told = []
    for study in sorted(BLIND):
        if not (RESULTS / study / "verdicts.csv").exists():
            continue  # defined, and not run yet
        with (RESULTS / study / "verdicts.csv").open(newline="", encoding="utf-8") as file:
            verdicts = [row["verdict"] for row in csv.DictReader(file)]
        judged = [verdict for verdict in verdicts if verdict != "not simulated"]
        told.append(f"{judged.count('reproduced')} of {len(judged)} rows of `{study}`")
    return f"Blind predictions were defined before anything of them ran. Reproduced are {' and '.join(told)}."


def speed() -> str:
    """Host speed, as `scripts/bench` measured it."""
    kept = json.loads((RESULTS / "speed.json").read_text(encoding="utf-8"))
    numbers = kept["numbers"]
    cores = [("AtomicSimple", "atomic"), ("TimingSimple", "timing"), ("Minor", "minor"), ("O3", "o3")]
    rows = [[name, numbers[f"riscv.{key}.mips"], numbers[f"x86.{key}.mips"], kept["gem5"][key]] for name, key in cores]
    loops = ("loop.o3.rv-word", "loop.x86_o3.x64-memcpy-orig")
    rows.append(["O3, a warm loop over 16 KiB", *(numbers[f"{loop}.mips"] for loop in loops), ""])
    columns = ("million simulated instructions a second", "RISC-V", "x86-64", "gem5.fast 24.0, RISC-V")
    return (
        f"{table(columns, rows, (1, 2, 3))}\n\n{kept['where']}.\nA warm point of 1448 bytes with 3 measurements (the "
        f"default is 21) takes {numbers['point_ms']} ms on `u74` and {numbers['o3_point_ms']} ms on `o3`. "
        f"{vector_loops(numbers)}"
    )


def vector_loops(numbers: dict[str, float]) -> str:
    """The vector loops on out-of-order cores: the slowest, the fastest, and what memoized execution gives."""
    loops = sorted(
        (value, *key.split(".")[1:3]) for key, value in numbers.items() if re.match(r"loop.*rvv.*mips$", key)
    )
    slowest, fastest = (f"{value} (`{routine}` on `{machine}`)" for value, machine, routine in (loops[0], loops[-1]))
    ratios = [numbers[f"loop.{machine}.{routine}.ratio"] for _, machine, routine in loops]
    return (
        f"RVV loops on O3: from {slowest} to {fastest} million instructions a second, {min(ratios)} to {max(ratios)} "
        "times what it is without memoized execution."
    )


def load_to_use() -> str:
    """What the presets state; tests/timing holds it to what is measured."""
    from breakeven.machine.presets import list_presets

    rows = []
    for preset in list_presets():
        stated = re.search(r"^LOAD_TO_USE = (\{.*?\})", preset.path.read_text(encoding="utf-8"), re.MULTILINE)
        if stated:
            levels = ast.literal_eval(stated[1])
            rows.append([f"`{preset.name}`", *(levels.get(level, "") for level in ("L1", "L2", "L3", "L4"))])
    return table(("cycles, load to use", "L1", "L2", "L3", "L4"), rows, (1, 2, 3, 4))


def known_family() -> str:
    """The shortest preset that is built from another one's file."""
    text = (agreement.REPO / "configs" / "machines" / "x60.py").read_text(encoding="utf-8")
    return f"```python\n{text}```"


BLOCKS: dict[str, Callable[[], str]] = {
    "agreement": agreement_summary,
    "agreement-sentence": agreement_sentence,
    "agreement-cycles": agreement_cycles,
    "agreement-counts": agreement_counts,
    "presets": presets,
    "native": native,
    "claims": claims,
    "blind": blind,
    "speed": speed,
    "load-to-use": load_to_use,
    "known-family": known_family,
}
