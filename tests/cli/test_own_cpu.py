"""A machine file of the user's, anywhere on disk, on top of a preset; what differs between two machines."""

from __future__ import annotations

import json
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from importlib.util import cache_from_source
from pathlib import Path
from py_compile import PycInvalidationMode, compile

import pytest

from breakeven.files.data import find_data
from breakeven.m5 import machines_package
from breakeven.machine import presets
from breakeven.machine.diff import NONE, differences
from breakeven.machine.presets import describe_machine
from breakeven.machine.resolve import of_request, resolve, resolving
from breakeven.points.machine_spec import MachineSpec

REPO = Path(__file__).resolve().parents[2]
PAGE, PACKAGE = REPO / "docs" / "machines.md", REPO / "breakeven"
MINE = "def machine(**options):\n    return u74.machine(l1d_size=SIZE, l1d_assoc=WAYS, **options)\n"


def test_a_file_anywhere_builds_on_a_preset(breakeven, tmp_path):
    """The file that the document shows."""
    shown = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[-1]
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "my_u74.py").write_text(shown)
    found = json.loads(breakeven("machines", "diff", "u74", "elsewhere/my_u74.py", "--json").stdout)
    assert found["differences"] == [
        {"path": "cpu.dcache.size", "a": "32 KiB", "b": "64 KiB"},
        {"path": "cpu.misaligned.policy", "a": "trap", "b": "hardware"},
    ]
    done = breakeven("run", "rv-word-noalign", "-n", "100", "-s", "3", "-m", "elsewhere/my_u74.py", "--json")
    assert json.loads(done.stdout)["cycles"] < 200
    assert "are the same machine" in breakeven("machines", "diff", "u74", "u74").stdout


def test_objects_and_classes_that_differ():
    found = {one.path: one for one in differences(describe_machine("u74"), describe_machine("c906"))}
    # One row for the cache that the other lacks, none for its parts.
    assert found["l2"][1:] == ("Cache", NONE)
    assert not [path for path in found if path.startswith("l2.")]
    assert found["cpu.branchPred"][1:] == ("TournamentBP", "LocalBP")
    assert found["cpu.executeFuncUnits.funcUnits[2].opLat"][1:] == ("3", "20")
    assert found["cpu.executeFuncUnits.funcUnits[2].operations"][1:] == ("IntMult", "IntDiv")
    # Every path that both have is one that --set takes.
    describe_machine("u74", ["cpu.executeFuncUnits.funcUnits[2].opLat=20"])
    changed = differences(describe_machine("u74"), describe_machine("u74", ["clk_domain.clock=2GHz"]))
    assert changed == [("clk_domain.clock", "1 GHz", "2 GHz")]


def test_differences_have_names_where_paths_would_count(in_process):
    status, out, _ = in_process("machines", "diff", "skylake", "broadwell", "--json")
    found = {one["path"]: (one["a"], one["b"]) for one in json.loads(out)["differences"]}
    assert status == 0 and found["cpu.isa.microcode.rep_movs.forward.bytes_per_cycle"] == ("28.9", "29.7")
    assert found["cpu.isa.microcode.instructions.psadbw.latency"] == ("3", "5")
    assert not [path for path in found if re.search(r"(rep_movs|rep_stos|instructions)\d", path)]
    # What one unit does and the other does not, and nothing that both do.
    operations = [pair for path, pair in found.items() if path.endswith(".operations")]
    assert operations and not [pair for pair in operations if set(pair[0].split(", ")) & set(pair[1].split(", "))]
    describe_machine("skylake", ["cpu.isa.microcode.rep_movs.forward.bytes_per_cycle=29.7"])


