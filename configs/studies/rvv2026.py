"""rvv2026: vector copies of today's RISC-V boards, predicted. The definition is ``rvv2026.toml``, which stood before
anything of it was simulated and does not change; this file runs it, judges by it, and says what came out."""

from __future__ import annotations

import tomllib
from pathlib import Path

from defined import bounds, ledger, sweep

from breakeven.errors import UserError
from breakeven.studies.study import (
    ABSOLUTE_FACTOR,
    RATIO_TOLERANCE,
    REPRODUCED,
    TIE,
    Contents,
    Data,
    Study,
    Verdict,
    judge_absolute,
    judge_ratio,
)

NAME = "rvv2026"
DEFINITION = tomllib.loads(Path(__file__).with_name(f"{NAME}.toml").read_text(encoding="utf-8"))
ROWS = DEFINITION["claims"]
#: claim -> why it did not come out, in a sentence; written after the first run
CAUSES: dict[str, str] = {}

GRIDS = {name: (grid["for"], sweep(grid)) for name, grid in DEFINITION["grids"].items()}


def cycles(data: Data, point: list) -> float:
    """Cycles per call of a point: the mean over the grid's offsets."""
    grid, routine, where = point
    return float(data.select(grid, routine=routine, **where)["cycles"].mean())


def judge(data: Data) -> list[Verdict]:
    had = DEFINITION["tolerances"]
    if had != {"ratio": RATIO_TOLERANCE, "absolute": ABSOLUTE_FACTOR, "tie": TIE}:
        raise UserError(f"study {NAME} was defined with other tolerances: {had}")
    return [verdict(data, claim, row) for claim, row in ROWS.items()]


def verdict(data: Data, claim: str, row: dict) -> Verdict:
    published, _ = bounds(data.claims[claim].value)
    if row["judge"] == "rate":
        rate = row["point"][2]["size"] / cycles(data, row["point"])
        shown, simulated, came = f"{published:g} B/cycle", f"{rate:.2f} B/cycle", judge_absolute(published, rate)
    else:
        ratio = cycles(data, row["over"]) / cycles(data, row["under"])
        shown, simulated, came = f"{published:.2f} times", f"{ratio:.2f} times", judge_ratio(published, ratio)
    return Verdict(claim, shown, simulated, came, "" if came == REPRODUCED else CAUSES.get(claim, ""))


def contents(data: Data) -> Contents:
    machines = {name: grid["machine"] for name, grid in DEFINITION["grids"].items()}
    rows = {claim: {**row, "machine": machines[row.get("point", row.get("over"))[0]]} for claim, row in ROWS.items()}
    return ledger(NAME, rows, judge(data), "machine")


STUDY = Study(NAME, "rvv2026: vector copies of today's RISC-V boards, predicted", GRIDS, judge, contents)
