"""Mixes: many calls of different sizes in a row, the same ones on every engine; each checked, none learnt by heart."""

from __future__ import annotations

import collections
import hashlib
import random
import shutil
import struct
from pathlib import Path

import pytest

from breakeven import api
from breakeven import points as pt
from breakeven.engines.native import NativeEngine
from breakeven.errors import UserError
from breakeven.files.binaries import guest_elf
from breakeven.files.data import find_data
from breakeven.points.mix import SPEC2017_ALIGNED, Mix, mix_of
from breakeven.points.record import lists_of
from tests.cli.conftest import _engine_is_built

from .guest_points import OUT_OF_RANGE
from .test_guests import run_qemu as run_riscv_qemu
from .test_guests_x86 import run_qemu

pytestmark = pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")

#: what holds many kinds of calls and takes few instructions; the machines that execute one instruction at a time
MIX, WORKING_SET = mix_of("0..40,100,301,1448", calls=60, align=1), 4096
ATOMIC = {"riscv": "atomic", "x86": "x86_atomic"}


def calls_in(packed: bytes) -> list[tuple[int, int, int]]:
    """Size and both offsets of a list's calls."""
    return list(struct.iter_unpack("<III", packed[16:]))


def records_of(isa: str, mix: Mix = MIX, working_set: int = WORKING_SET, **more: int) -> list[bytes]:
    """A point of the mix for each routine of an instruction set."""
    drawn = mix.drawn(working_set)
    names = [routine.name for routine in api.routines(ATOMIC[isa]) if not routine.missing_extension]
    given = {"size": working_set, "calls": drawn.calls, "mix": drawn.name, "measure": pt.MIX} | more
    return [pt.Point(name, **given).pack() for name in names]


# What is drawn


def test_the_calls_are_the_same_on_every_host() -> None:
    """A store keeps results by them: another version of Python must draw what this one did."""
    drawn = mix_of("spec2017").drawn(65536)
    assert hashlib.sha256(drawn.packed).hexdigest()[:16] == "9e0a92a1e476ab62"
    assert mix_of("spec2017", seed=2).drawn(65536).name != drawn.name
    assert mix_of("spec2017").drawn(65536) == drawn


def test_sizes_and_places_are_drawn_as_the_distribution_says() -> None:
    drawn = mix_of("spec2017", calls=65536).drawn(1 << 20)
    calls = calls_in(drawn.packed)
    sizes = collections.Counter(size for size, _, _ in calls)
    assert sizes[32] / len(calls) == pytest.approx(0.341, abs=0.01)
    assert sum(count for size, count in sizes.items() if 257 <= size <= 1024) / len(calls) == pytest.approx(
        0.075, abs=0.005
    )
    assert drawn.total == sum(size * count for size, count in sizes.items())
    assert all(max(src, dst) + size <= 1 << 20 for size, src, dst in calls)
    for side, shares in ((1, SPEC2017_ALIGNED[0]), (2, SPEC2017_ALIGNED[1])):
        # An offset drawn as a multiple of 8 is one of 16 half the time, and so on.
        for align in shares:
            wanted = sum(share * min(1, a / align) for a, share in shares.items()) / sum(shares.values())
            assert sum(call[side] % align == 0 for call in calls) / len(calls) == pytest.approx(wanted, abs=0.01)


def test_offsets_are_multiples_of_what_is_asked() -> None:
    calls = calls_in(mix_of("1..64", calls=500, align=24).drawn(4096).packed)
    assert {offset % 24 for call in calls for offset in call[1:]} == {0}
    assert len({src for _, src, _ in calls}) > 100


@pytest.mark.parametrize(
    ("text", "more", "size", "message"),
    [
        ("nosuch", {}, 4096, "there is no mix 'nosuch'"),
        ("9..3", {}, 4096, "there is no mix '9..3'"),
        ("spec2017", {}, 4000, "does not fit into a working set of 4000: give a size of 4095 and more"),
        ("1..64", {"calls": 0}, 4096, "calls 0 is out of range"),
        ("1..64", {"calls": 65537}, 4096, "calls 65537 is out of range: 1 to 65536 for a mix"),
        ("1..64", {"align": 5000}, 4096, "align 5000 is out of range"),
        ("1..64", {"src": 1}, 4096, "a mix draws the offsets of its calls"),
        ("1..64", {"cache": "cold"}, 4096, "cache state cold is not of the mix measure"),
        ("1..64", {"measure": "throughput"}, 4096, "a mix is a measure of its own: leave out measure throughput"),
        ("1..64", {"stream": "moving"}, 4096, "are of the stream measure"),
        ("1..64", {"distance": 4}, 4096, "a distance is of the measures latency and throughput"),
        ("0", {}, 0, "a mix is spread over 1 byte and more"),
        ("", {"measure": "mix"}, 4096, "the mix measure needs what is mixed"),
        ("", {"align": 8}, 4096, "align 8 is of a mix"),
    ],
)
def test_what_cannot_be_mixed_is_refused(text: str, more: dict, size: int, message: str) -> None:
    with pytest.raises(UserError, match=message.replace("(", "\\(")):
        api.run("rv-word", size, mix=text, store=False, **more)
    with pytest.raises(UserError, match=message.replace("(", "\\(")):
        api.sweep("rv-word", size, mix=text, store=False, **more)


