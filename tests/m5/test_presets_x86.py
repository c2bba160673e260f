"""The x86 hardware presets against measurements of the hardware: probes (tests/probes) and the page that shows them.

A preset's numbers are in `tests/probes/x86_rows/<preset>.toml`; `scripts/presets-x86` writes docs/presets-x86.md.
"""

from __future__ import annotations

import platform
import shutil
from functools import cache

import pytest

from breakeven.config.simobject import SimObject
from breakeven.machine.presets import list_presets, load_machine
from tests.probes import comparison as rows
from tests.probes.document import named, shown, stored, use
from tests.probes.x86 import PROBES, Machine

pytestmark = pytest.mark.slow

pytest.importorskip("breakeven._engine")
measured = pytest.mark.skipif(
    shutil.which("gcc") is None or platform.machine() != "x86_64", reason="no assembler for x86-64"
)
machine = cache(Machine)
CASES = [row for preset in rows.PRESETS for row in rows.comparison(preset).rows]
#: relative distance of a measurement from what the page says: three digits are printed
PRINTED = 0.02


@measured
@pytest.mark.parametrize("row", CASES, ids=lambda row: f"{row.preset}-{row.probe.replace(' ', '-')}")
def test_presets_come_near_the_hardware(row: rows.Sourced) -> None:
    value = PROBES[row.probe].model(machine(row.preset))
    if row.held:
        assert row.agrees(value), (
            f"{value:.3g}, and the row says {row.text}: set the preset right, or say why it is not"
        )
    elif row.compared and row.confidence in rows.SURE:
        assert not row.agrees(value), f"{value:.3g} is near {row.text} by now: its reason can go"
    sourced, printed = stored(row.preset)[named(row.probe)]
    assert sourced == row.text.replace("..", " to ")
    assert value == pytest.approx(printed, rel=PRINTED, abs=0.01), "run scripts/presets-x86"


def cites_rows(root: SimObject) -> bool:
    marks = (obj.provenance(name) for obj in root.descendants() for name in obj.set_names())
    return any(mark is not None and mark.row for mark in marks)


def test_every_hardware_preset_is_compared() -> None:
    hardware = {each.name for each in list_presets() if each.isa == "x86" and cites_rows(load_machine(each.name))}
    assert hardware == set(rows.PRESETS), "give it its rows in tests/probes/x86_rows, and run scripts/presets-x86"


@pytest.mark.parametrize("preset", rows.PRESETS)
def test_every_sure_row_with_a_probe_is_shown(preset: str) -> None:
    assert rows.forgotten(preset) == []
    assert set(stored(preset)) == {named(row.probe) for row in rows.comparison(preset).rows}


def test_numbers_that_the_row_does_not_have_are_refused() -> None:
    with pytest.raises(rows.RowError, match="13 is not in the row"):
        rows._sourced("broadwell", "broadwell", "l2_latency", 13)
    with pytest.raises(rows.RowError, match="no such probe"):
        rows._sourced("broadwell", "broadwell", "l4_latency", 13)
    row = rows._sourced("broadwell", "broadwell", "branch_mispredict", "15..16")
    assert [row.agrees(value) for value in (13, 14, 17, 18)] == [False, True, True, False]


def test_the_page_says_what_was_used() -> None:
    said = rows.comparison("broadwell")
    used = {row.probe: use(said, row) for row in said.rows}
    assert used["lat_adc"] == "set"
    assert used["branch_mispredict"] == "calibrated"
    assert used["l2_copy_gbps"] == used["- plain stores"] == ""


def test_numbers_are_shown_with_three_digits() -> None:
    assert [shown(value) for value in (0.05432, 1.0, 14.06, 99.97, 186.4)] == ["0.054", "1", "14.1", "100", "186"]
