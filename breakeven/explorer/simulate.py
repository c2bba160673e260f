"""What the worker of the explorer answers: the points, accounts, traces and listings of one machine variant.

A variant is made once and kept for a while with its booted guest, so that a slider that comes back finds it; its points
are kept for longer.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from breakeven.analysis import traces
from breakeven.config.errors import OverrideError
from breakeven.engines.open import open_engine
from breakeven.engines.run_points import run_points
from breakeven.errors import UserError
from breakeven.explorer import commands, controls
from breakeven.explorer.state import from_row
from breakeven.files.binaries import guest_elf
from breakeven.files.data import find_data
from breakeven.files.importing import read_again
from breakeven.machine.resolve import Machine, forget, resolve
from breakeven.points import CACHE_STATES, MEASURES, Point, index_of, routines_of
from breakeven.points.converged import measured
from breakeven.routine.checks import check_routines
from breakeven.routine.registry import user_files
from breakeven.sweeps.request import machine_spec

#: variants that are kept with their booted guests
KEPT = 16
#: calls of one measurement of throughput, as the command line has them
_CALLS = 16
#: variants whose points are kept
REMEMBERED = 2048
#: bytes of a trace: some 4000 micro-ops
_TRACE = 1 << 20

Settings = Sequence[str]
#: machine, settings
Key = tuple[str, tuple[str, ...]]
#: of one point: size, source and destination offset
Place = Sequence[int]


class Variant:
    """A machine with its settings, and its session."""

    def __init__(self, machine: Machine, without_effect: list[str], session: Any) -> None:
        self.machine = machine
        #: settings that no rule reads on this machine; they are left out
        self.without_effect = without_effect
        self.session = session


@dataclass
class _Known:
    """What was simulated of a variant."""

    without_effect: list[str]
    #: point -> [least, median, instructions, converged, problem]
    rows: dict[Point, list[Any]] = field(default_factory=dict)
    #: routines that can be run and compared there
    checked: set[tuple[str, ...]] = field(default_factory=set)

    def have(self, routines: Sequence[str], points: Sequence[Point]) -> bool:
        """Whether these points need no simulation."""
        return tuple(routines) in self.checked and all(point in self.rows for point in points)


class Simulator:
    """Answers questions about variants. Raises what the machine's file, its settings or a routine make wrong.

    Used within `resolving(many=True)`: machines are kept as long as their variants, not as long as one question.
    """

    def __init__(self, store: Path | None = None, no_store: bool = False, threads: int = 0) -> None:
        self._where = (store, no_store)
        self._threads = threads
        #: called every few milliseconds while something is simulated: what it raises ends that
        self.stop: Callable[[], None] = _go_on
        self._variants: OrderedDict[Key, Variant] = OrderedDict()
        self._known: OrderedDict[Key, _Known] = OrderedDict()
        self._stack = ExitStack()
        self._guests = _guests()
        self._engine = self._opened()

    def _opened(self) -> Any:
        # A slider's answer does not wait for the disk.
        return self._stack.enter_context(open_engine(None, *self._where, durable=False, watch=lambda: self.stop()))

    def close(self) -> None:
        """Closes the store."""
        self._variants.clear()
        self._stack.close()

    def routines_changed(self) -> None:
        """A routine was added: engines and variants are made anew."""
        self._guests = _guests()
        for name, settings in list(self._variants):
            forget(machine_spec(name, list(settings)))
        self._variants.clear()
        self._known.clear()
        self._stack.close()
        self._engine = self._opened()

    def _key(self, name: str, settings: Settings) -> Key:
        """Of a variant. If a file that was read is another by now (a machine's, a module's, a guest), none is kept."""
        if read_again() or _guests() != self._guests:
            self.routines_changed()
        return name, tuple(settings)

    def variant(self, name: str, settings: Settings) -> Variant:
        """The variant, from the kept ones if it is there. An edited machine file is another machine."""
        key = self._key(name, settings)
        found = self._variants.pop(key, None) or self._made(name, list(settings))
        self._variants[key] = found
        self._let_go()
        return found

    def _let_go(self) -> None:
        """Drops the variants that were not asked for the longest."""
        while len(self._variants) > KEPT:
            _, old = self._variants.popitem(last=False)
            forget(old.machine.spec)
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def _made(self, name: str, settings: list[str]) -> Variant:
        without_effect: list[str] = []
        while True:
            spec = machine_spec(name, settings)
            forget(spec)
            try:
                machine = resolve(spec)
                break
            except OverrideError as error:
                idle = [text for text in settings if str(error).startswith(f"{text} changes nothing")]
                if not idle:
                    raise
                without_effect.append(_path(idle[0]))
                settings = [text for text in settings if text != idle[0]]
        return Variant(machine, without_effect, self._engine.open(spec))

    def ahead(
        self, name: str, settings: Settings, routines: Sequence[str], places: Sequence[Place], cache: str, measure: str,
        keep: bool = True,
    ) -> None:  # fmt: skip
        """Boots a variant that may be asked for next, and simulates points of it, as `points`.

        `keep`: as any other; else it is the first to be let go of, and none is booted for points that are known.
        """
        key, made = self._key(name, settings), _points(routines, places, cache, measure)
        if keep or key in self._variants:
            variant = self.variant(name, settings)
        elif key in self._known and self._known[key].have(routines, made):
            return
        else:
            variant = self._variants[key] = self._made(name, list(settings))
            self._variants.move_to_end(key, last=False)
        try:
            variant.session.boot(routines)
            self._simulated(key, variant, routines, made)
        finally:
            self._let_go()

    def describe(self, name: str, settings: Settings) -> dict[str, Any]:
        """The machine's parameters as controls, and its routines."""
        variant = self.variant(name, settings)
        found = variant.session.routines()
        return {
            "isa": variant.machine.isa,
            "hash": variant.machine.hash,
            "without_effect": variant.without_effect,
            "controls": controls.controls(variant.machine),
            "routines": [[each.name, each.kind, each.missing_extension, bool(each.origin)] for each in found],
        }

    def points(
        self, name: str, settings: Settings, routines: Sequence[str], places: Sequence[Place], cache: str, measure: str
    ) -> dict[str, Any]:  # fmt: skip
        """Cycles per call of every routine at every place: [least, median, converged, problem]."""
        key, made = self._key(name, settings), _points(routines, places, cache, measure)
        known = self._known.get(key)
        if known is None or not known.have(routines, made):
            variant = self.variant(name, settings)
            self.stop()
            known = self._simulated(key, variant, routines, made)
        return {"rows": [known.rows[point] for point in made], "without_effect": known.without_effect}

    def _simulated(self, key: Key, variant: Variant, routines: Sequence[str], made: list[Point]) -> _Known:
        """What is known of a variant, these points among it. Raises `UserError` for routines that cannot be run or
        compared there."""
        known = self._known.pop(key, None) or _Known(variant.without_effect)
        self._known[key] = known
        if tuple(routines) not in known.checked:
            check_routines(variant.session, list(routines), one_job=len(routines) > 1)
            known.checked.add(tuple(routines))
        # The long ones first: at the end no core waits for another.
        missing = [point for point in dict.fromkeys(made) if point not in known.rows]
        missing.sort(key=lambda point: -point.size)
        if missing:
            ran = run_points(variant.session, missing, self._threads, lambda *_: self.stop(), by_rule=True)
            for point, result in zip(missing, ran, strict=True):
                known.rows[point] = [
                    result.cycles_min / point.calls, result.cycles_median / point.calls, result.instructions,
                    result.converged, result.problem,
                ]  # fmt: skip
        return known

    def published(
        self, name: str, routines: Sequence[str], src: int, dst: int, cache: str, measure: str
    ) -> list[list[Any]]:
        """What was measured on the preset's hardware (`breakeven.studies.published.Dot`)."""
        from breakeven.machine.clock import core_period
        from breakeven.studies.published import dots

        found = dots(name, routines, src, dst, cache, measure, lambda: core_period(self.variant(name, ()).machine))
        return [list(dot) for dot in found]

    def host(
        self, routines: Sequence[str], places: Sequence[Place], cache: str, measure: str, trusted: Sequence[str]
    ) -> list[list[Any]]:  # fmt: skip
        """The same points on this host's own processor, as rows of `published`. `trusted`: routines of the user's that
        may run there."""
        from breakeven.engines.native import NativeEngine, host_name
        from breakeven.points.machine_spec import HOST, MachineSpec
        from breakeven.studies.published import IN_A_PROGRAM

        spec, found = MachineSpec(HOST), []
        engine = NativeEngine(trusted.__contains__)
        session, name = engine.open(spec), host_name() + (f"; {IN_A_PROGRAM}" if engine.isa == "x86" else "")
        check_routines(session, list(routines), one_job=len(routines) > 1)
        engine.check(spec, routines)
        made = _points(routines, places, cache, measure)
        for point, result in zip(made, run_points(session, made, 1), strict=True):
            cycles = result.cycles_median / point.calls
            if result.ok and cycles > 0:
                said = f"measured here: {cycles:.4g} cycles ({name})"
                found.append([point.routine, point.size, cycles, said])
        return found

    def account(
        self, name: str, settings: Settings, routine: str, place: Place, cache: str, measure: str
    ) -> dict[str, Any]:
        """Where the cycles of a point went (`breakeven.analysis.topdown`)."""
        from breakeven.analysis.topdown import account_of, as_dict

        found = self._measured(name, settings, _point(routine, place, cache, measure))
        return as_dict(account_of(found.stats, name, found.subtracted))

    def trace(
        self, name: str, settings: Settings, routine: str, place: Place, cache: str, measure: str
    ) -> dict[str, Any]:
        """The micro-ops of a point over the cycles (`traces`); the core must keep a trace."""
        return traces.of_point(
            self.variant(name, settings).machine,
            lambda file: self._measured(name, settings, _point(routine, place, cache, measure), file),
        )

    def look(
        self, name: str, settings: Settings, routine: str, place: Place, cache: str, measure: str
    ) -> dict[str, Any]:
        """`account` and, where the core keeps one, `trace` of one measurement."""
        from breakeven.analysis.topdown import account_of, as_dict

        machine, point, found = self.variant(name, settings).machine, _point(routine, place, cache, measure), []

        def look(file: Path | None = None) -> Any:
            found.append(self._measured(name, settings, point, file))
            return found[0]

        trace = traces.of_point(machine, look) if traces.keeps_one(machine) else (look(), None)[1]
        return {"account": as_dict(account_of(found[0].stats, name, found[0].subtracted)), "trace": trace}

    def code(self, name: str, settings: Settings, routine: str) -> dict[str, Any]:
        """A routine's listing: [address, text], and what its file says of it; of a sequence both."""
        from breakeven.routine.page import page
        from breakeven.routine.registry import user_file_by_routine

        isa = self.variant(name, settings).machine.isa
        files = user_file_by_routine(isa)
        parts = [page(isa, each, files[each].guest if each in files else None) for each in routines_of(routine)]
        return {
            "text": " Then: ".join(part["text"] for part in parts),
            **{what: [line for part in parts for line in part[what]] for what in ("published", "listing")},
        }

    def commands(self, state: dict[str, Any], sizes: Sequence[int]) -> dict[str, str]:
        """What makes a state's curves again (`commands`); settings without effect are left out."""
        asked = from_row(state)
        found = self.variant(asked.machine, asked.settings).machine
        # The machine without settings has its tree: its file is not executed again.
        plain = self.variant(asked.machine, ()).machine
        return commands.commands(replace(asked, settings=found.spec.settings), sizes, found.isa, plain.root)

    def _measured(self, name: str, settings: Settings, point: Point, trace: Path | None = None) -> Any:
        found = measured(self.variant(name, settings).session, point, True, trace, _TRACE)
        if not found.result.ok:
            raise UserError(f"{point.routine} on {name}, size {point.size}: {found.result.problem}")
        return found


def _go_on() -> None:
    """Nobody stops it."""


def _guests() -> str:
    """A hash of breakeven's guests and the user's."""
    found = hashlib.sha256()
    for isa in ("riscv", "x86"):
        for path in (find_data("guests", f"{isa}.elf"), *(own.guest for own in user_files(isa))):
            found.update(hashlib.sha256(str(path).encode() + b"\0" + guest_elf(isa, path)).digest())
    return found.hexdigest()


def _points(routines: Sequence[str], places: Sequence[Place], cache: str, measure: str) -> list[Point]:
    return [_point(routine, place, cache, measure) for place in places for routine in routines]


def _path(setting: str) -> str:
    return setting.partition("=")[0].strip()


def _point(routine: str, place: Place, cache: str, measure: str) -> Point:
    kind = index_of(MEASURES, measure, "measure")
    size, src, dst = (int(number) for number in place)
    return Point(
        routine=routine, size=size, src_offset=src, dst_offset=dst, calls=_CALLS if kind else 1, measure=kind,
        cache_state=index_of(CACHE_STATES, cache, "cache state"),
    )  # fmt: skip
