"""fsrm2026: whether `rep movsb` is safe where FSRM is advertised, predicted. The definition is ``fsrm2026.toml``, which
stood before anything of it was simulated and does not change; what came out, and why, is here."""

from __future__ import annotations

from defined import predicted

from breakeven.studies.study import Contents, Data, TableItem

#: claim -> why it did not come out, in a sentence; written after the first run
CAUSES: dict[str, str] = {
    "glibc-intel": (
        "A start of 32 cycles, then 64 bytes a cycle, 50 where the sides lie in different parts of a line, against "
        "43 to 48 by vectors: from 8 KiB on with equal parts, from 16 KiB on everywhere."
    ),
    "glibc-small": (
        "15 bytes a cycle, as measured, against 16 to 28 by vectors; sides in different parts of a line cost the "
        "string engine what they do on Broadwell, which is assumed."
    ),
    "kernel-intel": (
        "Back to back, registers copy 16 bytes in 7 cycles and REP MOVSB in 16; at all other sizes it wins."
    ),
    "kernel-amd": (
        "Back to back, REP MOVSB takes 30 cycles up to 100 bytes and 65 of 128; from 512 on it wins by 1.4 to 2.5."
    ),
    "left-shift": "No mode of this preset asks for a distance.",
    "left-shift-by-parameter": (
        "Without a mode that takes it a byte goes by microcode in six cycles, as on Broadwell, which is assumed; the "
        "published pace is about a cycle."
    ),
}

CORES = ("zen3", "zen4", "zen5", "goldencove", "sapphirerapids", "lioncove", "crestmont", "skymont")
MOVSB, VECTORS = "x64-fsrm-inline", "llvm-libc-memcpy-avx2"


def by_offset(data: Data) -> Contents:
    """REP MOVSB's time over the vectors' by core, offsets and size."""
    rows, worst = [], {}
    for core in CORES:
        grid = data.select(core)
        times = grid.set_index(["src_offset", "dst_offset", "size", "routine"])["cycles"].unstack()
        ratio = (times[MOVSB] / times[VECTORS]).unstack()
        for (src, dst), line in ratio.iterrows():
            rows.append([core, f"+{src}", f"+{dst}", *(f"{value:.2f}" for value in line)])
        worst[core] = float(ratio.max().max())
    columns = ("core", "source", "destination", *(f"{size} B" for size in ratio.columns))
    values = {"worst": ", ".join(f"{core} {value:.3g}" for core, value in worst.items())}
    return Contents(values, [TableItem("offsets", "Time of REP MOVSB over that of 32-byte vectors", columns, rows)], [])


STUDY = predicted("fsrm2026", "is rep movsb safe where FSRM is advertised, predicted", CAUSES, by_offset)
