"""Which build of gem5 a run stands for.

A gem5 is built for one instruction set or for several, and scripts ask it which: ``TimingSimpleCPU`` is the CPU of the
one there is, ``get_runtime_isa()`` and ``buildEnv["TARGET_ISA"]`` name it. Here it is what ``--isa`` says, else the
instruction set of the first program among the script's arguments, else x86 (the build of gem5's tutorial). A program of
another instruction set than its core's is refused, so a wrong guess is never silent.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.config.errors import ConfigError
from breakeven.files.reading import read_bounded

if TYPE_CHECKING:
    from collections.abc import Sequence


#: instruction set -> the prefix of its classes
PREFIXES = {"x86": "X86", "riscv": "Riscv"}
#: machine code of an ELF header (e_machine) -> instruction set
ELF_MACHINES = {62: "x86", 243: "riscv"}
_DEFAULT = "x86"
#: classes that a build for one instruction set has under a name without it -> the end of their own name
PLAIN_NAMES = {
    "AtomicSimpleCPU": "AtomicSimpleCPU", "DerivO3CPU": "O3CPU", "MinorCPU": "MinorCPU", "O3CPU": "O3CPU",
    "NonCachingSimpleCPU": "NonCachingSimpleCPU", "TimingSimpleCPU": "TimingSimpleCPU",
}  # fmt: skip


def elf_machine(head: bytes) -> int | None:
    """``e_machine`` of the file that begins with `head` (20 bytes); None when it is no 64-bit ELF."""
    if len(head) < 20 or head[:4] != b"\x7fELF" or head[4] != 2:
        return None
    return int.from_bytes(head[18:20], "little" if head[5] == 1 else "big")


def _isa_of_file(name: str) -> str | None:
    # Anything may stand among the arguments: only a plain file is looked into.
    if not os.path.isfile(name):
        return None
    try:
        with open(name, "rb") as file:
            machine = elf_machine(file.read(20))
    except OSError:
        return None
    return None if machine is None else ELF_MACHINES.get(machine)


def _isa_of_arguments(arguments: Sequence[str]) -> str | None:
    for argument in arguments:
        # ``--cmd=hello``, ``-c hello`` and ``hello`` alike.
        for name in (argument, argument.partition("=")[2]):
            isa = _isa_of_file(name) if name else None
            if isa is not None:
                return isa
    return None


class Build:
    """The build of one run."""

    def __init__(self, named: str | None, arguments: Sequence[str]) -> None:
        self._named = named
        self._arguments = arguments
        self._isa: str | None = None

    @property
    def isa(self) -> str:
        """The instruction set: ``x86`` or ``riscv``."""
        if self._isa is None:
            self._isa = self._named or _isa_of_arguments(self._arguments) or _DEFAULT
        return self._isa


_current = Build(None, ())


def current() -> Build:
    return _current


def use(build: Build) -> Build:
    """Make `build` the current one; returns the one before."""
    global _current
    before, _current = _current, build
    return before


def own_name(name: str) -> str | None:
    """The class that this build calls `name` without an instruction set; None for any other name."""
    end = PLAIN_NAMES.get(name)
    return None if end is None else PREFIXES[current().isa] + end


class BuildEnv(dict):  # type: ignore[type-arg]
    """``m5.defines.buildEnv``: what the build was configured with; ``TARGET_ISA`` is worked out when asked for."""

    def __missing__(self, key: str) -> Any:
        if key == "TARGET_ISA":
            return current().isa
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return key == "TARGET_ISA" or super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        return current().isa if key == "TARGET_ISA" else super().get(key, default)


def compatible_workload(path: str, what: str = "SEWorkload.init_compatible") -> str:
    """The class of ``SEWorkload`` for the program at `path`, which `what` names. Raises `ConfigError` when there is
    none."""
    head = read_named(path, what)[:20]
    if len(head) < 20 or head[:4] != b"\x7fELF":
        raise ConfigError([f"{what}: {path!r} is not an ELF program"])
    isa = ELF_MACHINES.get(elf_machine(head) or 0)
    if isa is None:
        machine = int.from_bytes(head[18:20], "little" if head[5] == 1 else "big")
        raise ConfigError([f"{what}: {path!r} is for machine {machine}; here run 64-bit x86 and RISC-V programs"])
    return f"{PREFIXES[isa]}EmuLinux"


def read_named(path: str, what: str) -> bytes:
    """The file that the parameter `what` names; `ConfigError` when it cannot be read."""
    try:
        return read_bounded(Path(path))
    except OSError as error:
        raise ConfigError([f"{what}: cannot read {path!r}: {error.strerror}"]) from None
