"""The fit: knob by knob, each by the probes that respond to it, coarse to fine.

It depends on the measurements and the base alone: no chance, no time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from breakeven.calibration.knobs import Knob, knobs
from breakeven.calibration.measurements import Measured, Measurements
from breakeven.calibration.model import Model
from breakeven.calibration.probe import Probe, Ring
from breakeven.calibration.told import told
from breakeven.files.binaries import load_engine

#: a probe fits when it is as near as this share of the host's number
NEAR = 0.05
#: ... or this many cycles, of a body as a whole; of one part of a body
WHOLE, PART = 1.0, 0.03
#: a value displaces the base's when it lessens the distance by this share
BETTER = 0.02
#: as many values of a long list are tried first
_COARSE = 9
#: distance, in tolerances, beyond which a probe is no farther: one that the model lacks must not decide alone
_FAR = 20.0

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Fitted:
    """A knob with its value."""

    knob: Knob
    value: object
    #: probes that decided it: those of the knob's that respond to it
    probes: tuple[str, ...]
    #: path -> value
    settings: dict[str, object]


@dataclass
class Fit:
    """What was found."""

    base: str
    fitted: list[Fitted] = field(default_factory=list)
    #: by probe: the host's number, the base's, the fitted model's
    numbers: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    #: by probe: how near is near enough
    tolerances: dict[str, float] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, object]:
        """path -> value of everything that was fitted."""
        return {path: value for each in self.fitted for path, value in each.settings.items()}

    def not_modelled(self) -> list[str]:
        """Probes that no value brings near."""
        return [name for name, (host, _, model) in self.numbers.items() if abs(model - host) > self.tolerances[name]]


def tolerance(probe: Probe | Ring, measured: Measured) -> float:
    """How far from the host's number a probe may be."""
    least = WHOLE if isinstance(probe, Ring) or probe.each == 1 else PART
    return max(NEAR * abs(measured.cycles), measured.spread, least)


def as_settings(values: Mapping[str, object]) -> tuple[str, ...]:
    """As ``--set`` takes them."""
    return tuple(f"{path}={_written(value)}" for path, value in values.items())


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Search:
    """One fit under way."""

    def __init__(self, model: Model, measurements: Measurements, progress: Progress | None = None) -> None:
        self.model = model
        self.measured = {name: each for name, each in measurements.probes.items() if name in model.probes}
        self._told = told(model.root, measurements)
        self.tolerances = {name: tolerance(model.probes[name], each) for name, each in self.measured.items()}
        self._values: dict[str, object] = {}
        self._progress = progress

    def run(self) -> Fit:
        """All knobs, and those that lean on one another a second time."""
        every = knobs(self.model.root)
        order = [*every, *(knob for time in (1, 2) for knob in every if knob.again >= time)]
        found = {knob.name: Fitted(knob, value, (), knob.sets(value)) for knob, value in self._told}
        for each in found.values():
            self._values |= each.settings
        before = self.model.measure(self.measured)
        for done, knob in enumerate(order):
            if self._progress is not None:
                self._progress(done, len(order), knob.name)
            fitted = self._fit(knob, found[knob.name].value if knob.name in found else self._now(knob))
            if fitted is not None:
                self._values |= fitted.settings
                found[knob.name] = fitted
        after = self.model.measure(self.measured, as_settings(self._values))
        numbers = {name: (each.cycles, before[name], after[name]) for name, each in self.measured.items()}
        return Fit(self.model.base, _each_once(found.values()), numbers, self.tolerances)

    def _now(self, knob: Knob) -> object:
        """What the knob's one parameter is by now, or the base's."""
        paths = list(knob.sets(knob.base))
        return self._values.get(paths[0], knob.base) if len(paths) == 1 else knob.base

    def _fit(self, knob: Knob, now: object) -> Fitted | None:
        """None: no probe responds to the knob."""
        names = self._deciding(knob, now)
        if not names:
            return None
        costs = {now: self._cost(knob, now, names)}

        def cost(value: object) -> float:
            if value not in costs:
                costs[value] = self._cost(knob, value, names)
            return costs[value]

        best = _least(cost, knob.candidates)
        if cost(best) > (1 - BETTER) * costs[now]:
            best = now
        return Fitted(knob, best, tuple(names), knob.sets(best))

    def _deciding(self, knob: Knob, now: object) -> list[str]:
        """The probes of the knob's that another value changes."""
        wanted = [name for name in self.measured if any(fnmatchcase(name, form) for form in _literal(knob.probes))]
        here = self._numbers(knob, now, wanted)
        responding: set[str] = set()
        for other in _apart(knob.candidates, now):
            there = self._numbers(knob, other, wanted)
            responding |= {name for name in there if abs(there[name] - here[name]) > self.tolerances[name]}
        return [name for name in wanted if name in responding]

    def _numbers(self, knob: Knob, value: object, names: Iterable[str]) -> dict[str, float]:
        """Empty for a value that the engine does not take."""
        try:
            return self.model.measure(names, as_settings({**self._values, **knob.sets(value)}))
        except load_engine().EngineError:
            return {}

    def _cost(self, knob: Knob, value: object, names: list[str]) -> float:
        found = self._numbers(knob, value, names)
        if not found:
            return math.inf
        far = [abs(found[name] - self.measured[name].cycles) / self.tolerances[name] for name in names]
        return sum(min(each, _FAR) for each in far) / len(far)


def _each_once(found: Iterable[Fitted]) -> list[Fitted]:
    """Where two set a parameter, the later one does."""
    kept: list[Fitted] = []
    done: set[str] = set()
    for each in reversed(list(found)):
        settings = {path: value for path, value in each.settings.items() if path not in done}
        done |= set(settings)
        if settings:
            kept.append(replace(each, settings=settings))
    return kept[::-1]


def _literal(forms: Iterable[str]) -> list[str]:
    """Names hold brackets and the like as they are; only `*` stands for anything."""
    return [form.replace("[", "[[]") for form in forms]


def _apart(candidates: tuple[object, ...], now: object) -> list[object]:
    """Values far from the one that is."""
    ends = [candidates[0], candidates[len(candidates) // 2], candidates[-1]]
    return [value for value in dict.fromkeys(ends) if value != now]


def _least(cost: Callable[[object], float], candidates: tuple[object, ...]) -> object:
    """The candidate of least cost: a grid first, then ever nearer to the best of it."""
    step = max(1, len(candidates) // _COARSE)
    tried = list(range(0, len(candidates), step))
    best = min(tried, key=lambda at: (cost(candidates[at]), at))
    while step > 1:
        step = (step + 1) // 2
        near = [at for at in (best - step, best, best + step) if 0 <= at < len(candidates)]
        best = min(near, key=lambda at: (cost(candidates[at]), abs(at - best)))
    return candidates[best]
