"""The engine's Python module (engine/python/src; docs/development.md).

Every call raises `EngineError`, one sentence that names the thing and the fix, and never panics.
"""

from collections.abc import Callable
from os import PathLike
from typing import Final, Protocol, TypedDict, final

__all__ = [
    "EngineError",
    "Machine",
    "Sweep",
    "archive_members",
    "check_description",
    "elf_contents",
    "fingerprint",
    "instructions",
    "parameters_used",
    "routines",
    "ticks_per_second",
    "version",
]

#: a statistic: name, value, unit as gem5 names it, description
_Statistic = tuple[str, float, str, str]
#: name, value, size, type, binding, section (0: undefined)
_Symbol = tuple[str, int, int, int, int, int]

class _Output(Protocol):
    def write(self, data: bytes, /) -> object: ...

class _End(TypedDict):
    """Why a run has ended, and its totals since reset."""

    cause: str
    code: int
    insts: int
    cycles: int
    ticks: int
    host_seconds: float
    detail: str

class _Routine(TypedDict):
    name: str
    kind: str
    flags: int

class _Contents(TypedDict):
    #: "riscv" or "x86"
    isa: str
    #: "object", "executable" or "shared"
    kind: str
    #: name, type, flags, address, offset, size
    sections: list[tuple[str, int, int, int, int, int]]
    #: address, offset, bytes in the file, bytes in memory
    segments: list[tuple[int, int, int, int]]
    symbols: list[_Symbol]
    local_symbols: list[_Symbol]
    #: section, offset, type, symbol, addend
    relocations: list[tuple[int, int, int, int, int]]

version: Final[str]
#: a hash over the engine's sources: what a stored result is valid for
fingerprint: Final[str]
ticks_per_second: Final[int]

class EngineError(Exception): ...

@final
class Machine:
    """One guest on one machine. `description`: docs/description.md; `stdin` to `start_time`: of an emulated process."""

    def __new__(
        cls,
        description: str,
        elf: bytes,
        *,
        readfile: bytes | None = None,
        init_param: int = 0,
        stdin: bytes | None = None,
        directory: str | PathLike[str] | None = None,
        writable: bool = False,
        max_files: int = ...,
        start_time: int = ...,
        stdout: _Output | None = None,
        stderr: _Output | None = None,
    ) -> Machine: ...
    def run(
        self,
        max_insts: int = 0,
        max_cycles: int = 0,
        max_ticks: int = 0,
        stats_hook: Callable[[list[_Statistic]], object] | None = None,
        max_seconds: float = 0.0,
    ) -> _End:
        """Runs until something happens. Limits are totals since reset, seconds are the host's in this call; 0: none."""

    def progress(self) -> tuple[int, int, int]:
        """Instructions, cycles and ticks since reset."""

    def trace(
        self,
        path: str | PathLike[str],
        start: int = 0,
        end: int = 0,
        limit: int = ...,
        *,
        pipeline: bool = True,
        instructions: bool = False,
    ) -> None:
        """From now on writes a trace of the ticks `start` to `end` (0: the end), `limit` bytes at most."""

    def end_trace(self) -> bool:
        """Whether the trace is whole."""

    def cover(self, start: int, end: int) -> None: ...
    def coverage(self) -> tuple[list[int], int, int]:
        """Addresses of instructions that have run, returns, returns with the upper halves of ymm registers in use."""

    def stats(self) -> list[_Statistic]: ...
    def dumps(self) -> list[list[_Statistic]]: ...
    def reset_stats(self) -> None: ...
    def dump_stats(self) -> None: ...
    def keep_account(self) -> None: ...
    def stats_txt(self) -> str: ...
    def take_stats_txt(self) -> str: ...
    def console(self) -> bytes: ...
    def stdout(self) -> bytes: ...
    def stderr(self) -> bytes: ...
    def warnings(self) -> list[str]: ...
    def outputs(self) -> dict[str, bytes]: ...

@final
class Sweep:
    """A guest that has booted up to its first readfile: every point starts from there."""

    def __new__(
        cls,
        description: str,
        elf: bytes,
        on_progress: Callable[[], object] | None = None,
        detailed_everything: bool = False,
    ) -> Sweep:
        """Boots the guest. `on_progress()` every few milliseconds; what it raises ends the boot.
        `detailed_everything`: what the guest does between its work items is simulated in detail, too."""

    def run(
        self,
        records: bytes,
        threads: int = 0,
        on_progress: Callable[[int, int], object] | None = None,
        on_results: Callable[[bytes, bytes], object] | None = None,
        lists: bytes | None = None,
    ) -> bytes:
        """Results (64 bytes each) of records (128 bytes each), in their order, whatever the number of threads.

        `on_progress(done, total)`; `on_results(indices, results)`: little-endian 32-bit numbers of the points done
        since the last call, and their results. What either raises ends the sweep. `lists`: the lists of calls that
        records name (`breakeven.points.mix`).
        """

    def measured(
        self,
        record: bytes,
        trace: str | PathLike[str] | None = None,
        trace_limit: int = ...,
        on_progress: Callable[[], object] | None = None,
        lists: bytes | None = None,
        units: bool = False,
    ) -> tuple[bytes, int, int, list[_Statistic], list[_Statistic], bool]:
        """Result, cycles at both ends of the median measurement, its statistics, those of what is subtracted from it,
        whether the trace is whole. `units`: the trace tells the functional unit of each micro-op.

        `on_progress()` every few milliseconds; what it raises ends the run.
        """

def check_description(description: str) -> list[str]:
    """All errors of a description; empty when it can be built."""

def parameters_used(description: str) -> list[tuple[str, str, str, bool, str]]:
    """Path, class, parameter, whether more than one value is modelled, and which values, in words."""

def routines(elf: bytes) -> list[_Routine]: ...
def elf_contents(file: bytes) -> _Contents: ...
def archive_members(file: bytes) -> list[tuple[str, int, int, list[str]]]:
    """Name, offset, size, global symbols that the member defines."""

def instructions(
    code: bytes, isa: str, address: int = 0, most: int = ...
) -> list[tuple[int, int, str, list[str], int | None, bool, bool]]:
    """Address, bytes, text, extensions needed, target of a direct jump, whether it jumps through a register, whether
    what lies behind it is reached only otherwise."""
