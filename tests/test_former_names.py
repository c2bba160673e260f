"""Modules under the names that they had before they moved: found, with a warning, and gone with the next release."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator

import pytest

import breakeven
from breakeven import _former


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Leaves no former module behind for other tests."""
    yield
    for former in _former.FORMER:
        if isinstance(sys.modules.get(f"breakeven.{former}"), _former.FormerModule):
            del sys.modules[f"breakeven.{former}"]
            parent, _, last = f"breakeven.{former}".rpartition(".")
            delattr(sys.modules[parent], last)


@pytest.mark.parametrize("former", sorted(_former.FORMER))
def test_a_former_module_has_the_names_of_its_present_ones(former: str) -> None:
    module = importlib.import_module(f"breakeven.{former}")
    for place in _former.FORMER[former].split():
        present = importlib.import_module(f"breakeven.{place}")
        own = [name for name, value in vars(present).items() if getattr(value, "__module__", "") == present.__name__]
        assert own or vars(present).get("__doc__"), place
        for name in own[:3]:
            with pytest.warns(DeprecationWarning, match=f"breakeven.{former}.{name} is now breakeven."):
                assert getattr(module, name) is not None


def test_a_study_written_before_the_move_still_loads() -> None:
    with pytest.warns(DeprecationWarning) as told:
        from breakeven.runner import MachineSpec
        from breakeven.study import Contents, Study
        from breakeven.sweep import SweepSpec
    from breakeven.points.machine_spec import MachineSpec as Present

    assert MachineSpec is Present and Study.__name__ == "Study" and Contents and SweepSpec
    assert str(told[0].message) == "breakeven.runner.MachineSpec is now breakeven.points.machine_spec.MachineSpec"
    assert told[0].filename == __file__


def test_a_name_that_has_changed_is_found() -> None:
    with pytest.warns(DeprecationWarning, match="breakeven.find.Found is now .*analysis.search_result.SearchResult"):
        from breakeven.find import Found
    with pytest.warns(DeprecationWarning, match="breakeven.tune_run.Question is now .*tuning.request.TuneRequest"):
        from breakeven.tune_run import Question

    assert (Found.__name__, Question.__name__) == ("SearchResult", "TuneRequest")


def test_a_function_of_the_package_stays_one_beside_a_former_module_of_its_name() -> None:
    importlib.import_module("breakeven.machines")
    assert "u74" in breakeven.machines()
    importlib.import_module("breakeven.runner")
    with pytest.raises(TypeError, match="not callable"):
        breakeven.runner()


def test_what_there_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match="breakeven.nothing"):
        importlib.import_module("breakeven.nothing")
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from breakeven.ranges import nothing  # noqa: F401
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        breakeven.nothing  # noqa: B018


def test_a_former_module_runs_as_a_program() -> None:
    command = [sys.executable, "-W", "always", "-m", "breakeven.machines", "atomic"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith('{"format":'), done.stderr
    assert "breakeven.machines is now breakeven.machine.presets" in done.stderr


def test_the_table_of_former_names_is_loaded_by_those_who_use_one() -> None:
    code = "import sys, breakeven, breakeven.cli; breakeven.cli.load(); sys.exit('breakeven._former' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
