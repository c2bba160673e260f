"""What a user brings near a compiler: no option of it is obeyed, it reads and writes no file that is not its own. Each
rule is looked at without the others."""

from __future__ import annotations

import os
import platform
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from breakeven.errors import UserError
from breakeven.files import landlock, sandbox
from breakeven.routine import foreign_objects, tools
from breakeven.routine.build import Build, build
from breakeven.routine.object_files import Library, Object
from breakeven.routine.recipe import load_recipe
from tests.cli.conftest import skip_without
from tests.tiers import long_after

pytestmark = pytest.mark.slow

COMPILERS = {"riscv": "riscv64-unknown-elf-gcc", "x86": "x86_64-linux-gnu-gcc"}
VARIANTS = {"riscv": ["-march=rv64gc", "-mabi=lp64d", "-mcmodel=medany"], "x86": ["-fcf-protection=none"]}
SECRET = "0123456789 a secret 9876543210"
COPY = "void my_copy(char *d, const char *s, unsigned long n) { while (n--) *d++ = *s++; }\n"
#: asks a linker's plugin, which compiles anew, for a listing in a file
LISTING = ["-O1", "-flto", "-ffat-lto-objects", "-ffreestanding", "-Xassembler"]
with_landlock = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without(COMPILERS)
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path / "home"))


@pytest.fixture
def built(tmp_path: Path) -> Callable[..., Path]:
    """Builds a file; the folder with its guest."""

    def call(source: Path, isa: str, **more: object) -> Path:
        recipe = load_recipe(isa)
        assert recipe is not None
        folder = tmp_path / f"build{len(list(tmp_path.iterdir()))}"
        build(recipe, Build(source, **more), folder)  # type: ignore[arg-type]
        return folder

    return call


def compiled(folder: Path, isa: str, text: str, *words: str, name: str = "my_copy.o") -> Path:
    (folder / "text.c").write_text(text)
    out = folder / name
    plain = ["-O1", "-ffreestanding", "-fno-tree-loop-distribute-patterns", *VARIANTS[isa]]
    subprocess.run([COMPILERS[isa], *plain, *words, "-c", "text.c", "-o", out], cwd=folder, check=True)
    return out


def assembled(folder: Path, isa: str, text: str, name: str = "my_copy.o") -> Path:
    (folder / "text.s").write_text(text)
    subprocess.run([COMPILERS[isa], *VARIANTS[isa], "-c", "text.s", "-o", name], cwd=folder, check=True)
    return folder / name


