"""Tiny bare-metal x86-64 programs for tests: assembled on the spot, measured between resetstats and dumpstats."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

#: resetstats / dumpstats / exit with both arguments zero (gem5's pseudo-op bytes).
_OP = "xor edi, edi\n xor esi, esi\n .byte 0x0f, 0x04\n .word {func:#x}\n"
BEGIN, END, EXIT = (_OP.format(func=f) for f in (0x40, 0x41, 0x21))

BASE = 0x20_0000


@lru_cache(maxsize=1024)
def build(source: str) -> bytes:
    """Assembles `source` (Intel's syntax; its `_start` runs in ring 0, 64-bit) into an ELF."""
    with tempfile.TemporaryDirectory() as folder:
        asm, elf = Path(folder, "t.S"), Path(folder, "t.elf")
        asm.write_text(f".intel_syntax noprefix\n.globl _start\n_start:\n{source}\n")
        command = ["gcc", "-m64", "-nostdlib", "-static", "-no-pie", "-Wl,-n", "-Wl,--build-id=none"]
        done = subprocess.run([*command, f"-Wl,-Ttext={BASE:#x}", asm, "-o", elf], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return elf.read_bytes()


def measure(description: Mapping[str, object], source: str, stat: str = "system.cpu.numCycles") -> list[float]:
    """Runs a program and returns `stat` of each region between `BEGIN` and `END`."""
    from breakeven import _engine

    machine = _engine.Machine(json.dumps(description), build(source))
    end = machine.run(max_insts=100_000_000)
    assert end["cause"].startswith("m5_exit"), end
    values = []
    for dump in machine.dumps():
        found = {name: value for name, value, _, _ in dump}
        assert stat in found, sorted(found)
        values.append(found[stat])
    return values
