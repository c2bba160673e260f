"""vectors2026: vector copies and sets of today's RISC-V cores, predicted. The definition is ``vectors2026.toml``, which
stood before anything of it was simulated and does not change; what came out, and why, is here."""

from __future__ import annotations

from defined import predicted

from breakeven.studies.study import Contents, Data, TableItem

#: claim -> why it did not come out, in a sentence; written after the first run
CAUSES: dict[str, str] = {
    "brpc-words-256": "57 cycles for 84: the board's library has bookkeeping that an unrolled loop has not.",
    "brpc-64": "Words take 16 cycles here and 57 there, as for brpc-words-256.",
    "brpc-256": "As brpc-words-256.",
    "base64-m8-3072": "None shown. Loads and stores of groups overlap out of order here.",
    "base64-3072": "As base64-m8-3072.",
    "base64-far": "None shown. Here both wait for the memory; on the board vectors lose threefold.",
    "pioneer-m1": "The second level bounds every group at 3.6 bytes a cycle here; its latency and its bus are assumed.",
    "pioneer-m4": "As pioneer-m1.",
    "pioneer-m8-against-m4": "As pioneer-m1: all groups wait for the same.",
    "set-x60-260": "None shown. 74 cycles for 55.",
    "set-x60-bytes": (
        "A turn takes five cycles for two: two retire, one is the fetch behind the taken branch, two are latency "
        "(`breakeven explain rv-memset-byte -m x60 --size 3976 --measure throughput`)."
    ),
    "set-x100-260": "32 cycles for 56: groups of one call overlap with the next call's here.",
    "lmul-x60-30": "None shown: as for 124 B.",
    "lmul-x60-124": "None shown. One group of four against turns of single registers gains more here.",
    "lmul-x100-31": "Beats of groups that are mostly empty overlap with the calls around them here.",
}

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
