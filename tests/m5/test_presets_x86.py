"""The x86 hardware presets against measurements of the hardware.

A preset's numbers are in `tests/probes/x86_rows/<preset>.toml`, what its probes come to is in the baseline
(`tests/data/identity`): tests/test_identity.py holds it to the engine, and docs/presets-x86.md shows both.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from breakeven.config.simobject import SimObject
from breakeven.files.binaries import guest_elf, load_engine
from breakeven.machine.presets import list_presets, load_machine
from breakeven.machine.resolve import resolve
from breakeven.points import Point
from breakeven.points.machine_spec import MachineSpec
from tests.probes import comparison as rows
from tests.probes.document import kept, modelled, shown, use
from tests.probes.x86 import PROBES

pytest.importorskip("breakeven._engine")

LONG = (pytest.mark.long, pytest.mark.timeout(3600))
#: presets with a predictor by path
NEW = ("nehalem", "ivybridge", "broadwell", "skylake", "goldencove", "zen3", "zen4", "zen5")
#: routines of each kind, with loops, jump tables and tails
LEARNED = (
    "x64-copy-unrolled", "x64-memcpy-orig", "x64-csum-herbert", "x64-csum-goldstein", "x64-csumcopy-viro",
    "x64-rep-movs-alt-erms", "x64-memset-unrolled", "x64-memmove-words",
)  # fmt: skip


@pytest.mark.parametrize("preset", rows.PRESETS)
def test_presets_come_near_the_hardware(preset: str) -> None:
    for row in rows.comparison(preset).rows:
        value = modelled(row)
        if row.held:
            assert row.agrees(value), (
                f"{row.probe}: {value:.3g}, and the row says {row.text}: set the preset right, or say why it is not"
            )
        elif row.compared and row.confidence in rows.SURE:
            assert not row.agrees(value), f"{row.probe}: {value:.3g} is near {row.text} by now: its reason can go"


def cites_rows(root: SimObject) -> bool:
    marks = (obj.provenance(name) for obj in root.descendants() for name in obj.set_names())
    return any(mark is not None and mark.row for mark in marks)


def test_every_hardware_preset_is_compared() -> None:
    hardware = {each.name for each in list_presets() if each.isa == "x86" and cites_rows(load_machine(each.name))}
    assert hardware == set(rows.PRESETS), "give it its rows in tests/probes/x86_rows"


@pytest.mark.parametrize("preset", rows.PRESETS)
def test_every_sure_row_with_a_probe_is_shown(preset: str) -> None:
    assert rows.forgotten(preset) == []
    probes = {row.probe for row in rows.comparison(preset).rows}
    assert set(kept()[preset]) == probes, f"run scripts/identity --update {preset}"


@pytest.mark.parametrize(
    ("preset", "sizes"),
    [
        ("skylake", (62, 428)), ("zen3", (123, 550)), ("goldencove", (211,)),
        *(pytest.param(preset, range(1, 700, 7), marks=LONG) for preset in NEW),
    ],
)  # fmt: skip
def test_a_repeated_call_is_predicted_right(preset: str, sizes: Sequence[int]) -> None:
    """Processors since Nehalem learn a call that is repeated: no call that has settled mispredicts a branch.

    No loop here takes as many branches as the shortest of these presets' histories holds.
    """
    resolved = resolve(MachineSpec(preset))
    sweep = load_engine().Sweep(resolved.text, guest_elf(resolved.isa, None), None)
    missed = {}
    for routine in LEARNED:
        for size in sizes:
            statistics = sweep.measured(Point(routine, size, repetitions=85).pack())[3]
            if wrong := sum(each[1] for each in statistics if each[0].endswith("branchPred.incorrect")):
                missed[routine, size] = wrong
    assert not missed


def test_a_row_that_is_not_measured_says_what_to_run() -> None:
    probe = next(probe for probe in PROBES if probe not in kept()["k7"])
    with pytest.raises(rows.RowError, match="run scripts/identity --update k7"):
        modelled(rows.Sourced("k7", probe, 1, 1, "1", "high", ""))


def test_numbers_that_the_row_does_not_have_are_refused() -> None:
    with pytest.raises(rows.RowError, match="13 is not in the row"):
        rows._sourced("broadwell", "broadwell", "l2_latency", 13)
    with pytest.raises(rows.RowError, match="no such probe"):
        rows._sourced("broadwell", "broadwell", "l4_latency", 13)
    row = rows._sourced("broadwell", "broadwell", "branch_mispredict", "15..16")
    assert [row.agrees(value) for value in (13, 14, 17, 18)] == [False, True, True, False]


@pytest.mark.slow
def test_the_page_says_what_was_used() -> None:
    said = rows.comparison("broadwell")
    used = {row.probe: use(said, row) for row in said.rows}
    assert used["lat_adc"] == "set"
    assert used["branch_mispredict"] == "calibrated"
    assert used["l2_copy_gbps"] == used["- plain stores"] == ""


def test_numbers_are_shown_with_three_digits() -> None:
    assert [shown(value) for value in (0.05432, 1.0, 14.06, 99.97, 186.4)] == ["0.054", "1", "14.1", "100", "186"]
