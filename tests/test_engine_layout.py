"""The shape of the engine: small files, types of few fields, no circle of files within a crate.

A file uses another where it names something of it (`use`, or a path), re-exports followed to where the thing is. A
file below another (`cache/tags.rs` below `cache/mod.rs`) is part of it and may name what is in it: no circle.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ENGINE = Path(__file__).resolve().parents[1] / "engine"
FOLDERS = sorted(path.parent for path in ENGINE.rglob("Cargo.toml") if path.parent.name != "fuzz")
CRATES = [str(folder.relative_to(ENGINE)) for folder in FOLDERS]
MOST_LINES = 500
MOST_FIELDS = 15

#: circles that stay, by their files
CIRCLES = {
    # An enum of all direction predictors, each of which gives its place in it: dispatch without a virtual call.
    frozenset(
        f"cpu/bpred::{name}"
        for name in ("bimode", "direction", "gshare", "local", "path_history", "tage", "tournament")
    ),
}

Module = tuple[str, ...]

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|r#*".*?"#*|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\\\'])\'', re.DOTALL)
USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]*);")
PATH = re.compile(r"(?<![\w:])(\w+(?:::\w+)+)")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*\Z", re.DOTALL)


def code(text: str) -> str:
    """Without comments, strings and the tests at a file's end."""
    return TESTS.sub("", NOISE.sub(lambda m: " " if m[0].startswith("/") else '""', text))


def fields(text: str) -> Iterator[tuple[str, int]]:
    """Name and number of fields of each type with named fields."""
    text = code(text).replace("<<", " ").replace("->", " ")
    for match in re.finditer(r"\bstruct\s+(\w+)[^;{(]*\{", text):
        depth, own, at = 0, "", match.end()
        while depth >= 0:
            depth += {"{": 1, "(": 1, "<": 1, "[": 1, "}": -1, ")": -1, ">": -1, "]": -1}.get(text[at], 0)
            own += text[at] if depth == 0 else ""
            at += 1
        yield match[1], sum(":" in field for field in own.split(","))


def names(tree: str) -> list[str]:
    """The paths that a `use` names: `a::{b, c::d}` gives a::b and a::c::d."""
    tree = re.sub(r"\s+", " ", tree)

    def walk(at: int) -> tuple[list[str], int]:
        found, prefix = [], ""
        while at < len(tree) and tree[at] != "}":
            if tree[at] == "{":
                inner, at = walk(at + 1)
                found += [prefix + each for each in inner]
                prefix = ""
            elif tree[at] == ",":
                found += [prefix] if prefix.strip() else []
                prefix = ""
            else:
                prefix += tree[at]
            at += 1
        return found + ([prefix] if prefix.strip() else []), at

    return [path.split(" as ")[0].replace(" ", "") for path in walk(0)[0]]


class Crate:
    """The files of one crate, and which uses which."""

    def __init__(self, source: Path) -> None:
        self.texts: dict[Module, str] = {}
        for file in source.rglob("*.rs"):
            parts = file.relative_to(source).with_suffix("").parts
            if "tests" not in parts:
                self.texts[parts[:-1] if parts[-1] in ("mod", "lib") else parts] = code(file.read_text())
        self.exports: dict[tuple[Module, str], tuple[Module, str | None]] = {}
        for module, text in self.texts.items():
            for public, tree in USE.findall(text):
                for path in names(tree) if public else []:
                    where = self.resolve(module, path)
                    if where is not None and where[1] is not None:
                        self.exports[module, where[1]] = where
        self.uses: dict[Module, set[Module]] = defaultdict(set)
        for module, text in self.texts.items():
            paths = [p for public, tree in USE.findall(text) if not public for p in names(tree)]
            for path in paths + PATH.findall(USE.sub("", text)):
                other = self.origin(self.resolve(module, path))
                # A parent is what its children are part of.
                if other is not None and other != module[: len(other)]:
                    self.uses[module].add(other)

    def resolve(self, module: Module, path: str) -> tuple[Module, str | None] | None:
        """The file that `path` leads into, seen from `module`, and the name there; None: not of this crate."""
        first, *rest = path.split("::")
        base = module
        if first == "crate":
            base = ()
        elif first == "super":
            base = module[:-1]
            while rest and rest[0] == "super":
                base, rest = base[:-1], rest[1:]
        elif first != "self":
            if (*module, first) not in self.texts:
                return None
            base = (*module, first)
        while rest and (*base, rest[0]) in self.texts:
            base, rest = (*base, rest[0]), rest[1:]
        return base, rest[0] if rest else None

    def origin(self, where: tuple[Module, str | None] | None) -> Module | None:
        for _ in range(10):
            if where is None or where[1] is None or (where[0], where[1]) not in self.exports:
                break
            where = self.exports[where[0], where[1]]
        return where[0] if where else None

    def reach(self, module: Module) -> set[Module]:
        seen: set[Module] = set()
        todo = list(self.uses[module])
        while todo:
            other = todo.pop()
            if other not in seen:
                seen.add(other)
                todo += self.uses[other]
        return seen

    def circles(self) -> set[frozenset[Module]]:
        reach = {module: self.reach(module) for module in self.texts}
        return {
            frozenset(other for other in there if module in reach[other])
            for module, there in reach.items()
            if module in there
        }


def sources() -> list[Path]:
    return sorted(path for path in ENGINE.rglob("*.rs") if "target" not in path.parts)


def is_configuration(file: Path) -> bool:
    return file.stem.endswith("config") or file.stem in ("params", "quirks")


def test_no_file_is_long() -> None:
    lengths = {str(path.relative_to(ENGINE)): len(path.read_text().splitlines()) for path in sources()}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_no_type_has_many_fields() -> None:
    many = {
        name
        for file in sources()
        if "src" in file.parts and not is_configuration(file)
        for name, count in fields(file.read_text())
        if count > MOST_FIELDS
    }
    assert many == set(), f"more than {MOST_FIELDS} fields: group them"


@pytest.mark.parametrize("crate", CRATES)
def test_no_circle_of_files(crate: str) -> None:
    found = Crate(ENGINE / crate / "src").circles()
    circles = {frozenset(f"{crate}/{'::'.join(module) or 'lib'}" for module in circle) for circle in found}
    assert circles - CIRCLES == set(), "move what both need to a file of its own"


def test_every_circle_that_stays_is_there() -> None:
    circles = Crate(ENGINE / "cpu" / "src").circles()
    assert {frozenset(f"cpu/{'::'.join(module)}" for module in circle) for circle in circles} == CIRCLES


def test_a_circle_and_fields_are_found(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a; mod b; mod c; pub use b::B;",
        "a.rs": "use crate::B; // no use: crate::c::C\npub struct A { x: [u8; 1 << 4], y: Vec<(u8, u8)> }",
        "b/mod.rs": "mod below; use below::Below; pub struct B; fn f() { crate::c::g() }",
        "b/below.rs": "use super::B; pub struct Below(B);",
        "c.rs": "use crate::{a::{self, A}};\n#[cfg(test)]\nmod tests { use crate::b; }",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert Crate(tmp_path).circles() == {frozenset({("a",), ("b",), ("c",)})}
    assert list(fields(files["a.rs"])) == [("A", 2)]
    (tmp_path / "c.rs").write_text("pub struct C;")
    assert Crate(tmp_path).circles() == set()
