"""Which parameters of the machine a break-even (or a lead at one size) rests on, ranked by how far each moves it.

Every value that `sensitivity_steps` names is moved a step down and up, one at a time. At a sample of sizes the two
routines run again: where no cycle changes, nothing else can be learned from the value. Elsewhere the break-even is
searched again (`find`), begun where it was.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from breakeven.compare import curves_of
from breakeven.crossings import BreakEven, break_even
from breakeven.errors import UserError
from breakeven.find import Found, find, lead_edges
from breakeven.m5.errors import ConfigError, OverrideError
from breakeven.runner import Engine, MachineSpec
from breakeven.sensitivity_note import question, sizes_text
from breakeven.sensitivity_steps import Parameter, parameters_of
from breakeven.sweep import SweepProgress, SweepSpec, run_sweep
from breakeven.verdict import describe_break_even, span

#: sizes at which a moved value is looked at first
SAMPLE = 16
#: a lead that moves less than this changes nothing (a share of the ratio of times)
LEAST = 0.002


@dataclass(frozen=True)
class Variation:
    """The answer with one value moved."""

    value: str
    break_even: BreakEven
    #: the incumbent's time over the challenger's, median over the sampled sizes
    lead: float


@dataclass(frozen=True)
class Effect:
    """What a parameter does to the answer."""

    parameter: Parameter
    variations: list[Variation]
    #: how far it moves the break-even (doublings of the size; to or from "never" counts as off the grid), and the lead
    doublings: float
    lead_share: float

    @property
    def strongest(self) -> Variation:
        """The variation that moves the answer most."""
        return self.variations[0]


@dataclass(frozen=True)
class Sensitivity:
    """The parameters by what they do to the answer, the strongest first."""

    spec: SweepSpec
    break_even: BreakEven
    lead: float
    effects: list[Effect]
    #: moved without any change of a cycle at the sampled sizes
    idle: list[Parameter]
    #: values that the machine refuses: path=value and why
    refused: list[str]
    failures: list[str] = field(default_factory=list)

    @property
    def one_size(self) -> bool:
        return len(self.spec.sizes) == 1

    def conditions(self) -> str:
        """Machine, sizes, offsets, cache state and measure in a line."""
        src, dst = self.spec.pairs()[0]
        state, measure = self.spec.cache_states[0], self.spec.measures[0]
        return f"{self.spec.machines[0]}, {sizes_text(self.spec)}, src+{src}, dst+{dst}, {state}, {measure}"

    def answer(self, item: BreakEven, lead: float) -> str:
        """The break-even, or at one size the lead, in a cell."""
        if self.one_size:
            return f"{lead:.3f}x"
        if item.leads_everywhere:
            return "every size"
        return span(item.stays_lower, item.stays)

    def sentence(self) -> str:
        """What the answer rests on."""
        old, new = self.spec.routines
        what = f"the lead of {new}" if self.one_size else "the break-even"
        moving = [effect for effect in self.effects if effect.doublings > 0 or self.one_size]
        if not moving:
            return f"{what} rests on no single value: none of {self.moved} moved it by a step"
        top = moving[0]
        unsure = next((e for e in moving if e.parameter.mark not in ("sourced", "set now")), None)
        said = f"{what} rests on {self._told(top)}"
        if unsure is not None and unsure is not top:
            said += f"; of values without a source most on {self._told(unsure)}"
        return said

    def _told(self, effect: Effect) -> str:
        parameter, strongest = effect.parameter, effect.strongest
        before = self.answer(self.break_even, self.lead)
        after = self.answer(strongest.break_even, strongest.lead)
        unit = "" if self.one_size else " B"
        words = [f"{text}{unit}" if text[0].isdigit() else text for text in (before, after)]
        return (
            f"{parameter.path} ({parameter.mark}): with {strongest.value} in place of {parameter.value} "
            f"it moves from {words[0]} to {words[1]}"
        )

    @property
    def moved(self) -> int:
        """How many parameters were moved."""
        return len(self.effects) + len(self.idle)

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "machine": str(self.spec.machines[0]), "conditions": self.conditions(),
            "routines": list(self.spec.routines), "break_even": asdict(self.break_even), "lead": self.lead,
            "said": self.sentence(), "effects": [asdict(effect) for effect in self.effects],
            "idle": [parameter.path for parameter in self.idle], "refused": self.refused,
            "ok": not self.failures, "first_failure": self.failures[0] if self.failures else None,
        }  # fmt: skip

    def rows(self) -> list[tuple[str, ...]]:
        """For a table: path, mark, value, and what one step down and up makes of the answer."""
        found = []
        for effect in self.effects:
            parameter = effect.parameter
            by_value = {variation.value: variation for variation in effect.variations}
            cells = [
                f"{step}: {self.answer(by_value[step].break_even, by_value[step].lead)}"
                for step in parameter.steps
                if step in by_value
            ]
            lead = f"{effect.lead_share:.1%}"
            found.append((parameter.path, parameter.mark, parameter.value, ", ".join(cells), lead))
        return found

    def _repr_html_(self) -> str:
        from breakeven.html import sensitivity_page

        return sensitivity_page(self)


def sensitivity(
    spec: SweepSpec, engine: Engine, threads: int = 0, progress: SweepProgress | None = None
) -> Sensitivity:
    """Moves every value of the machine of `spec`; the sentence is kept in the engine's store where it has one."""
    if len(set(spec.routines)) != 2:
        raise UserError("a sensitivity is of two different routines")
    if len(spec.machines) != 1 or len(spec.pairs()) != 1 or spec.parameters:
        raise UserError("a sensitivity is of one machine and one pair of offsets, without --sweep")
    spec.validate()
    machine = spec.machines[0]
    engine.check(machine, spec.routines)
    found = _Variants(spec, engine, threads)
    parameters = parameters_of(machine)
    total = 1 + sum(len(parameter.steps) for parameter in parameters)
    done = 1
    if progress is not None:
        progress(done, total, str(machine))
    effects, idle, refused = [], [], []
    for parameter in parameters:
        variations = []
        for step in parameter.steps:
            setting = f"{parameter.path}={step}"
            try:
                variation = found.with_value(machine.with_settings(setting), step)
            except (UserError, ConfigError, OverrideError) as error:
                refused.append(f"{setting} ({str(error).removeprefix(f'{machine.with_settings(setting)}: ')})")
                variation = None
            variations += [variation] if variation is not None else []
            done += 1
            if progress is not None:
                progress(done, total, setting)
        if variations:
            effects.append(found.effect(parameter, variations))
        else:
            idle.append(parameter)
    effects.sort(key=lambda effect: (-effect.doublings, -effect.lead_share, effect.parameter.path))
    effects, weak = _parted(effects)
    result = Sensitivity(spec, found.even, found.lead, effects, idle + weak, refused, found.failures)
    note = getattr(engine, "note", None)
    if note is not None and not result.failures:
        note(machine, question(spec), json.dumps({"said": result.sentence(), "sizes": sizes_text(spec)}))
    return result


