"""`add`: a file of the user's becomes a routine; a wrong one is refused with the first wrong byte."""

from __future__ import annotations

import json
import platform
import shutil

import pytest

from breakeven.engines.open import open_engine
from breakeven.errors import UserError
from breakeven.files.binaries import guest_elf
from breakeven.files.data import find_data
from breakeven.points import Point, pack
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.measurements import REPETITIONS
from breakeven.routine.contract import check_contract
from breakeven.routine.extensions import used_by
from breakeven.routine.recipe import load_recipe
from breakeven.routine.registry import OBJECTS, user_files
from breakeven.routine.taken_function import take_function
from breakeven.routine.time_limit import within
from breakeven.routine.tools import compiler_says

pytestmark = pytest.mark.slow

#: rv-byte under another name
COPY = """
    .globl my_copy
my_copy:
    add a2, a1, a2
    bgeu a1, a2, 2f
1:  lbu t0, 0(a1)
    sb t0, 0(a0)
    addi a1, a1, 1
    addi a0, a0, 1
    bltu a1, a2, 1b
2:  ret
"""
C_SUM = """
#include <stddef.h>
#include <stdint.h>
uint32_t c_sum(const void *buffer, size_t n) {
    const unsigned char *p = buffer;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (uint64_t)p[i] << (i & 1) * 8;
    while (sum >> 32)
        sum = (sum & 0xffffffff) + (sum >> 32);
    return sum;
}
"""
X86_REGISTERED = """
#include "../routine.h"
ROUTINE reg_copy, "reg-copy", KIND_COPY
    mov rcx, rdx
    rep movsb
    ret
END reg_copy
"""
C_HEAD = """
#include <stddef.h>
void wrong(char *d, const char *s, size_t n) {
"""
#: name -> (body of a C copy, what is said of it)
WRONG = {
    "short": (
        "for (size_t i = 0; i + (n == 17) < n; i++) d[i] = s[i];",
        "size 17, source offset 0, destination offset 0: byte 16 is 0xa5 (what was there before) and must be",
    ),
    "value": (
        "for (size_t i = 0; i < n; i++) d[i] = s[i] ^ (i == 5);",
        "size 6, source offset 0, destination offset 0: byte 5 is",
    ),
    "offset": (
        "for (size_t i = 0; i < n; i++) d[i] = s[i] + ((long)d % 8 == 3 && (long)s % 8 == 2);",
        "size 1, source offset 2, destination offset 3: byte 0 is",
    ),
    "after": ("for (size_t i = 0; i < n + (n == 9); i++) d[i] = s[i];", "byte 9 is"),
    "before": ("d[-3] = 1; for (size_t i = 0; i < n; i++) d[i] = s[i];", "byte -3 is 0x01 and must stay 0xa5"),
    "source": ("for (size_t i = 0; i < n; i++) d[i] = s[i]; if (n) ((char *)s)[0] = 0;", "must be"),
    "reads": (
        "for (size_t i = 0; i < n; i++) d[i] = s[i]; *(volatile const char *)(s + n);",
        "no page after the source's last byte: load from an unmapped page",
    ),
    "wild": ("*(volatile char *)0x3ff00000 = 1;", "traps at size 0, source offset 0, destination offset 0: store to"),
    "endless": (
        "for (size_t i = 0; i < n; i++) d[i] = s[i]; while (n == 30) *(volatile char *)d;",
        "does not return at size 30",
    ),
}


@pytest.fixture
def add(tmp_path, monkeypatch, breakeven):
    """Writes a file and adds it, in a home of the test's own."""
    for isa, compiler in (("riscv", "riscv64-unknown-elf-gcc"), ("x86", "x86_64-linux-gnu-gcc")):
        if shutil.which(compiler) is None or not find_data("guests").joinpath(f"{isa}-recipe.json").is_file():
            pytest.skip(f"no {compiler}, or the guests are not built with it")
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path / "home"))

    def call(name: str, text: str, *options: str):
        (tmp_path / name).write_text(text)
        return breakeven("add", name, *options)

    return call


