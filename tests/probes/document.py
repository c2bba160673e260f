"""The page docs/presets-x86.md: every x86 preset's probes beside the rows of uarch.csv.

What the presets do is read from the baseline (tests/data/identity), which `scripts/identity --update` measures;
`scripts/docs --update` writes the page.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from breakeven.config.provenance import CALIBRATED
from breakeven.machine.presets import list_presets, load_machine
from tests.probes.comparison import PRESETS, Comparison, RowError, Sourced, comparison
from tests.probes.x86 import PROBES

REPO = Path(__file__).resolve().parents[2]
PAGE = REPO / "docs" / "presets-x86.md"
MARKER = "<!-- From here on written by scripts/docs from tests/data/identity/cycles.csv. -->\n"


@cache
def kept() -> dict[str, dict[str, float]]:
    """Preset -> probe -> what it comes to, by the baseline."""
    found: dict[str, dict[str, float]] = {}
    with (REPO / "tests/data/identity/cycles.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            preset, _, kind = row["group"].partition(" ")
            if kind == "probes" and row["run"] != "machine":
                found.setdefault(preset, {})[row["run"]] = float(row["cycles"])
    return found


def modelled(row: Sourced) -> float:
    """What a row's probe comes to on its preset."""
    try:
        return kept()[row.preset][row.probe]
    except KeyError:
        raise RowError(
            f"{row.preset}: {row.probe} is not measured: run scripts/identity --update {row.preset}"
        ) from None


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
    lines = [f"## {said.preset}\n{said.what}. Not modelled: {said.not_modelled}.\n"]
    lines += ["| row | unit | sourced | sure | used | preset |", "|---|---|---:|---|---|---:|"]
    lines += [line(row, use(said, row), modelled(row)) for row in said.rows]
    notes = [f"- {named(row.probe)}: {row.because}." for row in said.rows if row.because]
    notes += [f"- `{row}` is not probed: {why}." for row, why in said.left_out.items()]
    return "\n".join(lines) + "\n" + ("\n" + "\n".join(notes) + "\n" if notes else "")


def probes() -> str:
    """What each probe does."""
    lines = ["## The probes\n", "| row | unit | what the program does |", "|---|---|---|"]
    return (
        "\n".join(lines + [f"| {named(name)} | {probe.unit} | {probe.what} |" for name, probe in PROBES.items()]) + "\n"
    )


def page() -> str:
    """The page as it should be: its head is written by hand."""
    head = PAGE.read_text(encoding="utf-8").partition(MARKER)[0]
    return "\n".join([head + MARKER, *(section(comparison(preset)) for preset in PRESETS), probes()])
