"""The presets: that each is found, that each value has its source, and that the value is what the source says."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from breakeven.config import units
from breakeven.config.errors import OverrideError
from breakeven.files.data import DataNotFound, find_data
from breakeven.machine.presets import MachineError, describe_machine, find_machine, list_presets, load_machine

MACHINES = find_data("configs", "machines")
#: an assignment or a keyword with a literal that carries a number or a truth value
_LITERAL = r"""("[^"]*\d[^"]*"|-?\d[\w.]*|True|False)"""
_VALUE = re.compile(rf"(?:^|[\s(,.])[\w.]+\s*=\s*(?:[A-Za-z_]\w*\(\w+=)?{_LITERAL}\)?,?\s*(#.*)?$")
_NOT_VALUES = ("NAME", "DESCRIPTION", "ISA")


def rows() -> dict[str, dict[str, str]]:
    with (MACHINES / "uarch.csv").open(newline="") as file:
        return {f"{row['cpu']}/{row['parameter']}": row for row in csv.DictReader(file)}


def cited_values(name: str) -> list[tuple[int, str, str]]:
    """(line number, literal, comment) of every value in a preset's file."""
    found = []
    for number, line in enumerate((MACHINES / f"{name}.py").read_text().splitlines(), 1):
        match = _VALUE.search(line)
        if match and not line.lstrip().startswith((*_NOT_VALUES, "def ", "#")):
            found.append((number, match[1].strip('"'), match[2] or ""))
    return found


@pytest.mark.parametrize("name", [preset.name for preset in list_presets()])
def test_every_value_says_where_it_comes_from(name: str) -> None:
    for number, literal, comment in cited_values(name):
        sourced = re.match(r"# (uarch: \w+/\w+|assumed: \w|gem5: \w)", comment)
        assert sourced, f"{name}.py:{number}: {literal} has no source"


def in_row(literal: str, row: dict[str, str]) -> bool:
    """Whether the row's text has the number of `literal` in the row's unit, or a range that it lies in."""
    if literal in ("True", "False"):
        return True
    unit = row["unit"]
    if unit == "KiB":
        value = units.memory_size(literal) / 1024
    elif unit == "MHz":
        value = units.hertz(literal) / 1e6
    elif unit == "ns":
        value = units.seconds(literal) * 1e9
    elif unit == "GB/s":
        value = units.memory_bandwidth(literal) / 2**30
    else:
        value = float(literal)
    text = row["value"]
    ranges = re.findall(r"(\d+(?:\.\d+)?)(?:-|\.\.)(\d+(?:\.\d+)?)", text)
    numbers = re.findall(r"\d+(?:\.\d+)?", text)
    inside = any(float(low) <= value <= float(high) for low, high in ranges)
    return inside or any(value == float(number) for number in numbers)


HARDWARE = [preset.name for preset in list_presets() if "# uarch: " in preset.path.read_text()]


@pytest.mark.parametrize("name", HARDWARE)
def test_cited_rows_exist_and_agree(name: str) -> None:
    table = rows()
    cited = 0
    for number, literal, comment in cited_values(name):
        for key in re.findall(r"uarch: (\w+/\w+)", comment):
            assert key in table, f"{name}.py:{number}: there is no row {key}"
            cited += 1
            if "calibrated" not in comment:
                says = table[key]["value"]
                assert in_row(literal, table[key]), f"{name}.py:{number}: {literal} is not what {key} says: {says}"
        for key in re.findall(rf"\b{name}/(\w+)", comment):
            assert f"{name}/{key}" in table, f"{name}.py:{number}: there is no row {key}"
    text = (MACHINES / f"{name}.py").read_text()
    variant = any(f"from {other} import" in text for other in HARDWARE)
    assert cited >= (5 if variant else 18)


def test_the_check_of_values_can_fail() -> None:
    row = rows()["u74/l1d_size_kb"]
    assert in_row("32KiB", row)
    assert not in_row("64KiB", row)
    assert in_row("36", rows()["u74/lat_div"])
    assert not in_row("67", rows()["u74/lat_div"])


def test_presets_are_listed_with_their_facts() -> None:
    presets = {preset.name: preset for preset in list_presets()}
    known = {"u74", "c906", "c910", "minor", "timing", "atomic", "o3", "o3_small", "o3_large"}
    known |= {f"x86_{core}" for core in ("atomic", "timing", "minor", "o3")}
    assert known <= set(presets)
    for preset in presets.values():
        assert preset.path.stem == preset.name
        assert preset.isa in ("riscv", "x86")
        assert len(preset.description) > 20


