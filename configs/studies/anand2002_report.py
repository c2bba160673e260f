"""What anand2002 tells: tables, figures and the numbers of its text."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from anand2002_grids import (
    COPIES,
    DISPATCHERS,
    INTEL,
    LINE,
    LINE_CYCLES,
    MACHINES,
    MISALIGNED,
    MMX,
    MOVSL,
    PACKET,
    PAIRS,
    PENTIUM3,
    QUEUE_PAIRS,
    QUEUES,
    SIZE_PAIRS,
    SRC8,
    STATES,
    STREAM,
    STREAM_PAIRS,
    TIMES,
    WHAT_IFS,
    at_offsets,
)

from breakeven.engines.embedded import EmbeddedEngine, EmbeddedSession
from breakeven.points import MEASURES, STREAM_FLAGS, Point, index_of, stream_calls
from breakeven.studies.parts import overtaking, ratio
from breakeven.studies.study import Data, TableItem

#: what crosses the bus, or its address alone, for a line: statistics of the second level and of the memory
CROSSINGS = {
    "read": "system.l2.ReadSharedReq.mshrMisses::cpu.data",
    "read for ownership": "system.l2.ReadExReq.mshrMisses::cpu.data",
    "written back": "system.mem_ctrl.writeReqs",
    "only invalidated": "system.l2.InvalidateReq.mshrMisses::cpu.data",
}


def streamed(data: Data, routine: str, misaligned: bool) -> float:
    """Cycles of a packet when packet after packet moves through memory."""
    pairs = [pair for pair in STREAM_PAIRS if all(pair)] if misaligned else [(0, 0)]
    return statistics.median(
        data.cycles("stream", routine=routine, src_offset=src, dst_offset=dst) for src, dst in pairs
    )


def crossings(session: EmbeddedSession, routine: str, offset: int) -> dict[str, float]:
    """How often a line of the stream crosses the bus, by kind; both addresses `offset` past a page."""
    point = Point(
        routine, PACKET, offset, offset, measure=index_of(MEASURES, "stream", "measure"), warmup=1, repetitions=1,
        calls=stream_calls(STREAM, PACKET), flags=STREAM_FLAGS["moving"],
    )  # fmt: skip
    stats = {name: value for name, value, _, _ in session.measured(point).stats}
    lines = point.calls * PACKET / LINE
    return {kind: stats.get(name, 0.0) / lines for kind, name in CROSSINGS.items()}


def bus_session() -> EmbeddedSession:
    return EmbeddedEngine().open(PENTIUM3)


def bus_table(data: Data) -> TableItem:
    """What the bus does for a line in the stream, from the simulation's statistics, beside the cycles."""
    session = bus_session()
    published = {case: float(data.claims[claim].value) for claim, case in TIMES.items()}
    rows = []
    for routine in (MOVSL, INTEL, MMX):
        for misaligned in (False, True):
            times = crossings(session, routine, 4 if misaligned else 0)
            bus = LINE_CYCLES * sum(n for kind, n in times.items() if kind != "only invalidated")
            cycles = streamed(data, routine, misaligned) * LINE / PACKET
            said = published.get((routine, misaligned))
            rows.append([
                routine, "both misaligned" if misaligned else "both aligned", *(f"{n:.2f}" for n in times.values()),
                f"{bus:.0f}", f"{cycles:.0f}", f"{said * LINE / PACKET:.0f}" if said else "-",
            ])  # fmt: skip
    columns = ("routine", "addresses", *CROSSINGS, "the bus needs", "cycles", "published")
    caption = f"A line of {LINE} bytes, packet after packet: how often it crosses the bus, and cycles"
    return TableItem("bus", caption, columns, rows)


def what_if_table(data: Data) -> TableItem:
    """The stream with one thing otherwise."""
    cases = {"stream": "as it is", **{grid: what for grid, (what, _) in WHAT_IFS.items()}}
    kinds = ((MOVSL, (0, 0)), (MOVSL, (4, 4)), (INTEL, (4, 4)))
    rows = [
        [what, *(round(data.cycles(grid, routine=r, src_offset=s, dst_offset=d)) for r, (s, d) in kinds)]
        for grid, what in cases.items()
    ]
    columns = ("what is otherwise", f"{MOVSL}, aligned", f"{MOVSL}, both at 4", f"{INTEL}, both at 4")
    return TableItem("stream-what-if", f"{PACKET} bytes packet after packet on pentium3, cycles", columns, rows)


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
                median_and_range([at[p] for p in pairs])
                for at in (at_offsets(data, "offsets", routine, state) for state in STATES)
            ]
            long = round(streamed(data, routine, misaligned)) if routine in (MOVSL, INTEL, MMX) else "-"
            k7 = [
                median_and_range([at[p] for p in pairs])
                for at in (at_offsets(data, "offsets-k7", routine, state) for state in ("warm", "cold"))
            ]
            rows.append([routine, "both misaligned" if misaligned else "both aligned", *cycles, long, *k7])
    columns = ("routine", "addresses", *STATES, "in a stream", "k7 warm", "k7 cold")
    caption = f"{PACKET} bytes on pentium3 and k7, cycles: median over the offsets (least to most)"
    return TableItem("packet", caption, columns, rows)


