"""`add` of sources that people bring: a compiler's output, several functions, files of kernels and C libraries without
their headers, loops that gcc makes calls of. Each failure says what to do about it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from breakeven import api
from breakeven.errors import UserError
from breakeven.routine.add import Added
from breakeven.routine.build import Build, build
from breakeven.routine.recipe import load_recipe
from breakeven.routine.registry import user_files
from tests.cli.conftest import skip_without
from tests.tiers import long_after

pytestmark = pytest.mark.slow

COMPILERS = {"riscv": "riscv64-unknown-elf-gcc", "x86": "x86_64-linux-gnu-gcc"}
VARIANTS = {"riscv": ["-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany"], "x86": ["-mgeneral-regs-only"]}
#: the bodies of a copy by bytes, after their labels
BYTES = {
    "riscv": "add a2, a1, a2\n1: bgeu a1, a2, 2f\n lbu t0, 0(a1)\n sb t0, 0(a0)\n addi a0, a0, 1\n addi a1, a1, 1\n"
    "j 1b\n2: ret\n",
    "x86": "mov %rdi, %rax\n mov %rdx, %rcx\n rep movsb\n ret\n",
}
LOOP = "char *to = d; const char *from = s; while (n--) *to++ = *from++;"
C_COPY = f"#include <stddef.h>\nvoid NAME(void *d, const void *s, size_t n) {{ {LOOP} }}\n"
SUM = """
    unsigned long sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (unsigned long)((const unsigned char *)p)[i] << (i & 1) * 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without(COMPILERS)
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def add(name: str, text: str, isa: str, **more: object) -> Added:
    Path(name).write_text(text)
    return api.add(name, isa, **more)  # type: ignore[arg-type]


def built(name: str, text: str, isa: str, **more: object) -> bytes:
    """The guest with a source, whose points do not run."""
    Path(name).write_text(text)
    recipe = load_recipe(isa)
    assert recipe is not None
    folder = Path(f"build{len(list(Path().iterdir()))}").absolute()
    build(recipe, Build(Path(name), **more), folder)  # type: ignore[arg-type]
    return (folder / "guest").read_bytes()


def compiled(name: str, text: str, isa: str, *flags: str) -> Path:
    Path(f"{name}.c").write_text(text)
    out = Path(f"{name}.o")
    subprocess.run([COMPILERS[isa], *VARIANTS[isa], *flags, "-c", f"{name}.c", "-o", out], check=True)
    return out


@pytest.mark.parametrize("isa", long_after(1, ["x86", "riscv"]))
def test_a_compilers_output_is_a_source(isa):
    Path("my_copy.c").write_text(C_COPY.replace("NAME", "my_copy"))
    plain = ["-O2", "-g", "-ffreestanding", "-fno-tree-loop-distribute-patterns", *VARIANTS[isa]]
    subprocess.run([COMPILERS[isa], *plain, "-S", "my_copy.c"], check=True)
    done = api.add("my_copy.s", isa)
    assert done.file.routines == ("my-copy",) and done.points > 18000


def test_small_s_is_not_preprocessed():
    text = f".globl f\nf:\n# {{}} is no macro: a comment\n {BYTES['riscv']}".replace("# {}", "#define lbu ld")
    built("f.s", text, "riscv")
    with pytest.raises(UserError, match="unrecognized opcode|illegal operands"):
        built("f.S", text.replace("#define lbu ld is no macro: a comment", "#define lbu nothing"), "riscv")


@pytest.mark.parametrize("suffix", ["s", "S"])
def test_a_dropped_output_of_a_compiler_reads_no_file(suffix):
    text = f'.file "other.c"\n.globl f\nf:\n {BYTES["x86"]}'
    built(f"f.{suffix}", text, "x86", confined=True)
    Path("secret").write_text("a secret")
    with pytest.raises(UserError, match="reads '.*secret': a routine may include the guest's headers"):
        built(f"f.{suffix}", f'{text}.incbin "{Path("secret").absolute()}"\n', "x86", confined=True)


