"""Routines made at random to do harm while they are built: each ends in a guest or in one sentence, touches no file
that is not its own, and tells nothing of one.

`BREAKEVEN_HOSTILE=100000 pytest tests/cli/test_hostile_routines.py` for a long run: so many objects, a tenth as many
sources.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from breakeven.errors import UserError
from breakeven.files import landlock, sandbox
from breakeven.files.binaries import load_engine
from breakeven.files.data import find_data
from breakeven.routine import tools
from breakeven.routine.build import Build, build
from breakeven.routine.recipe import Recipe, load_recipe
from tests.hostile_routines import ROOM, Attacker, Case
from tests.tiers import long_after

pytestmark = pytest.mark.slow

CASES = int(os.environ.get("BREAKEVEN_HOSTILE", "5000"))
#: cases of one test, and how many tests are not long
OBJECTS, SOURCES = 50, 10
STAY = 2
SECRET = "8c1f0a an attacker would like to know this 77e2d4"
COMPILERS = {"riscv": "riscv64-unknown-elf-gcc", "x86": "x86_64-linux-gnu-gcc"}
#: of a bomb that a generator draws: it ends soon
LIMITS = sandbox.Limits(seconds=60, processor_seconds=5, memory=1 << 30, file=16 << 20)

PARTS = {
    "f.c": """
long limit = 7;
void g(void);
void f(char *d, const char *s, long n) { if (n > limit) g(); while (n--) *d++ = *s++; }
""",
    "g.c": """
extern int never(void) __asm__("ROOM");
int table[40];
void g(void) { table[3]++; }
int h(void) { return never(); }
""",
    "odd.c": """
__thread int t;
static void r(void) {}
__attribute__((constructor)) void c(void) { t++; }
void f(void) { r(); t--; }
""",
}


@functools.cache
def real(isa: str, folder: Path) -> dict[str, list[bytes]]:
    """Objects, archives and shared libraries that are as they should be."""
    folder.mkdir()
    compiler = shutil.which("riscv64-linux-gnu-gcc" if isa == "riscv" else COMPILERS[isa]) or COMPILERS[isa]
    for name, text in PARTS.items():
        (folder / name).write_text(text.replace("ROOM", ROOM.decode()))

    def run(*words: str) -> None:
        subprocess.run([compiler, "-O1", "-ffreestanding", "-w", *words], cwd=folder, check=True, capture_output=True)

    for name in PARTS:
        run("-c", "-fno-pic", "-ffunction-sections", name, "-o", name.replace(".c", ".o"))
    run("-c", "-fno-pic", "-flto", "-ffat-lto-objects", "f.c", "-o", "lto.o")
    subprocess.run([shutil.which("ar") or "ar", "rcs", "all.a", "f.o", "g.o"], cwd=folder, check=True)
    found = {"o": [path.read_bytes() for path in sorted(folder.glob("*.o"))], "a": [(folder / "all.a").read_bytes()]}
    try:
        run("-shared", "-nostdlib", "-fPIC", "f.c", "g.c", "-o", "all.so")
        found["so"] = [(folder / "all.so").read_bytes()]
    except subprocess.CalledProcessError:
        pass  # a compiler for bare metal
    return found


class Place:
    """A folder of the case's own, one that somebody else's secret lies in, and one that is to stay empty."""

    def __init__(self, folder: Path) -> None:
        self.mine, self.work, self.theirs, self.empty = (folder / each for each in ("mine", "work", "theirs", "empty"))
        for each in (self.mine, self.theirs, self.empty):
            each.mkdir()
        self.secret = self.theirs / "secret"
        self.secret.write_text(SECRET)
        self.paths = [self.secret, self.empty / "made"]
        self._before = self._state()

    def _state(self) -> object:
        facts = self.secret.stat()
        return (
            self.secret.read_text(),
            facts.st_mode,
            facts.st_mtime_ns,
            os.listdir(self.theirs),
            os.listdir(self.empty),
        )

    def give(self, recipe: Recipe, case: Case) -> str:
        """Builds a case; what is told, empty where it succeeds."""
        source = self.mine / case.name
        source.write_bytes(case.data)
        said = ""
        try:
            build(recipe, Build(source, **case.options), self.work)  # type: ignore[arg-type]
        except (UserError, load_engine().EngineError) as error:
            said = str(error)
            assert said, case
        assert self._state() == self._before, case
        assert os.listdir(self.mine) == [case.name], case
        assert SECRET not in said, case
        with pytest.raises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)  # there is no child
        for path in self.work.rglob("*"):
            assert not path.is_symlink() and (path.is_dir() or SECRET.encode() not in path.read_bytes()), (path, case)
        shutil.rmtree(self.work)
        source.unlink()
        return said


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    for isa, compiler in COMPILERS.items():
        if shutil.which(compiler) is None or not find_data("guests").joinpath(f"{isa}-recipe.json").is_file():
            pytest.skip(f"no {compiler}, or the guests are not built with it")
    monkeypatch.setattr(tools, "_LIMITS", LIMITS)
    monkeypatch.chdir(tmp_path)
    return Place(tmp_path)


def guest_alone(isa: str) -> Recipe:
    """The recipe of one program."""
    recipe = load_recipe(isa)
    assert recipe is not None
    return replace(recipe, programs={"guest": recipe.programs["guest"]})


def all_seeds(cases: int, batch: int) -> list[object]:
    return long_after(STAY, range(max(STAY, -(-cases // batch))))


@pytest.mark.parametrize("seed", all_seeds(CASES, OBJECTS))
def test_an_object_ends_in_a_guest_or_a_sentence(place, tmp_path, tmp_path_factory, seed):
    isa = ("x86", "riscv")[seed % 2]
    attacker = Attacker(seed, place.paths, real(isa, tmp_path_factory.getbasetemp() / f"real-{isa}"))
    for _ in range(OBJECTS):
        place.give(guest_alone(isa), attacker.object())


@pytest.mark.skipif(
    not landlock.version(), reason="without Landlock a source that is added reads what its user may read"
)
@pytest.mark.parametrize("seed", all_seeds(CASES // 10, SOURCES))
def test_a_source_ends_in_a_guest_or_a_sentence(place, seed):
    attacker = Attacker(seed, place.paths, {})
    for _ in range(SOURCES):
        place.give(guest_alone(("riscv", "x86")[seed % 2]), attacker.source())


@pytest.mark.parametrize("seed", all_seeds(CASES // 20, SOURCES))
def test_without_landlock_a_confined_source_does_so_too(place, monkeypatch, seed):
    monkeypatch.setattr(landlock, "version", lambda: 0)
    attacker = Attacker(seed + 1_000_000, place.paths, {})
    for _ in range(SOURCES):
        case = attacker.source()
        place.give(guest_alone(("riscv", "x86")[seed % 2]), replace(case, options={**case.options, "confined": True}))