def test_an_added_routine_is_like_all_others(add, breakeven):
    done = add("my_copy.S", COPY, "--isa", "riscv")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("my-copy (riscv): verified at all 1")
    done = breakeven("compare", "my-copy", "rv-word", "--sizes", "8..64:8", "--json")
    found = json.loads(done.stdout)
    assert found["ok"] and "rv-word" in found["cycles"]
    kept = json.loads(breakeven("compare", "my-copy", "rv-word", "--sizes", "8..64:8", "--json", "--no-store").stdout)
    assert kept["cycles"] == found["cycles"]
    rows = json.loads(breakeven("routines", "--json").stdout)["routines"]
    origins = {row["name"]: row["origin"] for row in rows}
    assert origins["my-copy"].endswith("my_copy.S") and origins["rv-word"] == ""
    # Points of a sweep stand in its order, whatever guest they ran in.
    done = breakeven("sweep", "rv-byte", "my-copy", "rv-word", "--sizes", "8,16", "--json")
    unkept = json.loads(breakeven("sweep", "my-copy", "rv-word", "--sizes", "8,16", "--json", "--no-store").stdout)
    assert unkept["simulated"] == 4
    rows = json.loads(done.stdout)["rows"]
    assert [(row["routine"], row["size"]) for row in rows] == [
        (name, size) for name in ("rv-byte", "my-copy", "rv-word") for size in (8, 16)
    ]
    assert all(row["ok"] for row in rows)
    # The same code at the same place in its guest takes the same time.
    assert [row["cycles_median"] for row in rows[:2]] == [row["cycles_median"] for row in rows[2:4]]
    done = breakeven("explain", "my-copy", "rv-word", "-m", "o3", "--size", "100")
    assert done.returncode == 0 and "my-copy" in done.stdout
    assert breakeven("add", "--remove", "my-copy").stdout == "removed: my-copy (riscv)\n"
    done = breakeven("run", "my-copy", "--size", "8")
    assert done.returncode == 1 and "there is no routine 'my-copy'" in done.stderr


#: leaves what it is to copy, and has the function that compares the output answer "no difference"
LIAR = """
    .text
    .globl liar
liar:
    mov %cr0, %rax
    btr $16, %rax
    mov %rax, %cr0
    movl $0xc3d08948, stream_compare
    bts $16, %rax
    mov %rax, %cr0
    mov %rdi, %rax
    ret
"""


def test_a_routine_that_attacks_its_checker_lies_of_itself_alone(add, breakeven):
    def rows(*routines: str):
        words = ("sweep", *routines, "--sizes", "8,64", "-m", "skylake", "--no-store", "--json")
        return json.loads(breakeven(*words).stdout)["rows"]

    before = rows("x64-byte", "x64-copy-erms")
    assert add("liar.S", LIAR, "--isa", "x86").returncode == 0
    after = rows("x64-byte", "liar", "x64-copy-erms")
    assert all(row["ok"] for row in after), "what docs/promises.md does not promise has changed"
    assert [row for row in after if row["routine"] != "liar"] == before


#: has entries for the call sites of `tune` where the list of routines does not look, of a function that is slow
POSER = """
#include "routine.h"
void poser(char *d, const char *s, size_t n) { for (size_t i = 0; i < n; i++) d[i] = s[i]; }
ROUTINE(poser, "poser", KIND_COPY, 0);
static void slow(char *d, const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (int again = 0; again < 50; again++)
            ((volatile char *)d)[i] = s[i];
}
#define POSE(plan, place) ROUTINE_IN(".first_routines", site##plan##_##place, slow, "tuned-" #plan "-" #place, 0, 0)
#define PLACES(plan) POSE(plan, 0) POSE(plan, 1) POSE(plan, 2) POSE(plan, 3) POSE(plan, 4) POSE(plan, 5)
PLACES(0) PLACES(1) PLACES(2) PLACES(3)
"""


def test_a_file_changes_no_plan_that_does_not_call_it(add, breakeven):
    def expected(*candidates: str):
        words = ("tune", "--candidates", ",".join(candidates), "-n", "24", "--src", "0", "--branches", "0", "--json")
        return json.loads(breakeven(*words).stdout)["expected"]

    before = expected("rv-word", "rv-byte")
    assert add("poser.c", POSER, "--isa", "riscv").returncode == 0
    assert add("my_copy.S", COPY, "--isa", "riscv").returncode == 0
    after = expected("poser", "rv-word", "my-copy", "rv-byte")
    assert after["rv-word"] == before["rv-word"] and after["rv-byte"] == before["rv-byte"]
    assert after["my-copy"] < after["poser"] / 5


