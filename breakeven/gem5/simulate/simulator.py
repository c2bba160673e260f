"""``Simulator``: runs a board and hands its exit events to the script."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any

from breakeven.config.current import current
from breakeven.gem5.simulate.exit_event import ExitEvent
from breakeven.gem5.simulate.exit_event_generators import (
    dump_stats_generator,
    exit_generator,
    reset_stats_generator,
    unsupported_generator,
)
from breakeven.m5 import script as m5
from breakeven.m5.gem5stats import get_simstat

Handler = Generator[bool | None, None, None] | list[Callable[[], bool | None]] | Callable[[], bool | None]


class Simulator:
    """One run of `board`. `on_exit_event`: exit event -> what to do: a generator, a list of functions (one an event,
    the last one from then on) or a function; what it gives says whether to end the run. Events that it does not name
    are handled as gem5 does: exits end the run, work items reset and dump statistics."""

    def __init__(
        self,
        board: Any,
        full_system: bool | None = None,
        on_exit_event: dict[ExitEvent, Handler] | None = None,
        expected_execution_order: Sequence[ExitEvent] | None = None,
        checkpoint_path: Path | None = None,
        max_ticks: int | None = None,
        id: str | int | None = None,
    ) -> None:
        if checkpoint_path is not None:
            raise ValueError("checkpoints are not supported: make the Simulator without checkpoint_path")
        self._board = board
        self._full_system = full_system
        self._expected = list(expected_execution_order) if expected_execution_order is not None else None
        self._max_ticks = m5.MaxTick if max_ticks is None else max_ticks
        self._id = id
        self._handlers = self._default_handlers()
        if on_exit_event:
            self._handlers |= {event: _as_generator(handler) for event, handler in on_exit_event.items()}
        self._defaults = self._default_handlers()
        self._instantiated = False
        self._root: Any = None
        self._last: Any = None
        self._count = 0
        self._stopwatch: list[tuple[ExitEvent, int]] = []

    @staticmethod
    def _default_handlers() -> dict[ExitEvent, Generator[bool | None, None, None]]:
        ends = (ExitEvent.EXIT, ExitEvent.FAIL, ExitEvent.USER_INTERRUPT, ExitEvent.MAX_TICK, ExitEvent.MAX_INSTS,
                ExitEvent.SCHEDULED_TICK)  # fmt: skip
        return {
            **{event: exit_generator() for event in ends},
            ExitEvent.WORKBEGIN: reset_stats_generator(),
            ExitEvent.WORKEND: dump_stats_generator(),
            ExitEvent.SIMPOINT_BEGIN: reset_stats_generator(),
            ExitEvent.CHECKPOINT: unsupported_generator("a checkpoint"),
            ExitEvent.SWITCHCPU: unsupported_generator("switching to another core"),
        }

    # --- before the run ---

    def set_id(self, id: str | int) -> None:
        self._id = id

    def get_id(self) -> str | int | None:
        return self._id

    def set_max_ticks(self, max_tick: int) -> None:
        """The tick at which `run` ends at the latest."""
        self._max_ticks = max_tick

    def get_max_ticks(self) -> int:
        return self._max_ticks

    def schedule_max_insts(self, inst: int) -> None:
        """An exit event (`ExitEvent.MAX_INSTS`) after `inst` instructions."""
        if self._instantiated:
            raise RuntimeError("schedule_max_insts() comes before run()")
        self._board.get_processor().get_cores()[0]._set_inst_stop_any_thread(inst, False)

    def override_outdir(self, new_outdir: str | Path) -> None:
        m5.setOutputDir(str(new_outdir))

    def add_text_stats_output(self, path: str) -> None:
        self._before_first(path)

    def add_json_stats_output(self, path: str) -> None:
        self._before_first(f"json://{path}")

    def _before_first(self, url: str) -> None:
        self._instantiate()
        m5.stats.addStatVisitor(url)

    def _instantiate(self) -> None:
        if self._instantiated:
            return
        self._instantiated = True
        full_system = self._board.is_fullsystem() if self._full_system is None else self._full_system
        self._root = self._board._pre_instantiate(full_system=full_system)
        m5.instantiate()
        self._board._post_instantiate()

    # --- the run ---

    def run(self, max_ticks: int | None = None) -> None:
        """Run until a handler ends it, or for `max_ticks`."""
        self._instantiate()
        end = self._max_ticks if max_ticks is None else m5.curTick() + max_ticks
        while True:
            self._last = m5.simulate(max(0, end - m5.curTick()) if end < m5.MaxTick else m5.MaxTick)
            event = self.get_last_exit_event()
            self._stopwatch.append((event, m5.curTick()))
            self._check_order(event)
            self._count += 1
            if self._handle(event):
                return

    def _check_order(self, event: ExitEvent) -> None:
        if self._expected is None:
            return
        wanted = self._expected[self._count] if self._count < len(self._expected) else None
        if event is not wanted:
            names = wanted.value if wanted else "none: the expected order is over"
            raise Exception(f"exit event {event.value!r} at place {self._count}; expected was {names!r}")

    def _handle(self, event: ExitEvent) -> bool:
        try:
            return bool(next(self._handlers[event]))
        except KeyError:
            raise NotImplementedError(
                f"nothing handles the exit event {event.value!r}: name it in on_exit_event"
            ) from None
        except StopIteration:
            # A generator that is through leaves its event to the default, as in gem5.
            print(f"warn: the handler of {event.value!r} has ended; the default takes over", file=sys.stderr)
            self._handlers[event] = self._defaults[event]
            return bool(next(self._handlers[event]))

    # --- afterwards ---

    def get_last_exit_event(self) -> ExitEvent:
        return ExitEvent.translate_exit_status(self.get_last_exit_event_cause())

    def get_last_exit_event_cause(self) -> str:
        if self._last is None:
            raise RuntimeError("nothing has been run yet")
        return self._last.getCause()

    def get_last_exit_event_code(self) -> int:
        if self._last is None:
            raise RuntimeError("nothing has been run yet")
        return self._last.getCode()

    def get_current_tick(self) -> int:
        return m5.curTick()

    def get_tick_stopwatch(self) -> list[tuple[ExitEvent, int]]:
        """Every exit event so far, with its tick."""
        return self._stopwatch

    def get_roi_ticks(self) -> list[int]:
        """The ticks between each workbegin and the workend after it."""
        found, start = [], 0
        for event, tick in self._stopwatch:
            if event is ExitEvent.WORKBEGIN:
                start = tick
            elif event is ExitEvent.WORKEND:
                found.append(tick - start)
        return found

    def get_instruction_count(self) -> int:

        return current().insts()

    def get_simstats(self) -> Any:
        """The statistics now, as gem5's `SimStat`."""

        if not self._instantiated:
            raise Exception("there are no statistics before run()")
        return get_simstat(self._root)

    def get_stats(self) -> dict[str, Any]:
        return self.get_simstats().to_json()

    def save_checkpoint(self, checkpoint_dir: Path) -> None:
        raise NotImplementedError("checkpoints are not supported here")


def _as_generator(handler: Handler) -> Generator[bool | None, None, None]:
    if isinstance(handler, Generator):
        return handler
    functions = list(handler) if isinstance(handler, list) else [handler]
    if not functions or not all(callable(function) for function in functions):
        raise TypeError(
            f"an exit event is handled by a generator, a function or a list of functions, not by {handler!r}"
        )

    def calls() -> Generator[bool | None, None, None]:
        for function in functions:
            yield function()
        while True:
            yield functions[-1]()

    return calls()
