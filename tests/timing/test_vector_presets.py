"""The vector presets beside instructions that were timed on their boards, in exact cycles."""

from __future__ import annotations

import pytest

from breakeven.machine.presets import describe_machine
from tests.cli.conftest import _engine_is_built
from tests.timing.test_vectors import cycles_each

pytestmark = pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")

LMULS = (1, 2, 4, 8)
ADD, AND, MULTIPLY = "vadd.vv v8, v24, v16", "vand.vv v8, v24, v16", "vmul.vv v8, v24, v16"
CHAIN = "vadd.vv v8, v8, v16"
LOAD, STORE, STRIDED = "vle8.v v8, (a0)", "vse8.v v8, (a0)", "vlse8.v v8, (a0), a4"


@pytest.mark.parametrize(
    ("name", "line", "cycles", "hardware"),
    [
        # x60/vec_load_cycles, c908/vector_units, c908/chaining, x60/vec_strided_cycles
        ("x60", ADD, (1, 2, 4, 8), (1, 2, 4, 8)),
        ("x60", MULTIPLY, (1, 2, 4, 8), (1, 2, 4, 8)),
        ("x60", AND, (2, 4, 8, 16), (2, 4, 8, 16)),
        ("x60", CHAIN, (4, 4, 4, 8), (4, 4, 5, 7.5)),
        ("x60", LOAD, (2, 4, 8, 16), (2.4, 4.4, 8.5, 16.6)),
        ("x60", STORE, (2, 4, 8, 16), (3.0, 4.6, 9.0, 19.6)),
        ("x60", STRIDED, (32, 64, 128, 256), (32, 64, 128, 256)),
        ("c908", ADD, (1, 2, 4, 8), (1, 2, 4, 8.1)),
        ("c908", AND, (2, 4, 8, 16), (2, 4, 8.1, 16.4)),
        # x280/vec_arith_cycles, x280/chaining, x280/vec_strided_cycles
        ("x280", ADD, (2, 4, 8, 16), (2, 4, 8, 16)),
        ("x280", CHAIN, (4, 4, 8, 16), (4, 4, 8, 16)),
        ("x280", STRIDED, (64, 128, 256, 512), (64, 128, 256, 512)),
        # x100/vec_load_bytes: beyond LMUL 2 the board is slower than its two units
        ("x100", ADD, (1, 2, 4, 8), (1, 2, 4, 8)),
        ("x100", LOAD, (1, 2, 4, 8), (1.3, 2.5, 5.9, 12.5)),
        # c920/dlen
        ("c920", ADD, (0.5, 1, 2, 4), (0.5, 1, 2, 4)),
    ],
)
def test_a_vector_instruction_takes_what_its_board_takes(
    name: str, line: str, cycles: tuple[float, ...], hardware: tuple[float, ...]
) -> None:
    description = describe_machine(name, [])
    took = [cycles_each(description, line, f"e8, m{lmul}") for lmul in LMULS]
    assert took == pytest.approx(cycles, abs=1 / 16)
    if (name, line) != ("x100", LOAD):
        assert took == pytest.approx(hardware, rel=0.35)


def test_an_x280_leaves_out_what_vl_does_not_reach() -> None:
    # x280/vl_dispatch, c908/vl_dispatch
    took = {
        name: [cycles_each(describe_machine(name, []), AND, f"e8, m{lmul}", vl=16) for lmul in (1, 8)]
        for name in ("x280", "x60")
    }
    assert took == {"x280": [2, 2], "x60": [2, 16]}
