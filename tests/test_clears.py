"""Routines that clear: zeros at every size, whatever the seed; compared with what sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from breakeven import api
from breakeven import points as pt
from breakeven.errors import UserError
from breakeven.files.binaries import guest_elf
from breakeven.points.mix import mix_of
from breakeven.routine.contract import check_contract
from tests.cli.conftest import _engine_is_built

from .guest_points import OUT_OF_RANGE
from .test_sequences import _results

pytestmark = pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")

CLEARS = {
    "riscv": ("rv-clear-words", "rv-clear-zicboz", "rvv-clear-m8"),
    "x86": (
        "x64-clear-stosq", "x64-clear-stosb", "x64-clear-unrolled", "x64-clear-sse2", "x64-clear-avx2", "x64-clear-nt",
    ),
}  # fmt: skip
ATOMIC = {"riscv": "atomic", "x86": "x86_atomic"}
EACH = [(isa, name) for isa, names in CLEARS.items() for name in names]


@pytest.mark.parametrize(("isa", "name"), EACH)
def test_a_routine_that_clears_keeps_the_contract(isa: str, name: str) -> None:
    assert check_contract(isa, guest_elf(isa), name, "clear") > 3000


@pytest.mark.parametrize("isa", CLEARS)
def test_every_clear_of_the_guest_is_in_this_file(isa: str) -> None:
    found = [each.name for each in api.routines(ATOMIC[isa]) if each.kind == "clear"]
    assert sorted(found) == sorted(CLEARS[isa])


@pytest.mark.slow
@pytest.mark.parametrize("isa", CLEARS)
def test_a_clear_has_the_measures_of_a_set(isa: str) -> None:
    drawn = mix_of("0..40,100,301,1448", calls=60, align=1).drawn(4096)
    given = [
        {"measure": 1, "calls": 4},
        {"measure": 2, "calls": 4, "size2": 99},
        {"measure": 3, "calls": 9, "flags": 16},
    ]
    given += [{"cache_state": state} for state in range(pt.PACKETS)]
    given += [{"measure": pt.MIX, "calls": 60, "mix": drawn.name, "flags": flags} for flags in (0, 16)]
    points = [pt.Point(name, 4096, seed=77, **each) for name in CLEARS[isa] for each in given]
    for point, result in zip(points, _results(isa, [point.pack() for point in points]), strict=True):
        assert result.ok, (point, result.problem)
    refused = [{"cache_state": pt.PACKETS}, {"cache_state": pt.PACKETS + 1}, {"distance": 8}, {"parameter": 1}]
    points = [pt.Point(CLEARS[isa][0], 64, **each) for each in refused]
    assert {result.status for result in _results(isa, [point.pack() for point in points])} == {OUT_OF_RANGE}


def test_clears_and_sets_do_one_job_and_nothing_else_does() -> None:
    found = api.compare("rv-clear-words", "rv-memset-byte", machine="atomic", sizes="64", seed=0, store=False)
    assert "rv-clear-words" in str(found)
    with pytest.raises(UserError, match="rv-clear-words is a clear routine, rv-word is a copy routine: compare"):
        api.compare("rv-clear-words", "rv-word", machine="atomic", sizes="64", store=False)
    best = api.best("clear", ["atomic"], sizes=[4096], src=0, store=False)
    assert set(best.rows[0].cells[0].fastest) <= set(CLEARS["riscv"])
    with pytest.raises(
        UserError, match="rv-clear-zicboz on u74 .*: it needs Zicboz, which this machine lacks: add --set"
    ):
        api.run("rv-clear-zicboz", 64, settings={"cpu.isa.enable_Zicboz_fs": False}, store=False)


MINE = """#include <stddef.h>
void my_clear(void *dst, size_t n) {
    volatile unsigned char *p = dst;
    for (size_t i = 0; i < n; i++)
        p[i] = VALUE;
    MORE
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("isa", CLEARS)
def test_a_user_s_clear_is_added_and_a_wrong_one_refused(tmp_path: Path, monkeypatch, isa: str) -> None:
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path / "home"))
    file = tmp_path / "my_clear.c"

    def added(value: str, more: str = "") -> object:
        file.write_text(MINE.replace("VALUE", value).replace("MORE", more))
        return api.add(file, isa, kind="clear")

    assert added("0").file.routines == ("my-clear",)
    assert [each.kind for each in api.routines(ATOMIC[isa]) if each.name == "my-clear"] == ["clear"]
    assert api.run("my-clear", 4096, machine=ATOMIC[isa], store=False).ok
    with pytest.raises(UserError, match="my-clear is wrong at size 12, .*: byte 11 is 0x01 and must be 0x00"):
        added("i == 11")
    with pytest.raises(UserError, match="my-clear is wrong at size 0, .* must stay 0xa5"):
        added("0", "p[n] = 0;")


@pytest.mark.slow
def test_a_file_may_register_what_clears_itself(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path / "home"))
    asm, c = tmp_path / "own.S", tmp_path / "own_c.c"
    asm.write_text(
        '#include "../routine.h"\nROUTINE own_clear, "own-clear", KIND_CLEAR\n'
        "    add a1, a0, a1\n1:  bgeu a0, a1, 2f\n    sb zero, 0(a0)\n    addi a0, a0, 1\n    j 1b\n2:  ret\n"
        "END own_clear\n"
    )
    c.write_text(
        '#include "../routine.h"\n'
        + MINE.replace("void my", "static void my").replace("VALUE", "0").replace("MORE", "")
        + 'ROUTINE(my_clear, "own-c-clear", KIND_CLEAR, 0);\n'
    )
    for file, name in ((asm, "own-clear"), (c, "own-c-clear")):
        assert api.add(file, "riscv").file.routines == (name,)
        assert api.run(name, 100, machine="atomic", store=False).ok
