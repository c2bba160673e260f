"""Scripts and presets: what they see as m5, and that it is gone afterwards."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from breakeven.config.errors import ConfigError
from breakeven.errors import UserError
from breakeven.m5 import loader, simulate

CONFIG = Path(__file__).parents[1] / "data" / "gem5" / "config.py"


@pytest.fixture
def elf(tmp_path: Path) -> str:
    path = tmp_path / "guest.elf"
    path.write_bytes(b"\x7fELF")
    return str(path)


@pytest.mark.parametrize("isa", ["riscv", "x86"])
@pytest.mark.parametrize("cpu", ["atomic", "timing", "minor", "o3"])
def test_gem5s_reference_script_runs_unchanged(engine: Any, elf: str, isa: str, cpu: str, capsys: Any) -> None:
    arguments = list(sys.argv)
    names = loader.run_script(CONFIG, [elf, "--isa", isa, "--cpu", cpu, "--mem", "simple"])
    assert capsys.readouterr().out == "EXIT 1000 m5_exit instruction encountered 3\n"
    assert names["a"].isa == isa
    (machine,) = engine.made
    assert machine.elf == b"\x7fELF"
    assert machine.calls == [("run", 10**13)]
    assert json.loads(machine.description)["format"] == 1
    assert not [name for name in sys.modules if name.partition(".")[0] in ("m5", "gem5")]
    assert sys.argv == arguments


@pytest.mark.parametrize("cpu", ["minor", "o3"])
def test_the_reference_script_builds_the_preset(engine: Any, elf: str, cpu: str) -> None:
    """Slips of gem5's included, which a script that says nothing of them wants."""
    from breakeven.machine.presets import describe_machine

    loader.run_script(CONFIG, [elf, "--isa", "riscv", "--cpu", cpu])
    assert json.loads(engine.made[0].description) == describe_machine(cpu, bootloader=elf)


SCRIPT = """
import m5, sys
import m5.stats
from m5.params import NULL
from m5.util import addToPath, fatal, convert
from m5.objects import *
from neighbour import make
assert convert.toMemorySize("1kB") == 1024
root = make({elf!r})
root.system.init_param = 7
root.system.readfile = {elf!r}
m5.instantiate()
event = m5.simulate()
assert (m5.curTick(), event.getCause(), event.getCode()) == (1000, "m5_exit instruction encountered", 3)
m5.stats.dump(); m5.stats.dump(); m5.stats.reset()
assert m5.simulate(0).getCause() == "simulate() limit reached"
m5.simulate(500)
assert Root.getInstance() is root
"""


def test_scripts_simulate_dump_and_leave_their_files(engine: Any, elf: str, tmp_path: Path) -> None:
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "neighbour.py").write_text(
        "import sys\nfrom m5.objects import Root\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from tiny_machine import tiny_root\n"
        "def make(elf):\n    root = tiny_root()\n    root.system.workload.bootloader = elf\n    return root\n"
    )
    script = folder / "run.py"
    script.write_text(SCRIPT.format(elf=elf))
    loader.run_script(script, outdir=tmp_path / "out")
    (machine,) = engine.made
    # As gem5: a dump at the script's end, and one at most at a tick.
    assert machine.calls == [("run", 0), "dump", "reset", ("run", 1500), "dump"]
    assert (machine.init_param, machine.readfile) == (7, b"\x7fELF")
    left = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert left == ["config.ini", "config.json", "results.bin", "stats.txt"]
    assert (tmp_path / "out/stats.txt").read_text() == "simTicks 1000\n" * 2
    assert not (tmp_path / "results.bin").exists()
    assert "neighbour" not in sys.modules


@pytest.mark.parametrize(
    ("body", "error", "says"),
    [
        ("import m5\nm5.instantiate()", ConfigError, "there is no Root"),
        ("import m5\nm5.simulate()", RuntimeError, "call m5.instantiate"),
        ("import m5\nm5.stats.dump()", RuntimeError, "no statistics"),
        ("import m5\nm5.instantiate('ckpt')", ValueError, "checkpoints"),
        ("from m5.objects import Cahce", ImportError, "Cahce"),
        ("import m5.intrinsic", ModuleNotFoundError, "m5"),
    ],
)
def test_scripts_fail_with_a_sentence(tmp_path: Path, body: str, error: type[Exception], says: str) -> None:
    script = tmp_path / "wrong.py"
    script.write_text(body)
    with pytest.raises(error, match=says):
        loader.run_script(script)
    assert "m5" not in sys.modules


