"""What studies share: ratios, break-evens, where a parameter flips a conclusion, the figures of searches."""

from __future__ import annotations

import pytest

from breakeven.points.machine_spec import MachineSpec
from breakeven.studies import parts
from breakeven.studies import study as st
from breakeven.sweeps.spec import SweepSpec

BOTH = ["fast", "slow"]
PATH = "cpu.misaligned.emulate_cycles"


def model(routine, size, row, machine):
    start = next((int(s.split("=")[1]) for s in machine.settings if PATH in s), 100)
    return 2 * size if routine == "fast" else start + size


@pytest.fixture
def data(fake):
    """`slow` costs `start` and one a byte, `fast` two a byte: equal where the size is the start."""
    machine = MachineSpec("u74")
    study = st.Study(
        "nobody",
        "A title",
        {"sizes": ("both", SweepSpec(BOTH, [machine], list(range(10, 301, 10))))},
        lambda data: [],
        lambda data: st.Contents({}, [], []),
        "",
        {
            "along": ("", SweepSpec(BOTH, [machine], [50], parameters={PATH: ["1", "20", "80"]})),
            "nowhere": ("", SweepSpec(BOTH, [machine], [50], parameters={PATH: ["60", "80"]})),
            "over": ("", SweepSpec(BOTH, [machine], list(range(1, 200)), parameters={PATH: ["20", "80", "150"]})),
        },
    )
    return st.run_study(study, fake(model)).data


def test_ratios_and_break_evens(data):
    assert parts.ratio(data, "sizes", "slow", "fast", size=50) == pytest.approx(1.5)
    found = parts.overtaking(data, "sizes", "fast", "slow")
    assert (found.first, found.stays) == (110, 110)
    table = parts.cycles_table(data, "t", "caption", "sizes", BOTH, [50, 100])
    assert table.rows == [[50, 100, 150], [100, 200, 200]]


def test_a_turn_names_the_machine_s_value_and_where_it_turns(data):
    flip = parts.found_flip(data.found["along"], "fast wins", "figure")
    assert (flip.parameter, flip.at) == (PATH, "80 or more")  # equal at 50: 20 and 80 were simulated
    assert flip.has == parts.machine_value(MachineSpec("u74"), PATH)
    assert parts.found_flip(data.found["nowhere"], "fast wins", "figure").at == "nowhere in 60..80"


def test_changes_are_told_as_well_as_the_values_know_them():
    assert parts.changes([1, 2, 3, 4], [5, 5, 5, 5], [9, 8, 2, 1]) == [(2, 3)]
    assert parts.changes([10, 20, 30], [1, 2, 3], [0, 2, 4]) == [(10, 30)]  # equal at 20: no side
    assert parts.changes([1, 2], [1, 1], [2, 2]) == []
    assert (parts.change_text((3, 4)), parts.change_text((40, 45))) == ("4", "40 to 45")


def test_a_break_even_is_marked_with_the_size_that_tables_name(data):
    threshold = parts.overtaking(data, "sizes", "slow", "fast").threshold
    assert threshold is None or threshold == 10
    found = parts.overtaking(data, "sizes", "fast", "slow")
    assert parts.threshold_mark(data, "sizes", "fast", "slow") == (found.threshold, f"slow from {found.threshold} B")
    assert parts.threshold_mark(data, "sizes", "slow", "fast") is None  # from the first size on already


def test_the_largest_value_with_a_break_even_of_at_most(data):
    surface = data.surfaces["over"]
    assert parts.largest_at_most(surface, 90) == 80
    assert parts.largest_at_most(surface, 30) == 20
    assert parts.largest_at_most(surface, 5) is None


@pytest.mark.slow
def test_figures_are_drawn(data, tmp_path):
    parts.found_figure(data.found["along"], "title", log=True)(tmp_path / "along.png")
    parts.surface_figure(data.surfaces["over"], "title")(tmp_path / "over.png")
    parts.sizes_figure(data, "sizes", BOTH, "title", "caption", 200)(tmp_path / "sizes.png")
    assert all(path.stat().st_size > 1000 for path in tmp_path.glob("*.png"))
    assert len(list(tmp_path.glob("*.png"))) == 3
