"""The Python functions: their examples, and what they say to mistakes."""

import doctest
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import breakeven
from breakeven import api
from breakeven.errors import UserError
from breakeven.store import ENVIRONMENT
from tests.cli.conftest import _engine_is_built
from tests.cli.test_add import COPY


@pytest.fixture(autouse=True)
def own_store(tmp_path, monkeypatch):
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "points.sqlite"))


def needs_engine() -> None:
    if not _engine_is_built():
        pytest.skip("the engine or the guests are not built")


@pytest.mark.slow
def test_the_examples() -> None:
    needs_engine()
    done = [doctest.testmod(module) for module in (api, api.exploring, api.listing, api.measuring, api.searching)]
    assert sum(each.attempted for each in done) >= 10
    assert not any(each.failed for each in done)


def test_importing_the_package_loads_nothing() -> None:
    code = "import breakeven, sys; assert 'numpy' not in sys.modules and 'breakeven.api' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_module_of_the_same_name_does_not_hide_a_verb() -> None:
    from breakeven.sweeps.spec import SweepSpec

    assert SweepSpec.__name__ == "SweepSpec"
    for name in breakeven.__all__:
        assert getattr(breakeven, name) is getattr(api, name)
        assert name in dir(breakeven)


def test_results_show_themselves_in_a_notebook() -> None:
    needs_engine()
    found = breakeven.compare("rv-byte", "rv-word", sizes=[8, 16], store=False)
    assert "<table>" in found._repr_html_()
    assert "rv-word" in found._repr_html_()


@pytest.mark.slow
def test_a_routine_of_ones_own_is_added_tuned_and_removed(tmp_path, monkeypatch) -> None:
    needs_engine()
    if shutil.which("riscv64-unknown-elf-gcc") is None:
        pytest.skip("no compiler for RISC-V")
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path / "home"))
    file = tmp_path / "mine.S"
    file.write_text(f".globl mine\nmine:\n{COPY.partition('my_copy:')[2]}")
    added = breakeven.add(file, "riscv")
    assert added.file.routines == ("mine",) and added.points > 100
    assert "mine" in [routine.name for routine in breakeven.routines()]
    found = breakeven.tune("mine", "rv-word", sizes=[8, 64], src=0, branches=1, store=False, name="f")
    assert found.as_dict()["chosen"] == "rv-word" and "always_inline)) void f(" in found.header
    assert list(found.table()["branches"]) == [0] and "<pre>/* f:" in found._repr_html_()
    assert breakeven.remove("mine") == ["mine"]
    with pytest.raises(UserError, match="you have added no routine 'mine'"):
        breakeven.remove("mine")
    file.write_text("    .globl mine\nmine: ret\n")
    with pytest.raises(UserError, match="byte 0 is"):
        breakeven.add(file, "riscv")


def test_mistakes_of_tune_are_named() -> None:
    with pytest.raises(UserError, match="at least two"):
        breakeven.tune("rv-byte", "rv-byte")
    with pytest.raises(UserError, match="'a-b' is no C identifier"):
        breakeven.tune("rv-byte", "rv-word", name="a-b")
    with pytest.raises(UserError, match="the weight -1 of 8..8 is no share"):
        breakeven.tune("rv-byte", "rv-word", distribution={8: -1})
    with pytest.raises(UserError, match="unknown cache state"):
        breakeven.tune("rv-byte", "rv-word", cache="hot")


def test_mistakes_are_named() -> None:
    with pytest.raises(TypeError, match="unknown option 'warmpu'; there are: .*warmup"):
        breakeven.sweep("rv-word", 64, warmpu=3)
    with pytest.raises(UserError, match=r"size 'x' is not a number"):
        breakeven.sweep("rv-word", "x")
    with pytest.raises(UserError, match=r"is not a number, a list"):
        breakeven.sweep("rv-word", [64, "x"])
    with pytest.raises(UserError, match="unknown cache state"):
        breakeven.run("rv-word", 64, cache="hot")


def test_the_version_and_the_marker_of_types(monkeypatch) -> None:
    from importlib.metadata import distributions, version

    from typer.testing import CliRunner

    from breakeven.cli import load

    # Beside the tests' own engine (scripts/test) the package may not be installed.
    installed = any(each.name == "breakeven" for each in distributions())
    assert breakeven.__version__ == (version("breakeven") if installed else "0+unknown")
    done = CliRunner().invoke(load(), ["--version"], standalone_mode=False)
    assert done.stdout == f"breakeven {breakeven.__version__}\n" and not done.exception
    assert (Path(breakeven.__file__).parent / "py.typed").is_file()


@pytest.mark.slow
def test_results_draw_themselves_and_are_short(tmp_path) -> None:
    where = {"machine": "minor", "repetitions": 3, "store": False}
    found = breakeven.find("rv-byte", "rv-word", sizes="1..32", **where)
    compared = breakeven.compare("rv-byte", "rv-word", sizes="8..32:8", **where)
    surface = breakeven.surface("rv-byte", "rv-word", {"cpu.executeBranchDelay": [1, 2]}, sizes="1..16", **where)
    for name, drawn in (("found.svg", found), ("compared.png", compared), ("surface.pdf", surface)):
        assert drawn.plot(tmp_path / name).stat().st_size > 1000
    tuned = breakeven.tune("rv-byte", "rv-word", sizes="1..16", src=0, branches=0, machine="minor")
    where["machine"] = "u74"
    moved = breakeven.sensitivity("rv-byte", "rv-word", sizes="1..16", top=1, match="calibrated", **where)
    for short in (found, compared, surface, tuned, moved):
        assert len(repr(short)) < 250 and "rv-word" in repr(short), repr(short)


def test_explain_and_report(tmp_path, monkeypatch) -> None:
    accounts = breakeven.explain("rv-byte", "rv-word", size=64, machine="minor", repetitions=3)
    assert list(accounts) == ["rv-byte", "rv-word"] and accounts["rv-byte"].cycles > accounts["rv-word"].cycles
    assert sum(line.percent for line in accounts["rv-word"].groups) == pytest.approx(100)
    with pytest.raises(UserError, match="keeps no account"):
        breakeven.explain("rv-byte", size=8, machine="atomic", repetitions=1)
    table = breakeven.sweep("rv-byte", [8, 16], machines="minor", repetitions=3, store=False)
    table.to_csv(tmp_path / "t.csv", index=False)
    written = breakeven.report(tmp_path / "t.csv", out=tmp_path / "t.html")
    assert (written.points, written.failures) == (2, ()) and "rv-byte" in written.file.read_text()
