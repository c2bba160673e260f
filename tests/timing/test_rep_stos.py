"""REP STOS of a preset between fences, beside the cycles of its row of uarch.csv, `zen3/rep_stos_startup`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.conftest import _engine_is_built

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))

from native_probes import on_preset  # noqa: E402

pytestmark = pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")


def cycles(stored: str) -> float:
    return on_preset("zen3", [stored])[0]


def stores(operation: str, elements: int, offset: int = 0) -> str:
    return f"add rdi, {offset}\nxor eax, eax\nmov ecx, {elements}\nrep {operation}"


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
