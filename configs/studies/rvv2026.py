"""rvv2026: vector copies of today's RISC-V boards, predicted. The definition is ``rvv2026.toml``, which stood before
anything of it was simulated and does not change; what came out, and why, is here."""

from __future__ import annotations

from defined import predicted

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
    "x60-m2-38": "18 cycles a call for the board's 26; what the board waits for is not known.",
    "x60-m8-against-m2-38": "42 cycles a call against 18; the board's are 50 and 26.",
    "c908-bytes-4197": "As on the X60.",
    "c908-m1-4197": (
        "7.1 cycles a register for the board's 8.9. Beats that chain, sourced after the first run, took 0.3 off; what "
        "the board waits for is not known."
    ),
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

STUDY = predicted("rvv2026", "vector copies of today's RISC-V boards, predicted", CAUSES)
