"""Which parameters of the machine a break-even (or a lead at one size) rests on, ranked by how far each moves it.

Every value that `sensitivity_steps` names is moved a step down and up, one at a time. First the two routines run again
at a few sizes around the break-even: where no cycle changes, the value is idle, elsewhere the lead has moved. Then, for
the parameters that move the lead most, the break-even is searched again (`find`), begun where it was. Variants run side
by side in threads: making a machine and booting its guest costs more than its points.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from breakeven.analysis.compare import curves_of
from breakeven.analysis.crossings import Choice, Leads, leads
from breakeven.analysis.find import find
from breakeven.analysis.search_result import SearchResult
from breakeven.analysis.sensitivity_question import question, sizes_text
from breakeven.analysis.sensitivity_steps import Parameter, parameters_of
from breakeven.analysis.verdict import chosen, describe_leads
from breakeven.config.errors import ConfigError, OverrideError
from breakeven.errors import UserError
from breakeven.machine.resolve import forget, of_request
from breakeven.output.html import escape, table, wrong
from breakeven.points.engine import Engine, SweepProgress
from breakeven.points.machine_spec import MachineSpec
from breakeven.sweeps.run import run_sweep
from breakeven.sweeps.spec import SweepSpec

if TYPE_CHECKING:
    from breakeven.analysis.search_result import SearchResult


#: parameters whose break-even is searched again when nobody asks for another number
TOP = 8
#: sizes at which a moved value is looked at where the lead never changes
SPREAD = 4
#: points of each routine that a search with a value moved may probe: it begins where the break-even was
PROBES = 32
#: a lead that moves less than this changes nothing (a share of the ratio of times)
LEAST = 0.002

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Variation:
    """The answer with one value moved."""

    value: str
    #: the first routine's time over the second's, geometric mean over the sizes looked at
    lead: float
    #: what to ship; None: they tie everywhere, or (not `searched`) other parameters move the lead more
    choice: Choice | None = None
    searched: bool = False


@dataclass(frozen=True)
class Effect:
    """What a parameter does to the answer."""

    parameter: Parameter
    #: the one that moves the answer most comes first
    variations: list[Variation]
    #: how far it moves the lead (a share), and the break-even (doublings of the size; to or from "never" counts as off
    #: the grid; None: not searched)
    lead_share: float
    doublings: float | None = None

    @property
    def strongest(self) -> Variation:
        """The variation that moves the answer most."""
        return self.variations[0]


@dataclass(frozen=True)
class Sensitivity:
    """The parameters by what they do to the answer, the strongest first."""

    spec: SweepSpec
    leads: Leads
    lead: float
    effects: list[Effect]
    #: moved without any change of a cycle at the sampled sizes
    idle: list[Parameter]
    #: values that the machine refuses: path=value and why
    refused: list[str]
    #: sizes at which every value was looked at
    looked_at: list[int]
    #: only values with these words were moved; empty: all
    match: str = ""
    failures: list[str] = field(default_factory=list)

    @property
    def one_size(self) -> bool:
        return len(self.spec.sizes) == 1

    def conditions(self) -> str:
        """Machine, sizes, offsets, cache state and measure in a line."""
        src, dst = self.spec.pairs()[0]
        state, measure = self.spec.cache_states[0], self.spec.measures[0]
        return f"{self.spec.machines[0]}, {sizes_text(self.spec)}, src+{src}, dst+{dst}, {state}, {measure}"

    def answer(self, variation: Variation) -> str:
        """The threshold, or where none was searched the lead, in a cell."""
        return chosen(variation.choice) if variation.searched else f"{variation.lead:.3f}x"

    @property
    def before(self) -> Variation:
        """The answer on the machine as it is."""
        return Variation("", self.lead, self.leads.choice, not self.one_size)

    def sentence(self) -> str:
        """What the answer rests on."""
        old, new = self.spec.routines
        what = f"the lead of {new}" if self.one_size else "the threshold"
        moving = [effect for effect in self.effects if effect.doublings or self.one_size]
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
        unit = "" if self.one_size else " B"
        words = [f"{text}{unit}" if text[0].isdigit() else text for text in map(self.answer, (self.before, strongest))]
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
            "routines": list(self.spec.routines), "lead": self.lead,
            "break_even": self.leads.choice and asdict(self.leads.choice),
            "looked_at": self.looked_at, "match": self.match,
            "said": self.sentence(), "effects": [asdict(effect) for effect in self.effects],
            "idle": [parameter.path for parameter in self.idle], "refused": self.refused,
            "ok": not self.failures, "first_failure": self.failures[0] if self.failures else None,
        }  # fmt: skip

    def rows(self) -> list[tuple[str, ...]]:
        """For a table: path, mark, value, what one step down and up makes of the answer, how far the lead moves."""
        found: list[tuple[str, ...]] = []
        for effect in self.effects:
            parameter = effect.parameter
            by_value = {variation.value: variation for variation in effect.variations}
            cells = [f"{step}: {self.answer(by_value[step])}" for step in parameter.steps if step in by_value]
            lead = f"{effect.lead_share:.1%}"
            found.append((parameter.path, parameter.mark, parameter.value, ", ".join(cells), lead))
        return found

    def __repr__(self) -> str:
        return f"Sensitivity({', '.join(self.spec.routines)}; {self.conditions()}; {self.sentence()})"

    def _repr_html_(self) -> str:

        return sensitivity_page(self)


def sensitivity(
    spec: SweepSpec, engine: Engine, threads: int = 0, progress: SweepProgress | None = None, *,
    top: int = TOP, match: str = "",
) -> Sensitivity:  # fmt: skip
    """Moves the values of the machine of `spec`; the sentence is kept in the engine's store where it has one.

    `top`: parameters whose break-even is searched again. `match`: words that must all be in a parameter's path or in
    where its value comes from; the others stay as they are.
    """
    if len(set(spec.routines)) != 2:
        raise UserError("a sensitivity is of two different routines")
    if len(spec.machines) != 1 or len(spec.pairs()) != 1 or spec.parameters:
        raise UserError("a sensitivity is of one machine and one pair of offsets, without --sweep")
    spec.validate()
    machine = spec.machines[0]
    engine.check(machine, spec.routines)
    parameters = _matching(parameters_of(machine), match, machine)
    moves = [(parameter, step) for parameter in parameters for step in parameter.steps]
    if progress is not None:
        progress(0, len(moves), str(machine))
    found = _Variants(spec, engine, threads)
    count = _Count(len(moves), progress)
    refused: list[str] = []
    by_parameter: dict[Parameter, list[Variation]] = {parameter: [] for parameter in parameters}
    for (parameter, step), variation in found.side_by_side(moves, found.look):
        strongest = ""
        if isinstance(variation, str):
            refused.append(f"{parameter.path}={step} ({variation})")
        elif variation is not None:
            by_parameter[parameter].append(variation)
            strongest = max((each for each in by_parameter.items() if each[1]), key=found.share)[0].path
        count.one(f"most so far: {strongest}" if strongest else f"{parameter.path}={step}")
    effects = [found.effect(each, by_parameter[each]) for each in parameters if by_parameter[each]]
    idle = [each for each in parameters if not by_parameter[each]]
    effects, weak = _parted(effects)
    effects = found.searched(effects, top, count)
    order = {move: i for i, move in enumerate(f"{parameter.path}={step} " for parameter, step in moves)}
    refused.sort(key=lambda text: order[text.partition("(")[0]])
    result = Sensitivity(
        spec, found.leads, found.lead, effects, idle + weak, refused, found.sizes, match, found.failures
    )  # fmt: skip
    if not result.failures and not match:
        engine.note(machine, question(spec), json.dumps({"said": result.sentence(), "sizes": sizes_text(spec)}))
    return result


def _matching(parameters: list[Parameter], match: str, machine: MachineSpec) -> list[Parameter]:
    words = match.lower().split()
    found = [p for p in parameters if all(word in f"{p.path} {p.mark}".lower() for word in words)]
    if not found and parameters:
        raise UserError(f"no value of {machine} that could be moved has {match!r}: see `breakeven machines params`")
    return found


def _parted(effects: list[Effect]) -> tuple[list[Effect], list[Parameter]]:
    strong = [effect for effect in effects if effect.lead_share >= LEAST]
    strong.sort(key=lambda effect: (-effect.lead_share, effect.parameter.path))
    return strong, [effect.parameter for effect in effects if effect.lead_share < LEAST]


class _Count:
    """Tells a progress callback of one step after the other; more may turn up on the way."""

    def __init__(self, total: int, progress: SweepProgress | None) -> None:
        self.done, self.total, self._progress = 0, total, progress

    def one(self, label: str) -> None:
        self.done += 1
        if self._progress is not None:
            self._progress(self.done, self.total, label)


class _Variants:
    """The answer on the machine as it is, and with one value moved."""

    def __init__(self, spec: SweepSpec, engine: Engine, threads: int) -> None:
        self.spec, self.engine, self.threads = spec, engine, threads
        self.failures: list[str] = []
        self.sizes = sorted(set(spec.sizes))
        self.edges: list[int] = []
        base: SearchResult | None = None
        if len(self.sizes) > 1:
            base = find(spec, engine, threads)
            self.failures += base.failures
            self.sizes, self.edges = self._near(base), _ends(base.leads.answer)
        self.curves = self._curves(spec.machines[0], threads)
        self.leads = base.leads.answer if base else leads(self.sizes, self.curves)
        self.lead = self._lead(self.curves)

    def _near(self, found: SearchResult) -> list[int]:
        """The sizes that decide: both sides of the break-even and as many farther out; without one evenly spaced."""
        sizes, ends = sorted(set(self.spec.sizes)), _ends(found.leads.answer)
        if ends:
            wanted = [*ends, min(ends) / 2, 1.5 * max(ends)]
        else:
            low, high = math.log(max(sizes[0], 1)), math.log(max(sizes[-1], 1))
            wanted = [math.exp(low + (high - low) * i / (SPREAD - 1)) for i in range(SPREAD)]
        return sorted({min(sizes, key=lambda size: abs(size - at)) for at in wanted})

    def _curves(self, machine: MachineSpec, threads: int) -> dict[str, list[float]]:
        table = run_sweep(replace(self.spec, machines=[machine], sizes=self.sizes), self.engine, threads)
        self.failures += [f"{machine}: wrong output at {len(bad)} points" for bad in [table[~table["ok"]]] if len(bad)]
        return curves_of(table)[1]

    def _lead(self, curves: dict[str, list[float]]) -> float:
        old, new = (curves[name] for name in self.spec.routines)
        logs = [math.log(a / b) if a > 0 and b > 0 else 0.0 for a, b in zip(old, new, strict=True)]
        return math.exp(sum(logs) / len(logs))

    def side_by_side(
        self, items: Sequence[_Item], answer: Callable[[_Item], _Answer]
    ) -> Iterator[tuple[_Item, _Answer]]:
        """Every item with its answer as they come, in as many threads as the host has cores (or as were asked for)."""
        many = self.threads or len(os.sched_getaffinity(0))
        with ThreadPoolExecutor(many) as pool:
            asked: dict[Future[_Answer], _Item] = {pool.submit(of_request(answer, item)): item for item in items}
            try:
                for future in as_completed(asked):
                    yield asked[future], future.result()
            finally:
                for future in asked:
                    future.cancel()

    def look(self, move: tuple[Parameter, str]) -> Variation | str | None:
        """What a move makes of the lead; None when no cycle changed, a text when the machine refuses the value."""
        parameter, step = move
        machine = self.spec.machines[0].with_settings(f"{parameter.path}={step}")
        try:
            self.engine.check(machine, self.spec.routines)
            curves = self._curves(machine, 1)
        except (UserError, ConfigError, OverrideError) as error:
            return str(error).removeprefix(f"{machine}: ")
        finally:
            forget(machine)
        return None if curves == self.curves else Variation(step, self._lead(curves))

    def share(self, effect: tuple[Parameter, list[Variation]]) -> float:
        """How far a parameter moves the lead."""
        return max(abs(each.lead / self.lead - 1) for each in effect[1])

    def effect(self, parameter: Parameter, variations: list[Variation]) -> Effect:
        """All steps of a parameter, the strongest first."""
        ordered = sorted(variations, key=lambda each: (-abs(each.lead / self.lead - 1), each.value))
        return Effect(parameter, ordered, self.share((parameter, ordered)))

    def searched(self, effects: list[Effect], top: int, count: _Count) -> list[Effect]:
        """The first `top` of them with their break-evens searched again, the farthest moved first; then the others."""
        if len(self.spec.sizes) == 1:
            return effects
        todo = [(effect, each) for effect in effects[:top] for each in effect.variations]
        count.total += len(todo)
        found: dict[Parameter, list[Variation]] = {}
        for (effect, before), after in self.side_by_side(todo, self._search):
            found.setdefault(effect.parameter, []).append(after)
            count.one(f"{effect.parameter.path}={before.value}: the break-even")
        again = [self._moved(effect, found[effect.parameter]) for effect in effects[:top]]
        again.sort(key=lambda each: (-(each.doublings or 0), -each.lead_share, each.parameter.path))
        return again + effects[top:]

    def _search(self, item: tuple[Effect, Variation]) -> Variation:
        effect, variation = item
        machine = self.spec.machines[0].with_settings(f"{effect.parameter.path}={variation.value}")
        moved = replace(self.spec, machines=[machine])
        found = find(moved, self.engine, 1, None, min(PROBES, len(self.spec.sizes)), hints=self.edges)
        forget(machine)
        self.failures += found.failures
        return replace(variation, choice=found.leads.answer.choice, searched=True)

    def _moved(self, effect: Effect, variations: list[Variation]) -> Effect:
        ordered = sorted(variations, key=lambda each: (-self._doublings(each), -abs(each.lead / self.lead - 1)))
        return replace(effect, variations=ordered, doublings=self._doublings(ordered[0]))

    def _doublings(self, variation: Variation) -> float:
        now, then = self.leads.choice, variation.choice if variation.searched else self.leads.choice
        off = 2.0 * self.leads.largest  # one routine for all sizes; or the two have changed places
        old = off if now is None or now.threshold is None else max(now.threshold, 1)
        if then is None or then.threshold is None:
            new = 1.0 if now and then and now.threshold is None and now.above != then.above else off
        else:
            new = off if now and now.threshold is not None and now.below != then.below else max(then.threshold, 1)
        return abs(math.log2(new / old))


def _ends(found: Leads) -> list[int]:
    """The sizes that decide."""
    return sorted({size for edge in found.edges for size in edge})


def describe_sensitivity(found: Sensitivity) -> list[str]:
    """The sentences below the table."""
    lines = [describe_leads(found.leads), found.sentence()]
    rest = [effect for effect in found.effects if effect.doublings is None]
    if rest and not found.one_size:
        sizes = ", ".join(map(str, found.looked_at))
        lines.append(
            f"the break-even was searched again for the first {len(found.effects) - len(rest)}; of the others the lead "
            f"at {sizes} B is shown (now {found.lead:.3f}x; --top N searches more)"
        )
    if found.idle:
        lines.append(f"{len(found.idle)} other values change the lead by less than {LEAST:.1%}")
    if found.refused:
        many = f"{len(found.refused)} values are refused by the machine, the first: " if len(found.refused) > 1 else ""
        lines.append(f"not moved: {many}{found.refused[0]}")
    return lines


def sensitivity_page(found: Sensitivity) -> str:
    """What moves the break-even, and the sentence."""

    heads = ("parameter", "from", "value", "moved to", "lead moves")
    said = "".join(f"<p>{escape(text)}</p>" for text in describe_sensitivity(found))
    return wrong(found.failures) + table(heads, found.rows(), found.conditions()) + said
