"""The engine's machine with the program that the configuration names: a bare-metal ELF, or a Linux process."""

from __future__ import annotations

import codecs
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.config.errors import ConfigError
from breakeven.config.gem5_build import PREFIXES, compatible_workload, read_named
from breakeven.config.params import MISSING
from breakeven.files.reading import MAX_FILE_BYTES
from breakeven.m5.options import Options

if TYPE_CHECKING:
    from breakeven.config.simobject import SimObject


_ISA_NAMES = {"Riscv": "RISC-V", "X86": "x86-64"}
_STDIN = ("cin", "stdin")
#: gem5's names of the simulator's own outputs
_STREAMS = {"cout": "stdout", "stdout": "stdout", "cerr": "stderr", "stderr": "stderr"}


def system_of(root: SimObject) -> SimObject | None:
    """The one System below `root`, whatever its name (gem5's standard library calls it ``board``)."""
    for child in root._children.values():
        if any(cls.__name__ == "System" for cls in type(child).__mro__):
            return child
    return None


def process_of(root: SimObject) -> SimObject | None:
    """The process of a machine that emulates system calls; None for a bare-metal one."""
    if root._value("full_system") is not False:
        return None
    for node in root.descendants():
        if "workload" in type(node)._params and isinstance(node._value("workload"), list):
            for process in node._value("workload"):
                return process
    if system_of(root) is None:
        raise ConfigError(["there is no System below the root: nothing runs here but a core with its memory"])
    raise ConfigError(["no core has a process to run: e.g. system.cpu.workload = Process(cmd=['hello'])"])


def name_program(root: SimObject) -> None:
    """The process's executable as gem5 has it: the first word of its command unless it is set, with its whole path
    (``/proc/self/exe`` must be one)."""
    process = process_of(root)
    if process is None:
        return
    command = process._value("cmd")
    name = process._value("executable") or (command[0] if isinstance(command, list) and command else "")
    if not name:
        raise ConfigError([f"{process.path()} names no program: set its cmd, e.g. cmd = ['hello']"])
    process.executable = os.path.abspath(name)
    _check_program(root, process)
    _choose_workload(root, process._value("executable"))


def _check_program(root: SimObject, process: SimObject) -> None:
    """Raises `ConfigError` for a program that is not of its core's instruction set."""
    program = process._value("executable")
    for core in (node for node in root.descendants() if _runs(node, process)):
        prefix = next((known for known in PREFIXES.values() if f"{known}CPU" in _classes(core)), None)
        found = compatible_workload(program, f"{process.path()}.executable").removesuffix("EmuLinux")
        if prefix is not None and prefix != found:
            raise ConfigError(
                [
                    f"{program!r} is a {_ISA_NAMES[found]} program, and {core.path()} is a {type(core).__name__}: take "
                    f"a {_ISA_NAMES[found]} core; a script that leaves the instruction set to its gem5 takes it from "
                    f"--isa={found.lower()}"
                ]
            )


def _classes(obj: SimObject) -> set[str]:
    return {cls.__name__ for cls in type(obj).__mro__}


def _runs(node: SimObject, process: SimObject) -> bool:
    workload = node._value("workload") if "workload" in type(node)._params else None
    return isinstance(workload, list) and any(each is process for each in workload)


def _choose_workload(root: SimObject, program: str) -> None:
    """Scripts for a gem5 before 21.0 have no ``system.workload``: what such a gem5 would have taken, said once."""
    system = system_of(root)
    if system is None or "SEWorkload" in _classes(system._value("workload")):
        return
    from breakeven.config.library import get_class

    kind = compatible_workload(program, "the process")
    system.workload = get_class(kind)()
    print(f"warn: {system.path()}.workload is not set; it is taken to be {kind}(), for the process", file=sys.stderr)


