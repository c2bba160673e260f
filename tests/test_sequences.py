"""Sequences: a copy and a checksum of the same bytes as one routine; verified as one, asked for like one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from breakeven import api
from breakeven import points as pt
from breakeven.errors import UserError
from breakeven.files.binaries import guest_elf
from breakeven.files.data import find_data
from breakeven.points import sequence as sq
from breakeven.points.mix import mix_of
from breakeven.points.record import lists_of
from breakeven.routine.contract import check_contract
from tests.cli.conftest import _engine_is_built

from .guest_points import DAMAGE, OUT_OF_RANGE, UNEXPECTED_TRAP, UNKNOWN_ROUTINE, WRONG_OUTPUT, WRONG_RETURN

pytestmark = pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")

ATOMIC = {"riscv": "atomic", "x86": "x86_atomic"}
COPY_SUM = "copy+checksum:rv-copy-user-2021,csum-generic-c"
#: user copies, plain ones, a move; routines with a parameter, routines of vectors
ALL = {
    "riscv": (
        COPY_SUM, "checksum+copy:csum-generic-c,rv-copy-user-2021", "copy+checksum:rvv-memcpy-m8,rvv-csum-m4",
        "checksum+copy:rv-do-csum-2024,rv-memmove-word",
    ),
    "x86": (
        "copy+checksum:x64-copy-erms-threshold,x64-csum-adx", "checksum+copy:x64-csum-avx2,x64-copy-erms",
        "copy+checksum:x64-memcpy-avx512,x64-csum-avx512",
    ),
}  # fmt: skip


# How they are named


def test_a_record_names_both_routines_and_the_order() -> None:
    """The store's keys are records: these bytes must stay what they are."""
    record = pt.Point(COPY_SUM, 64).pack()
    assert record[:40] == b"copy+checksum:8a38ef81,3ae8b659".ljust(40, b"\0")
    assert pt.routine_in(record) == COPY_SUM
    assert pt.unpack(pt.points_file(record))[0] == pt.Point(COPY_SUM, 64)
    other = pt.Point("checksum+copy:csum-generic-c,rv-copy-user-2021", 64).pack()
    assert other[:40] == b"checksum+copy:3ae8b659,8a38ef81".ljust(40, b"\0")


def test_a_plain_routine_s_record_is_as_it_was() -> None:
    assert pt.Point("rv-word", 64).pack()[:40] == b"rv-word".ljust(40, b"\0")


def test_no_two_routines_have_one_hash() -> None:
    names = {routine.name for machine in ATOMIC.values() for routine in api.routines(machine)}
    assert len({sq.hash_of(name) for name in names}) == len(names) > 100


def test_a_name_that_nobody_knows_stays_a_hash() -> None:
    assert pt.routine_in(b"copy+checksum:00000001,00000002".ljust(128, b"\0")) == "copy+checksum:00000001,00000002"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("copy+checksum:rv-word", "is no sequence: give copy+checksum:COPY,CHECKSUM"),
        ("copy+checksum:rv-word,csum-generic-c,rv-byte", "is no sequence"),
        ("copy+sum:rv-word,csum-generic-c", "is no sequence"),
        ("copy+checksum:,csum-generic-c", "routine '' cannot be a name"),
        (f"copy+checksum:rv-word,{'c' * 40}", "cannot be a name: 1 to 39 bytes"),
        ("copy+checksum:rv-word,checksum+copy:a", "holds two routines, and no other sequence"),
        ("copy+checksum:rv-wrd,csum-generic-c", "there is no routine 'rv-wrd'; did you mean 'rv-word'"),
        ("copy+checksum:rv-word,rv-byte", "rv-byte is a copy routine: name one there that computes the Internet"),
        ("copy+checksum:csum-generic-c,rv-word", "csum-generic-c is a checksum routine: name one there that copies"),
        ("copy+checksum:rv-memset-word,csum-generic-c", "rv-memset-word is a set routine: name one there that copies"),
        ("copy+checksum:copy,csum-generic-c", "copy stands for several routines: name one"),
        ("checksum+copy:all,rv-word", "all stands for several routines: name one"),
        ("copy+checksum:*,csum-generic-c", "there is no routine '*'"),
        ("copy+checksum:x64-byte,csum-generic-c", "x64-byte is an x86-64 routine; u74 is RISC-V: give -m"),
        ("copy+checksum:rvv-memcpy-m1,csum-generic-c", "rvv-memcpy-m1 on u74: it needs V"),
    ],
)
def test_what_is_no_sequence_is_refused_in_a_sentence(name: str, message: str) -> None:
    for ask in (api.run, api.sweep):
        with pytest.raises(UserError, match=re.escape(message)) as caught:
            ask(name, 64, machine="u74", store=False) if ask is api.run else ask(name, 64, machines="u74", store=False)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("given", "what"), [({"routine_parameter": 3}, "parameter"), ({"distance": 8}, "distance")])
