"""Outputs are whole or not there: a full disk or an error leaves the earlier file and no piece of a new one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

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


def test_a_device_is_written_directly() -> None:
    write_bytes(Path(os.devnull), b"gone")
    with pytest.raises(UserError, match="cannot write '/dev/full': no space left on device"):
        write_text(Path("/dev/full"), "text")
    assert Path("/dev/full").is_char_device()


def test_a_missing_folder_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot write .*: no such file or directory"):
        write_text(tmp_path / "none" / "a.txt", "text")


#: limits the size of files as a full disk would; SIGXFSZ is ignored by Python
FULL = """
import resource, sys, pandas as pd
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
