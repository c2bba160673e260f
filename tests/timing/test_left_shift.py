"""REP MOVSB to the left by less than a block's distance, in exact cycles, out of order and in order."""

from __future__ import annotations

from functools import cache

import pytest

from breakeven.machine.presets import describe_machine
from tests.cli.conftest import _engine_is_built
from tests.x86_asm import BEGIN, END, EXIT, measure

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built"),
]

#: preset (O3, Minor) -> its modes that move bytes in blocks
BLOCKS = {"goldencove": range(6, 10), "bonnell": range(1)}
SIZES = (256, 512, 1024)


@cache
def cycles(preset: str, least: int, distance: int, size: int) -> float:
    """Of a warm REP MOVSB from a line's begin to `distance` bytes before it; blocks ask for `least` between them."""
    settings = [f"cpu.isa[0].microcode.rep_movs[{mode}].min_distance={least}" for mode in BLOCKS[preset]]
    source = f"""
    mov ebp, 3
 1: {BEGIN}
    mov esi, 0x400400
    lea edi, [rsi - {distance}]
    mov ecx, {size}
    lfence
    rep movsb
    lfence
    {END}
    dec ebp
    jnz 1b
    {EXIT}
    """
    return measure(describe_machine(preset, settings if least else []), source)[-1]


@pytest.mark.parametrize("preset", BLOCKS)
def test_blocks_move_from_the_least_distance_on(preset: str) -> None:
    for size in SIZES:
        for distance in (64, 65, 128, 2048):
            assert cycles(preset, 64, distance, size) == cycles(preset, 0, distance, size)
        # One byte less, and it goes byte by byte.
        assert cycles(preset, 64, 63, size) > 4 * cycles(preset, 0, 63, size)
        assert cycles(preset, 63, 63, size) == cycles(preset, 0, 63, size)


@pytest.mark.parametrize(
    ("preset", "distance", "each"),
    [
        # A byte's load waits for the store of the byte `distance` before it: near ones forward 6 cycles later; for
        # far ones that store is done, and a byte's micro-ops take two cycles.
        ("goldencove", 1, 6),
        ("goldencove", 4, 6),
        ("goldencove", 63, 2),
        # In order every byte's load follows the store before it, wherever that went.
        ("bonnell", 1, 9),
        ("bonnell", 63, 9),
    ],
)
def test_a_left_shift_below_the_least_distance_takes_so_much_a_byte(preset: str, distance: int, each: int) -> None:
    times = [cycles(preset, 64, distance, size) for size in SIZES]
    assert [later - earlier for earlier, later in zip(times, times[1:], strict=False)] == [256 * each, 512 * each]


@pytest.mark.parametrize("preset", BLOCKS)
def test_presets_have_no_hazard_of_distance(preset: str) -> None:
    # In blocks a misaligned destination costs the same at every distance from one to 65.
    assert cycles(preset, 0, 1, 1024) == cycles(preset, 0, 65, 1024)
