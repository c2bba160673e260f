"""Sweeps as TOML files."""

import re
from pathlib import Path

import pytest

from breakeven.errors import UserError
from breakeven.sweeps.file import read_sweep_file

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = re.search(r"^```toml\n(.*?)^```", (DOCS / "cli.md").read_text(), re.MULTILINE | re.DOTALL)[1]


@pytest.mark.slow
def test_the_documented_file_is_the_documented_command(breakeven, tmp_path) -> None:
    (tmp_path / "misaligned.toml").write_text(EXAMPLE)
    done = breakeven("sweep", "--file", "misaligned.toml", "--no-store")
    assert done.returncode == 0, done.stderr
    same = breakeven(
        "sweep", "rv-word-noalign", "rv-copy-user-2021", "--sizes", "64..1448:346", "--src", "0,3", "--no-store",
        "--set", "cpu.misaligned.policy=emulate", "--sweep", "cpu.misaligned.emulate_cycles=0:20:10", "-o", "b.csv",
    )  # fmt: skip
    assert same.returncode == 0, same.stderr
    assert (tmp_path / "misaligned.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_every_axis(tmp_path) -> None:
    path = tmp_path / "all.toml"
    path.write_text(
        'routines = "copy"\nmachines = ["u74", "c906"]\nsizes = [1, "8..16"]\nsrc = 3\ndst = "0..7"\n'
        'cache = ["warm", "cold"]\nmeasure = "latency"\nrepetitions = 1\nwarmup = 0\ncalls = 8\nsize2 = "1K"\n'
        "src2 = 1\ndst2 = 2\nseed = 7\nparameter = 5\nhuge_pages = true\n[set]\ncpu.a.b = true\n"
        "[sweep]\ncpu.c = [1, 2]\n"
    )
    assert read_sweep_file(path) == {
        "routines": ["copy"], "machines": ["u74", "c906"], "sizes": "1,8..16", "src": "3", "dst": "0..7",
        "cache": "warm,cold", "measure": "latency", "repetitions": 1, "warmup": 0, "calls": 8, "size2": "1K",
        "src_offset2": 1, "dst_offset2": 2, "seed": 7, "routine_parameter": 5, "huge_pages": True,
        "settings": ["cpu.a.b=true"], "sweep": ["cpu.c=1,2"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("64..1448:346", "64..x", "line 2: sizes: size 'x' is not a number"),
        ("sizes", "sixes", "line 2: sixes: there is no such key; did you mean 'sizes'"),
        ("[0, 3]", "[0, 3.5]", "line 3: src: a number, a list"),
        ("[0, 3]", "99999", "line 3: src: src offset 99999 is out of range"),
        ("[0, 3]", "[0, 3", r"Unclosed array \(at line"),
        ('"emulate"', '["emulate"]', r"line \d+: cpu.misaligned.policy: one value"),
        ("0:20:10", "20:0:1", r"line \d+: cpu.misaligned.emulate_cycles: .*run upwards"),
        ('routines = ["rv-word-noalign", "rv-copy-user-2021"]', "", "has no routines"),
    ],
)
def test_mistakes_name_the_line_and_the_key(tmp_path, before, after, words) -> None:
    path = tmp_path / "bad.toml"
    assert before in EXAMPLE
    path.write_text(EXAMPLE.replace(before, after))
    with pytest.raises(UserError, match=words):
        read_sweep_file(path)


def test_a_file_and_options_do_not_mix(breakeven, tmp_path) -> None:
    (tmp_path / "a.toml").write_text(EXAMPLE)
    assert "--sizes and --file" in breakeven("sweep", "-f", "a.toml", "--sizes", "3").stderr
    assert "cannot read the sweep 'b.toml'" in breakeven("sweep", "-f", "b.toml").stderr
    assert "has no sizes" in breakeven("sweep", "rv-word").stderr


def test_only_the_command_line_names_a_machine_file(breakeven, tmp_path) -> None:
    """A sweep file is data; a machine's file is run."""
    (tmp_path / "evil.py").write_text('open("owned", "w")\n')
    (tmp_path / "a.toml").write_text('routines = "rv-word"\nmachines = "./evil.py"\nsizes = 8\n')
    done = breakeven("sweep", "-f", "a.toml", "--no-store")
    assert done.returncode == 1 and "line 2: machines: './evil.py' is a file that would be run" in done.stderr
    assert not (tmp_path / "owned").exists()
    (tmp_path / "b.toml").write_text('routines = "rv-word"\nsizes = 8\n')
    breakeven("sweep", "-f", "b.toml", "-m", "./evil.py", "--no-store")
    assert (tmp_path / "owned").exists()


@pytest.mark.parametrize("name", ["../a.csv", "below/a.csv", "/tmp/a.csv", ".a.csv", ".."])
def test_a_sweep_file_names_a_table_in_the_current_folder_alone(tmp_path, name) -> None:
    path = tmp_path / "a.toml"
    path.write_text(f'routines = "rv-word"\nsizes = 8\nout = "{name}"\n')
    with pytest.raises(UserError, match=r"line 3: out: .*--out"):
        read_sweep_file(path)


def test_a_sweep_file_replaces_tables_alone(breakeven, tmp_path) -> None:
    """What else is called so in the current folder is the user's."""
    (tmp_path / "a.toml").write_text('routines = "rv-word"\nmachines = "atomic"\nsizes = 8\nout = "settings.json"\n')
    mine = tmp_path / "settings.json"
    mine.write_text('{"routine": "mine"}')
    done = breakeven("sweep", "-f", "a.toml", "--no-store")
    assert done.returncode == 1 and "'settings.json' is no table of results" in done.stderr
    assert mine.read_text() == '{"routine": "mine"}'
    # Neither is it by a link at the place where a table goes that nobody has named.
    (tmp_path / "sweep.csv").symlink_to("settings.json")
    done = breakeven("sweep", "rv-word", "-m", "atomic", "--sizes", "8", "--no-store")
    assert done.returncode == 1 and "'sweep.csv' is a symbolic link" in done.stderr
    assert mine.read_text() == '{"routine": "mine"}'
    # Who names it at the keyboard means it; then it is a table.
    for words in (["-o", "settings.json"], [], []):
        done = breakeven("sweep", "-f", "a.toml", "--no-store", *words)
        assert done.returncode == 0 and "cycles_median" in mine.read_text(), done.stderr


@pytest.mark.parametrize(
    "name", [r"a\u0000.csv", r"a\nb.csv", r"a\u001b[31mX\u009b2J.csv", r"a\u202eb.csv", r"a\ud800"]
)
def test_a_sweep_files_table_has_a_name_that_can_be_printed(breakeven, tmp_path, name) -> None:
    (tmp_path / "a.toml").write_text(f'routines = "rv-byte"\nsizes = 8\nout = "{name}"\n')
    done = breakeven("sweep", "-f", "a.toml", "--no-store")
    assert done.returncode == 1 and "a fault of" not in done.stderr
    assert all(each.isprintable() or each == "\n" for each in done.stdout + done.stderr)
    assert [path.name for path in tmp_path.iterdir()] == ["a.toml"]
