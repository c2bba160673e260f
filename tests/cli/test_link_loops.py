"""A symbolic link that leads to itself, wherever a path of the user's or of a folder's can stand: one sentence."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import breakeven as package
from breakeven.errors import UserError
from breakeven.files.places import in_home, resolved
from breakeven.files.reading import check_links, read_bounded
from breakeven.files.writing import Held, check_target, replacing, write_text

GEM5 = Path(__file__).parents[1] / "data" / "gem5"
PROGRAM = Path(__file__).parents[2] / "build" / "guests" / "process" / "checks-riscv-glibc"
CIRCLE = "lead in a circle"


def loop(path: Path) -> Path:
    path.symlink_to(path.name)
    return path


@pytest.mark.parametrize("tail", ["", "below", "further/below.csv"])
def test_a_loop_is_a_sentence(tmp_path: Path, tail: str) -> None:
    path = loop(tmp_path / "loop") / tail
    for taken in (resolved, check_target, Held, lambda path: write_text(path, "x"), in_home):
        with pytest.raises(UserError, match=CIRCLE) as said:
            taken(path)
        assert repr(str(path)) in str(said.value)
    with pytest.raises(UserError, match=CIRCLE), replacing(path):
        raise AssertionError("it is not reached")


def test_what_is_no_files_name_is_a_sentence() -> None:
    for name in ("a\0.csv", "\ud800.csv"):
        with pytest.raises(UserError, match="cannot be a file's name"):
            resolved(Path(name))


def test_other_paths_are_as_python_has_them(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("there")
    for name in ("link", "there", "..", "link/../x", "a/../b", ""):
        assert resolved(tmp_path / name) == (tmp_path / name).resolve()
    (tmp_path / "there").mkdir()
    assert resolved(tmp_path / "link" / "x") == tmp_path.resolve() / "there" / "x"


@pytest.mark.parametrize("place", ["l.csv", "one/l.csv", "one/two/l.csv"])
def test_a_loop_in_a_folder_of_results_is_named(tmp_path: Path, place: str) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    loop(path)
    with pytest.raises(UserError, match=CIRCLE) as said:
        check_links(tmp_path)
    assert str(path) in str(said.value)


#: each with a loop in the place of one file
COMMANDS = """
sweep rv-byte -n 8 --no-store -o loop.csv
sweep -f loop.toml
run rv-byte -n 8 -m ./loop.py --no-store
run rv-byte -n 8 --store loop.sqlite
run rv-byte -n 8 --store loop/s.sqlite
run rv-byte -n 8 --no-store --guest loop
best copy -m u74 -n 8 --no-store --html loop.html
compare rv-byte rv-word -n 8 --no-store --plot loop.png
compare rv-byte rv-word -n 8 --no-store -o loop.csv
compare rv-byte rv-word -n 8 --baseline loop.json
find rv-byte rv-word -n 1..8 --no-store -o loop.csv
surface rv-byte rv-word --sweep cpu.executeBranchDelay=1,2 -n 1..8 --no-store --plot loop.png
report loop.csv
report loop
report t.csv -o loop.html
report t.csv -m ./loop.py -o t.html
store export loop.csv --store s.sqlite
store check --store loop.sqlite
store repair --store loop.sqlite
store repair --store loop/s.sqlite
tune --candidates rv-byte,rv-word --sizes 1..8 --src 0 --no-store -o loop.h
tune --candidates rv-byte,rv-word --distribution loop --no-store
explore --out loop.html
explore -m ./loop.py
calibrate --check zen5 --measurements loop.json
calibrate --measurements loop.json
calibrate -o loop.py
exec loop
exec --linux program --stats loop.txt
exec --linux program --dir loop --writable
exec --linux program --readfile loop
exec --linux program --debug-flags O3PipeView --debug-file loop.out
gem5 loop.py
gem5 --outdir loop config.py micro.rv64.elf --isa riscv --cpu timing
gem5 --outdir loop/below config.py micro.rv64.elf --isa riscv --cpu timing
gem5 --allow-dir loop --allow-writes config.py micro.rv64.elf --isa riscv --cpu timing
gem5-diff loop loop
add loop.o --isa x86
add loop.c --isa x86
reproduce loop.py
reproduce anand2002 --out loop
machines show ./loop.py
"""


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS.strip().splitlines())
def test_no_command_calls_a_loop_a_fault_of_its_own(breakeven, tmp_path: Path, words: str) -> None:
    for word in words.split():
        name = word.removeprefix("./").partition("/")[0]
        if name.startswith("loop") and not (tmp_path / name).is_symlink():
            loop(tmp_path / name)
    (tmp_path / "t.csv").write_text("routine\n")
    for file in (GEM5 / "config.py", GEM5 / "micro.rv64.elf", PROGRAM):
        if file.is_file():
            (tmp_path / ("program" if file == PROGRAM else file.name)).symlink_to(file)
    done = breakeven(*words.split())
    assert done.returncode in (1, 2) and "a fault of breakeven's own" not in done.stderr, done.stderr
    assert done.stderr.strip().count("\n") < 3 and done.stderr.startswith("breakeven: "), done.stderr


#: who resolves a path by Python's own means, and why no loop gets there
OWN = {
    "cli/__init__.py": "the file of code that has run",
    "files/data.py": "breakeven's own file", "files/isolated.py": "breakeven's own file",
    "routine/add.py": "files that are there", "routine/sources.py": "files that are there",
    "routine/confined.py": "files that a compiler has read", "routine/tools.py": "a program that is there",
}  # fmt: skip


def test_paths_are_resolved_in_one_place() -> None:
    folder = Path(package.__file__).parent
    found = {
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if "_data" not in path.parts
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(".resolve") and not call.args
    }
    assert found == OWN.keys()


def test_a_file_that_cannot_be_read_is_named() -> None:
    """Python does not say which file it is once it is open."""
    with pytest.raises(OSError) as said:
        read_bounded(Path("/proc/self/mem"))
    assert said.value.filename == "/proc/self/mem"


def test_a_machine_file_that_is_too_large_is_named(breakeven, tmp_path: Path) -> None:
    with (tmp_path / "huge.py").open("wb") as file:
        file.truncate((1 << 28) + 1)
    done = breakeven("run", "rv-byte", "--size", "8", "-m", "./huge.py")
    assert done.returncode == 1 and "breakeven: cannot read '" in done.stderr and "huge.py': it has more" in done.stderr