def test_what_belongs_to_one_routine_is_refused(given: dict, what: str) -> None:
    for ask in (api.run, api.sweep):
        with pytest.raises(UserError, match=f"is a sequence, and a {what} is of one routine: leave it out"):
            ask(COPY_SUM, 64, store=False, **given)


# What the guests do


def _sweep(isa: str, guest: str = ""):
    from breakeven import _engine
    from breakeven.machine.resolve import resolve
    from breakeven.routine.contract import checking_machine

    elf = find_data("guests", guest).read_bytes() if guest else guest_elf(isa)
    return _engine.Sweep(resolve(checking_machine(isa)).text, elf)


def _results(isa: str, records: list[bytes], guest: str = "") -> list[pt.Result]:
    data = b"".join(records)
    return pt.unpack_results(_sweep(isa, guest).run(data, lists=lists_of(data)))


@pytest.mark.slow
@pytest.mark.parametrize(("isa", "name"), [(isa, name) for isa, names in ALL.items() for name in names])
def test_a_sequence_keeps_the_contract(isa: str, name: str) -> None:
    assert check_contract(isa, guest_elf(isa), name, "copy-checksum") > 20000


@pytest.mark.slow
@pytest.mark.parametrize("isa", ATOMIC)
def test_a_sequence_is_right_under_every_measure(isa: str) -> None:
    drawn = mix_of("0..40,100,301,1448", calls=60, align=1).drawn(4096)
    given = [{"measure": 1, "calls": 4}, {"measure": 2, "calls": 4, "size2": 99}, {"measure": 3, "calls": 9}]
    given += [{"measure": 3, "calls": 9, "flags": flags} for flags in (4, 24)]
    given += [{"cache_state": state} for state in range(len(pt.CACHE_STATES))]
    given += [{"measure": pt.MIX, "calls": 60, "mix": drawn.name, "flags": flags} for flags in (0, 16)]
    points = [pt.Point(name, 4096, **each) for name in ALL[isa] for each in given]
    for point, result in zip(points, _results(isa, [point.pack() for point in points]), strict=True):
        assert result.ok, (point, result.problem)


@pytest.mark.parametrize(
    ("isa", "copy", "size", "seed", "status"),
    [
        ("riscv", "whole", 1, 1, 0),
        ("riscv", "whole", 2, 1, WRONG_RETURN),
        ("riscv", "broken-short", 1, 1, (WRONG_RETURN, WRONG_OUTPUT)),
        ("riscv", "broken-after", 1, 1, DAMAGE),
        ("riscv", "broken-s3", 1, 1, DAMAGE),
        ("riscv", "broken-wild", 1, 1, UNEXPECTED_TRAP),
        ("riscv", "broken-return", 1, 1, WRONG_RETURN),
        ("riscv", "broken-user", 1, 1, DAMAGE),
        ("x86", "whole", 100, 0xFFFFFFFE, 0),
        ("x86", "whole", 100, 1, WRONG_RETURN),
        ("x86", "broken-short", 100, 0xFFFFFFFE, WRONG_OUTPUT),
        ("x86", "broken-r12", 100, 0xFFFFFFFE, DAMAGE),
        ("x86", "broken-direction", 100, 0xFFFFFFFE, DAMAGE),
    ],
)
@pytest.mark.parametrize("order", sq.ORDERS)
def test_a_wrong_part_is_found_out(isa: str, copy: str, size: int, seed: int, status: int | tuple, order: str) -> None:
    """The checksum of the broken guest is right for one byte (RISC-V), and for zeros (x86-64)."""
    parts = (copy, "broken-sum") if order == sq.ORDERS[0] else ("broken-sum", copy)
    point = pt.Point(f"{order}:{','.join(parts)}", size, 3, 5, seed=seed)
    (result,) = _results(isa, [point.pack()], f"{isa}-broken.elf")
    # After a wrong copy the sum of its destination is wrong, too; that of the source is not.
    wanted = status[sq.ORDERS.index(order)] if isinstance(status, tuple) else status
    assert result.status == wanted, result.problem