def holds_secret(folder: Path) -> bool:
    return any(SECRET.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def with_listing(folder: Path, isa: str, victim: Path, kind: str) -> Path:
    """A correct copy whose sections for link-time optimization ask for a listing in the file `victim`."""
    (folder / "text.c").write_text(COPY)
    plain = [*VARIANTS[isa], "-fno-asynchronous-unwind-tables", "-fno-tree-loop-distribute-patterns"]
    out, how = folder / f"my_copy.{kind}", "-S" if kind == "S" else "-c"
    command = [COMPILERS[isa], *plain, *LISTING, f"-al={victim}", how, "text.c", "-o", str(out)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    if kind == "S":
        lines = out.read_text().splitlines(keepends=True)
        out.write_text("".join(line for line in lines if not line.startswith("\t.file")))
    victim.unlink(missing_ok=True)
    return out


@pytest.mark.parametrize("isa", COMPILERS)
@pytest.mark.parametrize("kind", ["S", "o"])
def test_code_for_a_linkers_plugin_is_refused(tmp_path, built, isa, kind):
    victim = tmp_path / "victim"
    source = with_listing(tmp_path, isa, victim, kind)
    with pytest.raises(UserError, match=r"my_copy\.. holds code for link-time optimization \(\.gnu\.lto_.*-flto$"):
        built(source, isa)
    assert not victim.exists()


@pytest.mark.parametrize("rule", ["options", pytest.param("sandbox", marks=with_landlock)])
def test_a_plugin_that_were_asked_would_write_nothing(tmp_path, built, monkeypatch, rule):
    """The sections seen by the linker: no plugin is loaded; and a plugin that is loaded writes nothing outside."""
    victim = tmp_path / "victim"
    source = with_listing(tmp_path, "x86", victim, "S")
    monkeypatch.setattr(foreign_objects, "_FOR_PLUGINS", foreign_objects.re.compile("none"))
    if rule == "options":
        monkeypatch.setattr(landlock, "version", lambda: 0)
        built(source, "x86")
    else:
        monkeypatch.setattr(tools, "_NO_PLUGIN", ())
        with pytest.raises(UserError, match="victim: Permission denied"):
            built(source, "x86")
    assert not victim.exists()


def test_without_either_the_file_would_be_written(tmp_path, built, monkeypatch):
    """The way in that the rules above close."""
    victim = tmp_path / "victim"
    source = with_listing(tmp_path, "x86", victim, "S")
    monkeypatch.setattr(foreign_objects, "_FOR_PLUGINS", foreign_objects.re.compile("none"))
    monkeypatch.setattr(landlock, "version", lambda: 0)
    monkeypatch.setattr(tools, "_NO_PLUGIN", ())
    built(source, "x86")
    assert victim.exists()


#: names of a function that hold assembly, an option of objcopy's, a line's end
NAMES = ['x"); .incbin "SECRET"; .ascii ("', 'x\\n.incbin \\"SECRET\\"\\n', "a=b", "x y", "@x", "x@@V1", "\u00e4", "."]


@pytest.mark.parametrize("isa", COMPILERS)
@pytest.mark.parametrize("name", long_after(3, NAMES))
def test_a_functions_name_is_never_text_of_a_tool(tmp_path, built, monkeypatch, isa, name):
    monkeypatch.setattr(landlock, "version", lambda: 0)
    (tmp_path / "secret").write_text(SECRET)
    name = name.replace("SECRET", str(tmp_path / "secret"))
    code = "\n".join(["    .text", "    .globl function", "    .type function, @function", "function:", "    ret", ""])
    obj = renamed(assembled(tmp_path, isa, code), "function", name.replace("\\n", "\n").replace('\\"', '"'))
    for more in ({"symbol": ""}, {"symbol": Library([obj]).functions[0]}):
        folder = built(obj, isa, name="plain", **more)
        assert not holds_secret(folder)


def renamed(obj: Path, old: str, new: str) -> Path:
    """Gives a symbol a name that no assembler takes."""
    monkey = {old: new}
    plain, is_plain = foreign_objects.plain_name, foreign_objects.is_plain
    foreign_objects.plain_name = lambda name: monkey.get(name, name)  # type: ignore[assignment]
    foreign_objects.is_plain = lambda name: name not in monkey  # type: ignore[assignment]
    try:
        obj.write_bytes(foreign_objects.with_plain_names(obj.read_bytes(), obj.name))
    finally:
        foreign_objects.plain_name, foreign_objects.is_plain = plain, is_plain
    return obj


@pytest.mark.parametrize("isa", COMPILERS)
def test_what_a_function_does_not_reach_has_any_name(tmp_path, built, monkeypatch, isa):
    """Undefined names and variables go into assembly of ours."""
    monkeypatch.setattr(landlock, "version", lambda: 0)
    (tmp_path / "secret").write_text(SECRET)
    text = f"{COPY}extern void never(void); extern long limit; void other(void) {{ never(); }}\n"
    obj = compiled(tmp_path, isa, text + "long other2(void) { return limit; }\n")
    for old in ("never", "limit"):
        renamed(obj, old, f'{old}"\n.incbin "{tmp_path / "secret"}"\n.set "{old}')
    folder = built(obj, isa, symbol="my_copy")
    assert not holds_secret(folder)


@pytest.mark.parametrize("isa", COMPILERS)
def test_a_source_may_give_its_function_any_name(tmp_path, built, monkeypatch, isa):
    monkeypatch.setattr(landlock, "version", lambda: 0)
    (tmp_path / "secret").write_text(SECRET)
    name = f'x\\"); __asm__(\\".incbin \\\\\\"{tmp_path / "secret"}\\\\\\"'
    source = tmp_path / "named.S"
    source.write_text(f'    .text\n    .globl "{name}"\n"{name}":\n    ret\n')
    folder = built(source, isa)
    assert not holds_secret(folder)


#: of files
FILES = ["-o.S", "@file.S", "a,-al=out.S", 'a "b".S', "it's.S", "a b.c", "$(x).S", "a\\b.S", "-fplugin=x.c", "%s.S"]


@pytest.mark.parametrize("name", long_after(4, FILES))
def test_a_file_may_have_any_name_that_can_be_printed(tmp_path, built, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    source = tmp_path / name
    source.write_text(COPY if name.endswith(".c") else "    .globl f\nf:  ret\n")
    before = set(os.listdir(tmp_path))
    # A make rule, by which a confined source is judged, has no sure way to write a backslash.
    for confined in (False, *([True] if "\\" not in name else [])):
        built(Path(name), "riscv", name="plain", confined=confined)
    assert {each for each in os.listdir(tmp_path) if not each.startswith("build")} == before


def test_a_path_that_holds_the_end_of_a_line_is_refused(tmp_path, breakeven):
    (tmp_path / "a\nb.S").write_text("    .globl f\nf:  ret\n")
    done = breakeven("add", "a\nb.S", "--isa", "riscv")
    assert done.returncode == 1 and "a path with such characters goes through no compiler" in done.stderr


@pytest.mark.parametrize("kind", ["S", "o"])
@pytest.mark.parametrize("isa", COMPILERS)
def test_a_huge_section_is_refused_before_it_is_read(tmp_path, built, monkeypatch, isa, kind):
    monkeypatch.setattr(Object, "bytes_of", lambda *_: pytest.fail("it is read"))
    text = '    .section .text.big, "ax", @nobits\n    .globl f\nf:\n    .skip 0xffffffff\n'
    source = tmp_path / "f.S"
    source.write_text(text)
    if kind == "o":
        source = assembled(tmp_path, isa, text, "f.o")
    with pytest.raises(UserError, match=r"its section '\.text\.big' has 4294967295 bytes, and a guest 4 MiB"):
        built(source, isa)


def test_many_sections_that_are_huge_together_are_refused(tmp_path, built):
    text = "    .globl f\nf:  ret\n" + "".join(
        f'    .section .bss.{i}, "aw", @nobits\n    .skip 0x3000000\n' for i in range(40)
    )
    (tmp_path / "f.S").write_text(text)
    for source in (tmp_path / "f.S", assembled(tmp_path, "riscv", text, "f.o")):
        with pytest.raises(UserError, match=r"its section '\.bss\.\d+' has 50331648 bytes, and a guest 4 MiB"):
            built(source, "riscv", symbol="" if source.suffix == ".S" else "f")


def test_what_a_function_reaches_together_must_fit_a_guest(tmp_path, built):
    loads = "".join(f"    movb v{i}(%rip), %al\n" for i in range(9))
    one = assembled(tmp_path, "x86", f"    .globl f\nf:\n{loads}    ret\n", "f.o")
    names = "".join(f"    .globl v{i}\n    .size v{i}, 0x80000\nv{i}:\n" for i in range(9))
    values = assembled(tmp_path, "x86", f"    .data\n{names}    .zero 0x80000\n", "v.o")
    with pytest.raises(UserError, match=r"v\.o: its variable 'v7' and what else .* have \d+ bytes, and a guest 4 MiB"):
        built(one, "x86", symbol="f", more=[values])
    calls = assembled(tmp_path, "x86", "    .globl f\nf:\n    call g1\n    call g2\n    ret\n", "f.o")
    code = '    .section .big, "ax", @nobits\n    .globl g{0}\ng{0}:\n    .skip 0x200001\n'
    more = [assembled(tmp_path, "x86", code.format(i), f"g{i}.o") for i in (1, 2)]
    with pytest.raises(UserError, match=r"g2\.o and what else the function reaches have \d+ bytes, and a guest 4 MiB"):
        built(calls, "x86", symbol="f", more=more)


def test_a_second_table_of_symbols_is_refused(tmp_path, built):
    """The names of the first alone have been bounded when all are made plain."""
    obj = compiled(tmp_path, "x86", COPY)
    data = bytearray(obj.read_bytes())
    (table,), (count,) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<H", data, 60)
    rows = [bytes(data[table + 64 * i :][:64]) for i in range(count)]
    rows.append(next(row for row in rows if row[4:8] == b"\2\0\0\0"))
    struct.pack_into("<Q", data, 40, len(data))
    struct.pack_into("<H", data, 60, len(rows))
    obj.write_bytes(data + b"".join(rows))
    with pytest.raises(UserError, match="its table of symbols is damaged"):
        built(obj, "x86")


def test_a_damaged_object_is_a_sentence(tmp_path, built):
    good = compiled(tmp_path, "x86", COPY).read_bytes()
    for cut in (64, len(good) // 2, len(good) - 1):
        (tmp_path / "cut.o").write_bytes(good[:cut])
        with pytest.raises(UserError, match="cut.o"):
            built(tmp_path / "cut.o", "x86")


@pytest.mark.parametrize("isa", COMPILERS)
def test_code_that_ends_within_an_instruction_is_followed_to_its_end(tmp_path, built, isa):
    """Somebody waited for the rest of it for ever."""
    last = {"riscv": ".byte 0x93", "x86": ".byte 0x48"}[isa]
    obj = assembled(tmp_path, isa, f"    .globl f\n    .type f, @function\nf:  nop\n    {last}\n", "f.o")
    assert built(obj, isa).is_dir()


def test_the_relocations_of_an_instruction_are_found_without_a_look_at_all(tmp_path):
    calls = "".join("lea f(%rip), %rax\n" for _ in range(4096))
    obj = Object("f.o", assembled(tmp_path, "x86", f".globl f\nf:\n{calls}ret\n.globl g\ng: ret\n").read_bytes())
    (section,) = obj._relocations
    rows = obj._relocations[section]
    looked = []

    class Row:
        def __init__(self, offset: int) -> None:
            self._offset = offset

        @property
        def offset(self) -> int:
            looked.append(self._offset)
            return self._offset

    obj._relocations[section] = watched = [Row(row.offset) for row in rows]
    at = rows[1000].offset
    assert obj.relocations(section, at, at + 4) == watched[1000:1001]
    assert obj.relocations(section, at - 3, at) == [] and obj.relocations(section, at) == watched[1000:]
    assert obj.relocations(section) == watched
    assert len(looked) < 100
    # Neither is the section copied, nor are the symbols listed, for each instruction.
    assert obj.bytes_of(section) is obj.bytes_of(section) and obj.global_symbols is obj.global_symbols


def test_functions_call_one_another_however_deep(tmp_path, built):
    chain = "".join(f"void f{i}(void); void f{i + 1}(void) {{ f{i}(); f{i}(); }}\n" for i in range(1500))
    obj = compiled(tmp_path, "x86", chain + "void f0(void) {}\n", "-O0", "-ffunction-sections")
    assert built(obj, "x86", symbol="f1500").is_dir()


READS = ['.incbin "{}"', '.include "{}"', '#include "{}"']


@with_landlock
@pytest.mark.parametrize("line", READS)
def test_a_source_reads_its_own_folder_and_no_other(tmp_path, built, line):
    for folder in ("mine", "theirs"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "data").write_text("" if line != READS[0] else SECRET)
    source = tmp_path / "mine" / "f.S"
    text = "    .globl f\nf:  ret\n    .text\n"
    source.write_text(f"{text}{line.format(tmp_path / 'mine' / 'data')}\n")
    built(source, "riscv")
    source.write_text(f"{text}{line.format(tmp_path / 'theirs' / 'data')}\n")
    said = r"f\.S reads '.*theirs/data': a routine may include the guest's headers and files of its own folder"
    with pytest.raises(UserError, match=said):
        built(source, "riscv")
    built(source, "riscv", flags=["-I", str(tmp_path / "theirs")])


@with_landlock
@pytest.mark.parametrize("has_landlock", [False, pytest.param(True, marks=with_landlock)])
@pytest.mark.parametrize("include", ["#include", "#import"])
def test_a_dropped_source_that_calls_itself_a_system_header_reads_no_other_file(
    tmp_path, built, monkeypatch, include, has_landlock
):
    if not has_landlock:
        monkeypatch.setattr(landlock, "version", lambda: 0)
    (tmp_path / "secret.h").write_text(f'#define S "{SECRET}"\n')
    source = tmp_path / "my_copy.c"
    source.write_text(f'# 1 "/usr/include/odd.h" 1 3\n{include} "{tmp_path}/secret.h"\nconst char *kept = S;\n{COPY}')
    with pytest.raises(UserError, match="reads '.*secret.h': a routine may include the guest's headers"):
        built(source, "x86", confined=True)


@pytest.mark.parametrize("name", ["my_copy.c", "my_copy.S"])
def test_an_error_shows_no_line_of_a_file_that_a_dropped_source_names(tmp_path, built, monkeypatch, name):
    """Without the sandbox a compiler opens what `#line` names; from where it runs, and under any name."""
    monkeypatch.setattr(landlock, "version", lambda: 0)
    secret = tmp_path / "a:b" / "secret"
    secret.parent.mkdir()
    secret.write_text(f"{SECRET}\n")
    recipe = load_recipe("x86")
    assert recipe is not None
    for place in (secret, Path("..", os.path.relpath(secret, recipe.root.parent)), "/usr/include/../.." + str(secret)):
        wrong = "int x = undeclared;" if name.endswith(".c") else "    undeclared %rax, (%rax)"
        (tmp_path / name).write_text(f'{COPY if name.endswith(".c") else ""}#line 1 "{place}"\n{wrong}\n')
        with pytest.raises(UserError) as error:
            built(tmp_path / name, "x86", confined=True)
        assert SECRET not in str(error.value)


@pytest.mark.parametrize("text", [("c", COPY), ("S", ".globl my_copy\nmy_copy: ret\n")], ids=["c", "S"])
@pytest.mark.parametrize("confined", [False, True])
def test_a_link_is_what_its_own_name_says(tmp_path, built, text, confined):
    (tmp_path / "plain").write_text(text[1])
    source = tmp_path / f"my_copy.{text[0]}"
    source.symlink_to("plain")
    assert built(source, "x86", confined=confined).is_dir()


@pytest.mark.parametrize("suffix", ["c", "S"])
def test_a_link_to_what_its_source_could_not_include_is_refused(tmp_path, built, monkeypatch, suffix):
    """A compiler would show lines of it in an error."""
    home, given = tmp_path / "me", tmp_path / "given"
    for folder in (home / ".ssh", home / "work", given / "below"):
        folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    links = {given: ["../me/.ssh/key", "below/../../me/work/key"], home: [".netrc", ".ssh/key", "work/key"]}
    for folder, targets in links.items():
        for target in targets:
            (folder / target).write_text(SECRET)
            for name in ("one", "two"):
                (folder / f"{name}.{suffix}").unlink(missing_ok=True)
            (folder / f"one.{suffix}").symlink_to(target)
            (folder / f"two.{suffix}").symlink_to(f"one.{suffix}")
            for name in ("one", "two"):
                with pytest.raises(
                    UserError, match=f"the link '.*{name}.{suffix}' leads .* give the file itself"
                ) as error:
                    built(folder / f"{name}.{suffix}", "x86")
                assert SECRET not in str(error.value)
    (given / "below" / "plain").write_text(COPY if suffix == "c" else ".globl my_copy\nmy_copy: ret\n")
    (given / f"my_copy.{suffix}").symlink_to("below/plain")
    assert built(given / f"my_copy.{suffix}", "x86").is_dir()


def test_a_source_that_includes_a_pipe_is_told_so(tmp_path, built, monkeypatch):
    monkeypatch.setattr(tools, "_LIMITS", sandbox.Limits(seconds=0))
    (tmp_path / "my_copy.c").write_text('#include "pipe"\n')
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match=r"has not answered for 0 s: does a source include a pipe, or itself\?"):
        built(tmp_path / "my_copy.c", "x86")


def test_a_precompiled_header_beside_a_source_is_not_loaded(tmp_path, built):
    (tmp_path / "beside.h").write_text('static const char kept[] __attribute__((used)) = "of the header";\n')
    source = tmp_path / "my_copy.c"
    source.write_text(f'#include "beside.h"\n{COPY}')
    recipe = load_recipe("x86")
    assert recipe is not None
    flags = [*recipe.flags, *(f"-I{recipe.root / folder}" for folder in recipe.include)]
    (tmp_path / "other.h").write_text(f'static const char kept[] __attribute__((used)) = "{SECRET}";\n')
    words = ["-fno-lto", "-fno-use-linker-plugin", "-x", "c-header", "other.h", "-o", "beside.h.gch"]
    subprocess.run([COMPILERS["x86"], *flags, *words], cwd=tmp_path, check=True)
    assert not holds_secret(built(source, "x86"))


@with_landlock
@pytest.mark.parametrize("behind", ["nothing", "a link", "a loop of names"])
def test_of_the_users_home_a_source_reads_no_folder_and_no_hidden_file(tmp_path, built, monkeypatch, behind):
    home = tmp_path / "me"
    (home / ".ssh").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(home)
    monkeypatch.setenv("HOME", str({"nothing": home, "a link": link}.get(behind, home / ".ssh" / "..")))
    text = "    .globl f\nf:  ret\n"
    (home / "open.inc").symlink_to(".netrc")
    for path, ok in (("data.inc", True), (".netrc", False), (".ssh/key", False), ("open.inc", False)):
        (home / path).write_text("")
        (home / "f.S").write_text(f'{text}    .incbin "{home / path}"\n')
        for source in (home / "f.S", link / "f.S"):
            if ok:
                built(source, "riscv")
                continue
            with pytest.raises(UserError, match="f.S reads '.*'"):
                built(source, "riscv")
    above = tmp_path / "f.S"
    above.write_text(f'{text}    .incbin "{home / "data.inc"}"\n')
    with pytest.raises(UserError, match="f.S reads '.*'"):
        built(above, "riscv")


@with_landlock
@pytest.mark.parametrize("place", ["me/.local/bin", "me/bin", "me", "bin"])
@pytest.mark.parametrize("linked_home", [False, True])
def test_a_compiler_in_the_home_folder_opens_nothing_else_of_it(tmp_path, built, monkeypatch, place, linked_home):
    home, folder = tmp_path / "me", tmp_path / place
    for each in (home / ".local/share/keyrings", home / "x", folder):
        each.mkdir(parents=True, exist_ok=True)
    secrets = [home / ".local/share/keyrings/key", home / "notes", folder / "token"]
    link = tmp_path / "link"
    link.symlink_to(home)
    (folder / COMPILERS["x86"]).symlink_to(str(shutil.which(COMPILERS["x86"])))
    monkeypatch.setenv("HOME", str(link if linked_home else home))
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    source = home / "x" / "my_copy.c"
    for secret in secrets:
        secret.write_text(f'static const char kept[] = "{SECRET}";\n')
        source.write_text(f'#include "{secret}"\n{COPY}')
        with pytest.raises(UserError, match="my_copy.c reads '.*'"):
            built(source, "x86")


@with_landlock
@pytest.mark.skipif(platform.machine() != "x86_64", reason="this host's compiler is none for x86")
def test_a_compiler_that_was_unpacked_in_the_home_folder_finds_its_parts(tmp_path, built, monkeypatch):
    home, chain = tmp_path / "me", tmp_path / "me" / "chain"
    inner = Path(subprocess.check_output([COMPILERS["x86"], "-print-file-name=include"], text=True).strip())
    own = chain / "lib" / inner.relative_to("/usr/lib")
    own.parent.mkdir(parents=True)
    for part in ("cc1", "collect2", "libgcc.a", "libgcc_eh.a", *(crt.name for crt in inner.parent.glob("crt*.o"))):
        shutil.copy(inner.parent / part, own.parent / part)
    shutil.copytree(inner, own)
    (own / "of_this_chain.h").write_text("#define OF_THIS_CHAIN 1\n")
    (chain / "bin").mkdir()
    shutil.copy(str(shutil.which(COMPILERS["x86"])), chain / "bin" / COMPILERS["x86"])
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{chain / 'bin'}:{os.environ['PATH']}")
    source = home / "x" / "my_copy.c"
    source.parent.mkdir()
    source.write_text(f"#include <of_this_chain.h>\n{COPY}")
    built(source, "x86")
    (chain / "notes.h").write_text("")
    source.write_text(f'#include "{chain}/notes.h"\n{COPY}')
    with pytest.raises(UserError, match="my_copy.c reads '.*notes.h'"):
        built(source, "x86")


@with_landlock
@pytest.mark.parametrize(
    "probe", ['#if __has_include("P")\nvoid g(void) {}\n#endif', '#pragma GCC dependency "P" words']
)
def test_whether_a_file_is_there_is_not_told(tmp_path, built, probe):
    source = tmp_path / "mine" / "f.c"
    source.parent.mkdir()
    for there in (tmp_path / "there", tmp_path / "not there"):
        if there.name == "there":
            there.write_text("")
        source.write_text(f"{probe.replace('P', str(there))}\nvoid f(void) {{}}\n")
        if there.exists():
            # Whoever sees what was built is told of none that is there.
            with pytest.raises(UserError, match="f.c reads '.*there'"):
                built(source, "riscv", confined=True)
        elif "pragma" in probe:
            with pytest.raises(UserError, match="not there: No such file"):
                built(source, "riscv", confined=True)
        else:
            built(source, "riscv", confined=True)


@with_landlock
@pytest.mark.parametrize("version", [1, 2, 3, 4, 6, 99])
def test_a_program_in_the_sandbox_reaches_its_folder_alone(tmp_path, monkeypatch, version):
    """With what each version of Landlock's knows."""
    known = min(version, landlock.version())
    monkeypatch.setattr(landlock, "version", lambda: known)
    folder, other = tmp_path / "folder", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    (other / "secret").write_text(SECRET)
    script = f"""
    echo > inside && echo inside >&2
    echo > {other}/made && echo outside >&2
    cat {other}/secret
    rm -f {other}/secret && test ! -e {other}/secret && echo removed >&2
    mv {other}/secret . && echo moved >&2
    ln {other}/secret linked && echo linked >&2
    cat < /dev/null && cat && echo read >&2
    """
    done = sandbox.run(["/bin/sh", "-c", script], folder=folder)
    assert [line for line in done.err.splitlines() if " " not in line] == ["inside", "read"], done.err
    assert SECRET not in done.out and os.listdir(other) == ["secret"]
    # This process, and what it starts otherwise, is as free as before.
    assert subprocess.run(["cat", str(other / "secret")], capture_output=True, text=True).stdout == SECRET


def test_a_program_gets_none_of_our_variables_files_or_words(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPILER_PATH", "/evil")
    monkeypatch.setenv("DEPENDENCIES_OUTPUT", str(tmp_path / "out"))
    kept = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(kept, True)
    done = sandbox.run(["/bin/sh", "-c", "env; ls /proc/self/fd; ps -o sid= -p $$"], reads=[Path("/proc")])
    os.close(kept)
    variables, files = done.out.split("0\n", 1)
    assert {line.partition("=")[0] for line in variables.splitlines()} <= {
        *("PATH", "LC_ALL", "CCACHE_DISABLE", "PWD", "OLDPWD", "SHLVL", "_"),
    }
    assert str(kept) not in files.split() and str(os.getsid(0)) not in files.split()[-1:]


def test_what_a_program_says_is_bounded_and_steers_no_terminal(tmp_path):
    done = sandbox.run(["/bin/sh", "-c", r"printf '\033[2Jred\007\n'; yes | head -c 1000000; exit 3"])
    assert done.status == 3 and done.out.startswith("?[2Jred?\ny\n") and len(done.out) <= 1 << 16


def test_a_program_that_writes_too_much_is_ended(tmp_path):
    limits = sandbox.Limits(file=1 << 20)
    done = sandbox.run(["/bin/sh", "-c", "head -c 9000000 /dev/zero > big"], [Path("/dev")], tmp_path, limits)
    assert (tmp_path / "big").stat().st_size <= 1 << 20 and done.status


@pytest.mark.skipif(platform.machine() != "x86_64", reason="this host is no x86-64")
def test_a_section_that_a_linker_prints_is_no_more_than_words(tmp_path, built):
    text = (
        '    .globl f\n    .type f, @function\nf:  ret\n    .section .gnu.warning.f\n    .ascii "\\033[2J$(touch x)"\n'
    )
    assert built(assembled(tmp_path, "x86", text, "f.o"), "x86").is_dir()
