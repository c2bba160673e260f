"""Every preset ends a point in every state of the caches and in every measure but streams, with the right output."""

from __future__ import annotations

import pytest

from breakeven import api
from breakeven.machine.presets import list_presets
from breakeven.points.record import CACHE_STATES, MEASURES, PACKETS, SLOPES
from tests.cli.conftest import _engine_is_built

pytestmark = pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")

ROUTINES = {"riscv": "rv-word", "x86": "x64-copy-unrolled"}


@pytest.mark.slow
@pytest.mark.parametrize("preset", list_presets(), ids=lambda preset: preset.name)
def test_every_state_and_measure_ends(preset) -> None:
    for states, measures in ((CACHE_STATES[:PACKETS], MEASURES[0]), (CACHE_STATES[:1], SLOPES)):
        asked = {"cache": states, "measure": measures, "repetitions": 3}
        table = api.sweep(ROUTINES[preset.isa], [200], machines=preset.name, store=False, **asked)
        assert table["ok"].all(), table[["cache_state", "measure", "status"]]
