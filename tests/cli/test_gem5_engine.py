"""`--engine gem5`: the call of a gem5, with breakeven's own launcher in its place (none is here), and without one."""

from __future__ import annotations

import json
import os
import sys

import pytest


@pytest.fixture
def gem5(tmp_path, monkeypatch):
    """A program that takes gem5's arguments."""
    program = tmp_path / "gem5.opt"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m breakeven gem5 "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("GEM5", str(program))
    return program


def test_the_same_points_under_a_gem5(gem5, breakeven):
    arguments = ("compare", "rv-byte", "rv-word", "-m", "minor", "--sizes", "8,64", "--src", "3", "--json")
    done = breakeven(*arguments, "--engine", "embedded,gem5", "--set", "cpu.dcache.size=16KiB")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found["engines"]) == ["embedded", "gem5"]
    rows = {(row["routine"], row["size"]): row for row in found["points"]}
    assert len(rows) == 4
    # One guest runs all of gem5's points, one after the other; the simulator's each start from the snapshot.
    for row in rows.values():
        assert abs(row["embedded"] - row["gem5"]) <= 0.2 * row["gem5"] + 20
    done = breakeven("run", "rv-word", "-m", "timing", "--size", "64", "--engine", "gem5")
    assert done.returncode == 0 and "output        verified" in done.stdout


def test_settings_that_only_a_gem5_reads(gem5, breakeven):
    words = ("run", "rv-word", "-m", "minor", "--size", "8", "--set", "cpu.executeSetTraceTimeOnIssue=true")
    assert "no rule reads executeSetTraceTimeOnIssue" in breakeven(*words).stderr
    done = breakeven(*words, "--engine", "gem5")
    assert done.returncode == 0 and "verified" in done.stdout, done.stderr
    done = breakeven(*words[:-1], "cpu.nonsense=1", "--engine", "gem5")
    assert done.returncode == 1 and "nonsense" in done.stderr


def test_a_gem5_that_fails_or_is_not_there(gem5, breakeven, monkeypatch):
    gem5.write_text("#!/bin/sh\necho 'fatal: not today' >&2\nexit 1\n")
    done = breakeven("run", "rv-word", "-m", "timing", "--size", "64", "--engine", "gem5")
    assert done.returncode == 1 and "gem5 gave up: fatal: not today" in done.stderr
    monkeypatch.setenv("GEM5", os.devnull)
    done = breakeven("run", "rv-word", "-m", "timing", "--size", "64", "--engine", "gem5")
    assert done.returncode == 1 and "is no program; set GEM5 to its binary" in done.stderr
