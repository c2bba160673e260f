"""The chapter of tsukamoto2021's report on what came later, and what would have flipped its conclusion."""

from __future__ import annotations

from tsukamoto2021_grids import CLASSES, EMULATE, LATER, LATER_MACHINES, NEW, NOALIGN, OLD, PACKET
from tsukamoto2021_report import slope, two, what_if_curve

from breakeven.studies.parts import changes
from breakeven.studies.study import Data, Flip, TableItem


def later_table(data: Data) -> TableItem:
    """Each later copy against the one of 2021, and who wins."""
    rows = []
    for name in LATER_MACHINES:
        for offsets, (src, dst) in CLASSES.items():
            at = {"size": PACKET, "src_offset": src, "dst_offset": dst}
            grid = f"later-{name.replace(', ', '-')}"
            times = {routine: data.cycles(grid, routine=routine, **at) for routine in (OLD, NEW, *LATER)}
            best = min(times, key=lambda routine: times[routine])
            rows.append([name, offsets, round(times[NEW]), *(two(times[NEW] / times[r]) for r in LATER), best])
    columns = (
        "core, misaligned accesses",
        "offsets",
        f"{NEW}, cycles",
        *(f"{r}: times faster" for r in LATER),
        "fastest",
    )
    return TableItem("later", f"{PACKET} bytes, warm: what came later against {NEW}", columns, rows)


def flips(data: Data) -> list[Flip]:
    """The trap's cost from which shifting pays."""
    found = []
    at = {"src_offset": 3, "dst_offset": 0}
    trap = 8 * (slope(data, "trap", NOALIGN, **at) - slope(data, "free", NOALIGN, **at))
    for rival in (NEW, OLD):
        cost, cycles = what_if_curve(data, PACKET, (3, 0))
        level = data.cycles("offsets", routine=rival, size=PACKET, **at)
        equal = changes(cost, cycles, [level] * len(cost))
        shown = f"{equal[0][0]:g} or less" if equal else f"nowhere in {cost[0]:g}..{cost[-1]:g}"
        conclusion = f"{rival} beats plain words at {PACKET} bytes, source misaligned (u74)"
        found.append(Flip(conclusion, EMULATE, f"a trap: about {trap:.0f}", shown, "what-if"))
    return found
