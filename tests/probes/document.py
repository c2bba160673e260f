"""Writes the generated part of docs/presets-x86.md: every x86 preset's probes beside the rows of uarch.csv.

`python -m tests.probes.document` (scripts/presets-x86) measures all presets; with names only theirs, which it also
prints: the others' parts stay as they are.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from breakeven.config.provenance import CALIBRATED
from breakeven.machine.presets import list_presets, load_machine
from tests.probes.comparison import PRESETS, Comparison, Sourced, comparison
from tests.probes.x86 import PROBES, Machine

PAGE = Path(__file__).resolve().parents[2] / "docs" / "presets-x86.md"
MARKER = "<!-- From here on written by scripts/presets-x86. -->\n"


def shown(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{round(value, 3 if abs(value) < 1 else 2):.3g}"


def named(probe: str) -> str:
    """A probe's name as the page has it."""
    if probe.startswith("-"):
        return probe.removeprefix("- ")
    row, _, variant = probe.partition(" ")
    return f"`{row}` {variant}".strip()


@cache
def citations() -> dict[str, str]:
    """What the presets use rows for: `set` (a parameter has the row's number) or `calibrated`."""
    found: dict[str, str] = {}
    for preset in list_presets():
        for obj in load_machine(preset.name).descendants():
            for said in filter(None, map(obj.provenance, obj.set_names())):
                if said.row:
                    found[said.row] = "calibrated" if said.mark == CALIBRATED else found.get(said.row, "set")
    return found


def use(said: Comparison, row: Sourced) -> str:
    """What the preset, or the one it is made of, uses the row for."""
    keys = (f"{cpu}/{row.probe.partition(' ')[0]}" for cpu in (said.cpu, said.like))
    return next((citations()[key] for key in keys if key in citations()), "") if row.compared else ""


def line(row: Sourced, used: str, measured: float) -> str:
    mark = " *" if row.compared and not row.agrees(measured) else ""
    sourced = row.text.replace("..", " to ")
    cells = (named(row.probe), PROBES[row.probe].unit, sourced, row.confidence, used, f"{shown(measured)}{mark}")
    return f"| {' | '.join(cells)} |"


def section(said: Comparison) -> str:
    """A preset's part of the page."""
    machine = Machine(said.preset)
    measured = [(row, PROBES[row.probe].model(machine)) for row in said.rows]
    lines = [f"## {said.preset}\n{said.what}. Not modelled: {said.not_modelled}.\n"]
    lines += ["| row | unit | sourced | sure | used | preset |", "|---|---|---:|---|---|---:|"]
    lines += [line(row, use(said, row), value) for row, value in measured]
    notes = [f"- {named(row.probe)}: {row.because}." for row, _ in measured if row.because]
    notes += [f"- `{row}` is not probed: {why}." for row, why in said.left_out.items()]
    return "\n".join(lines) + "\n" + ("\n" + "\n".join(notes) + "\n" if notes else "")


def probes() -> str:
    """What each probe does."""
    lines = ["## The probes\n", "| row | unit | what the program does |", "|---|---|---|"]
    return (
        "\n".join(lines + [f"| {named(name)} | {probe.unit} | {probe.what} |" for name, probe in PROBES.items()]) + "\n"
    )


def parts() -> dict[str, str]:
    """The generated part of the page, by heading."""
    generated = PAGE.read_text(encoding="utf-8").partition(MARKER)[2]
    return {part.partition("\n")[0]: f"## {part}" for part in generated.removeprefix("\n").split("## ") if part.strip()}


def stored(preset: str) -> dict[str, tuple[str, float]]:
    """What the page has on a preset: by row, what is sourced and what the preset did."""
    rows = [line.strip("| ").split(" | ") for line in parts().get(preset, "").splitlines() if line.startswith("| ")]
    return {cells[0]: (cells[2].strip(), float(cells[-1].removesuffix(" *"))) for cells in rows[1:]}


def main() -> None:
    names = sys.argv[1:]
    measured = {name: section(comparison(name)) for name in names or PRESETS}
    if names:
        print("\n".join(measured.values()))
    kept = {name: text.rstrip("\n") + "\n" for name, text in parts().items() if names and name in PRESETS}
    sections = (text for _, text in sorted({**kept, **measured}.items()))
    head = PAGE.read_text(encoding="utf-8").partition(MARKER)[0]
    PAGE.write_text("\n".join([head + MARKER, *sections, probes()]), encoding="utf-8")


if __name__ == "__main__":
    main()
