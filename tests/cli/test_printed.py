"""What is printed of names that come from elsewhere: commands to be pasted, sentences, tables on a terminal."""

from __future__ import annotations

import ast
import io
import shlex
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from breakeven import errors
from breakeven.cli import failed
from breakeven.errors import UserError, printable
from breakeven.explorer.commands import _literal, commands
from breakeven.explorer.state import State
from breakeven.machine.presets import load_machine
from breakeven.output.console import Table, print_pairs, print_parts, print_table, progress_bar
from breakeven.output.shell import quoted, shell_command
from breakeven.points import Point, PointError
from tests.cli.test_report import run, table

NAMES = [
    "--store=/x", "-x", "two words", "a'b", 'a"b', "$(touch was_run)", "`touch was_run`", "a;touch was_run", "a\nb",
    "\x1b]0;title\x07", "\x9b31m", "a\\b'", "\u202egpj", "~", "*", "{a,b}", "!!", "#", "\u00e4",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_shell_takes_a_printed_command_as_it_was_meant(tmp_path: Path, name: str) -> None:
    text = shell_command("sweep", ["first", name], ["-m", name, f"--set=a={name}"])
    assert text.isprintable()
    # What the command sees of it: the arguments behind the word `breakeven`.
    said = (
        f"breakeven() {{ {shlex.quote(sys.executable)} -c 'import sys; print(ascii(sys.argv[1:]))' \"$@\"; }}; {text}"
    )
    done = subprocess.run(["bash", "-c", said], cwd=tmp_path, capture_output=True, text=True, check=True)
    words = ["-m", name, f"--set=a={name}"]
    names = ["first", name]
    wanted = [*words, "--", *names] if name.startswith("-") else [*names, *words]
    assert done.stdout == ascii(["sweep", *wanted]) + "\n" and not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["--store=/x", "$(x) 'y' \"z\"", "a\nb", "\x1b[2J"])
def test_a_tables_names_do_not_leave_their_place_in_a_command(tmp_path: Path, monkeypatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    made = table()
    made["ok"] = made["routine"] != "fast"
    made["routine"] = made["routine"].replace("fast", name)
    made.to_csv("t.csv", index=False)
    done = run("report", "t.csv", "-o", "t.html")
    assert "WRONG OUTPUT" in done.output + done.stderr and "\x1b" not in done.output + done.stderr
    text = unescape(Path("t.html").read_text())
    (line,) = [line for line in text.splitlines() if "breakeven sweep" in line and "<pre" in line]
    words = shlex.split(line.partition(">")[2])
    if name.startswith("-"):
        assert words[words.index("--") + 1 :] == ["slow", name]
    else:
        assert words[2] == "slow" and (words[3] == name or not name.isprintable())


@pytest.mark.parametrize("name", ["--store=/x", "-", "a\nb", "\x1b[2J", "\x9b", "\u202e"])
def test_names_that_no_routine_can_have(name: str) -> None:
    with pytest.raises(PointError, match="cannot be a name") as said:
        Point(name, 8).pack()
    assert str(said.value).isprintable()


def test_a_terminal_gets_printable_characters(capsys) -> None:
    evil = "a\x1b[2Jb\x9bc\rd\u202ee"
    assert printable(evil) == "a\\x1b[2Jb\\x9bc\\rd\\u202ee"
    assert printable("two\nlines \u00e4\u2500") == "two\nlines \u00e4\u2500"
    print_table((evil, "x"), [(evil, 1)], evil)
    print_parts([evil, Table(("x",), [(evil,)])])
    print_parts([evil, Table(("x",), [(evil,)])], markdown=True)
    print_pairs([(evil, evil)])
    assert failed(UserError(evil)) == 1
    said = capsys.readouterr()
    assert all(each.isprintable() or each == "\n" for each in said.out + said.err)


def test_a_progress_bar_takes_any_machines_name(monkeypatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar(True, "sweep") as update:
        update(1, 2, "./[/x] \x1b]0;title\x07.py")
    assert "./[/x] \\x1b]0;title\\x07.py" in screen.getvalue()
    # A process that is killed could not show it again.
    assert "\x1b[?25l" not in screen.getvalue(), "the cursor was hidden"


def test_a_machine_file_that_the_explorer_writes_holds_settings_as_texts() -> None:
    text = 'a" + __import__("os").system("touch was_run") + "'
    assert eval(_literal(text), {"__builtins__": {}}) == text
    found = commands(State(machine="u74", src=1), [8, 16], "riscv", load_machine("u74"))
    assert found["command"].startswith("breakeven compare rv-byte rv-word -m u74 --src 1 --sizes 8,16")
    assert quoted("a b") == "'a b'"


#: who prints a text as it is, and what it holds
AS_IT_IS = {
    "cli/__init__.py": "typer's help", "explorer/launch.py": "an address of breakeven's own",
    "output/console.py": "lines that are made printable before they are laid out; JSON",
    "cli/trace_diff.py": "JSON", "errors.py": "the one place", "entry.py": "no name",
}  # fmt: skip


def test_names_are_printed_in_one_place() -> None:
    """Every text that is no constant goes through `say`; scripts of gem5's and machine files print as they like."""
    package = Path(errors.__file__).parent
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] not in ("config", "gem5", "m5", "_data")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "print"
        if not all(isinstance(word, ast.Constant) for word in call.args)
    }
    assert found <= AS_IT_IS.keys()


@pytest.mark.slow
def test_a_summary_prints_a_files_name_on_one_line(breakeven) -> None:
    evil = "a\n\x1b[31m\x9b2J.csv"
    for words in ("sweep rv-byte -n 8", "compare rv-byte rv-word -n 8", "find rv-byte rv-word -n 1..8"):
        done = breakeven(*words.split(), "--no-store", "-o", evil)
        assert done.returncode == 0 and r"a\n\x1b[31m\x9b2J.csv" in done.stdout, done.stderr
        assert all(each.isprintable() or each == "\n" for each in done.stdout + done.stderr)
