"""The fit: finds a value for each knob in turn, by the probes that respond to it, from a coarse grid to single values.

Its result depends on the measurements and the base only, not on chance or time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from breakeven.calibration.knobs import Knob, Settings, knobs, known_knobs
from breakeven.calibration.measurements import Measured, Measurements
from breakeven.calibration.model import Model
from breakeven.calibration.probe import PointerChase, Probe
from breakeven.files.binaries import load_engine

#: a probe is reproduced within its spread, or within this share of the host's cycles
NEAR = 0.05
#: or within so many cycles, of a whole body or of a part of one
NEAR_WHOLE, NEAR_PART = 1.0, 0.03
#: another value replaces the current one if it lessens the cost by this share
_IMPROVEMENT = 0.02
#: steps of the first, coarse grid over a knob's candidates
_COARSE_STEPS = 9
#: the most that one probe adds to a cost, in tolerances: a probe that the model cannot reproduce must not decide alone
_MOST_COST = 20.0

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Fitted:
    """A knob with the value that was found."""

    knob: Knob
    value: object
    #: names of the knob's probes that respond to it: they decided
    responding: tuple[str, ...]
    settings: Settings


@dataclass(frozen=True)
class Comparison:
    """Cycles of one probe."""

    host: float
    base: float
    fitted: float
    tolerance: float

    @property
    def reproduced(self) -> bool:
        """Whether the fitted model is near enough."""
        return abs(self.fitted - self.host) <= self.tolerance


@dataclass
class Fit:
    """The fitted model."""

    base: str
    fitted: list[Fitted] = field(default_factory=list)
    #: by the probe's name
    probes: dict[str, Comparison] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        """Everything that was fitted."""
        return {path: value for each in self.fitted for path, value in each.settings.items()}

    def not_modelled(self) -> dict[str, Comparison]:
        """The probes that the fitted model does not reproduce."""
        return {name: each for name, each in self.probes.items() if not each.reproduced}


def tolerance(probe: Probe | PointerChase, measured: Measured) -> float:
    """How far a model may be from what was measured."""
    least = NEAR_WHOLE if isinstance(probe, PointerChase) or probe.parts == 1 else NEAR_PART
    return max(NEAR * abs(measured.cycles), measured.spread, least)


def as_options(settings: Mapping[str, object]) -> tuple[str, ...]:
    """The settings as ``--set`` takes them."""
    return tuple(
        f"{path}={str(value).lower() if isinstance(value, bool) else value}" for path, value in settings.items()
    )


class Search:
    """The search for one fit."""

    def __init__(self, model: Model, measurements: Measurements, progress: Progress | None = None) -> None:
        self._model = model
        self._measured = {name: each for name, each in measurements.probes.items() if name in model.probes}
        self._known = known_knobs(model.root, measurements)
        self._tolerances = {name: tolerance(model.probes[name], each) for name, each in self._measured.items()}
        #: what the knobs have set so far
        self._settings: Settings = {}
        self._progress = progress

    def run(self) -> Fit:
        """Fits every knob, then again those with `repeats`."""
        once = knobs(self._model.root)
        order = [*once, *(knob for repeat in (1, 2) for knob in once if knob.repeats >= repeat)]
        found = {knob.name: Fitted(knob, value, (), knob.settings_of(value)) for knob, value in self._known}
        for fitted in found.values():
            self._settings |= fitted.settings
        before = self._model.measure(self._measured)
        for done, knob in enumerate(order):
            if self._progress is not None:
                self._progress(done, len(order), knob.name)
            current = found[knob.name].value if knob.name in found else self._current(knob)
            if best := self._fit(knob, current):
                self._settings |= best.settings
                found[knob.name] = best
        after = self._model.measure(self._measured, as_options(self._settings))
        probes = {
            name: Comparison(each.cycles, before[name], after[name], self._tolerances[name])
            for name, each in self._measured.items()
        }
        return Fit(self._model.base, _last_setters(found.values()), probes)

    def _current(self, knob: Knob) -> object:
        """The knob's value so far: another knob may have set its parameter."""
        paths = list(knob.settings_of(knob.base))
        return self._settings.get(paths[0], knob.base) if len(paths) == 1 else knob.base

    def _fit(self, knob: Knob, current: object) -> Fitted | None:
        """The best candidate; None: no probe responds to the knob."""
        responding = self._responding(knob, current)
        if not responding:
            return None
        costs: dict[object, float] = {}

        def cost(value: object) -> float:
            if value not in costs:
                costs[value] = self._cost(knob, value, responding)
            return costs[value]

        best = _cheapest(cost, knob.candidates)
        if cost(best) > (1 - _IMPROVEMENT) * cost(current):
            best = current
        return Fitted(knob, best, tuple(responding), knob.settings_of(best))

    def _responding(self, knob: Knob, current: object) -> list[str]:
        """The knob's probes that differ by more than their tolerance between the current value and distant ones."""
        # A name may hold brackets, which fnmatch would read as a set of characters.
        patterns = [pattern.replace("[", "[[]") for pattern in knob.probes]
        names = [name for name in self._measured if any(fnmatchcase(name, pattern) for pattern in patterns)]
        cycles = self._cycles(knob, current, names)
        responding: set[str] = set()
        for value in {knob.candidates[0], knob.candidates[len(knob.candidates) // 2], knob.candidates[-1]}:
            others = self._cycles(knob, value, names)
            responding |= {name for name in others if abs(others[name] - cycles[name]) > self._tolerances[name]}
        return [name for name in names if name in responding]

    def _cycles(self, knob: Knob, value: object, names: Iterable[str]) -> dict[str, float]:
        """The model's cycles; empty: the engine refuses this value."""
        try:
            return self._model.measure(names, as_options({**self._settings, **knob.settings_of(value)}))
        except load_engine().EngineError:
            return {}

    def _cost(self, knob: Knob, value: object, names: list[str]) -> float:
        """The mean distance from the host, in tolerances."""
        cycles = self._cycles(knob, value, names)
        if not cycles:
            return math.inf
        distances = [abs(cycles[name] - self._measured[name].cycles) / self._tolerances[name] for name in names]
        return sum(min(each, _MOST_COST) for each in distances) / len(distances)


def _last_setters(found: Iterable[Fitted]) -> list[Fitted]:
    """Of knobs that set the same parameter the last one keeps it."""
    kept: list[Fitted] = []
    done: set[str] = set()
    for fitted in reversed(list(found)):
        settings = {path: value for path, value in fitted.settings.items() if path not in done}
        done |= set(settings)
        if settings:
            kept.append(replace(fitted, settings=settings))
    return kept[::-1]


def _cheapest(cost: Callable[[object], float], candidates: tuple[object, ...]) -> object:
    """The candidate of least cost: the best of a coarse grid, then of its neighbours at ever smaller steps."""
    step = max(1, len(candidates) // _COARSE_STEPS)
    best = min(range(0, len(candidates), step), key=lambda at: (cost(candidates[at]), at))
    while step > 1:
        step = (step + 1) // 2
        near = [at for at in (best - step, best, best + step) if 0 <= at < len(candidates)]
        best = min(near, key=lambda at: (cost(candidates[at]), abs(at - best)))
    return candidates[best]