def params(description: dict[str, Any], path: str) -> dict[str, Any]:
    return next(entry["params"] for entry in description["objects"] if entry["path"] == path)


def test_u74_is_what_it_says() -> None:
    description = describe_machine("u74")
    assert params(description, "system.cpu.misaligned")["policy"] == "trap"
    assert params(description, "system.cpu.mmu.pma_checker")["misaligned"] == []
    assert params(description, "system.cpu.isa")["enable_Zbb"] is False
    assert params(describe_machine("u74", zbb=True), "system.cpu.isa")["enable_Zbb"] is True
    free = describe_machine("u74", ["cpu.misaligned.policy=hardware"])
    assert params(free, "system.cpu.misaligned")["policy"] == "hardware"


def test_c906_has_no_second_level() -> None:
    description = describe_machine("c906")
    assert not [entry["path"] for entry in description["objects"] if entry["path"].startswith("system.l2")]
    assert params(description, "system.cpu")["executeIssueLimit"] == 1


def test_c910_is_what_it_says() -> None:
    description = describe_machine("c910")
    core = params(description, "system.cpu")
    assert (core["decodeWidth"], core["numROBEntries"], core["numPhysIntRegs"]) == (3, 192, 96)
    assert params(description, "system.cpu.misaligned")["policy"] == "hardware"
    assert params(description, "system.cpu.isa")["enable_Zbb"] is False
    off = describe_machine("c910", ["cpu.dcache.prefetcher=NULL", "l2.prefetcher=NULL"])
    assert not [entry for entry in off["objects"] if "BasePrefetcher" in entry["bases"]]


@pytest.mark.parametrize("name", ["o3_small", "o3_large"])
def test_generic_cores_claim_nothing(name: str) -> None:
    """No row of a real core: every value is assumed, and the one line that users see says so."""
    assert all(comment.startswith("# assumed: ") for _, _, comment in cited_values(name))
    assert "assumed" in next(preset.description for preset in list_presets() if preset.name == name)


def test_machines_are_found_by_name_or_file(tmp_path: Path) -> None:
    own = tmp_path / "mine.py"
    own.write_text((MACHINES / "atomic.py").read_text())
    # What comes with breakeven is there for a file anywhere; what lies beside it comes first.
    assert describe_machine(str(own)) == describe_machine("atomic")
    (tmp_path / "riscv_board.py").write_text("raise ImportError('the one beside it')\n")
    with pytest.raises(ImportError, match="the one beside it"):
        load_machine(str(own))
    (tmp_path / "riscv_board.py").write_text((MACHINES / "riscv_board.py").read_text())
    assert describe_machine(str(own)) == describe_machine("atomic")
    with pytest.raises(MachineError, match="did you mean 'u74'"):
        find_machine("u47")
    with pytest.raises(MachineError, match="no machine file"):
        find_machine("nowhere/x.py")
    (tmp_path / "empty.py").write_text("x = 1\n")
    with pytest.raises(MachineError, match=r"defines no machine\(\)"):
        load_machine(str(tmp_path / "empty.py"))
    (tmp_path / "number.py").write_text("def machine():\n    return 3\n")
    with pytest.raises(MachineError, match="not the Root"):
        load_machine(str(tmp_path / "number.py"))
    with pytest.raises(OverrideError):
        load_machine("u74", ["cpu.nothing=1"])


def test_data_is_found_or_the_fix_is_named() -> None:
    assert find_data("configs", "machines/u74.py").is_file()
    with pytest.raises(DataNotFound, match="reinstall breakeven"):
        find_data("configs", "machines/nothing.py")
    with pytest.raises(ValueError, match="configs, guests"):
        find_data("figures")


@pytest.mark.parametrize("name", [preset.name for preset in list_presets()])
def test_the_engine_can_build_every_preset(name: str) -> None:
    engine = pytest.importorskip("breakeven._engine")
    from breakeven.m5 import canonical

    assert engine.check_description(canonical(describe_machine(name))) == []


def test_the_documented_example_is_a_machine(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "machines.md").read_text()
    example = next(part for part in text.split("```python\n") if part.startswith('"""A small')).split("```")[0]
    (tmp_path / "mycpu.py").write_text(example)
    (tmp_path / "riscv_board.py").write_text((MACHINES / "riscv_board.py").read_text())
    description = describe_machine(str(tmp_path / "mycpu.py"), ["cpu.dcache.size=32KiB"])
    assert params(description, "system.cpu.dcache")["size"] == 32768
    assert params(description, "system.cpu.icache")["size"] == 16384
    assert params(description, "system.clk_domain")["clock"] == [2000]
    assert params(description, "system.cpu.misaligned")["line_cross_load"] == 3
