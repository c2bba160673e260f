"""One simulation: the tree a script built, the engine's machine made from it, and its end.

A script works on the current `Session`; `loader.run_script` gives each script its own.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.errors import UserError
from breakeven.m5.describe import canonical, describe
from breakeven.m5.errors import ConfigError
from breakeven.m5.params import MISSING
from breakeven.paths import read_bounded

if TYPE_CHECKING:
    from breakeven.m5.simobject import SimObject

MAX_TICK = (1 << 64) - 1


class ExitEvent:
    """Why `simulate` came back: gem5's wording and code."""

    def __init__(self, cause: str, code: int) -> None:
        self._cause = cause
        self._code = code

    def getCause(self) -> str:
        return self._cause

    def getCode(self) -> int:
        return self._code


class Session:
    """What one script has built and run so far. `outdir`: where the guest's files and statistics go; None: nowhere."""

    def __init__(self, outdir: Path | None = None) -> None:
        self.outdir = outdir
        self.root: SimObject | None = None
        self.description: dict[str, Any] | None = None
        self.machine: Any = None
        self.last: dict[str, Any] = {}
        self._dumped_at = -1

    def instantiate(self, root: SimObject | None = None) -> None:
        root = root if root is not None else self.root
        if root is None:
            raise ConfigError(["there is no Root: make Root(full_system=True, system=...) before m5.instantiate()"])
        if self.machine is not None:
            raise RuntimeError("m5.instantiate() has been called already; a script builds one machine")
        self.description = describe(root)
        self._make_outdir()
        from breakeven import _engine  # an extension module: only simulating needs it

        system = root._children.get("system")
        self.machine = _engine.Machine(
            canonical(self.description),
            _program(system),
            readfile=_host_file(system),
            init_param=0 if system is None else system._value("init_param"),
        )

    def simulate(self, ticks: int) -> ExitEvent:
        if self.machine is None:
            raise RuntimeError("call m5.instantiate() before m5.simulate()")
        if isinstance(ticks, bool) or not isinstance(ticks, int):
            raise TypeError(
                f"m5.simulate() takes whole ticks (picoseconds), not {ticks!r}; m5.ticks.fromSeconds makes them"
            )
        if ticks < 0:
            raise ValueError(f"m5.simulate({ticks}): time does not run backwards")
        if ticks == 0:
            return ExitEvent("simulate() limit reached", 0)
        until = self.current_tick() + ticks
        self.last = self.machine.run(max_ticks=0 if until >= MAX_TICK else until)
        if self.last["detail"]:
            # gem5 would print this and abort, or hang: a script that only asks for the cause must not lose it.
            print(f"warn: {self.last['cause']}: {self.last['detail']}", file=sys.stderr)
        return ExitEvent(self.last["cause"], self.last["code"])

    def current_tick(self) -> int:
        return int(self.last.get("ticks", 0))

    def dump_stats(self) -> None:
        """One more dump; as in gem5, a second one at the same tick is the first."""
        if self.machine is not None and self._dumped_at != self.current_tick():
            self._dumped_at = self.current_tick()
            self.machine.dump_stats()

    def finish(self) -> None:
        """Leave the guest's files and the statistics in `outdir`; gem5 dumps at its exit if anything was simulated."""
        if self.machine is None or self.outdir is None:
            return
        if self.last:
            self.dump_stats()
        self._make_outdir()
        try:
            for name, content in sorted(self.machine.outputs().items()):
                # A guest names its files; only the last part of a name reaches the host.
                (self.outdir / Path(name).name).write_bytes(content)
            (self.outdir / "stats.txt").write_text(self.machine.stats_txt())
        except OSError as error:
            raise _unwritable(error, self.outdir) from None

    def _make_outdir(self) -> None:
        """Before anything is simulated: a wrong --outdir must not cost a run."""
        if self.outdir is None:
            return
        try:
            self.outdir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(error, self.outdir) from None


def _unwritable(error: OSError, outdir: Path) -> UserError:
    return UserError(f"cannot write to {str(outdir)!r}: {(error.strerror or str(error)).lower()}")


def _program(system: SimObject | None) -> bytes:
    """The ELF that the system's workload names."""
    workload = None if system is None else system._value("workload")
    for name in ("bootloader", "object_file"):
        path = workload._value(name) if workload is not None and name in type(workload)._params else MISSING
        if isinstance(path, str) and path:
            return _read(path, f"system.workload.{name}")
    raise ConfigError(
        ["system.workload names no program: e.g. system.workload = RiscvBareMetal(bootloader='guest.elf')"]
    )


def _host_file(system: SimObject | None) -> bytes:
    path = "" if system is None else system._value("readfile")
    return _read(path, "system.readfile") if path else b""


def _read(path: str, what: str) -> bytes:
    try:
        return read_bounded(Path(path))
    except OSError as error:
        raise ConfigError([f"{what}: cannot read {path!r}: {error.strerror}"]) from None


_current = Session()


def current() -> Session:
    return _current


def use(session: Session) -> Session:
    """Make `session` the current one; returns the one before."""
    global _current
    before, _current = _current, session
    return before