def test_a_missing_program_is_named(engine: Any, root: Any) -> None:
    with pytest.raises(ConfigError, match="names no program"):
        simulate.Session().instantiate(root)
    root.system.workload.bootloader = "/nowhere/guest.elf"
    with pytest.raises(ConfigError, match="cannot read '/nowhere/guest.elf'"):
        simulate.Session().instantiate(root)


def test_describing_a_preset_imports_little() -> None:
    """What `breakeven run` pays on every start: no heavy module may creep in."""
    code = (
        "import sys; from breakeven.machine.presets import describe_machine; describe_machine('u74')\n"
        "print(*sys.modules)"
    )
    repository = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=repository
    )
    heavy = {"numpy", "pandas", "inspect", "dataclasses", "difflib", "hashlib", "ast", "asyncio", "typer", "rich"}
    assert heavy & set(done.stdout.split()) == set()


def test_a_guests_files_replace_none_of_the_simulators(
    engine: Any, elf: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    made = dict.fromkeys(("stats.txt", "config.ini", "config.json", "simout.txt", "../results.bin"), b"the guest's")
    monkeypatch.setattr(engine, "outputs", lambda self: made)
    loader.run_script(CONFIG, [elf, "--isa", "riscv", "--cpu", "timing"], outdir=tmp_path / "out")
    left = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert left.pop("results.bin") == b"the guest's"
    assert sorted(left) == ["config.ini", "config.json", "stats.txt"]
    assert b"the guest's" not in left.values()
    assert (
        "warn: the guest's file 'stats.txt' is not kept: that is a file of the simulator's" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("outdir", "more", "refused"),
    [("shared", (), True), ("shared/link", (), False), ("out", (), False), ("out", ("--stats-file", "in/s.txt"), True)],
)
def test_output_goes_into_no_folder_that_a_process_may_write(
    engine: Any, root: Any, tmp_path: Path, outdir: str, more: tuple[str, ...], refused: bool
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "shared" / "link").symlink_to("../out")
    (tmp_path / "out" / "in").symlink_to("../shared")
    session = simulate.Session()
    session.options.allow_dir, session.options.allow_writes = str(tmp_path / "shared"), True
    session.options.stats_file = more[1] if more else "stats.txt"
    session.set_outdir(str(tmp_path / outdir))
    root.system.workload.bootloader = __file__
    if refused:
        with pytest.raises(UserError, match="shared.*--allow-writes.*: give an --outdir outside of --allow-dir"):
            session.instantiate(root)
        assert list((tmp_path / "shared").iterdir()) == [tmp_path / "shared" / "link"]
        return
    session.instantiate(root)


def test_output_takes_no_link_that_nobody_named(engine: Any, elf: str, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "results.bin").symlink_to("../new")
    arguments = [elf, "--isa", "riscv", "--cpu", "timing"]
    loader.run_script(CONFIG, arguments, outdir=out)
    assert "the guest's file '../results.bin' is not kept: that is a symbolic link" in capsys.readouterr().err
    (out / "config.ini").unlink()
    (out / "config.ini").symlink_to("../new")
    with pytest.raises(UserError, match="config.ini' is a symbolic link that nobody named.*--dump-config"):
        loader.run_script(CONFIG, arguments, outdir=out)
    assert not (tmp_path / "new").exists()


def test_a_guests_files_are_written_where_they_change(engine: Any, tmp_path: Path) -> None:
    from breakeven.m5.outputs import Outputs

    outputs = Outputs(tmp_path, "stats.txt")
    machine = engine("", b"")
    outputs.write_files(machine, ())
    (tmp_path / "results.bin").write_bytes(b"of somebody else")
    outputs.write_files(machine, ())
    assert (tmp_path / "results.bin").read_bytes() == b"of somebody else"
    machine.outputs = lambda: {"results.bin": b"new"}
    outputs.write_files(machine, ())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["results.bin", "stats.txt"]
    assert (tmp_path / "results.bin").read_bytes() == b"new"