# What the guests do


@pytest.mark.slow
@pytest.mark.parametrize("isa", ATOMIC)
@pytest.mark.parametrize("reader", [0, pt.STREAM_FLAGS["reader"]])
def test_every_routine_is_right_in_a_mix(isa: str, reader: int) -> None:
    session = _sweep(isa)
    records = records_of(isa, flags=reader)
    results = pt.unpack_results(session.run(b"".join(records), lists=lists_of(b"".join(records))))
    kinds = {routine.name: routine.kind for routine in api.routines(ATOMIC[isa])}
    for record, result in zip(records, results, strict=True):
        name = record[:40].rstrip(b"\0").decode()
        if reader and kinds[name] in ("checksum", "crc32c", "adler32"):
            assert result.status == OUT_OF_RANGE
            continue
        assert result.ok and result.cycles_median > MIX.calls, (name, result.problem)


def _sweep(isa: str, guest: str = ""):
    from breakeven import _engine
    from breakeven.m5 import canonical
    from breakeven.machine.presets import describe_machine

    elf = find_data("guests", guest).read_bytes() if guest else guest_elf(isa)
    return _engine.Sweep(canonical(describe_machine(ATOMIC[isa])), elf)


@pytest.mark.parametrize("isa", ATOMIC)
def test_a_routine_that_is_wrong_at_one_call_is_found_out(isa: str) -> None:
    """Each of the broken routines of the guests' own tests that is wrong in a plain call is so in a mix."""
    session, names = _sweep(isa, f"{isa}-broken.elf"), []
    from breakeven import _engine

    for row in _engine.routines(find_data("guests", f"{isa}-broken.elf").read_bytes()):
        if row["kind"] in ("copy", "checksum"):
            names.append(row["name"])
    drawn = mix_of("100", calls=8, align=1).drawn(4096)
    plain = [pt.Point(name, 100, 3, 5).pack() for name in names]
    mixed = [pt.Point(name, 4096, measure=pt.MIX, calls=8, mix=drawn.name).pack() for name in names]
    one, other = (
        pt.unpack_results(session.run(b"".join(each), lists=lists_of(b"".join(each)))) for each in (plain, mixed)
    )
    assert {result.status for result in one} >= {0, 1}
    for name, a, b in zip(names, one, other, strict=True):
        assert a.ok == b.ok, (name, a.problem, b.problem)


@pytest.mark.parametrize("isa", ATOMIC)
def test_lists_that_do_not_fit_are_refused_and_the_next_point_runs(isa: str) -> None:
    session = _sweep(isa)
    routine = {"riscv": "rv-word", "x86": "x64-memcpy-orig"}[isa]
    good = MIX.drawn(WORKING_SET)

    def listed(*calls: tuple[int, int, int], name: int = 5, count: int | None = None) -> bytes:
        body = b"".join(struct.pack("<III", *call) for call in calls)
        return struct.pack("<QQ", name, len(calls) if count is None else count) + body

    def status(lists: bytes, calls: int = 1) -> int:
        bad = pt.Point(routine, WORKING_SET, measure=pt.MIX, calls=calls, mix=5).pack()
        right = pt.Point(routine, WORKING_SET, measure=pt.MIX, calls=good.calls, mix=good.name).pack()
        one, other = pt.unpack_results(session.run(bad + right, lists=good.packed + lists))
        assert other.ok
        return one.status

    assert status(listed((8, 0, 0))) == 0
    for lists, calls in (
        (b"", 1),
        (listed((8, 0, 0), name=6), 1),
        (listed((8, 0, 0)), 2),
        (listed((8, 0, 0), count=2), 2),
        (listed((8, 0, 0), count=0), 1),
        (listed((8, 0, 0), name=6, count=1 << 63) + listed((8, 0, 0)), 1),
        (listed((8, WORKING_SET - 7, 0)), 1),
        (listed((8, 0, WORKING_SET - 7)), 1),
        (listed((0xFFFFFFFF, 1, 0)), 1),
        (listed((1, 0xFFFFFFFF, 0)), 1),
        (listed((8, 0, 0))[:-1], 1),
    ):
        assert status(lists, calls) == OUT_OF_RANGE, lists


