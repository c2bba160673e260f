"""`--engine native` and routines that were added: only after a word of the user's, and where they do little harm."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from breakeven import api
from breakeven.engines.native import NativeEngine
from breakeven.errors import UserError
from breakeven.files import landlock
from breakeven.files.data import find_data
from breakeven.routine.build import Build, build
from breakeven.routine.recipe import load_recipe
from breakeven.routine.registry import NATIVE, OBJECTS, UserRoutineFile, folder_of, user_files, write_entry

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="this host is no x86-64"),
]

COPY = "void mine(char *d, const char *s, unsigned long n) { BEFORE while (n--) *d++ = *s++; }\n"
#: a system call, without a library
CALL = """
static long call(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}
"""
#: what somebody else's code would do on a host; what succeeds is marked by a file
ATTACK = """
static void attack(void) {
    if (call(2, (long)"FOLDER/made", 0101, 0600) >= 0) return; /* open */
    call(83, (long)"FOLDER/folder", 0700, 0);                  /* mkdir */
    call(87, (long)"FOLDER/victim", 0, 0);                     /* unlink */
    call(76, (long)"FOLDER/victim", 0, 0);                     /* truncate */
    if (call(41, 2, 1, 0) >= 0) wrong();                       /* socket */
    if (call(62, 1, 0, 0) == 0) wrong();                       /* kill */
    if (call(57, 0, 0, 0) >= 0) wrong();                       /* fork */
    if (call(2, (long)"/etc/passwd", 0, 0) >= 0) wrong();
    if (call(101, 16, 1, 0) >= 0) wrong();                     /* ptrace */
    if (call(203, 1, 0, 0) >= 0) wrong();                      /* another's CPUs */
    if (call(28, 0, 0, 14) >= 0) wrong();                      /* madvise of a kind that the harness does not use */
}
static void wrong(void) { for (;;) __asm__ volatile("ud2"); }
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("x86_64-linux-gnu-gcc") is None or load_recipe("x86") is None:
        pytest.skip("no compiler, or the guests are not built with it")
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path / "home"))


@pytest.fixture
def added(tmp_path: Path) -> Callable[[str], None]:
    """A routine as `add` leaves it that has found it right."""

    def call(text: str) -> None:
        recipe = load_recipe("x86")
        assert recipe is not None
        source, kept = tmp_path / "mine.c", folder_of("x86") / "mine"
        source.write_text(text)
        build(recipe, Build(source), kept)
        (kept / "guest").rename(kept / "guest.elf")
        (kept / "native").rename(kept / NATIVE)
        assert (kept / OBJECTS).is_dir()
        write_entry(UserRoutineFile("x86", ("mine",), str(source), recipe.harness, kept), kept)

    return call


VERBS = [
    ("run", "mine", "--size", "64"),
    ("sweep", "mine", "--sizes", "64", "--json"),
    ("compare", "mine", "x64-byte", "--sizes", "64"),
    ("compare", "mine", "x64-byte", "--sizes", "64", "-m", "x86_minor", "--engine", "embedded,native"),
]


@pytest.mark.parametrize("words", VERBS)
def test_a_routine_of_the_users_runs_here_only_when_that_is_said(added, breakeven, tmp_path, words):
    added(COPY.replace("BEFORE", ""))
    words = (*words, *(() if "--engine" in words else ("--engine", "native")))
    done = breakeven(*words)
    assert done.returncode == 1 and f"mine was added from {tmp_path / 'mine.c'}: its code would run" in done.stderr
    assert "--trust-native" in done.stderr
    done = breakeven(*words, "--trust-native")
    assert done.returncode == 0, done.stderr


def test_from_python_and_with_a_routine_of_breakevens(added):
    added(COPY.replace("BEFORE", ""))
    with pytest.raises(UserError, match="trust_native=True"):
        api.run("mine", 64, engine="native")
    assert api.run("mine", 64, engine="native", trust_native=True).ok
    assert api.run("x64-byte", 64, engine="native").ok
    table = api.sweep(["x64-byte", "mine"], [64, 100], engine="native", trust_native=True)
    assert table["ok"].all() and (table["cycles_median"] > 0).all()


@pytest.mark.parametrize("rule", ["both", pytest.param("calls alone", marks=pytest.mark.long)])
@pytest.mark.parametrize("where", ["routine", "ahead of main"])
def test_foreign_code_computes_and_does_nothing_else(added, tmp_path, monkeypatch, where, rule):
    if rule == "calls alone":
        monkeypatch.setattr(landlock, "version", lambda: 0)
    victim = tmp_path / "victim"
    victim.write_text("whole")
    text = CALL + "static void wrong(void);" + ATTACK.replace("FOLDER", str(tmp_path))
    if where == "routine":
        text += COPY.replace("BEFORE", "attack();")
    else:
        text += '__attribute__((section(".init_array"), used)) static void (*first)(void) = attack;'
        text += COPY.replace("BEFORE", "")
    added(text)
    before = sorted(os.listdir(tmp_path))
    assert api.run("mine", 64, engine="native", trust_native=True).ok
    assert sorted(os.listdir(tmp_path)) == before and victim.read_text() == "whole"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('call(1, 1, (long)"nonsense", 8);', "native.elf said '.*nonsense"),
        ("call(60, 0, 0, 0);", "left 0 bytes of results|said ''"),
        ("for (long i = 3; i < 99; i++) call(3, i, 0, 0);", "gave up|left 0 bytes of results"),
        ("for (long i = 3; i < 99; i++) call(1, i, (long)d, 9);", "bytes of results for 1 points"),
        ('call(1, 2, (long)"no room for the buffers", 23); call(60, 3, 0, 0);', "no room for the buffers"),
    ],
)
def test_what_foreign_code_says_is_judged(added, body, said):
    added(CALL + COPY.replace("BEFORE", body))
    with pytest.raises(UserError, match=said):
        api.run("mine", 64, engine="native", trust_native=True)


