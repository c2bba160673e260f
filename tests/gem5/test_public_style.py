"""What scripts written for a real gem5 take for granted: one script, or a few lines, for each thing."""

from __future__ import annotations

import pytest

from tests.gem5.conftest import Run

pytest.importorskip("breakeven._engine")


@pytest.mark.parametrize(("isa", "prefix"), [("x86", "X86"), ("riscv", "Riscv")])
def test_a_build_for_one_instruction_set(run: Run, isa: str, prefix: str) -> None:
    said = run("one_isa.py", options=(f"--isa={isa.upper()}",)).splitlines()
    kinds = ["AtomicSimpleCPU", "TimingSimpleCPU", "NonCachingSimpleCPU", "MinorCPU", "O3CPU"]
    assert said[:5] == [f"{isa} {prefix}{kind} Base{kind} 1" for kind in kinds]
    assert said[5:] == [f"{isa} Core {prefix}O3CPU 1", "one_isa.py 1 \\.", "KeyError 'TARGET'"]


def test_the_build_follows_the_program_given(run: Run) -> None:
    assert run("one_isa.py").startswith("x86 ")
    assert run("one_isa.py", "--cmd", run.linux("hello", "Riscv")).startswith("riscv ")
    assert run("one_isa.py", f"--cmd={run.linux('hello', 'X86')}").startswith("x86 ")
    assert "--isa is riscv or x86, not 'arm'" in run("one_isa.py", options=("--isa=arm",), status=1)
