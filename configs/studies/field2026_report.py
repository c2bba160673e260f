"""What field2026 tells. Its definition, which stood before the first simulation, is `field2026`."""

from __future__ import annotations

from collections.abc import Mapping

from breakeven.studies.study import Contents, Data, TableItem

#: claim -> (why it did not come out, the experiment that shows it); written after the first run
CAUSES = {
    "one-past-a-power": (
        "both ways are the preset's, a byte a cycle and 28 bytes a cycle; the published quotient is between "
        "other paces",
        "`-d 0`, `-d 1`",
    ),
    "go-2048": (
        "vectors copy 44 bytes a cycle on Golden Cove, six micro-ops wide, where Ice Lake has five; REP MOVSB starts "
        "with 32 cycles",
        "`breakeven compare x64-fsrm-inline llvm-libc-memcpy-avx2 -m goldencove`",
    ),
    "go-4096": ("as go-2048", "the same"),
    "ucx-4096": (
        "Zen 3 copies 32 bytes a cycle by these vectors; by 16-byte ones, as Zen 2's library may have, 1.85",
        "`glibc-vec-erms-sse2 --parameter 1073741824`",
    ),
    "ucx-16384": (
        "as ucx-4096; by 16-byte vectors 1.84",
        "the same",
    ),
    "boundary-128": (
        "back to back both ways are bound by their four stores: 10.0 cycles each",
        "`-n 127,128 --measure throughput --calls 64`",
    ),
    "probe": (
        "misaligned accesses of the C910 are assumed to cost one cycle at a line's end; with three the words "
        "take 7 % more, and 4000 cycles would come out",
        "`--set cpu.misaligned.line_cross_load=3`",
    ),
    "shift-of-aligned": (
        "the copy waits for memory, aligned or not: at half the bandwidth the quotient is the same",
        "`--set mem_ctrl.bandwidth=2GiB/s`",
    ),
    "line-skylake": (
        "a call takes 8.0 cycles, of which the copy is one or two, and a crossing of 10 cycles each way is hidden "
        "behind the next call",
        "`--set cpu.misaligned.line_cross_store=10 --set cpu.misaligned.line_cross_load=10`: 1.00",
    ),
    "line-sandy-bridge": (
        "as line-skylake",
        "the same: 1.00",
    ),
}


def contents(data: Data, expected: Mapping[str, str]) -> Contents:
    rows = [[claim, data.claims[claim].cpu, text] for claim, text in expected.items()]
    table = TableItem("expected", "Before the first simulation", ("claim", "answered by", "expected"), rows)
    why = [[claim, *told] for claim, told in CAUSES.items()]
    causes = TableItem("causes", "What did not come out", ("claim", "why", "shown by"), why)
    return Contents({}, [table, causes], [])