#: leaves results of its own, five rounds of one point, and its own line; both as the parameters say
FORGED = """
static void forge(const char *line) {
    unsigned long result[8] = {RESULT};
    long length = 0;
    while (line[length]) length++;
    for (long file = 3; file < 99; file++)
        for (int i = 0; i < 5; i++) call(1, file, (long)result, 64);
    call(1, 1, (long)line, length);
    call(231, 0, 0, 0);
}
"""


def forging(result: list[int], line: str = "1 1 1 0 tsc") -> str:
    """A routine that leaves these eight words as its result, and says the line."""
    words = ", ".join(f"{word}ul" for word in result)
    return CALL + FORGED.replace("RESULT", words) + COPY.replace("BEFORE", f'forge("{line}");')


@pytest.mark.parametrize(
    ("line", "cycles", "said"),
    [
        ("nan 1 1 0 tsc", 9, "native.elf said 'nan"), ("1 1 inf 0 tsc", 9, "native.elf said"),
        ("-1 1 1 0 tsc", 9, "native.elf said"), ("3 2 1 0 tsc", 9, "native.elf said"),
        ("1 1 1e300 0 tsc", 9, "native.elf said"), ("1 1 1 -1 tsc", 9, "native.elf said"),
        ("1 1 1 6 tsc", 9, "native.elf said"), ("1 1 1 0 <b>", 9, "native.elf said"),
        ("1 1 1 0 tsc", 1 << 60, "native.elf left impossible results"),
    ],
)  # fmt: skip
def test_forged_numbers_are_in_their_ranges(added, line, cycles, said):
    added(forging([0, cycles, cycles, cycles, 0, 0, 0, 9], line))
    with pytest.raises(UserError, match=said):
        api.run("mine", 64, engine="native", trust_native=True)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ([7 << 32, 9, 9, 9, 0, 0, 5, 9], "impossible results: a status that no native program has"),
        ([0xFFFFFFFF << 32, 9, 9, 9, 0, 0, 0, 9], "impossible results: a status"),
        ([0, 9, 9, 9, 0, 0, 0, 1 << 60], "impossible results: a measurement of 2.53 cycles"),
    ],
)
def test_forged_results_are_those_of_a_native_program(added, result, said):
    added(forging(result))
    with pytest.raises(UserError, match=said):
        api.run("mine", 64, engine="native", trust_native=True)


@pytest.mark.parametrize("status", [0, 1])
def test_what_a_native_program_does_not_measure_is_not_taken_from_it(added, status):
    """Its instructions are not counted; what a wrong result holds besides its detail means nothing."""
    added(forging([status << 32, *[9 if status == 0 else (1 << 64) - 1] * 3, (1 << 64) - 1, 0, 0, 9]))
    found = api.run("mine", 64, engine="native", trust_native=True)
    assert (found.ok, found.instructions, found.cycles_median) == (status == 0, 0, 9 if status == 0 else 0)


def test_a_program_that_was_made_before_it_could_be_confined_is_made_again(added):
    added(COPY.replace("BEFORE", ""))
    (own,) = user_files("x86")
    (own.folder / NATIVE).rename(own.folder / "native")
    with pytest.raises(UserError, match="add it again"):
        api.run("mine", 64, engine="native", trust_native=True)


def test_the_explorer_runs_what_the_page_names(added):
    from breakeven.explorer.simulate import Simulator

    added(COPY.replace("BEFORE", ""))
    simulator = Simulator(no_store=True)
    asked = (["mine", "x64-byte"], [(64, 0, 0)], "warm", "latency")
    for trusted in ([], ["x64-byte"], ["min"]):
        with pytest.raises(UserError, match="mine was added from"):
            simulator.host(*asked, trusted)
    assert [row[0] for row in simulator.host(*asked, ["mine"])] == ["mine", "x64-byte"]
    simulator.close()


def test_an_engine_trusts_nobody_by_itself(added):
    added(COPY.replace("BEFORE", ""))
    (own,) = user_files("x86")
    with pytest.raises(UserError, match="mine was added from"):
        NativeEngine().check_trusted(own, "mine")
    assert find_data("guests", "x86-confine").is_file()
    assert json.loads((own.folder / "routine.json").read_text())["routines"] == ["mine"]
