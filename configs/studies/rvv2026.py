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
CAUSES: dict[str, str] = {
    "x60-bytes-4216": (
        "Half of the six cycles a byte wait for its load (`explain rv-byte`): a store of this pipeline issues when its "
        "data have come; the board's three cycles leave no room for that."
    ),
    "x60-m8-4216-aligned": (
        "16 beats each way without a gap; the board's 50 cycles for eight registers are 14 more than the 16.6 and 19.6 "
        "that its load and its store take when timed alone."
    ),
    "x60-bytes-38": "As 4216 B.",
    "x60-m1-38": "The empty call is taken off here and is in the benchmark's rate: with its 14 cycles, 0.97 B/cycle.",
    "x60-m2-38": "The empty call is taken off here; with it, 1.96 B/cycle.",
    "x60-m8-38": "The empty call is taken off here; with it, 0.92 B/cycle.",
    "x60-m8-against-m2-38": "The empty call is taken off here; with it, 2.1 times.",
    "c908-bytes-4197": "As on the X60.",
    "x100-bytes-3993": "Four instructions a cycle are the only limit here; what holds the board at two is not known.",
    "x100-m1-3993": (
        "The store's beats are the only limit here; the board's 5.8 cycles a register are more than the 1.3 and 2.5 of "
        "its load and its store alone."
    ),
    "x100-m4-3993": "Eight beats of store here; the board's store of four registers takes 11 cycles when timed alone.",
    "x100-m8-3993": "16 beats of store here; the board's store of eight registers takes 17.2 cycles when timed alone.",
    "x100-m8-against-m4-3993": "Beats alone count here, and those of eight registers are twice those of four.",
    "x280-bytes-65536": "Six cycles a byte, as on the preset of the U74, whose core this is.",
    "x280-m1-65536": (
        "Half of the time is the second level's latency, a third its stores' (`explain`): that and the misses at a "
        "time are assumed, and no prefetcher is modelled."
    ),
    "x280-m8-65536": "As m1.",
    "x280-m1-against-m8-65536": "The second level limits both, and which group finds it idle is chance.",
}

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
