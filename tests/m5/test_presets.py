"""The presets: that each is found, that each value has its source, and that the value is what the source says."""

from __future__ import annotations

import csv
import importlib
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from breakeven import api
from breakeven.config.describe import describe
from breakeven.config.errors import OverrideError
from breakeven.config.provenance import ASSUMED, CALIBRATED, SOURCED, Provenance
from breakeven.errors import UserError
from breakeven.files.data import DataNotFound, find_data
from breakeven.m5.loader import as_m5
from breakeven.machine.presets import MachineError, describe_machine, find_machine, list_presets, load_machine
from breakeven.machine.sources import Sources

MACHINES = find_data("configs", "machines")
#: what names things, says when a string mode applies, or comes from what the machine runs; no property of hardware
_NOT_VALUES = (
    *("opClass", "vendor_string", "name_string", "description", "full_system", "mem_mode", "bootloader"),
    *("object_file", "mnemonics", "min_element", "max_bytes", "max_count", "backwards"),
)
ALL = [preset.name for preset in list_presets()]


class Value(NamedTuple):
    path: str
    name: str
    #: as the description has it
    value: Any
    provenance: Provenance | None

    def __str__(self) -> str:
        return f"{self.path}.{self.name} = {self.value!r}"


def plain(value: Any) -> bool:
    numbers = isinstance(value, list) and bool(value) and all(isinstance(one, (int, float)) for one in value)
    return numbers or isinstance(value, (int, float, str))


@cache
def values_set(name: str) -> list[Value]:
    """Every plain value that a preset's files set beyond gem5's default, or say something of."""
    root = load_machine(name)
    sources, objects, found = Sources(root), {obj.path(): obj for obj in root.descendants()}, []
    for item in describe(root)["objects"]:
        obj = objects[item["path"]]
        for parameter in obj.set_names():
            value, said = item["params"].get(parameter), sources.provenance(item["path"], parameter)
            of_gem5 = (obj._given or {}).get(parameter) is not None or value == sources.default(item["path"], parameter)
            if said is not None or (plain(value) and not of_gem5 and parameter not in _NOT_VALUES):
                found.append(Value(item["path"], parameter, value, said))
    return found


def rows() -> dict[str, dict[str, str]]:
    with (MACHINES / "uarch.csv").open(newline="") as file:
        return {f"{row['cpu']}/{row['parameter']}": row for row in csv.DictReader(file)}


@pytest.mark.parametrize("name", ALL)
def test_every_value_says_where_it_comes_from(name: str) -> None:
    silent = [str(value) for value in values_set(name) if value.provenance is None]
    assert silent == [], "sourced(), calibrated(), assumed() or as_gem5() of machines.provenance marks a value"


@pytest.mark.parametrize("name", ALL)
def test_a_mark_says_enough(name: str) -> None:
    for value in values_set(name):
        mark, row, note = value.provenance or ("", "", "")
        assert bool(row) == (mark in (SOURCED, CALIBRATED)), value
        assert note or mark == SOURCED, value


@pytest.mark.parametrize("name", ALL)
def test_gem5s_own_traits_are_on_in_gem5s_own_cores_only(name: str) -> None:
    root = load_machine(name)
    core = next(obj for obj in root.descendants() if obj.path() == "system.cpu")
    traits = [trait for trait in type(core)._params if trait.startswith("gem5") or trait == "serialResponses"]
    if name in ("minor", "o3", "x86_minor", "x86_o3"):
        # RISC-V's alone; under TSO one store is under way, which no other joins.
        off = {"gem5CompressedBranches", "gem5StoresJoinMisses"} if name == "x86_o3" else set()
        assert traits and {trait for trait in traits if not getattr(core, trait)} == off
    else:
        assert [trait for trait in traits if getattr(core, trait)] == []


def test_a_value_without_a_mark_is_found(tmp_path: Path) -> None:
    source = (MACHINES / "u74.py").read_text()
    marked = 'size, assoc = row(l1d_size_kb="32KiB", l1d_assoc=8)'
    assert marked in source
    (tmp_path / "bare.py").write_text(source.replace(marked, 'size, assoc = row(l1d_size_kb="32KiB"), 16'))
    bare = [str(value) for value in values_set(str(tmp_path / "bare.py")) if value.provenance is None]
    assert bare == ["system.cpu.dcache.assoc = 16"]


def test_only_parameters_can_be_marked(tmp_path: Path) -> None:
    source = (MACHINES / "u74.py").read_text()
    (tmp_path / "wrong.py").write_text(source.replace("executeBranchDelay = ", "executeBranchDelays = "))
    with pytest.raises(AttributeError, match="has no parameter 'executeBranchDelays'"):
        load_machine(str(tmp_path / "wrong.py"))


#: unit of a row -> a description's value in it
_IN_UNIT = {
    "KiB": lambda size: size / 1024,
    "ns": lambda ticks: ticks / 1000,
    "GB/s": lambda rate: rate / 2**30,
}


def in_row(value: Any, row: dict[str, str]) -> bool:
    """Whether the row's text has the number in the row's unit, or a range that it lies in."""
    if isinstance(value, list):
        return all(in_row(one, row) for one in value)
    if row["unit"] == "MHz":
        # A period is whole picoseconds.
        return any(value == round(1e6 / float(number)) for number in re.findall(r"\d+", row["value"]))
    if isinstance(value, (bool, str)):
        return True
    value = _IN_UNIT.get(row["unit"], float)(value)
    text = row["value"]
    ranges = re.findall(r"(\d+(?:\.\d+)?)(?:-|\.\.)(\d+(?:\.\d+)?)", text)
    numbers = re.findall(r"\d+(?:\.\d+)?", text)
    inside = any(float(low) <= value <= float(high) for low, high in ranges)
    return inside or any(value == pytest.approx(float(number), rel=1e-3) for number in numbers)


