"""`add` of code that exists: objects, archives, shared libraries; what they reach, what they need, what is told."""

from __future__ import annotations

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from breakeven import _engine, api
from breakeven.cli import load
from breakeven.errors import UserError
from breakeven.files.data import find_data
from breakeven.routine.object_files import Library
from breakeven.routine.registry import user_files
from tests.tiers import long_after

pytestmark = pytest.mark.slow

GLIBC_X86 = "/usr/lib/x86_64-linux-gnu/libc.a"
GLIBC_RISCV = "/usr/riscv64-linux-gnu/lib/libc.a"
MUSL_X86 = "/usr/lib/x86_64-linux-musl/libc.a"
#: of glibc's vector copies: what its start-up code would set
THRESHOLDS = {
    "__x86_shared_non_temporal_threshold": 0xC0000,
    "__x86_rep_movsb_stop_threshold": 0xC0000,
    "__x86_string_control": 0,
}
#: file, the Debian package it is from, symbol, kind of values, instruction set, extensions
LIBRARIES = {
    "musl-x86-memcpy": (MUSL_X86, "musl-tools", "memcpy", {}, "x86", ()),
    "musl-x86-so-memmove": ("/usr/lib/x86_64-linux-musl/libc.so", "musl-tools", "memmove", {}, "x86", ()),
    "glibc-x86-memmove": (GLIBC_X86, "libc6-dev", "__memmove_avx_unaligned_erms", THRESHOLDS, "x86", ("avx", "sse")),
    "glibc-riscv-memcpy": (GLIBC_RISCV, "libc6-dev-riscv64-cross", "memcpy", {}, "riscv", ()),
    "glibc-riscv-so-memmove": (
        "/usr/riscv64-linux-gnu/lib/libc.so.6", "libc6-dev-riscv64-cross", "memmove", {}, "riscv", (),
    ),
}  # fmt: skip

FAR = """
#include <stddef.h>
extern long limit;
extern void *helper(void *d, const void *s, size_t n);
extern void never(void);
void *far(void *d, const void *s, size_t n) {
    if ((long)n > limit)
        return helper(d, s, n);
    char *p = d;
    const char *q = s;
    while (n--)
        *p++ = *q++;
    return d;
}
void other(void) { never(); }
"""
HELPER = """
#include <stddef.h>
void *helper(void *d, const void *s, size_t n) {
    char *p = d;
    const char *q = s;
    while (n--)
        *p++ = *q++;
    return d;
}
"""
#: without vzeroupper, and nobody says that it needs AVX2
DIRTY = """
.intel_syntax noprefix
.globl avx_copy
avx_copy:
    cmp rdx, 32
    jb 1f
    vmovdqu ymm0, [rsi]
    vpaddb ymm1, ymm0, ymm0
1:  mov rcx, rdx
    rep movsb
    ret
"""


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """Compiles C for an instruction set; what is added goes to a home of the test's own."""
    compilers = {"riscv": "riscv64-unknown-elf-gcc", "x86": "x86_64-linux-gnu-gcc"}
    for isa, compiler in compilers.items():
        if shutil.which(compiler) is None or not find_data("guests").joinpath(f"{isa}-recipe.json").is_file():
            pytest.skip(f"no {compiler}, or the guests are not built with it")
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path / "home"))
    variants = {"riscv": ["-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany"], "x86": ["-fcf-protection=none"]}

    def call(name: str, text: str, isa: str = "x86") -> Path:
        source, out = tmp_path / f"{name}.c", tmp_path / f"{name}.o"
        source.write_text(text)
        plain = ["-O2", "-fno-builtin", "-fno-tree-loop-distribute-patterns", "-ffunction-sections"]
        subprocess.run([compilers[isa], *variants[isa], *plain, "-c", source, "-o", out], check=True)
        return out

    return call


@pytest.mark.parametrize("name", long_after(1, LIBRARIES))
def test_a_librarys_own_copy_keeps_the_contract(compiled, name):
    file, package, symbol, defines, isa, extensions = LIBRARIES[name]
    if not Path(file).is_file():
        pytest.skip(f"no {file} (Debian: {package}; scripts/setup --test-tools)")
    done = api.add(file, symbol=symbol, name=name, defines=defines)
    assert done.file.isa == isa and done.file.routines == (name,) and done.file.extensions == extensions
    assert done.points > 18000 and not any("vzeroupper" in note for note in done.notes)
    machine = {"riscv": "atomic", "x86": "x86_atomic"}[isa]
    point = api.run(name, 1448, machine=machine, src=3, store=False)
    assert point.ok and point.instructions > 5


@pytest.mark.parametrize("symbol", ["memcpy", "memmove"])
def test_musls_copy_of_riscv_keeps_the_contract(compiled, tmp_path, monkeypatch, symbol):
    """Debian has no musl for RISC-V; PyPI's ziglang carries its sources (0.16 and later: without the copies)."""
    ziglang = find_spec("ziglang")
    folder = Path(ziglang.origin or "").parent if ziglang else Path()
    sources = folder / "lib" / "libc" / "musl" / "src" / "string"
    if not (sources / "memcpy.c").is_file():
        pytest.skip("no musl for RISC-V (PyPI: ziglang==0.13.0, 80 MB)")
    for cache in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
        monkeypatch.setenv(cache, str(tmp_path / "zig"))
    plain = ["-target", "riscv64-linux-musl", "-O2", "-fno-builtin", "-fno-sanitize=all"]
    for name in ("memcpy", "memmove"):  # memmove calls memcpy
        subprocess.run(
            [folder / "zig", "cc", *plain, "-c", sources / f"{name}.c", "-o", f"{name}.o"], cwd=tmp_path, check=True
        )
    subprocess.run([folder / "zig", "ar", "rcs", "libc.a", "memcpy.o", "memmove.o"], cwd=tmp_path, check=True)
    done = api.add(tmp_path / "libc.a", symbol=symbol, name=f"musl-{symbol}")
    assert done.file.isa == "riscv" and done.file.extensions == () and done.points > 18000
    point = api.run(f"musl-{symbol}", 1448, machine="atomic", src=3, store=False)
    assert point.ok and point.instructions > 5


