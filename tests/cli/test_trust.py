"""The line of trust below an answer: what silicon said of the preset."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from breakeven.analysis.trust import FIELDS, known, trust_line
from breakeven.machine.presets import list_presets
from breakeven.points.machine_spec import HOST, MachineSpec

ROOT = Path(__file__).resolve().parents[2]
COPIES, SUMS = ["rv-byte", "rv-word"], ["x64-csum-herbert", "x64-csum-goldstein"]


def test_the_file_is_what_the_results_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import trust

    with trust.FILE.open(newline="") as file:
        kept = list(csv.reader(file))
    found = [["" if value is None else str(value) for value in row] for row in trust.table()]
    assert kept == [list(FIELDS), *found], "run scripts/trust.py"
    assert [row[0] for row in kept[1:]] == [preset.name for preset in list_presets()]
    sys.modules.pop("trust")


def test_a_preset_that_was_measured_says_how_near_it_was() -> None:
    row = known("zen5")
    assert row is not None and row.host == "Zen 5" and row.pairs > 1000
    line = trust_line(MachineSpec("zen5"), ["x64-copy-erms", *SUMS])
    assert line.startswith(f"trust: beside a Zen 5 copies of 50 cycles and more {row.copy_error:g} % off")
    assert (
        f"checksums of 50 cycles and more {row.checksum_error:g} % off, shorter ones by {row.checksum_cycles:g}" in line
    )
    assert f"in mixes it names the faster routine in {row.named_least:.0f} to {row.named_most:.0f} % of pairs" in line
    assert line.endswith(f"{row.assumed} of its {row.values} values are assumed")
    assert "checksums" not in trust_line(MachineSpec("zen5"), COPIES)
    assert "copies" not in trust_line(MachineSpec("zen5"), SUMS)
    assert "no routine of this kind was measured" in trust_line(
        MachineSpec("zen5"), ["x64-crc32c-table", "x64-clear-nt"]
    )


def test_what_was_not_measured_says_so() -> None:
    assert "no u74 was measured with these routines; published numbers: " in trust_line(MachineSpec("u74"), COPIES)
    assert trust_line(MachineSpec("o3"), COPIES) == "trust: o3 is a model of no processor"
    assert "nobody has compared ./mine.py with silicon" in trust_line(MachineSpec("./mine.py"), COPIES)
    assert trust_line(MachineSpec(HOST), COPIES) == ""


def test_what_was_changed_is_no_processor() -> None:
    changed = "with other values (--set) it is no processor"
    assert changed in trust_line(MachineSpec("zen5", ("cpu.SQEntries=8",)), COPIES)
    assert changed not in trust_line(MachineSpec("zen5", ("cpu.isa.enable_smap=false",)), COPIES)


@pytest.mark.parametrize(
    "words", [("compare", "rv-byte", "rv-word", "--sizes", "8..64:8"), ("find", "rv-byte", "rv-word")]
)
def test_it_stands_below_an_answer(in_process, words: tuple[str, ...]) -> None:
    line = trust_line(MachineSpec("u74"), COPIES)
    out = in_process(*words)[1]
    assert out.count(line) == 1
    assert "trust" not in in_process(*words, "--no-trust")[1]
    assert json.loads(in_process(*words, "--json")[1])["trust"] == line


def test_a_table_of_few_machines_has_a_line_each(in_process) -> None:
    words = ("best", "copy", "--sizes", "8,64")
    out = in_process(*words, "-m", "u74,atomic")[1]
    assert "u74: trust: no u74 was measured" in out and "atomic: trust: atomic is a model" in out
    assert "trust" not in in_process(*words, "-m", "u74", "--no-trust")[1]