def test_what_the_guest_does_not_know_is_no_routine_there() -> None:
    names = ["copy+checksum:00000001,3ae8b659", "checksum+copy:3ae8b659,00000001", "copy+checksum:3ae8b659,3ae8b659"]
    records = [name.encode().ljust(40, b"\0") + pt.Point("x", 64).pack()[40:] for name in names]
    assert [result.status for result in _results("riscv", records)] == [UNKNOWN_ROUTINE] * 3


def test_a_fault_inside_the_copy_is_refused() -> None:
    points = [pt.Point(COPY_SUM, 64, src_offset=4096 - at, fault_at=at) for at in (3, 64)]
    assert [r.status for r in _results("riscv", [point.pack() for point in points])] == [OUT_OF_RANGE, 0]


def test_the_sum_is_that_of_the_copied_bytes() -> None:
    alone = api.run("csum-generic-c", 1448, seed=0xFFFFFFFF, store=False)
    assert alone.ok
    both = [api.run(name, 1448, seed=0xFFFFFFFF, store=False) for name in (COPY_SUM, "rv-copy-csum")]
    assert both[0].ok and both[0].ret == both[1].ret and both[0].cycles_median > alone.cycles_median


# Where a routine's name goes


def test_find_searches_between_a_sequence_and_a_routine() -> None:
    found = api.find(COPY_SUM, "rv-copy-csum", machine="u74", sizes="1..64", store=False)
    assert "rv-copy-csum" in str(found)


def test_a_sweep_s_records_are_the_points() -> None:
    from breakeven.points.machine_spec import MachineSpec
    from breakeven.sweeps.spec import SweepSpec

    spec = SweepSpec([COPY_SUM, "rv-word"], [MachineSpec("u74")], [64], repetitions=3)
    wanted = [pt.Point(name, 64, repetitions=3).pack() for name in spec.routines]
    assert spec.records().tobytes() == b"".join(wanted)
    assert np.unique(spec.records()["routine"]).size == 2


# The user's own


BOTH = """#include "../routine.h"
static void my_copy(void *dst, const void *src, size_t n) {
    unsigned char *d = dst; const unsigned char *s = src;
    while (n--) *d++ = *s++;
}
static uint32_t my_sum(const void *data, size_t n) {
    const unsigned char *p = data; uint32_t sum = 0;
    for (size_t i = 0; i < n; i++) { sum += i & 1 ? p[i] << 8 : p[i]; sum = (sum & 0xffff) + (sum >> 16); }
    return sum;
}
ROUTINE(my_copy, "my-copy", KIND_COPY, 0);
ROUTINE(my_sum, "my-sum", KIND_CHECKSUM, 0);
"""


@pytest.mark.slow
def test_routines_of_one_file_of_the_user_s_make_a_sequence(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path / "home"))
    source = tmp_path / "both.c"
    source.write_text(BOTH)
    api.add(source, isa="riscv")
    assert api.run("copy+checksum:my-copy,my-sum", 1448, store=False).ok
    with pytest.raises(UserError, match="my-copy is in .*both.c and csum-generic-c is in breakeven itself"):
        api.run("copy+checksum:my-copy,csum-generic-c", 64, store=False)
    table = api.sweep(["copy+checksum:my-copy,my-sum", COPY_SUM, "rv-word"], "8,64", store=tmp_path / "s.db")
    assert list(table["routine"].unique()) == ["copy+checksum:my-copy,my-sum", COPY_SUM, "rv-word"]
    assert table["ok"].all()