def test_one_of_several_functions_of_a_source_is_named():
    text = C_COPY.replace("NAME", "slow") + "int other(void) { extern int gone(void); return gone(); }\n"
    with pytest.raises(UserError, match="several.c: it defines slow, other: name one with --symbol, make one global"):
        add("several.c", text, "riscv")
    with pytest.raises(UserError, match="several.c defines no symbol 'slaw'; did you mean 'slow'"):
        add("several.c", text, "riscv", symbol="slaw")
    # What `other` alone calls need not exist.
    done = add("several.c", text, "riscv", symbol="slow")
    assert done.file.routines == ("slow",)
    assert user_files("riscv")[0].options == "--symbol slow"


def test_a_local_function_of_assembly_is_named():
    text = f".globl f\nf: ret\n.type inner, @function\ninner:\n {BYTES['x86']}"
    assert add("two.S", text, "x86", symbol="inner").file.routines == ("inner",)


def test_a_source_comes_with_a_second_source_and_a_value():
    first = "#include <stddef.h>\nextern long limit;\nvoid *rest(void *, const void *, size_t);\n"
    first += f"void f(void *d, const void *s, size_t n) {{ if ((long)n > limit) rest(d, s, n); else {{ {LOOP} }} }}\n"
    with pytest.raises(UserError, match="f.c needs .*, which is not defined: also name the file that defines it"):
        add("f.c", first, "riscv")
    Path("rest.c").write_text(C_COPY.replace("void NAME", "void *rest").replace(LOOP, f"{LOOP} return d;"))
    done = add("f.c", first, "riscv", more=["rest.c"], defines={"limit": 40})
    assert done.file.routines == ("f",)
    with pytest.raises(UserError, match="rest.c is source, and .*f.o is not: compile it"):
        api.add(compiled("f", first, "riscv"), more=["rest.c"])
    registered = '#include "routine.h"\n' + C_COPY.replace("NAME", "g") + 'ROUTINE(g, "g", KIND_COPY, 0);\n'
    with pytest.raises(UserError, match="g.c registers its routines itself: --symbol is for a file that does not"):
        add("g.c", registered, "riscv", symbol="g")


KERNEL_COPY = {
    "riscv": """
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/asm-extable.h>
#include <asm/csr.h>
#include <asm/alternative-macros.h>
.macro user what:vararg
9: \\what
    _asm_extable 9b, 8f
.endm
SYM_FUNC_START(my_user)
    ALTERNATIVE("nop", "not a0, a0", 0, RISCV_ISA_EXT_ZBB, CONFIG_RISCV_ISA_ZBB)
    li t6, SR_SUM
    csrs CSR_STATUS, t6
    add a4, a0, a2
1:  bgeu a0, a4, 8f
    user lb t0, 0(a1)
    user sb t0, 0(a0)
    addi a0, a0, 1
    addi a1, a1, 1
    j 1b
8:  csrc CSR_STATUS, t6
    sub a0, a4, a0
    ret
SYM_FUNC_END(my_user)
EXPORT_SYMBOL(my_user)
""",
    "x86": """
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/cpufeatures.h>
#include <asm/alternative.h>
#include <asm/smap.h>
SYM_FUNC_START(my_user)
    ALTERNATIVE_2 "jmp .Lbytes", "", X86_FEATURE_REP_GOOD, "int3", X86_FEATURE_ERMS
    int3
.Lbytes:
    ASM_STAC
    mov %rdx, %rcx
1:  rep movsb
2:  mov %rcx, %rax
    ASM_CLAC
    RET
    _ASM_EXTABLE_TYPE(1b, 2b, EX_TYPE_UACCESS)
SYM_FUNC_END(my_user)
EXPORT_SYMBOL(my_user)
""",
}