def load(engine: Any, description: str, root: SimObject, options: Options, console: Console) -> Any:
    """The machine of `description`, ready to run; what it prints goes to `console`.

    Raises `ConfigError` for a program that is not there, the engine's error for one that cannot run.
    """
    system, process = system_of(root), process_of(root)
    data = "" if system is None else system._value("readfile")
    common: dict[str, Any] = {
        "readfile": read_named(data, "system.readfile") if data else b"",
        "init_param": 0 if system is None else system._value("init_param"),
        "stdout": console.stdout,
        "stderr": console.stderr,
    }
    if process is None:
        return engine.Machine(description, program_of(system), **common)
    return engine.Machine(
        description,
        read_named(process._value("executable"), f"{process.path()}.executable"),
        stdin=_standard_input(process),
        directory=options.allow_dir,
        writable=options.allow_writes,
        **common,
    )


def _standard_input(process: SimObject) -> bytes:
    name = process._value("input")
    if name not in _STDIN:
        return read_named(name, f"{process.path()}.input")
    try:
        descriptor = sys.stdin.fileno()
        kind = os.fstat(descriptor).st_mode
    except (AttributeError, OSError, ValueError):
        return b""
    if not stat.S_ISREG(kind):
        import select

        # The process reads what is there: a terminal, or a pipe that nobody writes to, must not hold the simulation up.
        if os.isatty(descriptor) or not select.select([descriptor], [], [], 0)[0]:
            return b""
    return sys.stdin.buffer.read(MAX_FILE_BYTES)


class _Stream:
    """A standard stream of ours."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode

    def write(self, text: bytes) -> None:
        stream = getattr(sys, self._name)
        stream.flush()
        # A stream that a caller has put there may take text only.
        if hasattr(stream, "buffer"):
            stream.buffer.write(text)
        else:
            stream.write(self._decode(text))
        stream.flush()


class _File:
    """A file of the output folder, made anew when the first byte comes, or at the end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._made = False

    def write(self, text: bytes) -> None:
        from breakeven.m5.outputs import unwritable

        try:
            with open(self._path, "ab" if self._made else "wb") as file:
                file.write(text)
        except OSError as error:
            raise unwritable(error, self._path) from None
        self._made = True

    def make(self) -> None:
        if not self._made:
            self.write(b"")


class Console:
    """Where the guest's output goes, as it comes, and what else it has to say."""

    def __init__(self, process: SimObject | None, folder: Path | None) -> None:
        self._files: dict[str, _File] = {}
        self._warned = 0
        self._is_process = process is not None
        self._folder = folder or Path()
        self.stdout = self._target("cout" if process is None else process._value("output"))
        self.stderr = self._target("cerr" if process is None else process._value("errout"))

    def _target(self, name: str) -> _Stream | _File:
        if name in _STREAMS:
            return _Stream(_STREAMS[name])
        return self._files.setdefault(name, _File(self._folder / name))

    @property
    def files(self) -> list[str]:
        """Names of the files that output goes to."""
        return list(self._files)

    def show(self, machine: Any) -> None:
        """Make the files that nothing went to, and print the warnings that are new."""
        for file in self._files.values():
            file.make()
        if self._is_process:
            warnings = machine.warnings()
            for warning in warnings[self._warned :]:
                print(f"warn: {warning}", file=sys.stderr)
            self._warned = len(warnings)


__all__ = ["Console", "compatible_workload", "load", "name_program", "process_of", "system_of"]


def program_of(system: SimObject | None) -> bytes:
    """The bare-metal ELF that the system's workload names."""
    workload = None if system is None else system._value("workload")
    for name in ("bootloader", "object_file"):
        path = workload._value(name) if workload is not None and name in type(workload)._params else MISSING
        if isinstance(path, str) and path:
            return read_named(path, "system.workload.bootloader" if name == "bootloader" else f"system.workload.{name}")
    raise ConfigError(
        ["system.workload names no program: e.g. system.workload = RiscvBareMetal(bootloader='guest.elf')"]
    )