def _parted(effects: list[Effect]) -> tuple[list[Effect], list[Parameter]]:
    strong = [effect for effect in effects if effect.doublings > 0 or effect.lead_share >= LEAST]
    return strong, [effect.parameter for effect in effects if effect not in strong]


class _Variants:
    """The answer on the machine as it is, and with one value moved."""

    def __init__(self, spec: SweepSpec, engine: Engine, threads: int) -> None:
        self.spec, self.engine, self.threads = spec, engine, threads
        self.failures: list[str] = []
        self.sizes = sorted(set(spec.sizes))
        self.base: Found | None = None
        if len(self.sizes) > 1:
            self.base = self._find(spec.machines[0], ())
            self.sizes = self._sample(self.base)
        self.curves = self._curves(spec.machines[0])
        self.even = self.base.leads.break_even if self.base else self._even(self.curves)
        self.lead = self._lead(self.curves)

    def _find(self, machine: MachineSpec, hints: Sequence[float]) -> Found:
        found = find(replace(self.spec, machines=[machine]), self.engine, self.threads, None, hints=hints)
        self.failures += found.failures
        return found

    def _sample(self, found: Found) -> list[int]:
        """An even spread on a logarithmic axis, and both sides of the changes of the lead."""
        last = len(self.sizes) - 1
        spread = {round(math.exp(math.log(last + 1) * i / (SAMPLE - 1))) - 1 for i in range(SAMPLE)}
        return sorted({self.sizes[i] for i in spread} | {int(edge) for edge in lead_edges(found.leads)})

    def _curves(self, machine: MachineSpec) -> dict[str, list[float]]:
        table = run_sweep(replace(self.spec, machines=[machine], sizes=self.sizes), self.engine, self.threads)
        self.failures += [f"{machine}: wrong output at {len(bad)} points" for bad in [table[~table["ok"]]] if len(bad)]
        return curves_of(table)[1]

    def _even(self, curves: dict[str, list[float]]) -> BreakEven:
        old, new = self.spec.routines
        return break_even(self.sizes, (old, curves[old]), (new, curves[new]))

    def _lead(self, curves: dict[str, list[float]]) -> float:
        old, new = (curves[name] for name in self.spec.routines)
        return statistics.median(a / b if b > 0 else 1.0 for a, b in zip(old, new, strict=True))

    def with_value(self, machine: MachineSpec, value: str) -> Variation | None:
        """The answer on a machine with one value moved; None when no sampled cycle changed."""
        self.engine.check(machine, self.spec.routines)
        curves = self._curves(machine)
        if curves == self.curves:
            return None
        even = self._even(curves)
        if self.base is not None:
            even = self._find(machine, lead_edges(self.base.leads)).leads.break_even
        return Variation(value, even, self._lead(curves))

    def effect(self, parameter: Parameter, variations: list[Variation]) -> Effect:
        """Both steps of a parameter, the stronger first."""
        by = {id(each): (self._doublings(each.break_even), abs(each.lead / self.lead - 1)) for each in variations}
        ordered = sorted(variations, key=lambda each: by[id(each)], reverse=True)
        most = by[id(ordered[0])]
        return Effect(parameter, ordered, most[0], max(share for _, share in by.values()))

    def _doublings(self, even: BreakEven) -> float:
        def place(item: BreakEven) -> float:
            return 2.0 * item.largest if item.stays is None else float(max(item.stays, 1))

        return abs(math.log2(place(even) / place(self.even)))


def describe_sensitivity(found: Sensitivity) -> list[str]:
    """The sentences below the table."""
    lines = [describe_break_even(found.break_even), found.sentence()]
    if found.idle:
        lines.append(f"{len(found.idle)} other values change the lead by less than {LEAST:.1%}")
    if found.refused:
        many = f"{len(found.refused)} values are refused by the machine, the first: " if len(found.refused) > 1 else ""
        lines.append(f"not moved: {many}{found.refused[0]}")
    return lines