def test_a_point_is_the_same_whatever_ran_before_and_with_any_number_of_threads() -> None:
    names = ["rv-word", "rv-byte", "rv-memcpy-croce-c"]
    first = api.sweep(names, [4096, 16384], mix="1..300", calls=50, machines="u74", threads=1, store=False)
    again = api.sweep(names[::-1], [16384, 4096], mix="1..300", calls=50, machines="u74", threads=2, store=False)
    order = ["routine", "size"]
    one, other = (table.sort_values(order).reset_index(drop=True) for table in (first, again))
    assert one.equals(other[one.columns]) and one["ok"].all()
    assert set(one["mix"]) == {"1..300"}


def test_the_store_answers_the_second_time(tmp_path: Path) -> None:
    asked = {"mix": "1..300", "calls": 50, "store": tmp_path / "s.sqlite"}
    assert api.sweep("rv-word", 4096, **asked).attrs["simulated"] == 1
    assert api.sweep("rv-word", 4096, **asked).attrs["simulated"] == 0
    assert api.sweep("rv-word", 4096, **asked | {"align": 8}).attrs["simulated"] == 1


def test_one_size_at_one_place_takes_what_calls_in_a_row_take() -> None:
    """The loop over the list adds a few cycles to a call, and no more."""
    for machine, routine in (("minor", "rv-word"), ("zen5", "x64-memmove-avx2")):
        row = api.run(routine, 64, machine=machine, measure="throughput", store=False)
        mixed = api.run(routine, 64, machine=machine, mix="64", align=64, calls=500, store=False)
        assert abs(mixed.cycles_median / 500 - row.cycles_median / row.point.calls) < 10


def test_orders_differ_from_measurement_to_measurement() -> None:
    """No predictor learns which of two sizes comes next, though the calls of all measurements are the same."""
    asked = {"machine": "zen5", "align": 64, "store": False, "repetitions": 5}
    mixed = api.run("x64-memmove-words", 4096, mix="8,200", calls=4096, **asked)
    alone = [api.run("x64-memmove-words", 4096, mix=size, calls=4096, **asked) for size in ("8", "200")]
    mean = sum(one.cycles_median for one in alone) / 2
    assert mixed.cycles_median > mean + 4 * 4096 and mixed.cycles_min < mixed.cycles_median


# Engines that we did not write


@pytest.mark.slow
@pytest.mark.qemu
@pytest.mark.skipif(shutil.which("qemu-system-riscv64") is None, reason="no qemu-system-riscv64")
def test_qemu_finds_every_riscv_routine_right(tmp_path: Path) -> None:
    # qemu 7.2 has no Zicboz.
    records = b"".join(record for record in records_of("riscv") if b"zicboz" not in record[:40])
    qemu = run_riscv_qemu(tmp_path, pt.points_file(records, lists_of(records)))
    ours = pt.unpack_results(_sweep("riscv").run(records, lists=lists_of(records)))
    assert [(one.status, one.ret, one.instructions) for one in qemu] == [
        (one.status, one.ret, one.instructions) for one in ours
    ]


@pytest.mark.slow
@pytest.mark.qemu
@pytest.mark.skipif(shutil.which("qemu-system-x86_64") is None, reason="no qemu-system-x86_64")
def test_qemu_finds_every_x86_routine_right(tmp_path: Path) -> None:
    records = [record for record in records_of("x86") if b"avx512" not in record[:40]]
    joined = b"".join(records)
    code, results = run_qemu(tmp_path, pt.points_file(joined, lists_of(joined)), cpu="max")
    assert code == 0 and len(results) == len(records)
    assert [result.problem for result in results] == [""] * len(records)


def test_the_host_makes_the_same_calls() -> None:
    """The harness as a Linux program: every routine right, whatever it takes."""
    try:
        engine = NativeEngine()
    except UserError as error:
        pytest.skip(str(error))
    names = [routine.name for routine in engine.routines() if not routine.missing_extension and not routine.origin]
    table = api.sweep(
        random.Random(1).sample(names, min(20, len(names))), WORKING_SET, mix="0..40,1448", calls=60, align=1,
        engine="native",
    )  # fmt: skip
    assert table["ok"].all(), table[~table["ok"]]