def median_and_range(cycles: Sequence[float]) -> str:
    """Median, least and most of several offsets."""
    if len(cycles) == 1:
        return f"{cycles[0]:.0f}"
    return f"{statistics.median(cycles):.0f} ({min(cycles):.0f} to {max(cycles):.0f})"


def threshold_table(data: Data) -> TableItem:
    rows = []
    for name, (src, dst) in SIZE_PAIRS.items():
        at = {"src_offset": src, "dst_offset": dst}
        row: list[object] = [name, f"{src}/{dst}"]
        for challenger in (INTEL, SRC8, MMX):
            row.append(overtaking(data, "sizes", MOVSL, challenger, **at).threshold or "never")
        slower = ratio(data, "sizes", MOVSL, INTEL, size=4096, **at)
        row.append(f"{slower:.2f}")
        rows.append(row)
    columns = (
        "offsets", "src/dst", INTEL, SRC8, MMX,
        f"{MOVSL} / {INTEL} at 4096 B",
    )  # fmt: skip
    return TableItem("thresholds", f"Best size from which to use each in place of {MOVSL}, warm", columns, rows)


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
            ratios = [t / b for t, b in zip(times, best[state], strict=True)]
            row.append(f"{statistics.mean(ratios):.2f} ({max(ratios):.2f})")
        rows.append(row)
    caption = f"Time against the best copy at each of the 64 pairs: mean (worst), {PACKET} bytes on {name}"
    return TableItem(f"dispatchers-{name}", caption, ("choice", *STATES), rows)


def queues_table(data: Data) -> TableItem:
    """The same loop, called directly and through a dispatcher, by what holds it up."""
    rows = []
    for src, dst in QUEUE_PAIRS:
        row: list[object] = [f"{src}/{dst}"]
        for grid in ("offsets", *QUEUES):
            where = {"src_offset": src, "dst_offset": dst, **({"cache_state": "warm"} if grid == "offsets" else {})}
            row += [round(data.cycles(grid, routine=routine, **where)) for routine in (INTEL, SRC8)]
        rows.append(row)
    machines = ("as it is", *(what for what, _ in QUEUES.values()))
    columns = ("src/dst", *(f"{how}, {what}" for what in machines for how in ("directly", f"by {SRC8}")))
    return TableItem("queues", f"{PACKET} bytes by {INTEL}, warm, cycles", columns, rows)


def winners_figure(data: Data, grid: str) -> Callable[[Path], object]:
    """Which copy is fastest at each pair of offsets, by cache state."""

    def draw(path: Path) -> None:
        import numpy as np

        from breakeven.studies.winner_map import winner_map

        panels = {}
        for state in STATES:
            cells = {routine: at_offsets(data, grid, routine, state) for routine in COPIES}
            panels[state] = {
                routine: np.array([[of[(src, dst)] for dst in range(8)] for src in range(8)])
                for routine, of in cells.items()
            }
        machine = next(name for name, (its, _) in MACHINES.items() if its == grid)
        winner_map(
            path, panels, title=f"Who wins, {PACKET} bytes on {machine}",
            caption=f"{machine}, latency, by what the caches hold. The number: times faster than the next.",
        )  # fmt: skip

    return draw


def findings(data: Data) -> dict[str, str]:
    def single(routine: str, state: str, misaligned: bool = True) -> float:
        cells = at_offsets(data, "offsets", routine, state)
        return statistics.median(cells[pair] for pair in (MISALIGNED if misaligned else [(0, 0)]))

    lines = PACKET / LINE
    published = {claim: float(data.claims[claim].value) for claim in TIMES}
    warm = [published[claim] / single(routine, "warm", misaligned) for claim, (routine, misaligned) in TIMES.items()]
    stream = {claim: streamed(data, routine, misaligned) for claim, (routine, misaligned) in TIMES.items()}
    registers, mmx = (at_offsets(data, "offsets", routine, "warm") for routine in (INTEL, MMX))
    warm_mmx = [registers[p] / mmx[p] for p in MISALIGNED]
    return {
        "warm_off": f"{min(warm):.1f} to {max(warm):.1f}",
        "lines": f"{lines:.2f}",
        "line_window": f"{data.cycles('window', routine=MOVSL, src_offset=4, dst_offset=4) / lines:.0f}",
        "near": f"{data.cycles('latency', routine=INTEL, src_offset=4, dst_offset=4):.0f}",
        "smooth": f"{data.cycles('turnaround', routine=INTEL, src_offset=4, dst_offset=4):.0f}",
        "bus_two": f"{2 * LINE_CYCLES * lines:.0f}",
        "bus_three": f"{3 * LINE_CYCLES * lines:.0f}",
        "line_slow": f"{stream['movsl-misaligned'] / lines:.0f}",
        "fast_over": f"{stream['movsl-aligned'] / published['movsl-aligned']:.2f}",
        "slow_over": f"{stream['movsl-misaligned'] / published['movsl-misaligned']:.2f}",
        "registers_over": f"{stream['integer-misaligned'] / published['integer-misaligned']:.2f}",
        "registers_bus": f"{3 * LINE_CYCLES * lines / stream['integer-misaligned']:.0%}",
        "mmx_warm": f"{statistics.median(warm_mmx):.2f}",
        "mmx_cold": f"{single(INTEL, 'cold') / single(MMX, 'cold'):.2f}",
        "worst": f"{max(slowdowns(data, 'offsets')):.1f}",
    }
