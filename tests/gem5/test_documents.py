"""The generated documents say what is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))
pytest.importorskip("breakeven._engine")


def test_the_table_of_parameters_is_current() -> None:
    """A class or a parameter that is newly modelled wants `scripts/gem5_parameters.py` run."""
    import gem5_parameters

    for path, text in gem5_parameters.generate().items():
        assert path.read_text() == text, f"{path.name} is not current: run scripts/gem5_parameters.py"


def test_statistics_have_gem5s_names_and_numbers() -> None:
    """The reference script, unmodified: read from stats.txt by gem5's names, on a core that has nearly all."""
    import gem5_agreement

    found = gem5_agreement.compare("rv64", "minor")
    assert set(found) == set(gem5_agreement.NAMES) - {"commit_mispredicts"}
    for column in ("insts", "micro_ops", "dcache_accesses", "dcache_misses", "cond_predicted", "cond_incorrect"):
        assert [pair for pair in found[column] if pair.gem5 != pair.ours] == []
    assert [pair for column in found.values() for pair in column if not pair.close] == []
    # What the documents' tables are made from.
    assert gem5_agreement.stored()["rv64", "minor"] == found, "run scripts/docs --measure agreement"


def test_help_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    import gem5_parameters

    monkeypatch.setattr(sys, "argv", ["gem5_parameters.py", "--help"])
    monkeypatch.setattr(gem5_parameters, "generate", lambda: pytest.fail("pages were made"))
    with pytest.raises(SystemExit, match="0"):
        gem5_parameters.main()
