"""`add` of routines with AVX-512, whose state the guest switches on for a routine that declares it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from breakeven.routine.registry import user_files
from tests.tiers import long_after

pytestmark = pytest.mark.slow

#: two machines, one with AVX-512
WITH, WITHOUT = ("-m", "zen4"), ("-m", "skylake")
VECTORS = '__asm__ volatile("vmovdqu64 %1, %%zmm17\\n vmovdqu64 %%zmm17, %0" : "=m"(d[i]) : "m"(s[i]) : "memory");'
C_COPY = """
#include <stddef.h>
struct line { char bytes[64]; };
void wide(struct line *d, const struct line *s, size_t n) {
    size_t i = 0;
    for (; WHEN && i < n / 64; i++)
        VECTORS
    for (i *= 64; i < n; i++)
        ((char *)d)[i] = ((const char *)s)[i];
}
""".replace("VECTORS", VECTORS)
ASSEMBLY = """
#include "../routine.h"
ROUTINE wide_copy, "wide-copy", KIND_COPY FLAGS
1:  cmp rdx, 64
    jb 2f
    vmovdqu8 zmm16, [rsi]
    vmovdqu8 [rdi], zmm16
    add rsi, 64
    add rdi, 64
    sub rdx, 64
    jmp 1b
2:  mov rcx, rdx
    rep movsb
    ret
END wide_copy
"""


def declared(name: str) -> int:
    """The flags that an added routine is registered with."""
    from breakeven.files.binaries import load_engine

    own = next(each for each in user_files("x86") if name in each.routines)
    return next(row["flags"] for row in load_engine().routines(own.guest.read_bytes()) if row["name"] == name)


@pytest.fixture
def ok(breakeven, monkeypatch, tmp_path: Path) -> Callable[..., str]:
    """What a command says that succeeds; routines are kept in a folder of the test's own."""
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path / "home"))

    def call(*words: object) -> str:
        done = breakeven(*words)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    return call


@pytest.mark.parametrize("options", long_after(1, [(), ("--needs", "avx512")]))
def test_a_function_with_avx512_is_added_and_runs(ok, breakeven, tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "wide.c").write_text(C_COPY.replace("WHEN", "1"))
    said = ok("add", "wide.c", "--isa", "x86", *options)
    assert ("wide uses avx512: registered so (--needs avx512)" in said) == (not options)
    assert declared("wide") & 64
    for size in ("0", "63", "1448"):
        assert "verified" in ok("run", "wide", "--size", size, *WITH)
    refused = breakeven("run", "wide", "--size", "64", *WITHOUT)
    assert "needs AVX-512, which this machine lacks: add --set cpu.isa.enable_avx512=true" in refused.stderr


@pytest.mark.long
def test_avx512_that_never_runs_is_no_need(ok, tmp_path: Path) -> None:
    (tmp_path / "wide.c").write_text(C_COPY.replace("WHEN", "n > 1ul << 40"))
    ok("add", "wide.c", "--isa", "x86")
    assert not declared("wide") & 64
    assert "verified" in ok("run", "wide", "--size", "1448", *WITHOUT)


def test_a_registration_of_ones_own_declares_avx512(ok, breakeven, tmp_path: Path) -> None:
    (tmp_path / "wide.S").write_text(ASSEMBLY.replace("FLAGS", ""))
    refused = breakeven("add", "wide.S", "--isa", "x86")
    assert "wide-copy uses avx512 and does not declare it: add NEEDS_AVX512 to its ROUTINE" in refused.stderr
    assert not user_files("x86")
    (tmp_path / "wide.S").write_text(ASSEMBLY.replace("FLAGS", ", NEEDS_AVX512"))
    ok("add", "wide.S", "--isa", "x86")
    assert "verified" in ok("run", "wide-copy", "--size", "1448", *WITH)


def test_an_undefined_instruction_is_not_taken_for_avx512(ok, breakeven, tmp_path: Path) -> None:
    undefined = 'if (n == 70) __asm__ volatile("ud2");'
    (tmp_path / "wide.c").write_text(C_COPY.replace("WHEN", "1").replace("size_t i = 0;", f"size_t i = 0; {undefined}"))
    refused = breakeven("add", "wide.c", "--isa", "x86")
    assert "wide traps at size 70, source offset 0, destination offset 0: invalid opcode" in refused.stderr


@pytest.mark.long
def test_glibcs_copy_with_avx512_is_added_as_it_is(ok) -> None:
    archive = Path("/usr/lib/x86_64-linux-gnu/libc.a")
    if not archive.is_file():
        pytest.skip("no libc.a on this host")
    names = ("shared_non_temporal_threshold", "rep_movsb_threshold", "rep_movsb_stop_threshold", "string_control")
    values = (0xC0000, 0x1000, 0xC0000, 0)
    defines = [word for name, v in zip(names, values, strict=True) for word in ("--define", f"__x86_{name}={v:#x}")]
    symbol = "__memmove_avx512_unaligned_erms"
    ok("add", archive, "--symbol", symbol, "--kind", "move", "--name", "glibc-wide", *defines)
    assert declared("glibc-wide") & 64
    assert "verified" in ok("run", "glibc-wide", "--size", "1448", *WITH)
