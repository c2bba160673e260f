"""Routines as an attacker would write them, drawn at random: sources, objects, archives and shared libraries, the names
of their files and what is asked of them. Each names files in two folders that it has no business with."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from pathlib import Path

#: what a string may be, where P is a path
STRINGS = [
    "-al=P", "-o P", "@P", "-fplugin=P", "-T P", "--plugin P", "-Xassembler -al=P", "-flto", "-fdump-tree-all=P",
    "dump-tree-all=P", "profile-generate=P", "O3", "no-such-option", "$(touch P)", "`touch P`", "; touch P",
    "|touch P", 'x"', 'x"\n.incbin "P"\n.ascii "', "x\n.incbin \"P\"\n", 'x"); __asm__(".incbin \\"P\\"', "x'", "x\\",
    "%s%n%n", "x y", "x=y", "x@@V1", "x@V1", "*", ".", "..", "", "-", "--", "\u00e4", "x\x07\x1b[2J", "main",
    "_start", "arch_measure", "memcpy", "routine", "breakeven_unreached", "breakeven_library", "y" * 5000, "$",
    ".text", ".init_array", ".gnu.lto_.opts", ".gnu.lto_.symtab.1", ".gnu.offload_lto_.opts", ".gnu.warning.f",
    ".routines", "__ex_table", ".comment", ".note.gnu.property", ".llvmbc", ".gnu_debuglink", ".deplibs",
    "arch=native", "avx2", "/DISCARD/", "COMMON",
]  # fmt: skip
#: names that would be more than names where one is pasted
PASTED = [
    *['x", y\n.incbin "P"\n.globl "x'] * 2, 'x"\n.incbin "P"\n"x', 'x"); __asm__(".incbin \\"P\\"', "x=y P",
]  # fmt: skip
NUMBERS = [
    "0",
    "1",
    "-1",
    "7",
    "64",
    "4096",
    "65536",
    "0x7fffffff",
    "0xffffffff",
    "1<<40",
    "0x7fffffffffffffff",
    "-1<<63",
]

ASSEMBLY = [
    '.incbin "P"', '.incbin "P", N, N', '.include "P"', '.file "P"', '.file 1 "P"', '.ident "S"', '.section "S"',
    '.section S, "ax", @progbits', '.section "S", "awx", @nobits', '.section .text.N, "axe", @note', '.globl "S"',
    '"S":', '.set "S", .', '.weak "S"', '.symver f, "S@@V"', '.print "S"', '.warning "S"', '.error "S"', ".skip N",
    ".fill N, 8, N", ".org N", ".balign N", ".p2align N", '.comm "S", N', '.type "S", @gnu_indirect_function',
    ".type f, @function", '.section .init_array, "aw"\n.8byte f', '.section .gnu.lto_.opts, "e"\n.ascii "S"',
    '.ascii "S"', '.asciz "S"', '.8byte "S"', "call S", '.reloc N, R_X86_64_64, "S"', '# 1 "P"', '#include "P"',
    "#include <P>", "#include_next <P>", '#if __has_include("P")\n.incbin "P"\n#endif',
    '.macro m x\n.inc\\x "P"\n.endm\nm bin', ".rept N\nnop\n.endr", ".irp x, S\n\\x\n.endr", ".altmacro",
    ".intel_syntax noprefix", ".att_syntax", ".option norvc", ".option arch, +v", ".code32", '.loc 1 N',
    '.linefile N "P"', ".end", "ret", "nop", "f:", "1: j 1b", ".if N\n", ".endif", ".endm", "S", '.pushsection "S"',
    ".popsection", ".list", ".eject", '.title "S"', '.psize N', ".mri 1", '.gnu_attribute 4, N',
    '.attribute arch, "S"', ".cfi_startproc", '.cfi_personality 0, "S"', ".cfi_endproc", "/* S", "// S", "\\",
    '.section .routines, "a"\n.asciz "S"', '.section .note.GNU-stack, "x"', ".tbss",
    '.section .tdata, "awT"\n.8byte N',
]  # fmt: skip
C = [
    '#include "P"', "#include <P>", "#include_next <P>", "#include __FILE__", '#embed "P"',
    '#pragma GCC dependency "P"', '#pragma GCC pch_preprocess "P"', '#pragma GCC optimize ("S")',
    '#pragma GCC target ("S")', '_Pragma("S")', '#ident "S"', '#line N "P"',
    '#if __has_include("P")\n#include "P"\n#endif', '#error "S"', '#warning "S"', "#define f S",
    "#pragma push_macro(\"S\")", "#pragma weak f = S", "#pragma redefine_extname g S", '__asm__(".incbin \\"P\\"");',
    '__asm__(".include \\"P\\"");', '__asm__("S");', 'extern int g __asm__("S");', 'int h __asm__("S");',
    '__attribute__((optimize("S"))) void o(void) {}', '__attribute__((target("S"))) void t(void) {}',
    '__attribute__((section("S"))) int s;', '__attribute__((section("S"))) void sf(void) {}',
    '__attribute__((alias("S"))) void al(void);', '__attribute__((constructor)) void c(void) {}',
    '__attribute__((ifunc("f"))) void i(void);', '__attribute__((symver("S@@V"))) void v(void) {}', "char big[N];",
    "static char filled[N] = {1};", "__thread int t1;", "void g(void) { g(); }", "int main(void) { return N; }",
    'const char *text = "S";', "void *p = (void *)N;", "S", "}", "{", "/*", '"', "#", "#if N", "#endif", "\\",
    '#include "routine.h"\nROUTINE(f, "S", 0, N);', 'void w(void) { __asm__ volatile("S"); }', "#include <stdlib.h>",
]  # fmt: skip
OTHER_PATHS = ["/etc/passwd", "/dev/zero", "/dev/stdin", "/proc/self/environ", "../f.S", "nothing"]
#: how the name begins of a symbol that any other fits into
ROOM = b"room" * 80
#: of files, before their suffix
NAMES = [
    "f",
    "-o",
    "@f",
    "a,-al=out",
    "it's",
    'a "b"',
    "a b",
    "$(x)",
    "a\\b",
    "%s",
    "-fplugin=x",
    "\u00e4",
    "x64_word_",
    "a.b",
    "y" * 200,
]
FUNCTION = {"S": "    .text\n    .globl f\n    .type f, @function\nf:  ret\n", "c": "void f(void) {}\n"}


@dataclass(frozen=True)
class Case:
    """A file, and how it is given to `Build`."""

    name: str
    data: bytes
    options: dict[str, object] = field(default_factory=dict)


class Attacker:
    """Draws cases. `paths`: files to read or to write. `objects`: real ones to damage, by suffix."""

    def __init__(self, seed: int, paths: list[Path], objects: dict[str, list[bytes]]) -> None:
        self._random = random.Random(seed)
        self._paths = [str(path) for path in paths]
        self._objects = objects

    def source(self) -> Case:
        """C or assembly."""
        r = self._random
        kind = r.choice("Sc")
        lines = [
            FUNCTION[kind],
            *(self._filled(r.choice(C if kind == "c" else ASSEMBLY)) for _ in range(r.choice([1, 1, 2, 3, 8]))),
        ]
        r.shuffle(lines)
        data = "\n".join([*lines, ""]).encode(errors="surrogateescape")
        if r.random() < 0.1:
            data = self._damaged(data)
        return Case(self._name(kind), data, {"confined": r.random() < 0.5, **self._asked()})

    def object(self) -> Case:
        """An object, an archive or a shared library, whole or damaged."""
        r = self._random
        suffix = r.choice(list(self._objects))
        data = r.choice(self._objects[suffix])
        for change in r.sample([self._damaged, self._fields, self._strings, self._spliced], r.choice([0, 1, 1, 2])):
            data = change(data)
        if r.random() < 0.03:
            scripts = [
                'INPUT("P")',
                'OUTPUT("P")',
                'GROUP ( "P" )',
                "!<thin>\nP",
                "BC\xc0\xde",
                "!<arch>\nS",
                "\x7fELF",
                "",
            ]
            data = self._filled(r.choice(scripts)).encode("latin-1", errors="replace")
        symbol = r.choice([*["f"] * 9, *["g"] * 3, "", self._filled("S"), "0x10", "0xffffffffffff", "0x", "0xé"])
        return Case(self._name(suffix), data, {"symbol": symbol, **self._asked()})

    def _asked(self) -> dict[str, object]:
        defines = {self._filled("S") or "x": self._random.getrandbits(64)} if self._random.random() < 0.1 else {}
        return {"name": "plain", "kind": self._random.choice(["copy", "checksum"]), "defines": defines}

    def _name(self, suffix: str) -> str:
        return f"{self._random.choice(NAMES if self._random.random() < 0.3 else ['f'])}.{suffix}"

    def _path(self) -> str:
        return self._random.choice(self._paths if self._random.random() < 0.6 else OTHER_PATHS)

    def _filled(self, text: str) -> str:
        out = ""
        for letter in text:
            if letter == "S":
                texts = PASTED if self._random.random() < 0.3 else STRINGS
                out += self._random.choice(texts).replace("P", self._path())
            elif letter == "P":
                out += self._path()
            elif letter == "N":
                out += self._random.choice(NUMBERS)
            else:
                out += letter
        return out

    def _damaged(self, data: bytes) -> bytes:
        """Some bytes are others; the end is missing."""
        r, out = self._random, bytearray(data)
        for _ in range(r.choice([1, 1, 4, 40])):
            if out:
                out[r.randrange(len(out))] = r.choice([0, 1, 255, r.randrange(256)])
        return bytes(out[: r.randrange(len(out) + 1)] if r.random() < 0.2 else out)

    def _fields(self, data: bytes) -> bytes:
        """Numbers at the places of a header's or a table's fields are others."""
        r, out = self._random, bytearray(data)
        values = [
            0,
            1,
            2,
            4,
            7,
            8,
            11,
            0xFF,
            0xFFFF,
            0x7FFFFFFF,
            0xFFFFFFFF,
            1 << 40,
            (1 << 63) - 1,
            (1 << 64) - 1,
            len(data),
        ]
        table = int.from_bytes(data[40:48], "little")
        for _ in range(r.choice([1, 1, 2, 6])):
            bytes_ = r.choice([2, 4, 8])
            near = (
                range(table, len(out) - 8, 4)
                if 0 < table < len(out) - 16 and r.random() < 0.6
                else range(0, len(out) - 8, 2)
            )
            if near:
                struct.pack_into(
                    {2: "<H", 4: "<I", 8: "<Q"}[bytes_], out, r.choice(near), r.choice(values) & (1 << 8 * bytes_) - 1
                )
        return bytes(out)

    def _strings(self, data: bytes) -> bytes:
        """A name is another: of one that has room, or over what follows."""
        text = self._filled("S").encode("utf-8", errors="replace")
        if self._random.random() < 0.8 and (at := data.find(ROOM)) >= 0:
            text = text[: len(ROOM)] + b"\0"
        else:
            at = data.find(self._random.choice([b"\0f\0", b"\0g\0", b"\0.text"])) + 1
        return data[:at] + text + data[at + len(text) :] if at > 0 else data

    def _spliced(self, data: bytes) -> bytes:
        """A part of another file."""
        r = self._random
        other = r.choice(r.choice(list(self._objects.values())))
        start, length = r.randrange(len(other)), r.choice([8, 64, 512])
        at = r.randrange(len(data) + 1)
        return data[:at] + other[start : start + length] + data[at + (length if r.random() < 0.8 else 0) :]
