"""boards2026: a kernel's memcpy on a board that traps, predicted. The definition is ``boards2026.toml``, which stood
before anything of it was simulated and does not change; what came out, and why, is here."""

from __future__ import annotations

from defined import predicted

#: claim -> why it did not come out, in a sentence; written after the first run
CAUSES: dict[str, str] = {}

STUDY = predicted("boards2026", "a kernel's memcpy on a board that traps, predicted", CAUSES)
