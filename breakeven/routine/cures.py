"""What to do about it: the sentence behind an error of a compiler's, or behind a routine that fails in a known way."""

from __future__ import annotations

import re

#: functions that gcc calls where a source has a loop or copies a structure
MADE_BY_GCC = ("memcpy", "memmove", "memset", "memcmp")
#: how it makes no such calls of loops; a source is always compiled so
PLAIN_LOOPS = "-ffreestanding -fno-builtin -fno-tree-loop-distribute-patterns"

_NO_HEADER = re.compile(r"fatal error: (\S+): No such file or directory|can't open (\S+) for reading: No such file")
_NO_VECTORS = re.compile(r"with SSE disabled|without SSE|without AVX|without AVX512|target specific option mismatch")
_NO_EXTENSION = re.compile(r"extension `(\w+)'(?: or `(\w+)')* required|(Vector) intrinsics require")
#: RISC-V extensions by what `--needs` calls them
_NEEDED = {"zbb": "zbb", "v": "v", "zve32x": "v", "zve64x": "v", "Vector": "v"}


def with_cure(said: str, isa: str) -> str:
    """What a compiler has said of a source, and what to do about it where that is known."""
    cure = ""
    if found := _NO_HEADER.search(said):
        where = "(breakeven stands in for a few of kernels and C libraries: docs/add-a-routine.md)"
        cure = f"give the folder of {found[1] or found[2]} with --flags '-I FOLDER' {where}"
    elif isa == "x86" and _NO_VECTORS.search(said):
        wide = "avx512" if re.search(r"_mm512|__m512|AVX512", said) else ""
        need = wide or ("avx2" if re.search(r"_mm256|__m256|AVX", said) else "sse2")
        cure = f"a source is compiled for general registers alone: --needs {need} lets it use the others"
    elif isa == "riscv" and (found := _NO_EXTENSION.search(said)):
        names = [name for name in found.groups() if name]
        need = next((_NEEDED[name] for name in names if name in _NEEDED), "")
        cure = f"--needs {need}" if need else f'--flags "-march=rv64imafdc_zicsr_zifencei_{names[0]}"'
        cure = f"the source is for a machine with an extension: {cure} lets the compiler use it"
    return f"{said}\n{cure}" if cure else said


def without_call(where: str, name: str) -> str:
    """What is said of a function that gcc may have made a call of, and that nothing defines."""
    if where.endswith((".c", ".S", ".s")):
        return f"{where} calls {name}, which a guest does not have: also name an object or an archive that defines it"
    return (
        f"{where} calls {name}, which is not defined: gcc makes such calls of loops, so compile it with "
        f"{PLAIN_LOOPS}, or also name a file that defines {name}"
    )


def why_endless(name: str) -> str:
    """What is said of a function that does not return and goes to its own beginning."""
    return f"{name} calls itself: gcc has made a call of its loop: compile it with {PLAIN_LOOPS}"
