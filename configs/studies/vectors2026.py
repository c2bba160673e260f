"""vectors2026: vector copies and sets of today's RISC-V cores, predicted. The definition is ``vectors2026.toml``, which
stood before anything of it was simulated and does not change; what came out, and why, is here."""

from __future__ import annotations

from defined import predicted

from breakeven.studies.study import Contents, Data, TableItem

#: claim -> why it did not come out, in a sentence; written after the first run
CAUSES: dict[str, str] = {}

#: core -> its published fastest group by size (rvv-bench, the same sizes and offsets); left out: too coarsely measured
BEST = {
    "x60": ["m1", "m1", "m4", "m4", "m4", "m8", "m4", "m8", "m8", "m8"],
    "c908": ["", "", "m4", "m2", "m4", *["m8"] * 5],
    "x100": ["m1", "m1", "m4", "m4", "m2", "m2", "m2", "m4", "m4", "m4"],
    "x280": [""] * 9 + ["m8"],
    "c920": [""] * 10,
}
NEAR = 1.02  # times the least: as good


def groups(data: Data) -> Contents:
    """Which register group is fastest by size and core; those within 2 % of it are named, too."""
    rows, agree, known = [], 0, 0
    for core, published in BEST.items():
        grid = data.select(f"lmul-{core}")
        times = grid.groupby(["size", "routine"])["cycles"].mean().unstack()
        for size, best in zip(times.index, published, strict=True):
            least = float(times.loc[size].min())
            good = [name.rpartition("-")[2] for name in times.columns if times.loc[size, name] <= NEAR * least]
            rows.append([core, int(size), ", ".join(good), f"{size / least:.2f}", best])
            known += bool(best)
            agree += best in good
    columns = ("core", "bytes", "fastest here (within 2 %)", "B/cycle", "fastest on the board")
    values = {"agree": str(agree), "known": str(known)}
    return Contents(
        values, [TableItem("groups", "The fastest register group by size, both sides misaligned", columns, rows)], []
    )


STUDY = predicted("vectors2026", "vector copies and sets of RISC-V cores, predicted", CAUSES, groups)
