"""REP STOS of a preset between fences, beside the cycles of its row of uarch.csv, `zen3/rep_stos_startup`."""

from __future__ import annotations

import pytest

from breakeven.machine.presets import describe_machine
from tests.cli.conftest import _engine_is_built
from tests.x86_asm import BEGIN, END, EXIT, measure

pytestmark = pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")

FENCES = "mfence\nlfence\n"


def cycles(stored: str) -> float:
    """Of a warm `stored` alone, as scripts/native_probes.py has it, beyond what nothing takes there."""

    def of(text: str) -> float:
        body = f"mov edi, 0x400000\nxor eax, eax\n{FENCES}rdtsc\n{FENCES}{text}\n{FENCES}rdtsc"
        return measure(describe_machine("zen3"), f"mov ebp, 20\n9: {BEGIN}\n{body}\n{END}\ndec ebp\njnz 9b\n{EXIT}")[-1]

    return of(stored) - of("")


def stores(operation: str, elements: int, offset: int = 0) -> str:
    return f"add edi, {offset}\nmov ecx, {elements}\nrep {operation}"


@pytest.mark.parametrize(
    ("stored", "measured"),
    [
        (stores("stosb", 16), 35),
        (stores("stosb", 64), 83),
        (stores("stosb", 112), 131),
        (stores("stosb", 128), 74),
        (stores("stosb", 1024), 105),
        (stores("stosb", 128, offset=16), 122),
        (stores("stosb", 1024, offset=16), 150),
        (stores("stosq", 8), 26),
        (stores("stosq", 64), 87),
        (stores("stosq", 128), 105),
    ],
)
def test_zen_3_begins_as_its_processor_does(stored: str, measured: int) -> None:
    assert cycles(stored) == pytest.approx(measured, abs=4)


def test_the_fast_way_goes_by_elements_not_bytes() -> None:
    # 127 quadwords go one by one, 128 do not.
    assert cycles(stores("stosq", 127)) > cycles(stores("stosq", 128)) + 8
    assert cycles(stores("stosb", 127)) > cycles(stores("stosb", 128)) + 60
