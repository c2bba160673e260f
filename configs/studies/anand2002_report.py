"""What anand2002 tells: tables, figures and the numbers of its text."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

from anand2002_grids import (
    COPIES,
    DISPATCHERS,
    INTEL,
    MACHINES,
    MISALIGNED,
    MMX,
    MOVSL,
    PACKET,
    PAIRS,
    SIZE_PAIRS,
    SRC8,
    STATES,
    STREAM_PAIRS,
    at_offsets,
)

from breakeven.study import Data, TableItem
from breakeven.study_parts import overtaking, ratio


def streamed(data: Data, routine: str, misaligned: bool) -> float:
    """Cycles of a packet when packet after packet moves through memory."""
    pairs = [pair for pair in STREAM_PAIRS if all(pair)] if misaligned else [(0, 0)]
    return statistics.median(
        data.cycles("stream", routine=routine, src_offset=src, dst_offset=dst) for src, dst in pairs
    )


def slowdowns(data: Data, grid: str) -> list[float]:
    """The worse of the two copies over the better, at each pair of offsets and cache state."""
    found = []
    for state in STATES:
        movsl, registers = (at_offsets(data, grid, routine, state) for routine in (MOVSL, INTEL))
        found += [max(movsl[p], registers[p]) / min(movsl[p], registers[p]) for p in PAIRS]
    return found


def packet_table(data: Data) -> TableItem:
    rows = []
    for routine in COPIES:
        for misaligned in (False, True):
            pairs = MISALIGNED if misaligned else [(0, 0)]
            cycles = [
                round(statistics.median(at_offsets(data, "offsets", routine, state)[p] for p in pairs))
                for state in STATES
            ]
            long = round(streamed(data, routine, misaligned)) if routine in (MOVSL, INTEL, MMX) else "-"
            k7 = [
                round(statistics.median(at_offsets(data, "offsets-k7", routine, state)[p] for p in pairs))
                for state in ("warm", "cold")
            ]
            rows.append([routine, "both misaligned" if misaligned else "both aligned", *cycles, long, *k7])
    columns = ("routine", "addresses", *STATES, "in a stream", "k7 warm", "k7 cold")
    return TableItem("packet", f"{PACKET} bytes on pentium3 and k7, cycles (median over offsets)", columns, rows)


def threshold_table(data: Data) -> TableItem:
    rows = []
    for name, (src, dst) in SIZE_PAIRS.items():
        at = {"src_offset": src, "dst_offset": dst}
        row: list[object] = [name, f"{src}/{dst}"]
        for challenger in (INTEL, SRC8, MMX):
            found = overtaking(data, "sizes", MOVSL, challenger, **at)
            row += [found.first or "never", found.threshold or "never"]
        slower = ratio(data, "sizes", MOVSL, INTEL, size=4096, **at)
        row.append(f"{slower:.2f}")
        rows.append(row)
    columns = (
        "offsets", "src/dst", *(f"{what}: {routine}" for routine in (INTEL, SRC8, MMX) for what in ("first", "best")),
        f"{MOVSL} / {INTEL} at 4096 B",
    )  # fmt: skip
    return TableItem("thresholds", f"From which size on each beats {MOVSL}, warm", columns, rows)


def dispatcher_table(data: Data, name: str) -> TableItem:
    """Time over the whole grid of each choice against always the best copy."""
    grid, _ = MACHINES[name]
    rows = []
    best = {}
    for state in STATES:
        each = [at_offsets(data, grid, routine, state).values() for routine in COPIES]
        best[state] = [min(cell) for cell in zip(*each, strict=True)]
    for routine in [*COPIES, *DISPATCHERS]:
        row: list[object] = [routine]
        for state in STATES:
            times = at_offsets(data, grid, routine, state).values()
            row.append(f"{statistics.mean(t / b for t, b in zip(times, best[state], strict=True)):.2f}")
        rows.append(row)
    caption = f"Time against the best copy at each of the 64 pairs (mean), {PACKET} bytes on {name}"
    return TableItem(f"dispatchers-{name}", caption, ("choice", *STATES), rows)


def offsets_figure(data: Data, grid: str, state: str) -> Callable[[Path], object]:
    def draw(path: Path) -> None:
        import numpy as np

        from breakeven import plots

        panels = {}
        for routine in [MOVSL, INTEL, MMX, *DISPATCHERS]:
            cells = at_offsets(data, grid, routine, state)
            panels[routine] = np.array([[cells[(src, dst)] for dst in range(8)] for src in range(8)])
        machine = next(name for name, (its, _) in MACHINES.items() if its == grid)
        plots.heat_maps(
            path, panels, title=f"{PACKET} bytes at every pair of offsets, {state}", log=True,
            caption=f"{machine}, {state}, latency, cycles per call; one logarithmic grey scale, darker is slower.",
        )  # fmt: skip

    return draw


def findings(data: Data) -> dict[str, str]:
    cold = {
        (routine, kind): statistics.median(at_offsets(data, "offsets", routine, "cold")[p] for p in pairs)
        for routine in (MOVSL, INTEL, MMX)
        for kind, pairs in (("aligned", [(0, 0)]), ("misaligned", MISALIGNED))
    }
    lines = PACKET / 32
    published = {
        "movsl-aligned": (MOVSL, [(0, 0)]),
        "movsl-misaligned": (MOVSL, MISALIGNED),
        "integer-misaligned": (INTEL, MISALIGNED),
    }
    warm = [
        float(data.claims[claim].value)
        / statistics.median(at_offsets(data, "offsets", routine, "warm")[pair] for pair in pairs)
        for claim, (routine, pairs) in published.items()
    ]
    warm_mmx = [
        at_offsets(data, "offsets", INTEL, "warm")[p] / at_offsets(data, "offsets", MMX, "warm")[p] for p in MISALIGNED
    ]
    return {
        "warm_off": f"{min(warm):.1f} to {max(warm):.1f}",
        "line_fast": f"{cold[MOVSL, 'aligned'] / lines:.0f}",
        "line_slow": f"{cold[MOVSL, 'misaligned'] / lines:.0f}",
        "line_registers": f"{cold[INTEL, 'misaligned'] / lines:.0f}",
        "mmx_warm": f"{statistics.median(warm_mmx):.2f}",
        "mmx_cold": f"{cold[INTEL, 'misaligned'] / cold[MMX, 'misaligned']:.2f}",
        "stream_fast": f"{streamed(data, MOVSL, False):.0f}",
        "stream_slow": f"{streamed(data, MOVSL, True):.0f}",
        "stream_registers": f"{streamed(data, INTEL, True):.0f}",
        "worst": f"{max(slowdowns(data, 'offsets')):.1f}",
    }