HARDWARE = [name for name in ALL if any(value.provenance and value.provenance.row for value in values_set(name))]


@pytest.mark.parametrize("name", HARDWARE)
def test_cited_rows_exist_and_agree(name: str) -> None:
    table = rows()
    cited = 0
    for value in values_set(name):
        mark, row, _ = value.provenance or ("", "", "")
        if row:
            assert row in table, f"{value}: there is no row {row}"
            cited += 1
        if mark == SOURCED and plain(value.value):
            assert in_row(value.value, table[row]), f"{value}: is not what {row} says: {table[row]['value']}"
    assert cited >= 18


def test_the_check_of_values_can_fail() -> None:
    row = rows()["u74/l1d_size_kb"]
    assert in_row(32 << 10, row)
    assert not in_row(64 << 10, row)
    assert in_row(36, rows()["u74/lat_div"])
    assert not in_row(67, rows()["u74/lat_div"])


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


def test_c910_is_what_it_says() -> None:
    description = describe_machine("c910")
    assert params(description, "system.cpu.misaligned")["policy"] == "hardware"
    assert params(description, "system.cpu.isa")["enable_Zbb"] is False
    off = describe_machine("c910", ["cpu.dcache.prefetcher=NULL", "l2.prefetcher=NULL"])
    assert not [entry for entry in off["objects"] if "BasePrefetcher" in entry["bases"]]


@pytest.mark.parametrize("name", ["o3_small", "o3_large"])
def test_generic_cores_claim_nothing(name: str) -> None:
    """No row of a real core: every value is assumed, and the one line that users see says so."""
    assert {value.provenance and value.provenance.mark for value in values_set(name)} == {ASSUMED}
    assert "assumed" in next(preset.description for preset in list_presets() if preset.name == name)


def test_machines_are_found_by_name_or_file(tmp_path: Path) -> None:
    own = tmp_path / "mine.py"
    own.write_text((MACHINES / "atomic.py").read_text())
    # What comes with breakeven is there for a file anywhere.
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


def test_a_package_called_machines_beside_a_file_wins_and_a_mere_folder_does_not(tmp_path: Path) -> None:
    own = tmp_path / "mine.py"
    own.write_text((MACHINES / "atomic.py").read_text())
    (tmp_path / "machines").mkdir()
    assert describe_machine(str(own)) == describe_machine("atomic")
    (tmp_path / "machines" / "__init__.py").write_text("raise ImportError('the one beside it')\n")
    with pytest.raises(ImportError, match="the one beside it"):
        load_machine(str(own))
    # Presets import their own.
    assert describe_machine("atomic")


def test_the_package_is_there_only_while_a_machine_is_made() -> None:
    theirs = ModuleType("machines")
    sys.modules["machines"] = theirs
    try:
        load_machine("zen4")
        assert sys.modules["machines"] is theirs
        assert not [name for name in sys.modules if name.startswith("machines.")]
    finally:
        del sys.modules["machines"]
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("machines")


def test_a_real_gem5_gets_plain_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """There `m5` has no module `provenance` (here: there is no `m5` at all)."""
    monkeypatch.syspath_prepend(str(MACHINES.parent))
    try:
        marks = importlib.import_module("machines.provenance")
        assert type(marks.sourced("32KiB", "u74/l1d_size_kb")) is str
        assert marks.calibrated({"a": 1}, "u74/lat_mul", "so") == {"a": 1}
        assert marks.rows_of("u74")(lat_mul=3, btb=(32, 12)) == [3, 32, 12]
        assert [marks.assumed(True, "so"), marks.as_gem5(2, "so"), marks.assumed_unless_marked(3, "so")] == [True, 2, 3]
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "machines"]:
            del sys.modules[name]


def test_values_of_several_rows_are_marked_in_their_order() -> None:
    with as_m5(MACHINES):
        marks = importlib.import_module("machines.provenance")
        row = marks.rows_of("u74")
        latency, entries, returns = row(lat_mul=3, btb=(32, 12))
        two = marks.assumed((1, 2), "so")
    assert [each.value for each in (latency, entries, returns)] == [3, 32, 12]
    assert [each.provenance.row for each in (latency, entries, returns)] == ["u74/lat_mul", "u74/btb", "u74/btb"]
    assert row(lat_mul=3).provenance == Provenance(SOURCED, "u74/lat_mul")
    assert [(each.value, each.provenance.note) for each in two] == [(1, "so"), (2, "so")]


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
    description = describe_machine(str(tmp_path / "mycpu.py"), ["cpu.dcache.size=32KiB"])
    assert params(description, "system.cpu.dcache")["size"] == 32768
    assert params(description, "system.cpu.icache")["size"] == 16384
    assert params(description, "system.clk_domain")["clock"] == [2000]
    assert params(description, "system.cpu.misaligned")["line_cross_load"] == 3
    pytest.importorskip("breakeven._engine")
    assert api.run("rv-word", size=64, machine=str(tmp_path / "mycpu.py"), store=False).ok
    (tmp_path / "small.py").write_text(example.replace('"512MiB"', '"64MiB"').replace("mycpu", "small"))
    with pytest.raises(UserError, match="the machine has 64 MiB of memory, and the guests need 512"):
        api.run("rv-word", size=64, machine=str(tmp_path / "small.py"), store=False)