def test_a_file_that_is_added_again_meanwhile_changes_no_kept_point(add, breakeven, tmp_path):
    def cycles(size: int, *more: str):
        return json.loads(breakeven("run", "my-copy", "--size", str(size), "--json", *more).stdout)["cycles_median"]

    def run(session, size: int) -> None:
        session.run(pack([Point("my-copy", size, repetitions=REPETITIONS)]), 1)

    store = tmp_path / "points.sqlite"
    assert add("my_copy.S", COPY, "--isa", "riscv").returncode == 0
    with open_engine(None, store, False) as engine:
        run(engine.open(MachineSpec("u74")), 64)
    with open_engine(None, store, False) as engine:
        session = engine.open(MachineSpec("u74"))
        run(session, 64)  # the store has it: no guest is booted
        assert add("my_copy.S", COPY.replace("1:", "1:" + " div t1, t0, t0\n" * 9), "--isa", "riscv").returncode == 0
        run(session, 100)
    slow = cycles(100, "--store", str(store))
    assert add("my_copy.S", COPY, "--isa", "riscv").returncode == 0
    assert cycles(100, "--store", str(store)) == cycles(100, "--no-store") < slow / 2


def test_a_checksum_in_c_and_a_file_that_registers_itself(add, breakeven):
    done = add("c_sum.c", C_SUM, "--isa", "riscv", "--kind", "checksum")
    assert done.returncode == 0, done.stderr
    done = add("reg.S", X86_REGISTERED, "--isa", "x86")
    assert done.returncode == 0, done.stderr
    assert json.loads(breakeven("run", "reg-copy", "-m", "x86_minor", "--size", "99", "--json").stdout)["ok"]
    assert [own.routines for own in user_files("x86")] == [("reg-copy",)]
    if platform.machine() == "x86_64":
        done = breakeven("run", "reg-copy", "--engine", "native", "--size", "99", "--trust-native")
        assert done.returncode == 0 and "reg-copy on native" in done.stdout


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_copy_is_refused(add, name):
    body, said = WRONG[name]
    done = add("wrong.c", f"{C_HEAD}{body}\n}}\n", "--isa", "riscv")
    assert done.returncode == 1
    assert said in done.stderr, done.stderr
    assert user_files("riscv") == []


def test_one_that_returns_at_the_sizes_of_the_contract_alone(add, monkeypatch):
    monkeypatch.setattr("breakeven.routine.contract._BYTE", 15)
    body = "for (size_t i = 0; i < n; i++) d[i] = s[i]; while (n == 300000) *(volatile char *)d;"
    done = add("endless.c", f"{C_HEAD.replace('wrong', 'endless')}{body}\n}}\n", "--isa", "riscv")
    assert done.returncode == 1 and "endless does not return at one of the sizes from" in done.stderr
    assert user_files("riscv") == []


def test_a_wrong_sum_and_a_lost_register(add):
    done = add("c_sum.c", C_SUM.replace("p[i] <<", "(p[i] + (n == 40)) <<"), "--isa", "riscv", "--kind", "checksum")
    assert "c-sum is wrong at size 40, source offset 0" in done.stderr and "must return" in done.stderr
    done = add("my_copy.S", COPY.replace("add a2", "li s3, 1\n add a2"), "--isa", "riscv")
    assert "my-copy is wrong at size 0" in done.stderr and "it must keep s3, and does not" in done.stderr


def test_another_harness_is_noticed(add, breakeven, tmp_path):
    assert add("my_copy.S", COPY, "--isa", "riscv").returncode == 0
    entry = tmp_path / "home/routines/riscv/my-copy/routine.json"
    row = json.loads(entry.read_text())
    entry.write_text(json.dumps({**row, "harness": "0" * 64}))
    for command in (("run", "my-copy", "--size", "8"), ("compare", "my-copy", "rv-byte", "-n", "8,16")):
        done = breakeven(*command)
        assert done.returncode == 1 and "my-copy was added to another version of breakeven: add it again" in done.stderr