def test_a_request_reads_each_file_once(tmp_path):
    """Whichever file is edited meanwhile, later variants are of the same machine, in other threads too."""
    file, part = tmp_path / "mine.py", tmp_path / "part.py"
    file.write_text("from machines import u74\nfrom part import SIZE\nWAYS = 4\n" + MINE)

    def size_and_ways(setting: str) -> tuple[int, int]:
        machine = resolve(MachineSpec(str(file), (setting,)))
        (cache,) = [each for each in machine.description["objects"] if each["path"] == "system.cpu.dcache"]
        return cache["params"]["size"], cache["params"]["assoc"]

    for size, ways in (("32KiB", 4), ("64KiB", 8)):
        part.write_text(f'SIZE = "{size}"\n')
        file.write_text(f"from machines import u74\nfrom part import SIZE\nWAYS = {ways}\n" + MINE)
        with resolving(), ThreadPoolExecutor(1) as pool:
            wanted = int(size.removesuffix("KiB")) << 10, ways
            assert size_and_ways("cpu.icache.assoc=2") == wanted
            part.write_text('SIZE = "16KiB"\n')
            file.write_text(file.read_text().replace(f"WAYS = {ways}", "WAYS = 2"))
            assert size_and_ways("cpu.icache.assoc=8") == wanted
            assert pool.submit(of_request(size_and_ways), "cpu.icache.assoc=16").result() == wanted


def test_every_pool_is_given_the_request():
    """`ThreadPoolExecutor` itself gives its threads nothing of it."""
    calls = [
        f"{path.name}: {line.strip()}"
        for path in PACKAGE.rglob("*.py") for line in path.read_text().splitlines() if ".submit(" in line
    ]  # fmt: skip
    assert len(calls) >= 5 and [call for call in calls if ".submit(of_request(" not in call] == []


def test_a_neighbour_that_was_edited_is_read_again_whatever_its_time(breakeven, tmp_path):
    """Python itself goes by the second and the size of a source."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "mine.py").write_text(
        "from machines import u74\nfrom parts.sizes import SIZE\nfrom ways import WAYS\n" + MINE
    )
    for size, ways in (("32KiB", 4), ("64KiB", 8), ("16KiB", 2)):
        for file, text in (("parts/sizes.py", f'SIZE = "{size}"\n'), ("ways.py", f"WAYS = {ways}\n")):
            (tmp_path / file).write_text(text)
            os.utime(tmp_path / file, (1_700_000_000, 1_700_000_000))
        shown = breakeven("machines", "params", "-m", "mine.py", "cpu.dcache", "--json").stdout
        values = {row["path"]: row["value"] for row in json.loads(shown)["parameters"]}
        assert (values["cpu.dcache.size"], values["cpu.dcache.assoc"]) == (size.replace("K", " K"), str(ways))
    assert not list(tmp_path.rglob("*.pyc"))


@pytest.mark.parametrize("mode", [PycInvalidationMode.TIMESTAMP, PycInvalidationMode.CHECKED_HASH])
def test_a_preset_that_was_edited_is_read_again_whatever_its_time(tmp_path, monkeypatch, mode):
    """Bytecode of a preset, or of a module of theirs, counts where it is of the very source."""
    place = tmp_path / "configs" / "machines"
    shutil.copytree(find_data("configs", "machines"), place, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(machines_package, "folder", lambda: place)
    monkeypatch.setattr(presets, "find_machine", lambda name: place / f"{name}.py")
    preset, module = place / "atomic.py", place / "fresh.py"
    preset.write_text(preset.read_text().replace("NAME =", "from machines.fresh import WIDTH\nNAME =").replace(
        "cpu=RiscvAtomicSimpleCPU()", "cpu=RiscvAtomicSimpleCPU(width=WIDTH)"
    ))  # fmt: skip
    for clock, width in (("2GHz", 1), ("3GHz", 1), ("3GHz", 2)):
        preset.write_text(re.sub("[23]GHz", clock, preset.read_text()))
        module.write_text(f"WIDTH = {width}\n")
        for path in (preset, module):
            os.utime(path, (1_700_000_000, 1_700_000_000))
            if not Path(cache_from_source(path)).exists():
                compile(str(path), invalidation_mode=mode)
        objects = {each["path"]: each["params"] for each in describe_machine("atomic")["objects"]}
        period = 10**12 // (int(clock[0]) * 10**9)
        assert (objects["system.cpu"]["width"], objects["system.clk_domain"]["clock"]) == (width, [period])