@pytest.mark.parametrize("isa", long_after(1, ["riscv", "x86"]))
def test_a_kernels_user_copy_is_built_without_its_headers(isa):
    """The first variant of what is patched is taken, and what may fault goes on at its fixup."""
    assert add("my_user.S", KERNEL_COPY[isa], isa, kind="user-copy").points > 20000


def test_the_variant_of_a_feature_is_taken_where_the_machine_has_it():
    def variant(text: str, isa: str, **more: object) -> bytes:
        code = f"#include <asm/alternative.h>\n#include <linux/linkage.h>\nENTRY(f)\n{text}\nret\nEND(f)\n"
        return built("f.S", code, isa, **more)

    riscv = 'ALTERNATIVE(".word 0xabcdef03", ".word 0xbcdef013", 0, RISCV_ISA_EXT_ZBB, 1)'
    assert bytes.fromhex("03efcdab") in variant(riscv, "riscv")
    assert bytes.fromhex("13f0debc") in variant(riscv, "riscv", needs=["zbb"])
    x86 = 'ALTERNATIVE ".long 0xabcdef03", ".long 0xbcdef013", ALT_NOT(X86_FEATURE_ERMS)'
    assert bytes.fromhex("13f0debc") in variant(x86, "x86")
    assert bytes.fromhex("03efcdab") in variant(x86, "x86", flags=["-DX86_FEATURE_ERMS=1"])


def test_a_fixup_that_sets_a_register_is_refused_in_one_sentence():
    said = "an entry of __ex_table that sets a register has no stand-in"
    text = "#include <asm/asm.h>\n#include <asm/extable_fixup_types.h>\n.globl f\nf:\n1: ret\n"
    with pytest.raises(UserError, match=said):
        built("f.S", f"{text}_ASM_EXTABLE_TYPE(1b, 1b, EX_TYPE_EFAULT_REG)\n", "x86")
    text = "#include <asm/asm-extable.h>\nvoid f(int e) {\n"
    with pytest.raises(UserError, match=said):
        built(
            "f.c",
            f'{text}__asm__ volatile("1: nop\\n" _ASM_EXTABLE_UACCESS_ERR_ZERO(1b, 1b, %0, %0) : "+r"(e)); }}\n',
            "riscv",
        )


@pytest.mark.parametrize("isa", long_after(1, ["x86", "riscv"]))
def test_a_kernels_checksum_in_c_reads_words_beyond_its_end(isa):
    """`load_unaligned_zeropad` at the end of a page, with no page after it; `static` functions, three arguments."""
    text = """
#include <linux/export.h>
#include <linux/kernel.h>
#include <asm/checksum.h>
#include <asm/word-at-a-time.h>
static inline u64 folded(u64 sum) { return (u32)sum + (sum >> 32); }
__wsum my_partial(const void *buff, int len, __wsum sum)
{
    u64 all = (__force u64)sum;
    for (; likely(len >= 8); len -= 8, buff += 8)
        all += folded(*(const u64 *)buff);
    if (len)
        all += folded(load_unaligned_zeropad(buff) << (64 - 8 * len) >> (64 - 8 * len));
    return folded(folded(all));
}
EXPORT_SYMBOL(my_partial);
__sum16 my_compute(const void *buff, int len) { return csum_fold(my_partial(buff, len, 0)); }
EXPORT_SYMBOL(my_compute);
"""
    done = add("my.c", text, isa, kind="checksum", symbol="my_partial")
    assert done.file.routines == ("my-partial",)
    said = "my-compute is wrong at .*: that is its complement, and kind checksum is the sum before .end it without ~."
    with pytest.raises(UserError, match=said):
        add("my.c", text, isa, kind="checksum", symbol="my_compute")


