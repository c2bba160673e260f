"""The commands that reports print: each, pasted, asks for its grid's points on its grid's machines."""

from __future__ import annotations

import importlib
import shlex

import pytest
from typer.testing import CliRunner

from breakeven.cli import load
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.ranges import ranges_text
from breakeven.studies import commands
from breakeven.studies.finding import find_studies
from breakeven.studies.study import Study
from breakeven.sweeps.spec import SweepSpec

pytestmark = pytest.mark.slow

BOTH = ["rv-byte", "rv-word"]


class Asked(Exception):
    """Raised in place of running what was asked for."""


@pytest.fixture
def pasted(monkeypatch):
    """A pasted command -> the sweep that it would run."""
    seen: list[SweepSpec] = []

    def instead(spec, *_args, **_options):
        seen.append(spec)
        raise Asked

    for module, name in (("sweeps.run", "run_sweep"), ("analysis.find", "find"), ("analysis.find", "surface")):
        # By its name: the package has functions called as these modules are.
        monkeypatch.setattr(importlib.import_module(f"breakeven.{module}"), name, instead)

    def ask(command: str) -> SweepSpec:
        seen.clear()
        program, *words = shlex.split(command)
        assert program == "breakeven"
        result = CliRunner().invoke(load(words[0]), [*words, "--no-store"], standalone_mode=False)
        assert isinstance(result.exception, Asked), f"{command}: {result.output}{result.exception!r}"
        return seen[0]

    return ask


def same(asked: SweepSpec, spec: SweepSpec) -> bool:
    """Whether `asked` has every point of `spec`, on the same machines."""
    if [machine for machine, _ in asked.variants()] != [machine for machine, _ in spec.variants()]:
        return False
    return {record.tobytes() for record in spec.records()} <= {record.tobytes() for record in asked.records()}


@pytest.mark.parametrize("study", find_studies([]), ids=lambda study: study.name)
def test_every_command_of_a_study_asks_for_its_grid(study: Study, pasted) -> None:
    for name, (_, spec) in study.grids.items():
        assert same(pasted(commands.sweep_command(spec)), spec), name
    for name, (_, spec) in study.searches.items():
        assert same(pasted(commands.search_command(spec)), spec), name


def test_another_machine_size_or_count_is_another_grid() -> None:
    spec = SweepSpec(BOTH, [MachineSpec("u74")], [1, 2, 3], offset_pairs=[(0, 0), (1, 2)])
    wider = SweepSpec(BOTH, [MachineSpec("u74")], [1, 2, 3, 4], src_offsets=[0, 1], dst_offsets=[0, 2])
    assert same(wider, spec)
    assert not same(spec, wider)
    assert not same(SweepSpec(BOTH, [MachineSpec("c906")], [1, 2, 3], offset_pairs=[(0, 0), (1, 2)]), spec)
    assert not same(SweepSpec(BOTH, [MachineSpec("u74")], [1, 2, 3], offset_pairs=[(0, 0), (1, 2)], warmup=1), spec)


def test_one_command_has_one_set_of_settings() -> None:
    machines = [MachineSpec("u74"), MachineSpec("u74", ("cpu.misaligned.policy=trap",))]
    with pytest.raises(ValueError, match="one set of settings"):
        commands.sweep_command(SweepSpec(BOTH, machines, [1]))


def test_ranges_are_those_of_the_command_line() -> None:
    from breakeven.points.ranges import parse_integers

    for values in ([1], [1, 2], [1, 2, 3], [4, 8, 12, 13, 14, 15, 99], list(range(138, 513, 9)), [0, 1, 3, 4, 6, 7]):
        text = ranges_text(values)
        assert parse_integers(text, "size", 0, 1 << 20) == values, text
    assert ranges_text([4, 8, 12, 99]) == "4..12:4,99"
