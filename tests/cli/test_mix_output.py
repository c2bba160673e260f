"""Mixes on the command line: what is printed of many calls of different sizes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from breakeven.points.mix import mix_of
from tests.cli.conftest import _engine_is_built

pytestmark = pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")


def run_in(in_process, *words: object) -> str:
    status, out, error = in_process(*words)
    assert status == 0, error
    return str(out)


def test_run_says_what_a_call_takes(in_process) -> None:
    out = run_in(in_process, "run", "rv-word", "-n", "4K", "--mix", "1..300", "--calls", 50, "--no-store")
    found = mix_of("1..300", calls=50).drawn(4096)
    assert "rv-word on u74: a mix of 50 calls in 4096 B" in out and "for 50 calls, " in out
    shown = json.loads(run_in(in_process, "run", "rv-word", "-n", "4K", "--mix", "1..300", "--calls", 50, "--json"))
    assert shown["bytes_per_cycle"] == found.total / shown["cycles"] and shown["measure"] == "mix"


def test_compare_tells_the_fastest_by_working_set(in_process) -> None:
    asked = ("compare", "rv-byte", "rv-word", "-m", "atomic", "--mix", "1..64", "--calls", 50, "--align", 8)
    out = run_in(in_process, *asked, "--sizes", "128,4K")
    assert "atomic, a mix of uniform over 1..64, 50 calls, aligned to 8\n" in out and " working set " in out
    assert re.search(r"rv-word leads in every working set tried \(128 to 4096 B\): \d\.\d\d to ", out)
    assert "ship" not in out and "who leads where" not in out
    assert "in a working set of 128 B: " in run_in(in_process, *asked, "--sizes", "128")
    along = run_in(in_process, *asked, "--sizes", "128", "--sweep", "cpu.width=1,2")
    assert "aligned to 8 in 128 B\n" in along and "cpu.width" in along and "working set" not in along


def test_best_has_a_column_for_each_working_set(in_process) -> None:
    out = run_in(in_process, "best", "checksum", "-m", "atomic", "--mix", "1..64", "--calls", 50, "--sizes", "64,4K")
    assert "the fastest of checksum, a mix of uniform over 1..64, 50 calls" in out
    assert re.search(r"machine +64 B +4096 B", out) and "src+" not in out


def test_a_sweep_s_file_takes_a_mix_but_no_file_of_one(in_process, tmp_path: Path) -> None:
    asked, out = tmp_path / "s.toml", tmp_path / "s.csv"
    asked.write_text('routines = "rv-word"\nsizes = 4096\nmix = "1..64"\ncalls = 50\nalign = 8\n')
    run_in(in_process, "sweep", "-f", asked, "-m", "atomic", "-o", out)
    assert "1..64,8" in out.read_text()
    # A page's command makes the table again.
    page = tmp_path / "s.html"
    run_in(in_process, "report", out, "-o", page)
    assert re.search(r"breakeven sweep rv-word .*--mix 1\.\.64 --align 8 --calls 50", page.read_text())
    asked.write_text('routines = "rv-word"\nsizes = 4096\nmix = "/etc/passwd"\n')
    status, _, error = in_process("sweep", "-f", asked, "-o", out)
    assert status == 1 and "line 3: mix: mix '/etc/passwd' is not a number" in error


def test_there_are_few_working_sets(in_process, tmp_path: Path) -> None:
    """Each draws thousands of calls: a sweep's file of a line must not fill the memory with them."""
    asked = tmp_path / "s.toml"
    asked.write_text('routines = "rv-word"\nsizes = "8..1000000"\nmix = "1..8"\n')
    for words in (("sweep", "-f", asked), ("compare", "rv-byte", "rv-word", "--mix", "1..8")):
        status, _, error = in_process(*words)
        assert status == 1 and "a mix is for working sets, 64 at most" in error, error


@pytest.mark.parametrize("command", ["find", "sensitivity"])
def test_there_is_no_size_to_search_for_in_a_mix(in_process, command: str) -> None:
    status, _, error = in_process(command, "rv-byte", "rv-word", "--mix", "1..64", "--sizes", "128,4K")
    assert status == 1 and "give one working set (--sizes N)" in error
