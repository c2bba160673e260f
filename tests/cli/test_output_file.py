"""Outputs are whole or not there: a full disk or an error leaves the earlier file and no piece of a new one."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import breakeven
from breakeven.errors import UserError
from breakeven.files.writing import replacing, write_bytes, write_text
from breakeven.points.table import write_table


def test_a_whole_file_takes_the_place(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "one")
    path.chmod(0o640)
    write_text(path, "two")
    assert path.read_text() == "two" and path.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


def test_an_error_leaves_the_earlier_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("kept")
    with pytest.raises(RuntimeError), replacing(path) as beside:
        assert beside.suffix == ".csv"
        beside.write_text("half")
        raise RuntimeError
    assert path.read_text() == "kept" and [each.name for each in tmp_path.iterdir()] == ["a.csv"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "text"


def test_a_name_may_be_as_long_as_a_name_can_be(tmp_path: Path) -> None:
    for name in ("a." + "x" * 253, "b" * 255, ".c" + "x" * 253):
        write_text(tmp_path / name, "whole")
        assert (tmp_path / name).read_text() == "whole"


def test_a_device_is_written_directly() -> None:
    write_bytes(Path(os.devnull), b"gone")
    with pytest.raises(UserError, match="cannot write '/dev/full': no space left on device"):
        write_text(Path("/dev/full"), "text")
    assert Path("/dev/full").is_char_device()


def test_a_missing_folder_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot write .*: no such file or directory"):
        write_text(tmp_path / "none" / "a.txt", "text")


#: limits the size of files as a full disk would; SIGXFSZ is ignored by Python. It would keep what fits of an import's
#: bytecode, and fail at it ever after.
FULL = """
import resource, sys, pandas as pd
sys.dont_write_bytecode = True
from pathlib import Path
from breakeven.errors import UserError
from breakeven.points.table import write_table
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    write_table(pd.DataFrame({"size": range(5000)}), Path(sys.argv[1]))
except UserError as error:
    print(error)
"""


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_a_full_disk_loses_no_earlier_table(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"keep{suffix}"
    write_table(pd.DataFrame({"size": [1]}), path)
    before = path.read_bytes()
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True)
    assert "cannot write" in done.stdout and "file too large" in done.stdout, done.stderr
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


#: what writes without `replacing`, and why it may
DIRECT = {
    "calibration/host_program.py": "a folder of its own for a build",
    "calibration/model.py": "a folder of its own for a build",
    "engines/gem5_binary.py": "a folder of its own for a run",
    "engines/native.py": "a folder of its own for a run",
    "explorer/launch.py": "a folder of its own for a browser's page",
    "explorer/server.py": "a folder of its own for a dropped file",
    "m5/outputs.py": "gem5 appends to its statistics, and scripts read them between two dumps",
    "m5/programs.py": "a program's output, as it comes",
    "routine/add.py": "a folder that is renamed into its place when it is whole",
    "routine/build.py": "a folder of its own for a build",
    "routine/confined.py": "a folder of its own for a build",
    "routine/registry.py": "a folder that is renamed into its place when it is whole",
    "routine/shared_library.py": "a folder of its own for a build",
    "routine/taken_function.py": "a folder of its own for a build",
    "studies/blind.py": "the ledger, which only grows",
}
METHODS = {"write_text", "write_bytes", "savefig", "to_csv", "to_json"}
FUNCTIONS = {"shutil.copy", "shutil.copyfile"}


def writes_directly(call: ast.Call) -> bool:
    """Whether a call writes a file which is not the one that `replacing` gives."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    texts = [part.value for word in given for part in ast.walk(word) if isinstance(part, ast.Constant)]
    called = ast.unparse(call.func)
    method = called.rpartition(".")[2] if "." in called else ""
    writes = (
        (method in METHODS and bool(call.args))
        or called in FUNCTIONS
        or (called in ("open", "gzip.open") and any(re.fullmatch("[wxa][bt]?", str(text)) for text in texts))
    )
    return writes and "beside" not in ast.unparse(call)


@pytest.mark.slow
def test_every_output_is_written_beside_its_place() -> None:
    package = Path(breakeven.__file__).parent
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        # what a wheel's build leaves there are copies of scripts
        if "_data" not in path.parts
        and any(isinstance(call, ast.Call) and writes_directly(call) for call in ast.walk(ast.parse(path.read_text())))
    }
    assert found == DIRECT.keys()


#: the command, on a disk that is full from when an output is begun
FULL_LATER = """
import resource, sys, tempfile
sys.dont_write_bytecode = True
real = tempfile.mkstemp
def mkstemp(*args, **kwargs):
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    return real(*args, **kwargs)
tempfile.mkstemp = mkstemp
from breakeven.entry import main
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "compare rv-byte rv-word -n 8,16 --no-store --plot keep.png",
        "compare rv-byte rv-word -n 8,16 --no-store --plot keep.svg",
        "report points.csv -o keep.html",
    ],
)
def test_a_full_disk_loses_no_earlier_output(program, tmp_path: Path, words: str) -> None:
    assert program(*["sweep", "rv-byte", "-n", "8,16", "--no-store", "-o", "points.csv"]).returncode == 0
    command = [sys.executable, "-c", FULL_LATER, *words.split()]
    path = tmp_path / words.split()[-1]
    path.write_text("what was there")
    before = sorted(tmp_path.iterdir())
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and f"cannot write '{path.name}': file too large" in done.stderr, done.stderr
    assert path.read_text() == "what was there" and sorted(tmp_path.iterdir()) == before
