"""Tiny bare-metal RISC-V programs for tests: assembled on the spot, measured between resetstats and dumpstats."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

#: resetstats / dumpstats / exit with both arguments zero (gem5's pseudo-op encoding).
_OP = "li a0, 0\n li a1, 0\n .word ({func:#x} << 25) | 0x7b\n"
BEGIN, END, EXIT = (_OP.format(func=f) for f in (0x40, 0x41, 0x21))

BASE = 0x8000_0000


def build(source: str, march: str = "rv64imafdc_zicsr_zifencei_zba_zbb_zbs") -> bytes:
    """Assembles `source` (its `_start` runs in M-mode at 0x80000000) into an ELF."""
    with tempfile.TemporaryDirectory() as folder:
        asm, elf = Path(folder, "t.S"), Path(folder, "t.elf")
        asm.write_text(".option norelax\n.globl _start\n_start:\n" + source + "\n")
        command = [
            "riscv64-unknown-elf-gcc",
            f"-march={march}",
            "-mabi=lp64d",
            "-mcmodel=medany",
            "-nostdlib",
            "-static",
            "-Wl,-n",
        ]
        done = subprocess.run([*command, f"-Wl,-Ttext={BASE:#x}", asm, "-o", elf], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return elf.read_bytes()


def measure(description: Mapping[str, object], program: str | bytes, stat: str = "system.cpu.numCycles") -> list[float]:
    """Runs a program, source or built, and returns `stat` of each region between `BEGIN` and `END`."""
    from breakeven import _engine

    elf = build(program) if isinstance(program, str) else program
    machine = _engine.Machine(json.dumps(description), elf)
    end = machine.run(max_insts=100_000_000)
    assert end["cause"].startswith("m5_exit"), end
    values = []
    for dump in machine.dumps():
        found = {name: value for name, value, _, _ in dump}
        assert stat in found, sorted(found)
        values.append(found[stat])
    return values
