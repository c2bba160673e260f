"""TOML that may come from somebody else: what would take memory or time without bound is refused before it is read."""

from __future__ import annotations

import random
import tomllib
import tracemalloc
from pathlib import Path

import pytest

from breakeven.errors import UserError
from breakeven.files import toml
from breakeven.files.toml import MAX_BYTES, MAX_DEPTH, read_toml

DEEPER = f"nested deeper than {MAX_DEPTH} levels"
PARTS = 3000

#: text -> words of the sentence
REFUSED = {
    "a dotted key": (".".join("a" * PARTS) + " = 1\n", DEEPER),
    "spaces around the dots": (" \t. ".join("a" * PARTS) + " = 1\n", DEEPER),
    "quoted names": (".".join(['"a"', "'b'", '"c.\\"d"', "e"] * PARTS) + " = 1\n", DEEPER),
    "a table's name": ("[" + ".".join("a" * PARTS) + "]\n", DEEPER),
    "an array of tables": ("[[" + ".".join("a" * PARTS) + "]]\n", DEEPER),
    "a key in a table in one line": ("x = {y = 1, " + ".".join("a" * PARTS) + " = 1}\n", DEEPER),
    "behind a text": ('x = """\n# "\\""""\n' + ".".join("a" * PARTS) + " = 1\n", DEEPER),
    "behind a comment": ("x = 1 # don't\n" + ".".join("a" * PARTS) + " = 1 # don't\n", DEEPER),
    "lists": ("x = " + "[" * PARTS + "]" * PARTS + "\n", DEEPER),
    "tables": ("x = " + "{a = " * PARTS + "1" + "}" * PARTS + "\n", DEEPER),
    "tables of dotted keys": ("x = " + "{a.a.a.a.a.a = " * 30 + "1" + "}" * 30 + "\n", DEEPER),
    "a large file": ("# " + "x" * MAX_BYTES + "\n", f"more than {MAX_BYTES} bytes"),
    "a number of many digits": ("x = " + "9" * 9000 + "\n", "a number is too large"),
    "a number in base 16": ("x = 0x" + "f" * 9000 + "\n", "a number is too large"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_what_has_no_bound_is_refused(tmp_path: Path, kind: str) -> None:
    text, words = REFUSED[kind]
    path = tmp_path / "a.toml"
    path.write_text(text)
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match=words) as said:
            read_toml(path, "sweep")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert repr(str(path)) in str(said.value) and peak < 20 << 20, peak


def test_dots_in_texts_numbers_and_comments_are_no_depth(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    text = (
        'a = "' + "x." * 100 + '"\nb = \'' + ".y" * 100 + "'\nc = [" + "1.5, " * 100 + "]\n# " + "." * 100
        + '\nd = """\n' + '."' * 100 + '\n"""\ne = \'\'\'\n' + ".'" * 100 + "\n'''\nf = \"\"\"x\"\"\"\"\"\n"
        + ".".join("k" * MAX_DEPTH) + ' = "."\n'
    )  # fmt: skip
    path.write_text(text)
    assert read_toml(path, "sweep") == (text, tomllib.loads(text))


def test_what_is_told_of_a_file_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    with pytest.raises(UserError, match="cannot read the sweep '.*': no such file"):
        read_toml(path, "sweep")
    for text, words in ((b"\xff", "is not UTF-8 text"), (b"x = [\n", "Unclosed array|Invalid value")):
        path.write_bytes(text)
        with pytest.raises(UserError, match=f"the sweep '.*' ?.*({words})"):
            read_toml(path, "sweep")


def levels(value: object) -> int:
    """How deep tables and lists nest."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(levels, inner), default=0) if isinstance(value, dict | list) else 0


@pytest.mark.parametrize("seed", range(10))
def test_texts_end_where_toml_ends_them(seed: int) -> None:
    """Where a text that TOML accepts has a deep key, the key is seen, whatever marks stand around it."""
    draw = random.Random(seed)
    marks = ['"', "'", '"""', "'''", "\\", "#", "\n", " ", "x", "=", "1", "[", "]", "{", "}", ",", ".", 'a = "b"\n',
             "c = '''d'''\n", 'e = """f"""\n', "g = 1 # h\n", '"""""', "\\\""]  # fmt: skip
    deep = "\n" + ".".join("k" * (MAX_DEPTH + 2)) + " = 1\n"
    accepted = 0
    for _ in range(3000):
        text = "".join(draw.choices(marks, k=draw.randrange(6))) + deep
        try:
            found = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            continue
        accepted += 1
        assert (levels(found) > MAX_DEPTH) == toml._is_deep(text), text
    assert accepted > 10


def test_a_text_without_an_end_is_looked_at_once() -> None:
    """What begins a text again and again is no work that grows with the square: each step takes what it has read."""
    for text in ('"""\\' * 20_000, '"\\' * 20_000 + "\\", "'''" + "''x" * 20_000, '"""' + '""x' * 20_000):
        assert len(toml._OUTSIDE.sub("", text)) < len(text)
        assert all(match.end() > match.start() for match in toml._OUTSIDE.finditer(text))
        assert sum(1 for _ in toml._OUTSIDE.finditer(text)) <= len(text)


def test_toml_is_read_in_one_place() -> None:
    package = Path(toml.__file__).parents[1]
    readers = [path for path in package.rglob("*.py") if "tomllib" in path.read_text()]
    assert readers == [package / "files" / "toml.py"]
