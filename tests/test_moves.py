"""Sets, and copies within one buffer: guests of both instruction sets, and the options that ask for them."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from breakeven.errors import UserError
from breakeven.files.data import find_data
from breakeven.points import FAULT_IN_DESTINATION, Result, points_file, unpack_results
from breakeven.routine.contract import MACHINES, SETTINGS, contract_points

from .guest_points import (
    OUT_OF_RANGE,
    PAGE,
    RIGHT,
    WRONG_OUTPUT,
    assert_right,
    point,
)
from .tiers import some_or_all

pytestmark = pytest.mark.slow

_engine = pytest.importorskip("breakeven._engine")

#: a copy that goes forwards by bytes, and a set, of each instruction set
FORWARDS = {"riscv": "rv-byte", "x86": "x64-byte"}
SET = {"riscv": "rv-memset-word", "x86": "x64-memset-sse2"}
MOVE = {"riscv": "rv-memmove-word", "x86": "x64-memmove-words"}
ISAS = sorted(MACHINES)


def routines(isa: str, kind: str) -> list[str]:
    return [row["name"] for row in _engine.routines(elf(isa)) if row["kind"] == kind]


@cache
def elf(isa: str) -> bytes:
    return find_data("guests", f"{isa}.elf").read_bytes()


@cache
def machine(isa: str) -> str:
    from breakeven.m5 import canonical
    from breakeven.machine.presets import describe_machine

    return canonical(describe_machine(MACHINES[isa], SETTINGS[isa]))


def run_table(isa: str, records: list[bytes]) -> list[Result]:
    guest = _engine.Machine(machine(isa), elf(isa), readfile=points_file(b"".join(records)))
    end = guest.run()
    assert end["cause"] == "m5_exit instruction encountered", end
    return unpack_results(guest.outputs()["results.bin"])


BOTH_KINDS = [(isa, kind, name) for isa in ISAS for kind in ("set", "move") for name in routines(isa, kind)]


@pytest.mark.slow
@some_or_all(19)
@pytest.mark.parametrize(("isa", "kind", "name"), BOTH_KINDS)
def test_right_wherever_the_contract_asks(isa: str, kind: str, name: str, every: int) -> None:
    records = [each.pack() for each in contract_points(name, kind)][::every]
    assert_right(records, run_table(isa, records))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("distance", [1, -1, 8, -24, 5000, -70000])
def test_a_move_is_told_apart_after_any_number_of_calls(isa: str, distance: int) -> None:
    """What earlier calls have moved is moved again."""
    records = [
        point(MOVE[isa], 1000, 3, 0, state=state, measure=measure, calls=calls, repetitions=5, warmup=2, flags=flags,
              distance=distance)
        for state in range(9)
        for measure, calls in ((0, 1), (1, 1), (1, 7))
        if state == 0 or measure == 0
        for flags in (0, 1)
    ]  # fmt: skip
    assert_right(records, run_table(isa, records))


@pytest.mark.parametrize("isa", ISAS)
def test_a_copy_that_destroys_its_source_is_found_out(isa: str) -> None:
    wrong, right, apart = run_table(isa, [point(FORWARDS[isa], 100, 3, distance=d) for d in (9, -9, 100)])
    assert (wrong.status, wrong.detail) == (WRONG_OUTPUT, 9)
    assert (right.status, apart.status) == (RIGHT, RIGHT)


@pytest.mark.parametrize("isa", ISAS)
def test_the_page_behind_both_buffers_may_be_missing(isa: str) -> None:
    n = 300
    records = [
        point(MOVE[isa], n, (PAGE - n - 9) % PAGE, fault_at=n | FAULT_IN_DESTINATION, distance=9),
        point(MOVE[isa], n, (PAGE - n) % PAGE, fault_at=n, distance=-9),
        # This one holds the destination's last bytes.
        point(MOVE[isa], n, (PAGE - n) % PAGE, fault_at=n, distance=9),
    ]
    assert [result.status for result in run_table(isa, records)] == [RIGHT, RIGHT, OUT_OF_RANGE]


@pytest.mark.parametrize("isa", ISAS)
def test_a_distance_out_of_range_is_refused(isa: str) -> None:
    user = routines(isa, "user-copy")[0]
    checksum = routines(isa, "checksum")[0]
    records = [
        point(user, 8, distance=8), point(checksum, 8, distance=8), point(SET[isa], 8, distance=8),
        point(MOVE[isa], 8, distance=1, measure=2, calls=2), point(MOVE[isa], 8, distance=8, measure=3, calls=2),
        point(MOVE[isa], 8, distance=8, state=9), point(MOVE[isa], 1 << 24, distance=1), point(MOVE[isa], 8, flags=32),
    ]  # fmt: skip
    assert {result.status for result in run_table(isa, records)} == {OUT_OF_RANGE}
    assert_right(largest := [point(MOVE[isa], (1 << 24) - 9, 4095, distance=-9)], run_table(isa, largest))


@pytest.mark.parametrize("isa", ISAS)
def test_sets_have_every_measure_and_state(isa: str) -> None:
    records = [
        point(SET[isa], 1000, 3, 5, state=state, measure=measure, calls=calls, repetitions=3, size2=77, dst2=1)
        for state in range(9)
        for measure, calls in ((0, 1), (1, 7), (2, 7))
        if state == 0 or measure == 0
    ]
    records += [point(SET[isa], 4096, 0, 1, measure=3, calls=9, flags=flags, state=flags % 4) for flags in (0, 4, 16)]
    records += [point(SET[isa], 500, seed=seed) for seed in (0, 0xA5, 0xFFFFFFFF, 0xFFFFFFFE)]
    assert_right(records, run_table(isa, records))


def test_a_wrong_set_is_found_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    from breakeven import add, remove

    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path))
    text = (
        "void {}(unsigned char *p, {} byte, unsigned long n)"
        " {{ for (unsigned long i = 0; i < n + {}; i++) p[i] = byte; }}"
    )
    (tmp_path / "my_set.c").write_text(text.format("my_set", "int", 0))
    assert add(tmp_path / "my_set.c", "riscv", kind="set").points > 2000
    assert remove("my-set") == ["my-set"]
    (tmp_path / "too_far.c").write_text(text.format("too_far", "int", 1))
    with pytest.raises(UserError, match=r"too-far is wrong at size 0, .*must stay 0xa5"):
        add(tmp_path / "too_far.c", "riscv", kind="set")
    (tmp_path / "forwards.c").write_text(
        "void forwards(char *d, const char *s, unsigned long n) { while (n--) *d++ = *s++; }"
    )
    with pytest.raises(UserError, match=r"is wrong at size 2, source offset 0, destination \+1 from it: byte 1"):
        add(tmp_path / "forwards.c", "riscv", kind="move")
