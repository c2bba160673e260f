"""scripts/thresholds.py: the page of thresholds is what its rows say, and every target and core is in it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(REPO / "scripts"))
    import thresholds

    yield thresholds
    sys.modules.pop("thresholds", None)


@pytest.mark.slow
def test_the_page_is_what_its_rows_say(script) -> None:
    from breakeven.tuning.targets import TARGETS

    rows = script.kept()
    assert set(script.CORES) == set(TARGETS)
    assert set(rows) == {(name, machine) for name, machines in script.CORES.items() for machine in machines}
    assert script.page(rows) == (REPO / "results/thresholds/README.md").read_text()


def test_a_rows_loss_and_gain_are_shown_with_its_line(script) -> None:
    row = {
        "machine": "zen5", "way": "rep movsb", "threshold": "815", "loss": "0.01", "today": "2112",
        "today_loss": "0.15", "worst_size": "969", "worst": "0.2", "line": "A=815\nB=1",
    }  # fmt: skip
    never = row | {"threshold": "", "loss": "0.0", "worst": "0.0"}
    assert script.table([row, never])[2:] == [
        "| zen5 | 815 B | rep movsb | 1.0% | 15.0% | 14.0% | 20% at 969 B | `A=815`<br>`B=1` |",
        "| zen5 | never | rep movsb | 0.0% | 15.0% | 15.0% | - | `A=815`<br>`B=1` |",
        "",
    ]


def test_an_unknown_target_is_named(script, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["thresholds.py", "glibc"])
    with pytest.raises(SystemExit):
        script.main()
    assert "there is no target glibc: one of glibc-rep-movsb" in capsys.readouterr().err