def test_mistakes(add, breakeven):
    done = add("my_copy.S", COPY.replace("bgeu", "bgu"), "--isa", "riscv")
    assert done.returncode == 1 and "my_copy.S:5: Error" in done.stderr
    done = add("calls.c", "void calls(void) { extern void f(void); f(); }", "--isa", "riscv")
    assert "calls.c needs f, which is not defined: also name the file that defines it" in done.stderr
    done = add("two.c", "void a(void) {} void b(void) {}", "--isa", "riscv")
    assert "it defines a, b: name one with --symbol" in done.stderr
    assert "is a routine of breakeven's" in add("rv_byte.S", COPY, "--isa", "riscv").stderr
    assert "unknown need 'zba'" in add("my_copy.S", COPY, "--isa", "riscv", "--needs", "zba").stderr
    assert "add needs --isa" in breakeven("add", "my_copy.S").stderr
    assert "there is no file" in breakeven("add", "other.S", "--isa", "x86").stderr
    assert "you have added no routine" in breakeven("add", "--remove", "rv-byte").stderr


@pytest.mark.parametrize(
    "name", [".", "..", "all", "copy", "checksum", "--help", "-o", "a/b", "", "n" * 40, "é", "a b"]
)
def test_what_cannot_be_a_name_is_refused(add, monkeypatch, tmp_path, name):
    from breakeven import api
    from breakeven.errors import UserError

    (tmp_path / "my_copy.S").write_text(COPY)
    if not name:
        assert api.add(tmp_path / "my_copy.S", "riscv").file.routines == ("my-copy",)
        return
    with pytest.raises(UserError, match="cannot be a routine's name"):
        api.add(tmp_path / "my_copy.S", "riscv", name=name)
    # A file that registers its routines itself is held to the same.
    if name in ("..", "all"):
        text = X86_REGISTERED.replace('"reg-copy"', f'"{name}"')
        (tmp_path / "reg.S").write_text(text)
        with pytest.raises(UserError, match="cannot be a routine's name"):
            api.add(tmp_path / "reg.S", "x86")
    assert list((tmp_path / "home").glob("routines/*/*")) == []


def test_a_routine_of_two_instruction_sets_is_removed_from_the_one_that_is_asked(monkeypatch, tmp_path):
    from breakeven import api
    from breakeven.errors import UserError
    from breakeven.routine.registry import UserRoutineFile, folder_of, write_entry

    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path))
    for isa in ("riscv", "x86"):
        folder = folder_of(isa) / "both"
        folder.mkdir(parents=True)
        (folder / "guest.elf").write_bytes(b"")
        write_entry(UserRoutineFile(isa, ("both",), "both.c", "", folder), folder)
    assert api.remove("both", "x86") == ["both"]
    assert [own.isa for isa in ("riscv", "x86") for own in user_files(isa)] == ["riscv"]
    with pytest.raises(UserError, match="you have added no routine 'both' for x86"):
        api.remove("both", "x86")
    assert api.remove("both") == ["both"] and user_files("riscv") == []


def test_flags_that_do_not_split_are_told(add):
    done = add("my_copy.S", COPY, "--isa", "riscv", "--flags", "'")
    assert done.returncode == 1 and done.stderr == (
        'breakeven: --flags "\'" cannot be split into words: no closing quotation\n'
    )


def test_adding_has_one_bound_in_all(add, monkeypatch):
    done = add("my_copy.S", COPY, "--isa", "riscv")
    assert done.returncode == 0
    (own,) = user_files("riscv")
    elf = guest_elf("riscv")
    recipe = load_recipe("riscv")
    assert recipe is not None
    # Each part asks how much is left, and a guest that runs ends by itself: the contract has seconds of simulation.
    for part, some in (
        (lambda: check_contract("riscv", elf, "rv-byte", "copy"), [0, 1e-3]),
        (lambda: used_by("riscv", elf, "rv-byte", "copy"), [0]),
        (lambda: compiler_says(recipe, "--version"), [0]),
        (lambda: take_function(recipe, [own.folder / OBJECTS / "routine.o"], "my_copy", "f", {}, own.folder), [0]),
    ):
        for seconds in some:
            with pytest.raises(UserError, match="not built and checked within .* s: give fewer"), within(seconds):
                part()
    monkeypatch.setattr("breakeven.routine.add.SECONDS", 0)
    assert "within 0 s: give fewer routines at a time" in add("other.S", COPY, "--isa", "riscv").stderr
    assert user_files("riscv") == [own]
