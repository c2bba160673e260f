"""configs/point.py and configs/sweep.py: presets and guests in a gem5 script, with our extensions and without."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from breakeven.files.importing import importable
from breakeven.m5.loader import as_m5
from breakeven.points import Point, points_file

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

REPO = Path(__file__).resolve().parents[2]
pytest.importorskip("breakeven._engine")
if not (REPO / "build/guests/riscv.elf").exists():
    pytest.skip("the guests are not built", allow_module_level=True)


def run(module: str, *arguments: str) -> tuple[str, str]:
    """Standard output and error of a script of configs/."""
    command = [sys.executable, "-m", *module.split(), *arguments]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, done.stderr


def test_a_point_is_the_commands_own(tmp_path: Path) -> None:
    """A script simulates all of it in detail, the command what is measured."""
    point = ("u74", "rv-copy-user-2021", "64", "--src=3")
    said, _ = run("breakeven gem5", "-d", str(tmp_path), "configs/point.py", *point)
    theirs, _ = run("breakeven", "run", point[1], "--machine=u74", "--size=64", "--src=3", "--no-store")
    (cycles,) = re.findall(r"(\d+) cycles", said)
    assert re.search(rf"cycles +{cycles} ", theirs) and said.endswith("verified\n")


def test_a_parameter_of_a_point_can_be_set(tmp_path: Path) -> None:
    arguments = ("configs/point.py", "u74", "rv-word-noalign", "64", "--src=3")
    slow, _ = run("breakeven gem5", "-d", str(tmp_path), *arguments)
    fast, _ = run("breakeven gem5", "-d", str(tmp_path), *arguments, "--set", "cpu.misaligned.policy=hardware")
    assert int(re.findall(r"(\d+) cycles", slow)[0]) > 10 * int(re.findall(r"(\d+) cycles", fast)[0])


def test_a_sweep_leaves_a_table(tmp_path: Path) -> None:
    run(
        "breakeven gem5",
        "-d",
        str(tmp_path),
        "configs/sweep.py",
        "minor",
        "rv-word-noalign",
        "--sizes",
        "8,64",
        "--src=0,3",
    )
    rows = list(csv.DictReader((tmp_path / "sweep.csv").open()))
    assert [(row["size"], row["src_offset"], row["problem"]) for row in rows] == [
        ("8", "0", ""), ("8", "3", ""), ("64", "0", ""), ("64", "3", ""),
    ]  # fmt: skip
    assert (tmp_path / "results.bin").stat().st_size == 4 * 64


def test_a_points_file(tmp_path: Path) -> None:
    points = [Point("rv-word-noalign", size) for size in (16, 32)]
    (tmp_path / "in.bin").write_bytes(points_file(b"".join(point.pack() for point in points)))
    said, _ = run(
        "breakeven gem5", "-d", str(tmp_path), "configs/sweep.py", "minor", "--points", str(tmp_path / "in.bin")
    )
    assert said.startswith("2 points on minor, 0 of them wrong")


@pytest.mark.parametrize(
    ("machine", "routine", "lacks"),
    [
        ("u74", "rv-word-noalign", ["the second-level TLB", "what misaligned accesses cost"]),
        ("c910", "rv-word-noalign", ["the stream prefetcher"]),
        (
            "skylake",
            "x64-copy-erms",
            [
                "the string engine: REP MOVS and STOS go element by element",
                "the size of its third level, whose sets are no power of two: the next smaller one is taken",
            ],
        ),
    ],
)
def test_without_our_extensions_each_missing_effect_is_named(
    tmp_path: Path, machine: str, routine: str, lacks: list[str]
) -> None:
    said, warned = run("tests.gem5.plain_gem5", "-d", str(tmp_path), "configs/point.py", machine, routine, "64")
    assert said.endswith("verified\n")
    for effect in lacks:
        assert f"warn: {machine} without {effect}: gem5 cannot express it\n" in warned


def test_the_policy_of_misaligned_accesses_is_gem5s_own_there(tmp_path: Path) -> None:
    """Without our extensions the PMA checker lets them pass or not; what it cannot do is refused."""
    arguments = ("-d", str(tmp_path), "configs/point.py", "u74", "rv-word-noalign", "64", "--src=3", "--set")
    cycles = {}
    for policy in ("trap", "hardware"):
        said, _ = run("tests.gem5.plain_gem5", *arguments, f"cpu.misaligned.policy={policy}")
        cycles[policy] = int(re.findall(r"(\d+) cycles", said)[0])
    assert cycles["trap"] > 10 * cycles["hardware"]
    command = [sys.executable, "-m", "tests.gem5.plain_gem5", *arguments, "cpu.misaligned.policy=emulate"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0 and "gem5 knows misaligned accesses in hardware and traps, not emulate" in done.stderr


def test_presets_know_which_classes_are_ours() -> None:
    """What `machines.extensions` looks for in a gem5 is what breakeven adds."""
    ours = json.loads((REPO / "breakeven/config/data/ours.json").read_text())["classes"]
    with importable(REPO / "configs"), as_m5():
        assert set(import_module("machines.extensions").CLASSES) == set(ours)
