"""One simulation: the tree a script built, the engine's machine made from it, and its end.

A script works on the current `Session`; `loader.run_script` gives each script its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from breakeven.config.current import current, use
from breakeven.config.describe import canonical, describe
from breakeven.config.errors import ConfigError
from breakeven.config.library import IN_SCRIPTS
from breakeven.errors import UserError
from breakeven.files.places import resolved
from breakeven.files.writing import write_text
from breakeven.m5.options import Options
from breakeven.m5.outputs import Outputs, compress, unwritable

if TYPE_CHECKING:
    from breakeven.config.simobject import SimObject


MAX_TICK = (1 << 64) - 1
#: the trace ends after so many bytes
TRACE_LIMIT = 1 << 30


class ExitEvent:
    """Why `simulate` came back: gem5's wording and code."""

    def __init__(self, cause: str, code: int) -> None:
        self._cause = cause
        self._code = code

    def getCause(self) -> str:
        return self._cause

    def getCode(self) -> int:
        return self._code


class Scheduled(NamedTuple):
    """An event of the script's own."""

    tick: int
    priority: int
    event: Callable[[], Any]


class Session:
    """What one script has built and run so far. `outdir`: where files and statistics go; None: nowhere."""

    def __init__(self, outdir: Path | None = None, options: Options | None = None) -> None:
        self.outdir = outdir
        self.options = options or Options()
        self.root: SimObject | None = None
        self.description: dict[str, Any] | None = None
        self.machine: Any = None
        self.last: dict[str, Any] = {}
        self.scheduled: list[Scheduled] = []
        self.max_tick = MAX_TICK
        self._exits: list[tuple[int, str]] = []
        #: instructions since reset at which `simulate` comes back, with the cause
        self._inst_stops: list[tuple[int, str]] = []
        self._tick = 0
        self._dumped_at = -1
        self._console: Any = None
        self._period = 0
        self._outputs: Any = None
        self._traced = False

    # --- building ---

    def set_outdir(self, path: str) -> None:
        self.outdir = Path(path)
        self.options.outdir = path

    def instantiate(self, root: SimObject | None = None) -> None:
        root = root if root is not None else self.root
        if root is None:
            raise ConfigError(["there is no Root: make Root(full_system=True, system=...) before m5.instantiate()"])
        if self.machine is not None:
            raise RuntimeError("m5.instantiate() has been called already; a script builds one machine")
        from breakeven.m5.programs import Console, load, name_program, process_of

        _as_gem5(root)
        _put_together(root)
        name_program(root)
        self.description = describe(root)
        self._console = Console(process_of(root), self.outdir)
        self._check_places()
        if self.outdir is not None:
            self._write_config(root, self.outdir)
        from breakeven import _engine  # an extension module: only simulating needs it

        self.machine = load(_engine, canonical(self.description), root, self.options, self._console)
        if self.outdir is not None:
            from breakeven.config.modelled import warn_of_unmodelled

            warn_of_unmodelled(root)

            self._outputs = Outputs(self.outdir, self.options.stats_file)
        if self.options.debug_flags:
            self._start_trace()

    def _check_places(self) -> None:
        """Raises `UserError` where a link that nobody named, or a process that may write in a folder that output goes
        to, could lead output elsewhere."""
        options = self.options
        if self.outdir is not None:
            options.check_default_places(self.outdir)
        if self.outdir is None or not (options.allow_dir and options.allow_writes):
            return
        theirs = resolved(Path(options.allow_dir))
        for name in (*self._own_files(), options.stats_file.partition("://")[2] or options.stats_file):
            if (folder := resolved((self.outdir / name).parent)).is_relative_to(theirs):
                fix = "give an --outdir outside of --allow-dir"
                raise UserError(f"the process may write in {str(folder)!r} (--allow-writes): {fix}")

    def _write_config(self, root: SimObject, outdir: Path) -> None:
        """Before anything is simulated: a wrong --outdir must not cost a run."""
        from breakeven.m5 import config_files

        try:
            outdir.mkdir(parents=True, exist_ok=True)
            if self.options.dump_config:
                write_text(outdir / self.options.dump_config, config_files.ini(root))
            if self.options.json_config:
                write_text(outdir / self.options.json_config, config_files.as_json(root))
        except OSError as error:
            raise unwritable(error, outdir) from None

    # --- traces ---

    def enable_trace(self, flag: str) -> None:
        if flag not in self.options.debug_flags:
            self.options.debug_flags.append(flag)
        if self.machine is not None and not self._traced:
            self._start_trace()

    def disable_trace(self, flag: str) -> None:
        if flag in self.options.debug_flags:
            self.options.debug_flags.remove(flag)
        if self._traced and not self.options.debug_flags:
            self._end_trace()

    def _start_trace(self) -> None:
        name = self.options.debug_file
        # gem5 writes its traces to the standard output unless told otherwise.
        path = Path("/dev/stdout") if name in ("cout", "") else (self.outdir or Path()) / name.removesuffix(".gz")
        flags = self.options.debug_flags
        self.machine.trace(
            path,
            self.options.debug_start,
            self.options.debug_end,
            TRACE_LIMIT,
            pipeline="O3PipeView" in flags,
            instructions="Exec" in flags,
        )
        self._traced = True

    def _end_trace(self) -> None:
        self._traced = False
        name = self.options.debug_file
        if not self.machine.end_trace():
            print(f"warn: the trace {name!r} ends early, at {TRACE_LIMIT} bytes", file=sys.stderr)
        if name.endswith(".gz"):
            compress((self.outdir or Path()) / name)

    # --- running ---

    def schedule_exit(self, tick: int, cause: str) -> None:
        """`simulate` comes back at `tick` with `cause`."""
        if tick < self.current_tick():
            raise ValueError(f"tick {tick} is over: it is {self.current_tick()}")
        self._exits.append((tick, cause))

    def schedule_inst_stop(self, insts: int, cause: str) -> None:
        """`simulate` comes back after `insts` more instructions with `cause`."""
        if insts <= 0:
            raise ValueError(f"an instruction stop lies ahead: {insts} is not a number of instructions to come")
        self._inst_stops.append((self.insts() + insts, cause))

    def insts(self) -> int:
        """Instructions since reset."""
        return int(self.last.get("insts", 0))

    def simulate(self, ticks: int) -> ExitEvent:
        if self.machine is None:
            raise RuntimeError("call m5.instantiate() before m5.simulate()")
        if isinstance(ticks, bool) or not isinstance(ticks, int):
            raise TypeError(
                f"m5.simulate() takes whole ticks (picoseconds), not {ticks!r}; m5.ticks.fromSeconds makes them"
            )
        if ticks < 0:
            # gem5 takes -1 for "to the end": its tick is unsigned.
            ticks = MAX_TICK
        end = min(self.current_tick() + ticks, self.max_tick)
        sys.stdout.flush()
        while True:
            stop, cause = min([(end, "simulate() limit reached"), *self._exits])
            due = min(self.scheduled, key=lambda each: each[:2], default=None)
            if due is not None and due.tick <= stop:
                stop = due.tick
            ended = self._advance(stop)
            if ended is not None:
                return ended
            if due is not None and due.tick == stop:
                self.scheduled.remove(due)
                due.event()
                continue
            if (stop, cause) in self._exits:
                self._exits.remove((stop, cause))
            return ExitEvent(cause, 0)

    def _advance(self, until: int) -> ExitEvent | None:
        """Run on to the tick `until`; the event when the guest ended the run before."""
        if until <= self.current_tick():
            return None
        stop = min(self._inst_stops, default=None)
        try:
            self.last = self.machine.run(max_ticks=0 if until >= MAX_TICK else until, max_insts=stop[0] if stop else 0)
        finally:
            # Also when the user has interrupted it.
            self._console.show(self.machine)
        self._tick = int(self.last["ticks"])
        if self._outputs is not None:
            self._outputs.append_stats(self.machine)
        if self.last["cause"] == "simulate() limit reached":
            # The core stops at its first clock edge from there on; the simulation stops at the tick itself.
            self._tick = until
            return None
        if self._outputs is not None:
            # A script may read at once what the guest has left.
            self._outputs.write_files(self.machine, self._own_files())
        if stop is not None and self.last["cause"] == "max instruction count":
            self._inst_stops.remove(stop)
            return ExitEvent(stop[1], 0)
        if self.last["detail"]:
            # gem5 would print this and abort, or hang: a script that only asks for the cause must not lose it.
            print(f"warn: {self.last['cause']}: {self.last['detail']}", file=sys.stderr)
        return ExitEvent(self.last["cause"], self.last["code"])

    def _own_files(self) -> list[str]:
        """Names of files in the output folder that are the simulator's, beside statistics."""
        options = self.options
        trace = options.debug_file
        names = [options.dump_config, options.json_config, options.stdout_file, options.stderr_file, trace]
        return [*names, trace.removesuffix(".gz"), *self._console.files]

    def current_tick(self) -> int:
        return self._tick

    # --- statistics ---

    def dump_stats(self) -> None:
        """One more dump; as in gem5, a second one at the same tick is the first."""
        if self.machine is not None and self._dumped_at != self.current_tick():
            self._dumped_at = self.current_tick()
            self.machine.dump_stats()
            if self._outputs is not None:
                self._outputs.append_stats(self.machine)

    def forget_dump(self) -> None:
        """Statistics began anew: a dump at this tick is another one."""
        self._dumped_at = -1

    def dump_every(self, period: int) -> None:
        """Dump and reset every `period` ticks from now on; 0: no more."""
        self.scheduled[:] = [each for each in self.scheduled if each.event != self._dump_of_period]
        self._period = period
        if period > 0:
            self.scheduled.append(Scheduled(self.current_tick() + period, 0, self._dump_of_period))

    def _dump_of_period(self) -> None:
        self.dump_stats()
        self.machine.reset_stats()
        self.forget_dump()
        self.dump_every(self._period)

    def add_stats_file(self, name: str) -> None:
        """Dumps go to the file `name` too (``json://name``: as JSON, the last dump)."""
        if self._outputs is None:
            raise RuntimeError("there is no output folder yet: call m5.instantiate() first")
        self._outputs.add_file(name)

    def finish(self) -> None:
        """Leave the guest's files and the statistics in `outdir`; gem5 dumps at its exit if anything was simulated."""
        if self.machine is None:
            return
        if self._traced:
            self._end_trace()
        if self._outputs is None:
            return
        if self.last:
            self.dump_stats()
        self._outputs.append_stats(self.machine)
        self._outputs.write_files(self.machine, self._own_files())


def _as_gem5(root: SimObject) -> None:
    """Where a script leaves one of our parameters alone, the core behaves as gem5's, slips included."""
    for obj in root.descendants():
        for cls in type(obj).__mro__:
            for name, value in IN_SCRIPTS.get(cls.__name__, {}).items():
                if name not in obj.set_names():
                    setattr(obj, name, value)


def _put_together(root: SimObject) -> None:
    """What would otherwise be told as ports that nobody has joined: a board of the standard library that no Simulator
    has put together, and cores to switch to."""
    for node in root.descendants():
        if "switched_out" in type(node)._params and node._value("switched_out") is True:
            what = f"{node.path()} is a core to switch to, and a machine keeps its core: run the script once with each"
            raise ConfigError([what])
    for child in root._children.values():
        if getattr(child, "_connected", None) is False:
            raise ConfigError(
                [
                    f"the board {child.path()} has not been put together: run it with Simulator(board=...), or call "
                    "its _pre_instantiate() before m5.instantiate()"
                ]
            )


def _start() -> None:
    """The simulation of a program that launches no script: Python code that uses ``breakeven.m5`` as it is."""
    session = Session()
    session.root = current().root
    use(session)


_start()
