"""Maps of who wins, and the words on axes."""

from __future__ import annotations

import numpy as np

from breakeven.machine.words import axis_words, has_gaps
from breakeven.points.machine_spec import MachineSpec
from breakeven.studies.ratio_panels import ratio_panels
from breakeven.studies.winner_map import winner_map, winners


def test_a_cell_is_its_fastest_routine_s_or_a_tie() -> None:
    times = {"a": np.array([[10.0, 20.0], [10.0, 10.0]]), "b": np.array([[20.0, 10.0], [10.05, 11.0]])}
    best, lead = winners(times)
    assert best.tolist() == [[0, 1], [-1, 0]]  # half a per cent is no lead
    assert lead.round(3).tolist() == [[2.0, 2.0], [1.005, 1.1]]


def test_a_map_is_drawn(tmp_path) -> None:
    times = {"a": np.array([[10.0, 200.0]]), "b": np.array([[20.0, 10.0]])}
    path = winner_map(tmp_path / "map.png", {"warm": times, "cold": times}, title="t", caption="c")
    assert path.read_bytes()[1:4] == b"PNG"
    again = winner_map(tmp_path / "again.png", {"warm": times, "cold": times}, title="t", caption="c")
    assert again.read_bytes() == path.read_bytes()


def test_axes_have_words_and_units() -> None:
    u74, pentium3 = MachineSpec("u74"), MachineSpec("pentium3")
    assert axis_words(u74, "cpu.misaligned.emulate_cycles") == "cost of a misaligned access (cycles)"
    asks = "cpu.isa[0].microcode.rep_movs[0].co_alignment"
    assert axis_words(pentium3, asks) == "alignment that fast REP MOVS asks for (bytes)"
    assert axis_words(pentium3, "cpu.numROBEntries") == "num rob entries (entries)"
    assert has_gaps(asks)
    assert not has_gaps("cpu.misaligned.emulate_cycles")


def test_a_panel_a_machine(tmp_path) -> None:
    ratios = {"one": [0.5, 0.9, 2.0], "always above": [1.1, 1.5, 3.0]}

    def draw(name: str):
        words = ("a", "b")
        return ratio_panels(
            tmp_path / name, [1, 64, 4096], ratios, words, {"one": (64, "64 B")}, title="t", caption="c"
        )

    path = draw("panels.svg")
    text = path.read_text()
    assert all(f"<!-- {word} -->" in text for word in ("one", "always above", "64 B", "b is faster", "a is faster"))
    assert draw("again.svg").read_bytes() == path.read_bytes()