LIBRARY_COPY = {
    "sysdep.h": "ENTRY (f)\nL(start):\nBODY\nEND (f)\nlibc_hidden_builtin_def (f)\nweak_alias (f, g)\n",
    "machine/asm.h": 'RCSID("a BSD")\nENTRY(f)\nBODY\nEND(f)\n',
    "private/bionic_asm.h": "ENTRY(f)\nL(start):\nBODY\nEND(f)\nALIAS_SYMBOL(g, f)\n",
    "sys/asm.h": ".globl f\nf:\nBODY\n",
}


@pytest.mark.parametrize("isa", COMPILERS)
@pytest.mark.parametrize("header", LIBRARY_COPY)
def test_a_c_librarys_assembly_is_built_without_its_headers(isa, header):
    text = LIBRARY_COPY[header].replace("BODY", BYTES[isa])
    for confined in (False, True):
        built("f.S", f"#include <{header}>\n{text}", isa, symbol="f", confined=confined)


@pytest.mark.parametrize("confined", [False, True])
@pytest.mark.parametrize("isa", COMPILERS)
def test_c_of_a_library_is_built_without_its_headers(isa, confined):
    headers = ["string.h", "stdint.h", "stddef.h", "sys/types.h", "sys/cdefs.h", "assert.h", "endian.h", "strings.h"]
    text = "".join(f"#include <{each}>\n" for each in headers) + '__FBSDID("$FreeBSD$");\n'
    built("f.c", f"{text}{C_COPY.replace('NAME', 'f')}", isa, confined=confined)


@pytest.mark.parametrize("confined", [False, True])
@pytest.mark.parametrize("header", ["linux/types.h", "asm/byteorder.h", "linux/swab.h", "asm/errno.h"])
def test_a_hosts_header_of_the_same_name_is_there_too(header, confined):
    text = f"#include <{header}>\n#include <linux/types.h>\n__u32 kept; u64 other;\n{C_COPY.replace('NAME', 'f')}"
    built("f.c", text, "x86", symbol="f", confined=confined)


def test_a_folder_of_the_users_comes_before_a_stand_in():
    Path("mine/linux").mkdir(parents=True)
    Path("mine/linux/linkage.h").write_text("#define BEGIN .globl f; f:\n")
    text = f"#include <linux/linkage.h>\nBEGIN\n{BYTES['riscv']}"
    with pytest.raises(UserError, match="unrecognized opcode `begin'"):
        built("f.S", text, "riscv")
    built("f.S", text, "riscv", flags=["-I", "mine"])


def test_a_missing_header_names_the_option_for_its_folder():
    for name, line in (("f.c", '#include "odd.h"'), ("f.S", "#include <odd.h>"), ("f.s", '.include "odd.h"')):
        with pytest.raises(UserError, match="give the folder of odd.h with --flags '-I FOLDER'"):
            built(name, f"{line}\n", "riscv")


def test_what_gcc_has_made_of_a_loop_is_told_with_the_flags_against_it():
    flags = "-ffreestanding -fno-builtin -fno-tree-loop-distribute-patterns"
    text = (
        "#include <stddef.h>\nvoid *memset(void *d, int c, size_t n) { char *p = d; while (n--) *p++ = c; return d; }\n"
    )
    with pytest.raises(
        UserError, match=f"memset calls itself: gcc has made a call of its loop: compile it with {flags}"
    ):
        api.add(compiled("memset", text, "x86", "-O3"), kind="set")
    copy = "void f(char *restrict d, char *s, unsigned long n) { for (unsigned long i = 0; i < n; i++) d[i] = s[i]; }"
    with pytest.raises(
        UserError, match=f"f.o calls mem.*, which is not defined: gcc makes such calls of .* with {flags}"
    ):
        api.add(compiled("f", copy, "x86", "-O3"))
    # The same as sources; and a call that is the source's own.
    assert add("memset.c", text, "x86", kind="set").points > 3000
    add("f.c", copy, "x86")
    call = "void *memcpy(void *, const void *, unsigned long);\nvoid g(void *d, void *s, long n) { memcpy(d, s, n); }\n"
    with pytest.raises(UserError, match="g.c calls memcpy, which a guest does not have: also name an object"):
        add("g.c", call, "x86")


