"""The stream measure: chunk after chunk into one large buffer."""

from __future__ import annotations

import pytest

from breakeven.engines.embedded import EmbeddedEngine
from breakeven.engines.run_points import run_points
from breakeven.points import OUT_OF_RANGE, STREAM, STREAM_FLAGS, Point
from breakeven.points.machine_spec import MachineSpec

pytestmark = pytest.mark.slow

pytest.importorskip("breakeven._engine")

MOVING, UNTOUCHED, READER = STREAM_FLAGS.values()
HUGE = 1
#: of every kind, on both instruction sets
ROUTINES = [
    ("atomic", "rv-word"), ("atomic", "rv-copy-user-2021"), ("atomic", "rv-do-csum-2024"),
    ("x86_atomic", "sol-kcopy-nta"), ("x86_atomic", "x64-copy-unrolled"), ("x86_atomic", "x64-csum-herbert"),
    ("x86_atomic", "x64-csumcopy-kleen"), ("atomic", "rv-memset-word"), ("atomic", "rvv-memmove-m8"),
    ("x86_atomic", "x64-memset-stosb"), ("x86_atomic", "x64-memmove-words"), ("x86_atomic", "ucx-memcpy-relaxed"),
]  # fmt: skip


def stream(routine: str, size: int, calls: int, **options: int) -> Point:
    """A stream measured once, without a warm-up."""
    return Point(routine, size, measure=STREAM, calls=calls, repetitions=1, warmup=0, **options)


@pytest.mark.parametrize(("machine", "routine"), ROUTINES)
def test_every_kind_of_stream_is_right(machine: str, routine: str) -> None:
    """Odd sizes and offsets: the last chunk lies anywhere; one, two and many calls."""
    session = EmbeddedEngine().open(MachineSpec(machine))
    flags = [0, MOVING, MOVING | UNTOUCHED, READER, MOVING | UNTOUCHED | READER | HUGE, HUGE]
    asked = [
        stream(routine, size, calls, flags=each, src_offset=src, dst_offset=dst)
        for each in flags
        for size, calls in ((256, 1), (1000, 2), (4099, 33))
        for src, dst in ((0, 0), (8, 3))
    ]
    for point, result in zip(asked, run_points(session, asked), strict=True):
        assert result.ok, (point, result.problem)


def test_what_a_stream_adds_is_counted() -> None:
    """A reader loads a word a line; a page that appears costs its zeroing: 512 words a page, eight a turn."""
    session = EmbeddedEngine().open(MachineSpec("x86_atomic"))
    plain, reader, untouched, twice = run_points(
        session,
        [
            stream("x64-copy-unrolled", 4096, 8, flags=MOVING),
            stream("x64-copy-unrolled", 4096, 8, flags=MOVING | READER),
            stream("x64-copy-unrolled", 4096, 8, flags=MOVING | UNTOUCHED),
            stream("x64-copy-unrolled", 4096, 16, flags=MOVING),
        ],
    )
    lines, pages = 8 * 64, 8
    assert lines <= reader.instructions - plain.instructions <= 4 * lines + 8 * 40
    assert pages * 512 <= untouched.instructions - plain.instructions <= pages * 1200
    assert abs(twice.instructions - 2 * plain.instructions) <= 64


@pytest.mark.parametrize(("machine", "routine"), [("atomic", "rv-word"), ("x86_atomic", "x64-copy-unrolled")])
def test_a_page_that_appears_takes_a_kernels_way(machine: str, routine: str) -> None:
    """Beside the zeroing: registers, region, frame, descriptor, walk, lists. A 2 MiB page has 512 descriptors."""
    session = EmbeddedEngine().open(MachineSpec(machine))
    pages = 1024
    there, small, large = (
        run_points(session, [stream(routine, 4096, pages, flags=MOVING | flags)])[0].instructions
        for flags in (0, UNTOUCHED, UNTOUCHED | HUGE)
    )
    # The source lies in three pages of 2 MiB, which are zeroed whole: nearly all that they cost.
    zeroing = (large - there) / (3 * 512)
    assert 500 <= zeroing <= 1000
    assert 250 <= (small - there) / pages - zeroing <= 600


def test_what_a_trap_takes_the_processor_is_paid_by_each_fault() -> None:
    """`cpu.trapLatency`, of any length: two of them differ by the difference a fault."""
    pages = 16
    point = stream("x64-copy-unrolled", 4096, pages, flags=MOVING | UNTOUCHED)
    short, long = (
        run_points(EmbeddedEngine().open(MachineSpec("x86_o3", (f"cpu.trapLatency={trap}",))), [point])[0]
        for trap in (100, 1100)
    )
    assert pages * 1000 * 0.95 <= long.cycles_median - short.cycles_median <= (pages + 1) * 1000 * 1.05


def test_a_stream_repeats_with_its_pages_untouched_again() -> None:
    """The second measurement meets the same faults as the first."""
    session = EmbeddedEngine().open(MachineSpec("x86_atomic"))
    once = stream("x64-copy-unrolled", 4096, 8, flags=MOVING | UNTOUCHED)
    again = Point("x64-copy-unrolled", 4096, measure=STREAM, calls=8, repetitions=3, warmup=1, flags=once.flags)
    first, third = run_points(session, [once, again])
    assert third.ok and third.instructions == first.instructions


def test_streams_out_of_range() -> None:
    """The guest refuses what Python would not have sent."""
    session = EmbeddedEngine().open(MachineSpec("x86_atomic"))
    bad = [
        stream("x64-copy-unrolled", 1 << 20, 64, src_offset=1),
        Point("x64-copy-unrolled", 64, measure=STREAM, calls=4, fault_at=3),
    ]
    assert [result.status for result in run_points(session, bad)] == [0, OUT_OF_RANGE]
    with pytest.raises(ValueError, match="stream"):
        stream("x64-copy-unrolled", 1 << 20, 65).validate()
    with pytest.raises(ValueError, match="moving"):
        Point("x64-copy-unrolled", 64, flags=MOVING).validate()