def test_a_machine_without_an_extension_is_told(compiled):
    if not Path(GLIBC_X86).is_file():
        pytest.skip(f"no {GLIBC_X86} (Debian: libc6-dev)")
    words = [f"--define={name}={value:#x}" for name, value in THRESHOLDS.items()]
    done = CliRunner().invoke(
        load("add"), ["add", GLIBC_X86, "--symbol", "__memcpy_avx_unaligned_erms", *words, "-m", "westmere"]
    )
    assert done.exception is None, done.exception
    assert "memcpy-avx-unaligned-erms (x86): verified at all" in done.output
    assert "__x86_rep_movsb_threshold is 0x800, as in the file" in done.output
    assert "westmere lacks avx: --set cpu.isa.enable_avx=true" in done.output
    with pytest.raises(UserError, match="needs avx, which this machine lacks: add --set cpu.isa.enable_avx=true"):
        api.run("memcpy-avx-unaligned-erms", 64, machine="westmere", store=False)


def test_what_a_library_chooses_at_start_up_is_named(compiled):
    for file, said in (
        (GLIBC_X86, "__memcpy_avx_unaligned_erms, "),
        ("/lib/x86_64-linux-gnu/libc.so.6", "--symbol 0x"),
    ):
        if not Path(file).is_file():
            pytest.skip(f"no {file} (Debian: libc6-dev)")
        with pytest.raises(UserError, match="chooses memcpy at start-up") as error:
            api.add(file, symbol="memcpy")
        assert said in str(error.value)
    with pytest.raises(UserError, match="--define __x86_shared_non_temporal_threshold=VALUE"):
        api.add(GLIBC_X86, symbol="__memmove_sse2_unaligned")
    with pytest.raises(UserError, match="defines no symbol 'memcopy'; did you mean 'memcpy'"):
        api.add(GLIBC_X86, symbol="memcopy")


@pytest.mark.parametrize("isa", long_after(1, ["x86", "riscv"]))
def test_a_function_comes_with_what_it_reaches_and_no_more(compiled, isa):
    far, helper = compiled("far", FAR, isa), compiled("helper", HELPER, isa)
    with pytest.raises(UserError, match="far.o holds several functions .far, other.: name one with --symbol"):
        api.add(far)
    with pytest.raises(UserError, match="far.o needs limit, which is not defined: .* give --define limit=VALUE"):
        api.add(far, symbol="far")
    with pytest.raises(UserError, match="far.o needs helper, which is not defined: also name the file that defines it"):
        api.add(far, symbol="far", defines={"limit": 40})
    with pytest.raises(UserError, match="--define lim: nothing that the function reaches reads it"):
        api.add(far, symbol="far", defines={"limit": 40, "lim": 1}, more=[helper])
    # `never` is what `other` alone calls: it need not exist.
    done = api.add(far, symbol="far", defines={"limit": 40}, more=[helper])
    assert done.file.routines == ("far",) and done.file.extensions == ()
    (kept,) = user_files(isa)
    assert kept.options == f"{helper} --symbol far --define limit=0x28"
    with pytest.raises(UserError, match=f"is for {isa}, not for"):
        api.add(far, {"x86": "riscv", "riscv": "x86"}[isa], symbol="far")


def test_a_forgotten_vzeroupper_and_an_undeclared_extension_are_told(compiled, tmp_path):
    source = tmp_path / "avx_copy.S"
    source.write_text(DIRTY)
    done = api.add(source, "x86")
    assert done.file.extensions == ("avx", "avx2")
    assert done.notes[0].startswith("avx-copy leaves the upper halves of ymm registers in use")
    assert done.notes[1] == "avx-copy uses avx2: registered so (--needs avx2)"
    assert [r.notes for r in api.routines("x86_o3") if r.name == "avx-copy"] == ["needs AVX2"]


def test_what_is_no_code_is_refused(compiled, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("hello")
    with pytest.raises(UserError, match="is no code that can be added: a .S, .s or .c file, an object"):
        api.add(text)
    text.write_bytes(b"!<arch>\nrubbish")
    with pytest.raises(UserError, match="truncated or damaged"):
        api.add(text, symbol="f")
    broken = tmp_path / "broken.o"
    broken.write_bytes(compiled("helper", HELPER).read_bytes()[:500])
    with pytest.raises(UserError, match="broken.o: .*the file is truncated or damaged"):
        api.add(broken)


def test_the_engine_reads_objects_and_lists_instructions(compiled):
    helper = compiled("helper", HELPER)
    found = _engine.elf_contents(helper.read_bytes())
    assert (found["isa"], found["kind"]) == ("x86", "object")
    obj, symbol = Library([helper]).find("helper")
    lines = _engine.instructions(obj.bytes_of(symbol.section), "x86", 0x1000)
    assert lines[0][0] == 0x1000 and any(text.startswith("ret") and ends for _, _, text, _, _, _, ends in lines)
    with pytest.raises(_engine.EngineError, match="unknown instruction set"):
        _engine.instructions(b"", "arm")