@pytest.mark.parametrize(
    ("isa", "name", "text", "need"),
    [
        ("x86", "f.c", "double f(double *d) { return *d; }", "sse2"),
        (
            "x86",
            "f.c",
            "#include <immintrin.h>\nvoid f(void *d) { _mm256_storeu_si256(d, _mm256_set1_epi8(1)); }",
            "avx2",
        ),
        ("riscv", "f.S", ".globl f\nf: rev8 a0, a0\n ret\n", "zbb"),
        ("riscv", "f.S", ".globl f\nf: vsetvli t0, a0, e8, m8, ta, ma\n ret\n", "v"),
    ],
)
def test_a_source_for_more_than_is_declared_is_told_what_to_declare(isa, name, text, need):
    with pytest.raises(UserError, match=f"--needs {need} lets"):
        built(name, text, isa)
    built(name, text, isa, needs=[need])


def test_an_instruction_that_does_not_run_is_named():
    odd = "gf2p8mulb %xmm0, %xmm1"
    with pytest.raises(UserError, match="f runs an instruction that breakeven does not model: gf2p8mulb .*gfni"):
        add("f.S", f".globl f\nf: {odd}\n {BYTES['x86']}", "x86")
    Path("lib.c").write_text(C_COPY.replace("NAME", "f").replace(LOOP, f'{LOOP} __asm__("{odd}");'.replace("%", "%%")))
    Path("lib.c").write_text(Path("lib.c").read_text().replace("%%", "%"))
    plain = ["-O2", "-shared", "-fPIC", "-fno-tree-loop-distribute-patterns", "-nostdlib"]
    subprocess.run([COMPILERS["x86"], *plain, "lib.c", "-o", "lib.so"], check=True)
    with pytest.raises(UserError, match="f runs an instruction that breakeven does not model: gf2p8mulb .*gfni"):
        api.add("lib.so", symbol="f")
    with pytest.raises(UserError, match="traps at size 0, .*: invalid opcode: ud2, put there by the compiler"):
        add("f.S", f".globl f\nf: ud2\n {BYTES['x86']}", "x86")
    with pytest.raises(UserError, match="traps at size 0, .*: illegal instruction: .4byte 0x0000200b"):
        add("f.S", f".globl f\nf: nop\n .word 0x0000200b\n {BYTES['riscv']}", "riscv")


def test_misaligned_accesses_are_told():
    text = (
        "add a4, a1, a2\n1: addi t1, a1, 8\n bgtu t1, a4, 3f\n ld t0, (a1)\n sd t0, (a0)\n addi a0, a0, 8\n mv a1, t1\n"
    )
    text = f".globl f\nf: {text} j 1b\n3: sub a2, a4, a1\n {BYTES['riscv']}"
    done = add("f.S", text, "riscv")
    assert [each[:32] for each in done.notes] == ["f issues misaligned accesses: up"]
    assert add("f.S", text, "riscv", needs=["misaligned"]).notes == ()
    assert add("g.S", f".globl g\ng: {BYTES['riscv']}", "riscv").notes == ()


def test_a_checksum_of_another_kind_is_told_which_one_is_meant():
    text = "unsigned f(const unsigned char *p, unsigned long n) { unsigned c = 1; while (n--) c = c * 31 + *p++;"
    with pytest.raises(UserError, match=r"must return 0x\w+: kind checksum is the Internet checksum \(RFC 1071\)"):
        add("f.c", f"{text} return c; }}\n", "riscv", kind="checksum")
    text = f"#include <stddef.h>\nunsigned short f(const void *p, size_t n) {{ {SUM} return ~sum; }}\n"
    with pytest.raises(UserError, match="that is its complement"):
        add("f.c", text, "riscv", kind="checksum")
