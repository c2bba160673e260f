"""boards2026: a kernel's memcpy on a board that traps, predicted. The definition is ``boards2026.toml``, which stood
before anything of it was simulated and does not change; what came out, and why, is here."""

from __future__ import annotations

from defined import predicted

#: claim -> why it did not come out, in a sentence; written after the first run
CAUSES: dict[str, str] = {
    "p550-misaligned": (
        "Nothing prefetches here: a window of 96 micro-ops holds 19 bytes of the byte loop, so that each line of source"
        " and destination is waited for (10 cycles a byte; the board's 4.2 are less than two misses of 272 a line)."
    ),
    "p550-aligned": "Sixteen words an iteration put more misses into the window than one; the board waits alike.",
    "p550-bytes-rate": "No prefetcher is modelled: see the first row.",
    "p550-merged-rate": "As the byte loop.",
    "p550-aligned-rate": "As the byte loop.",
}

STUDY = predicted("boards2026", "a kernel's memcpy on a board that traps, predicted", CAUSES)
