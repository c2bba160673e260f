"""The types of the extension module (breakeven/_engine.pyi) are those of the module that was built."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from breakeven.files.binaries import guest_elf
from breakeven.m5 import canonical
from breakeven.machine.presets import describe_machine

engine = pytest.importorskip("breakeven._engine")
stubtest = pytest.importorskip("mypy.stubtest")

REPO = Path(__file__).parents[2]
STUB = REPO / "breakeven" / "_engine.pyi"


def checked(monkeypatch: pytest.MonkeyPatch, folder: Path) -> int:
    """stubtest's exit status, with the stub in `folder`."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("MYPYPATH", str(folder))
    return int(stubtest.test_stubs(stubtest.parse_options(["breakeven._engine", "--concise"])))


@pytest.mark.slow
def test_names_and_signatures_are_the_module_s(monkeypatch: pytest.MonkeyPatch) -> None:
    assert checked(monkeypatch, REPO) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong"),
    [("def keep_account(self)", "def keep_accounts(self)"), ("max_insts: int = 0", "most_insts: int = 0")],
)
def test_a_stub_that_says_otherwise_is_found(
    right: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "breakeven"
    package.mkdir()
    (package / "__init__.pyi").touch()
    assert right in STUB.read_text()
    (package / "_engine.pyi").write_text(STUB.read_text().replace(right, wrong))
    assert checked(monkeypatch, tmp_path) == 1
    assert wrong.split("(")[0].split(":")[0].removeprefix("def ") in capsys.readouterr().out


def keys(name: str) -> set[str]:
    """What the stub says of a dictionary."""
    classes = {node.name: node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ClassDef)}
    return {item.target.id for item in classes[name].body if isinstance(item, ast.AnnAssign)}  # type: ignore[union-attr]


def test_dictionaries_have_the_keys_that_the_stub_says() -> None:
    elf = guest_elf("riscv")
    assert set(engine.Machine(canonical(describe_machine("atomic")), elf).run(max_insts=10)) == keys("_End")
    assert set(engine.routines(elf)[0]) == keys("_Routine")
    assert set(engine.elf_contents(elf)) == keys("_Contents")
