"""Short texts that stand for many values: what a sweep file or a command line asks for is counted before it is listed.

Each is read in a process that may take `ROOM` bytes beyond what it has already.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from breakeven.errors import UserError
from breakeven.points import ranges
from breakeven.points.ranges import MAX_SWEPT, MAX_VALUES, MAX_VARIANTS, parse_integers, parse_sweep
from breakeven.sweeps.request import swept_texts

ROOM = 400 << 20
#: what the command `sweep` does with a file before its first point
READ = """
import resource, sys
from pathlib import Path
from breakeven.errors import UserError
from breakeven.sweeps.file import read_sweep_file
from breakeven.sweeps.request import sweep_spec, swept_texts
import breakeven.sweeps.spec
pages = int(Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    axes = read_sweep_file(Path(sys.argv[1]))
    sweep_spec(
        axes["routines"], axes.get("machines", ["u74"]), axes.get("settings", []), None, sizes=axes["sizes"],
        src=axes.get("src", "0"), dst=axes.get("dst", "0"), cache="warm", measure="latency",
        parameters=swept_texts(axes.get("sweep", [])), options={},
    )
except UserError as error:
    print(error)
"""


def said_of(path: Path) -> str:
    """The sentence for a sweep file that is refused."""
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path), str(ROOM)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


HEAD = 'routines = "rv-byte"\nsizes = 8\n'
#: a sweep file of a few KB -> words of its sentence
MANY = {
    "values of many parameters": (
        HEAD + "[sweep]\n" + "".join(f'"cpu.x{i}" = "0:1000000:1"\n' for i in range(50)), "combinations",
    ),
    "ranges of many parameters": (
        HEAD + "[sweep]\n" + "".join(f'"cpu.x{i}" = "0..1000000"\n' for i in range(50)), "combinations",
    ),
    "long numbers": (HEAD + f'[sweep]\n"cpu.x" = "{10**4000}:{10**4000 + 10**6}:1"\n', "not made of numbers"),
    "many parameters": (
        HEAD + "[sweep]\n" + "".join(f'"cpu.x{i}" = "1,1"\n' for i in range(60)), f"more than {MAX_SWEPT} parameters",
    ),
    "one range many times": (
        'routines = "rv-byte"\nsizes = [' + '"1..1000000",' * 200 + "]\n", f"more than {MAX_VALUES} values",
    ),
    "ranges of all offsets": (
        'routines = "rv-byte"\nsizes = 8\nsrc = [' + '"0..4095",' * 2000 + "]\n", f"more than {MAX_VALUES} values",
    ),
    "the product of three axes": (
        'routines = "rv-byte"\nsizes = "1..100000"\nsrc = "0..4095"\ndst = "0..4095"\n', "more than 4000000 points",
    ),
    "many settings": (HEAD + "[set]\n" + "".join(f'"cpu.x{i}" = 1\n' for i in range(2000)), "more than 1000"),
}  # fmt: skip


@pytest.mark.parametrize("kind", MANY)
def test_a_short_sweep_file_does_not_fill_the_memory(tmp_path: Path, kind: str) -> None:
    text, words = MANY[kind]
    path = tmp_path / "many.toml"
    path.write_text(text)
    said = said_of(path)
    assert words in said and len(said) < 10_000


def test_what_is_refused_is_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third of 50 parameters ends it, and no value of the first two is made."""
    made = []
    counted = ranges._counted_sweep

    def watched(text: str):  # type: ignore[no-untyped-def]
        path, count, listed = counted(text)
        return path, count, lambda: made.append(path) or listed()

    monkeypatch.setattr(ranges, "_counted_sweep", watched)
    with pytest.raises(UserError, match=rf"--sweep cpu.x2: .* more than {MAX_VARIANTS} combinations"):
        swept_texts(f"cpu.x{i}=1:100:1" for i in range(50))
    assert not made
    assert len(parse_sweep("cpu.x=1:100:1")[1]) == 100 and made == ["cpu.x"]


def test_all_items_of_a_list_count_together() -> None:
    assert parse_integers(f"0..{MAX_VALUES - 1}", "size", 0, 1 << 24) == list(range(MAX_VALUES))
    with pytest.raises(UserError, match=f"size: up to '0' the list holds more than {MAX_VALUES} values"):
        parse_integers(f"0..{MAX_VALUES - 1},0", "size", 0, 1 << 24)


def test_python_asks_for_no_more_than_the_command_line() -> None:
    from breakeven import api

    with pytest.raises(UserError, match="combinations"):
        api.sweep("rv-byte", 8, parameters={f"cpu.x{i}": "0:1000000:1" for i in range(3)}, store=False)
    with pytest.raises(UserError, match="variants of machines"):
        api.sweep("rv-byte", 8, parameters={f"cpu.x{i}": range(1000) for i in range(200)}, store=False)


def test_a_distribution_and_tunes_offsets_are_counted_first(tmp_path: Path) -> None:
    from breakeven import api
    from breakeven.points.distribution import MAX_SIZES, distribution_of

    path = tmp_path / "often.txt"
    path.write_text("0..1000000 1\n" + "1..1000000 1\n" * 200)
    with pytest.raises(UserError, match=f"more than {MAX_SIZES} sizes"):
        distribution_of(str(path), [])
    with pytest.raises(UserError, match="tune has more than 4000000 points"):
        api.tune("rv-byte", "rv-word", sizes="1..8", src="0..4095", dst="0..4095", store=False)
