"""The binary formats against the table in docs/guests.md, and what a point may not be."""

import struct

import pytest

from breakeven import points as pt
from breakeven.errors import UserError

# docs/guests.md, written down a second time on purpose
POINT_OFFSETS = {
    "routine": 0, "size": 40, "src_offset": 48, "dst_offset": 52, "cache_state": 56, "measure": 60, "repetitions": 64,
    "calls": 68, "size2": 72, "src_offset2": 80, "dst_offset2": 84, "warmup": 88, "seed": 92, "fault_at": 96,
    "flags": 104, "parameter": 108, "distance": 112, "mix": 120, "reserved": 116,
}  # fmt: skip
RESULT_OFFSETS = {
    "index": 0, "status": 4, "cycles_min": 8, "cycles_median": 16, "cycles_total": 24, "instructions": 32, "ret": 40,
    "detail": 48, "overhead": 56,
}  # fmt: skip


def test_layout_is_the_contract():
    assert {name: field[1] for name, field in pt.point_dtype().fields.items()} == POINT_OFFSETS
    assert {name: field[1] for name, field in pt.result_dtype().fields.items()} == RESULT_OFFSETS
    assert (pt.POINT_BYTES, pt.RESULT_BYTES) == (128, 64)
    assert (pt.point_dtype().itemsize, pt.result_dtype().itemsize) == (128, 64)


def test_record_bytes():
    record = pt.Point("rv-word", 1448, src_offset=3, dst_offset=5, seed=9, flags=1).pack()
    assert len(record) == 128
    assert record[:8] == b"rv-word\0"
    assert struct.unpack_from("<QII", record, 40) == (1448, 3, 5)
    assert struct.unpack_from("<IQI", record, 92) == (9, pt.NO_FAULT, 1)
    assert record[108:] == bytes(20) and pt.Point("rv-word", 64, measure=pt.MIX, mix=5).pack()[116:] == struct.pack(
        "<IQ", 0, 5
    )
    record = pt.Point("sol-bcopy", 1448, parameter=768).pack()
    assert struct.unpack_from("<I", record, 108) == (768,)


def test_file_round_trip():
    points = [pt.Point("a", 1), pt.Point("b", 2, measure=1, calls=16, fault_at=1 | pt.FAULT_IN_DESTINATION)]
    assert pt.unpack(pt.points_file(pt.pack(points))) == points
    lists = struct.pack("<QQ6I", 5, 2, 8, 0, 0, 9, 1, 2) + struct.pack("<QQ3I", 6, 1, 1, 0, 0)
    assert pt.unpack(pt.points_file(pt.pack(points), lists)) == points
    for broken in (lists[:-1], lists[:20], bytes(16), lists + b"\1"):
        with pytest.raises(UserError):
            pt.unpack(pt.points_file(pt.pack(points), broken))


@pytest.mark.parametrize("data", [b"", b"BEPOINTS", b"x" * 32, pt.points_file(b"")[:-8] + b"\1" * 8 + b"z"])
def test_broken_files_are_refused(data):
    with pytest.raises(UserError):
        pt.unpack(data)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"size": -1}, "size"),
        ({"size": (1 << 24) + 1}, "size"),
        ({"src_offset": 4096}, "src_offset"),
        ({"dst_offset": -1}, "dst_offset"),
        ({"cache_state": len(pt.CACHE_STATES)}, "cache_state"),
        ({"cache_state": 6, "measure": pt.STREAM}, "l2 is not of the stream measure"),
        ({"repetitions": 0}, "repetitions"),
        ({"calls": 2}, "calls"),
        ({"warmup": 10**7}, "warmup"),
        ({"seed": 1 << 32}, "seed"),
        ({"parameter": 1 << 32}, "parameter"),
        ({"fault_at": 101}, "fault_at"),
        ({"routine": ""}, "routine"),
        ({"routine": "x" * 40}, "routine"),
        ({"routine": "a\0b"}, "routine"),
        ({"size": 1.5}, "size"),
    ],
)
def test_ranges_are_named(change, named):
    with pytest.raises(pt.PointError, match=named) as error:
        pt.Point(**{"routine": "rv-word", "size": 100, **change}).pack()
    assert "\n" not in str(error.value)


def test_fault_index_may_name_the_page_after_the_end():
    pt.Point("u", 100, fault_at=100).validate()


def test_status_in_words():
    assert pt.describe_status(0, 0) == ""
    assert "byte: 7" in pt.describe_status(1, 7)
    assert "deadlock" in pt.describe_status(7, 3)
    assert "BREAKEVEN_MEMOIZE=off" in pt.describe_status(7, 5)
    assert "destination-1" in pt.describe_status(6, (1 << 64) - 1)
    assert "destination+64" in pt.describe_status(6, 64)
    assert "mask 0x5" in pt.describe_status(6, 1 << 62 | 5)
    assert "left open" in pt.describe_status(6, 1 << 62 | 1 << 32)
    assert "source" in pt.describe_status(6, 1 << 61)
    assert "99" in pt.describe_status(99, 0)
