"""The x86 hardware presets against measurements of the hardware: each case is a small bare-metal program.

`within` is the relative distance allowed; where it is more than a tenth, the comment says why.
"""

from __future__ import annotations

import itertools
import platform
import shutil
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from breakeven.machines import describe_machine
from tests.x86_asm import BEGIN, END, EXIT, measure

pytest.importorskip("breakeven._engine")
pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or platform.machine() != "x86_64", reason="no assembler for x86-64"
)

KIBI, MEBI = 1 << 10, 1 << 20
SOURCE, DESTINATION = 0x100_0000, 0x800_0000
_labels = itertools.count()


def cycles(machine: Any, program: str, setup: str = "", turns: int = 2) -> float:
    """Cycles of the last of `turns` runs of `program`, less those of an empty one; the runs before warm the caches."""

    def run(body: str) -> float:
        source = f"mov r15d, {turns}\n{setup}\n9: {BEGIN}\nlfence\n{body}\nlfence\n{END}\ndec r15d\njnz 9b\n{EXIT}"
        return measure(machine, source)[-1]

    return run(program) - run("")


def loop(body: str, times: int, counter: str = "ebp") -> str:
    label = f".L{next(_labels)}"
    return f"mov {counter}, {times}\n{label}:\n{body}\ndec {counter}\njnz {label}\n"


def each(machine: Any, body: str, setup: str = "", unroll: int = 20) -> float:
    """Cycles that one more `body` in a row costs."""
    few, many = (cycles(machine, loop(body * n, 100), setup) for n in (unroll, 2 * unroll))
    return (many - few) / (100 * unroll)


AT = f"mov rbx, {SOURCE}\n mov rsi, {SOURCE}\n mov rdi, {DESTINATION}\n"


def chase(size: int, lines: int = 8192, apart: int = 64, flush: bool = False) -> Callable[[Any], float]:
    """Load-to-use latency in a random cycle of lines, `apart` bytes from each other, over `size` bytes.

    With `flush` they come from memory, once. The number of lines is a power of two.
    """

    def model(machine: Any) -> float:
        count = size // apart
        # A full-period linear congruence visits the lines in an order that no prefetcher follows.
        order = f"""
            mov ecx, {count}
            xor eax, eax
            1: imul edx, eax, 1664525
            add edx, 1013904223
            and edx, {count - 1}
            imul r8, rax, {apart}
            imul r9, rdx, {apart}
            lea r9, [r9 + {SOURCE}]
            mov [r8 + {SOURCE}], r9
            {f"clflush [r8 + {SOURCE}]" if flush else ""}
            mov eax, edx
            dec ecx
            jnz 1b
            mfence
            mov rbx, {SOURCE}
        """
        steps = count if flush else min(2 * count, lines)
        return cycles(machine, loop("mov rbx, [rbx]\n" * 16, steps // 16), order, 1 if flush else 2) / steps

    return model


def string(op: str, count: int, source: int = 0, destination: int = 0) -> str:
    return f"mov rsi, {SOURCE + source}\n mov rdi, {DESTINATION + destination}\n mov ecx, {count}\n cld\n rep {op}\n"


def bytes_per_cycle(
    op: str, size: int, element: int = 1, source: int = 0, destination: int = 0
) -> Callable[[Any], float]:
    """Of a string instruction in the first level, start-up left out."""

    def model(machine: Any) -> float:
        few, many = (cycles(machine, string(op, n // element, source, destination), turns=4) for n in (size // 2, size))
        return (size - size // 2) / (many - few)

    return model


def start_up(op: str, count: int) -> Callable[[Any], float]:
    """Of a string instruction, its bytes left out: cycles from one to the next of a chain."""
    return lambda machine: cycles(machine, loop(string(op, count), 50)) / 50


ADDS = "add rax, 1\nadd rcx, 1\nadd rdx, 1\nadd r8, 1\n"
LOADS = "mov rax, [rsi]\nmov rcx, [rsi+8]\nmov rdx, [rsi+16]\nmov r8, [rsi+24]\n"
STORES = "mov [rdi], rax\nmov [rdi+8], rcx\n"
FORWARD = "mov [rsi], rax\nmov rax, [rsi]\n"


class Case(NamedTuple):
    machine: str
    row: str
    measured: float
    within: float
    model: Callable[[Any], float]


CASES = [
    Case("broadwell", "lat_int_add", 1, 0.01, lambda m: each(m, "add rax, rbx\n")),
    Case("broadwell", "tput_int_add (a cycle)", 4, 0.15, lambda m: 4 / each(m, ADDS)),
    Case("broadwell", "lat_adc", 1, 0.01, lambda m: each(m, "adc rax, rbx\n")),
    Case("broadwell", "partial_flag_stall (adc, dec)", 1, 0.02, lambda m: each(m, "adc rax, rbx\ndec rcx\n")),
    Case("broadwell", "lat_adcx_adox (two chains)", 1, 0.02, lambda m: each(m, "adcx rax, rbx\nadox rcx, rbx\n")),
    Case("broadwell", "lat_imul", 3, 0.01, lambda m: each(m, "imul rax, rbx\n")),
    Case("broadwell", "lat_shift", 1, 0.01, lambda m: each(m, "shl rax, 1\n")),
    Case("broadwell", "lat_simd_add", 1, 0.01, lambda m: each(m, "paddd xmm0, xmm1\n")),
    Case("broadwell", "lat_psadbw", 5, 0.01, lambda m: each(m, "psadbw xmm0, xmm1\n")),
    Case("broadwell", "tput_load (a cycle)", 2, 0.05, lambda m: 4 / each(m, LOADS, AT)),
    Case("broadwell", "tput_store (a cycle)", 1, 0.05, lambda m: 2 / each(m, STORES, AT)),
    Case("broadwell", "l1d_latency", 4, 0.02, chase(16 * KIBI)),
    Case("broadwell", "l2_latency", 12, 0.10, chase(128 * KIBI)),
    Case("broadwell", "l3_latency", 55, 0.10, chase(1 * MEBI)),
    Case("broadwell", "dram_latency_ns (85 ns)", 187, 0.10, chase(2048 * 8256, apart=8256, flush=True)),
    Case("broadwell", "stlf_latency", 5, 0.10, lambda m: each(m, FORWARD, AT)),
    Case("broadwell", "rep_movs_bytes_per_cycle (movsb)", 29.7, 0.10, bytes_per_cycle("movsb", 8 * KIBI)),
    Case("broadwell", "rep_movs_bytes_per_cycle (movsq)", 28.9, 0.10, bytes_per_cycle("movsq", 8 * KIBI, 8)),
    Case("broadwell", "rep_movs_align_sensitivity (both off)", 29.7 * 73 / 109, 0.10,
         bytes_per_cycle("movsb", 8 * KIBI, source=3, destination=3)),
    Case("broadwell", "rep_movs_align_sensitivity (one off)", 29.7 * 73 / 126, 0.10,
         bytes_per_cycle("movsb", 8 * KIBI, source=3)),
    Case("broadwell", "rep_stos_bytes_per_cycle", 30.9, 0.10, bytes_per_cycle("stosb", 8 * KIBI)),
    Case("broadwell", "rep_movs_startup", 35, 0.20, start_up("movsb", 64)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.machine}-{case.row.replace(' ', '-')}")
def test_presets_come_near_the_hardware(case: Case) -> None:
    modelled = case.model(describe_machine(case.machine))
    print(f"| {case.machine} | {case.row} | {case.measured:.3g} | {modelled:.3g} |")
    assert abs(modelled - case.measured) <= case.within * case.measured
