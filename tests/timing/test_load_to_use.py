"""What adds to a load-to-use latency (crossed boundaries, splits), and what early issue and prefetchers hide of it.

Measured by a chain of dependent loads over a working set that only the level in question holds. The levels themselves
are in test_levels.py.
"""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from breakeven.machine.presets import describe_machine
from tests.asm import BEGIN, END, EXIT, measure

pytest.importorskip("breakeven._engine")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("riscv64-unknown-elf-gcc") is None, reason="no RISC-V cross compiler"),
]

LOADS = 16  # in one turn of the measured loop
LINE = 64


def chain(lines: int, stride: int, base: int) -> str:
    """Builds `lines` pointers, `stride` bytes apart from offset `base` on, in a ring; t0 is at the first.

    The lines are cleaned: a dirty one would be written back again by the load that evicts it, before the next miss.
    """
    return f"""
    li t0, {0x80100000 + base}
    mv t3, t0
    li t2, {stride}
    li t1, {lines - 1}
1:  add t4, t0, t2
    sd t4, 0(t0)
    mv t0, t4
    addi t1, t1, -1
    bnez t1, 1b
    sd t3, 0(t0)
    mv t0, t3
    li t1, {lines}
2:  .insn i 0x0f, 2, x0, t0, 1  # cbo.clean
    add t0, t0, t2
    addi t1, t1, -1
    bnez t1, 2b
    mv t0, t3
    """


def cycles_each(
    machine: dict[str, Any], lines: int, stride: int = LINE, body: str = "ld t0, 0(t0)\n", base: int = 0
) -> float:
    """Cycles of one `body`, loop and start left out: a long run less a short one of the same code, after a warm-up."""
    short, long = 40, 240
    source = f"""{chain(lines, stride, base)}
    la s10, kernel
    li s11, {lines // LOADS + 20}
    li s4, {short}
    li s5, {long}
    li s7, 3
    .balign 64
3:  {BEGIN}
    jalr s10
    {END}
    mv s11, s4
    mv s4, s5
    addi s7, s7, -1
    bnez s7, 3b
    {EXIT}
    .balign 64
kernel:
2:  {body * LOADS}
    addi s11, s11, -1
    bnez s11, 2b
    ret
"""
    _, a, b = measure(machine, source)
    return (b - a) / (long - short) / LOADS


def without_prefetchers(name: str, *settings: str) -> dict[str, Any]:
    """A ring of neighbouring lines is what prefetchers are made for."""
    return describe_machine(name, [f"{cache}.prefetcher=NULL" for cache in ("cpu.dcache", "l2")] + list(settings))


def test_prefetchers_hide_what_they_can() -> None:
    """Neighbouring lines of the second level, one after the other: the stride prefetcher runs ahead of the chain."""
    lines = 2 * 64 * 1024 // LINE
    assert cycles_each(describe_machine("c910"), lines) < 0.8 * cycles_each(without_prefetchers("c910"), lines)


@pytest.mark.parametrize(("cross", "offset", "stride"), [("granule", 5, 128), ("line", 61, 128), ("page", 4093, 4096)])
def test_a_load_that_crosses_is_late_out_of_order(cross: str, offset: int, stride: int) -> None:
    per = [
        cycles_each(
            without_prefetchers("c910", "cpu.misaligned.granule=8", f"cpu.misaligned.{cross}_cross_load={extra}"),
            8, stride, base=offset,
        )
        for extra in (10, 17)
    ]  # fmt: skip
    assert per[1] - per[0] == pytest.approx(7, abs=0.05)


def test_first_level_of_gem5s_minor_replays() -> None:
    """Cache 2 + unit 1 = 3, less what gem5's early issue hides (its own chaseL1 kernel is in the agreement test)."""
    assert 2.5 < cycles_each(describe_machine("minor"), 64) <= 3.0


@pytest.mark.parametrize(("cross", "offset", "stride"), [("granule", 5, 128), ("line", 61, 128), ("page", 4093, 4096)])
def test_a_load_that_crosses_is_late_by_what_is_configured(cross: str, offset: int, stride: int) -> None:
    """A chain of dependent loads, each across the boundary: seven cycles more configured are seven measured."""
    per = [
        cycles_each(describe_machine("c906", [f"cpu.misaligned.{cross}_cross_load={extra}"]), 8, stride, base=offset)
        for extra in (10, 17)
    ]
    assert per[1] - per[0] == pytest.approx(7, abs=0.05)


@pytest.mark.parametrize(("cross", "offset"), [("granule", 5), ("line", 61)])
def test_a_store_that_crosses_is_late_by_what_is_configured(cross: str, offset: int) -> None:
    """Stores one at a time in memory: the store buffer is full, so each store's lateness is the next one's wait."""
    per = [
        cycles_each(
            describe_machine(
                "c906", ["cpu.executeMaxAccessesInMemory=1", f"cpu.misaligned.{cross}_cross_store={extra}"]
            ),
            8,
            body=f"sd t2, {offset}(t0)\n",
        )
        for extra in (10, 17)
    ]
    assert per[1] - per[0] == pytest.approx(7, abs=0.05)


@pytest.mark.parametrize("operation", ["ld", "sd"])
def test_a_split_keeps_the_memory_pipeline_for_its_slots(operation: str) -> None:
    per = [
        cycles_each(
            describe_machine(
                "c906",
                [
                    f"cpu.misaligned.split_slots={slots}",
                    "cpu.misaligned.line_cross_load=0",
                    "cpu.misaligned.line_cross_store=0",
                ],
            ),
            8,
            body=f"{operation} t2, 61(t0)\n",
        )
        for slots in (4, 9)
    ]
    assert per[1] - per[0] == pytest.approx(5, abs=0.05)


@pytest.mark.parametrize("machine", ["c906", "c910"])
@pytest.mark.parametrize(("operation", "more"), [("ld", 0), ("sd", 5)])
def test_a_split_store_may_keep_it_longer_than_a_split_load(machine: str, operation: str, more: float) -> None:
    """In order and out of order: the further slots are the store's alone."""
    per = [
        cycles_each(
            describe_machine(
                machine,
                [
                    "cpu.misaligned.split_slots=4",
                    f"cpu.misaligned.split_store_slots={slots}",
                    "cpu.misaligned.line_cross_load=0",
                    "cpu.misaligned.line_cross_store=0",
                ],
            ),
            8,
            body=f"{operation} t2, 61(t0)\n",
        )
        for slots in (0, 5)
    ]
    assert per[1] - per[0] == pytest.approx(more, abs=0.05)
