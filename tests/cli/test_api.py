"""The Python functions: their examples, and what they say to mistakes."""

import doctest
import subprocess
import sys

import pytest

import breakeven
from breakeven import api
from breakeven.errors import UserError
from breakeven.store import ENVIRONMENT
from tests.cli.conftest import _engine_is_built


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "points.sqlite"))


def needs_engine() -> None:
    if not _engine_is_built():
        pytest.skip("the engine or the guests are not built")


def test_the_examples() -> None:
    needs_engine()
    done = doctest.testmod(api)
    assert done.attempted >= 10
    assert done.failed == 0


def test_importing_the_package_loads_nothing() -> None:
    code = "import breakeven, sys; assert 'numpy' not in sys.modules and 'breakeven.api' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_module_of_the_same_name_does_not_hide_a_verb() -> None:
    from breakeven.sweep import SweepSpec

    assert SweepSpec.__name__ == "SweepSpec"
    for name in breakeven.__all__:
        assert getattr(breakeven, name) is getattr(api, name)
        assert name in dir(breakeven)


def test_results_show_themselves_in_a_notebook() -> None:
    needs_engine()
    found = breakeven.compare("rv-byte", "rv-word", sizes=[8, 16], store=False)
    assert "<table>" in found._repr_html_()
    assert "rv-word" in found._repr_html_()


def test_mistakes_are_named() -> None:
    with pytest.raises(TypeError, match="unknown option 'warmpu'; there are: .*warmup"):
        breakeven.sweep("rv-word", 64, warmpu=3)
    with pytest.raises(UserError, match=r"size 'x' is not a number"):
        breakeven.sweep("rv-word", "x")
    with pytest.raises(UserError, match=r"is not a number, a list"):
        breakeven.sweep("rv-word", [64, "x"])
    with pytest.raises(UserError, match="unknown cache state"):
        breakeven.run("rv-word", 64, cache="hot")
