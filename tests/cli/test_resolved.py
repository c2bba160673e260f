"""A request executes a machine's file once for each variant, whatever asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import breakeven
from breakeven.cli import load
from breakeven.errors import UserError
from breakeven.machine.resolve import resolve, resolving
from breakeven.points.machine_spec import MachineSpec
from tests.cli.conftest import _engine_is_built

pytestmark = pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")

MINE = """
import minor
from pathlib import Path
NAME, DESCRIPTION, ISA = "mine", "counts its executions", "riscv"
def machine(**options):
    with open(Path(__file__).with_name("executed"), "a") as file:
        file.write("x")
    return minor.machine(**options)
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A machine file that counts how often it is executed."""
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def executed(mine: Path) -> int:
    """How often it was since the last call."""
    count = mine.with_name("executed")
    times = len(count.read_text()) if count.exists() else 0
    count.unlink(missing_ok=True)
    return times


SWEPT = ["--sweep", "cpu.executeBranchDelay=1:2"]


@pytest.mark.parametrize(
    ("words", "variants"),
    [
        (["run", "rv-byte", "-n", "8"], 1),
        (["compare", "rv-byte", "rv-word", "-n", "8,9"], 1),
        (["sweep", "copy", "-n", "8", "--json"], 1),
        (["sweep", "rv-byte", "-n", "8", "--json", *SWEPT], 2),
        (["find", "rv-byte", "rv-word", "-n", "8..20"], 1),
        (["surface", "rv-byte", "rv-word", "-n", "8..20", *SWEPT], 2),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_executes_a_machine_file_once_a_variant(mine: Path, words: list[str], variants: int) -> None:
    for store in (["--no-store"], ["--store", str(mine.with_name("s.sqlite"))]):
        done = CliRunner().invoke(load(words[0]), [*words, "-m", str(mine), *store], standalone_mode=False)
        assert done.exception is None, done.exception
        assert executed(mine) == variants


@pytest.mark.parametrize("words", [["show", "{}"], ["params", "assoc", "-m", "{}"]], ids=lambda words: words[0])
def test_a_page_of_a_machine_executes_its_file_once(mine: Path, words: list[str]) -> None:
    command = ["machines", *(word.format(mine) for word in words)]
    done = CliRunner().invoke(load("machines"), command, standalone_mode=False)
    assert done.exception is None and executed(mine) == 1


def test_the_api_does_so_too_and_each_call_anew(mine: Path) -> None:
    breakeven.run("rv-byte", 8, machine=str(mine), store=False)
    assert executed(mine) == 1
    breakeven.compare("rv-byte", "rv-word", sizes=[8, 9], machine=str(mine), store=False)
    assert executed(mine) == 1


def test_a_request_is_given_one_machine(mine: Path) -> None:
    spec = MachineSpec(str(mine))
    with resolving(), resolving():
        machine = resolve(spec)
        assert resolve(MachineSpec(str(mine))) is machine and executed(mine) == 1
        assert resolve(spec.with_settings("cpu.executeBranchDelay=2")).hash != machine.hash
    executed(mine)
    assert resolve(spec).hash == machine.hash and executed(mine) == 1
    assert machine.isa == "riscv"


def test_a_machine_without_a_cpu_has_no_isa() -> None:
    from breakeven.machine.resolve import Machine

    with pytest.raises(UserError, match="no CPU of a known instruction set"):
        assert Machine(MachineSpec("none"), None, {"objects": []}, "").isa
