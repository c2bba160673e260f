"""Which functional units a routine's micro-ops take, by instruction: what uiCA and llvm-mca call port pressure.

Counted, not predicted: each micro-op of the measurement that issued, on the unit that took it. Units that are alike
(one `FUDesc` of several) are one column. *Held* are the cycles between an instruction's retirement and the one
before it: where the machine waits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from breakeven.analysis.traces import NO_PIPELINE, by_address, keeps_one, rows
from breakeven.errors import UserError
from breakeven.machine.clock import core_period
from breakeven.points import MEASURES, SLOPES, Point
from breakeven.points.record import routines_of
from breakeven.routine.page import page
from breakeven.routine.registry import user_file_by_routine

if TYPE_CHECKING:
    from breakeven.machine.resolve import Machine
    from breakeven.points.engine import Measured, PointResult

#: a unit that is taken in so much of the time is what binds
BINDS = 0.85
#: more than all of the time, but for rounding: a latency is without the cycles that it shares with its fences
_ALL = 1.02
#: bytes of a trace that is read
MOST_TRACED = 1 << 28
_MEASURES = ("latency", *sorted(SLOPES))


@dataclass(frozen=True, slots=True)
class Unit:
    """Units that are alike, as the description names them."""

    name: str
    count: int
    #: micro-ops that they take in a call
    micro_ops: float
    #: of the cycles of all of them those in which they take no other micro-op
    share: float


@dataclass(frozen=True, slots=True)
class Instruction:
    address: int
    text: str
    #: in a call
    times: float
    #: unit -> micro-ops in a call
    micro_ops: Mapping[str, float]
    #: cycles in a call
    held: float


@dataclass(frozen=True, slots=True)
class Pressure:
    """What a routine's call takes of a core's units."""

    routine: str
    #: of a call
    cycles: float
    units: tuple[Unit, ...]
    instructions: tuple[Instruction, ...]

    @property
    def bound(self) -> str:
        """What keeps a call from taking less, in a sentence."""
        if not self.units:
            return "no functional unit is used"
        most = max(self.units, key=lambda unit: unit.share)
        if most.share > _ALL or self.cycles <= 0:
            return f"the fences hide most of a call of {self.cycles:.3g} cycles: take --measure throughput"
        taken = f"{_named(most)} {'is' if most.count == 1 else 'are'} taken in {most.share:.0%} of the cycles"
        if most.share >= BINDS:
            return f"{taken}: it binds"
        longest = max(self.instructions, key=lambda one: one.held)
        return (
            f"no unit binds ({taken}); retirement waits longest for {longest.text} ({longest.held:.3g} cycles a call)"
        )


def _named(unit: Unit) -> str:
    return unit.name if unit.count == 1 else f"the {unit.count} {unit.name}"


def check(machine: Machine, point: Point) -> None:
    """Raises `UserError` where there are no units to count, or no calls in a row."""
    if not keeps_one(machine):
        raise UserError(f"{machine.spec}: {NO_PIPELINE}")
    if MEASURES[point.measure] not in _MEASURES:
        raise UserError(f"--ports is of the measures {', '.join(_MEASURES)}, not of {MEASURES[point.measure]}")


def pressure(machine: Machine, found: Measured, result: PointResult, trace: str) -> Pressure:
    """What a measurement's `trace`, which tells the units, says of them. Raises `UserError` for one that is cut off."""
    point = result.point
    if not found.traced:
        raise UserError(f"a call of {point.size} B is too long for --ports: give a smaller --size")
    ran = rows(trace, core_period(machine), found.begin)
    texts: dict[int, str] = {}
    for name in routines_of(point.routine):
        own = user_file_by_routine(machine.isa).get(name)
        texts |= page(machine.isa, name, own.guest if own else None)["listing"]
    # A slope's measurement is of twice its calls.
    calls = 2 * point.calls if MEASURES[point.measure] in SLOPES else 1
    names = unit_names(machine)
    taken: Counter[tuple[int, str]] = Counter()
    busy: Counter[str] = Counter()
    for row in ran:
        if row.address in texts and row.unit is not None:
            unit, for_cycles = row.unit
            taken[row.address, names[unit]] += 1
            # A divider takes no other before it has ended.
            busy[names[unit]] += for_cycles
    held = by_address(ran)
    cycles = result.cycles_median / point.calls
    counts = Counter(names)
    instructions = tuple(
        Instruction(
            address, text, held[key][0] / calls,
            {name: taken[address, name] / calls for name in counts if taken[address, name]}, held[key][1] / calls,
        )
        for address, text in sorted(texts.items()) if (key := f"{address:#x}") in held
    )  # fmt: skip
    units = []
    for name, count in counts.items():
        sum_ = sum(one.micro_ops.get(name, 0.0) for one in instructions)
        if sum_:
            units.append(Unit(name, count, sum_, busy[name] / calls / (count * cycles) if cycles > 0 else 0.0))
    return Pressure(point.routine, cycles, tuple(units), instructions)


def unit_names(machine: Machine) -> list[str]:
    """The name of each functional unit by its number, as the engine counts them: units alike have one name."""
    core = _core_of(machine)
    if in_order := getattr(core, "executeFuncUnits", None):
        return _distinct([(type(unit).__name__, 1) for unit in in_order.funcUnits])
    pools = [queue.fuPool for queue in core.instQueues] or [core.fuPool]
    return _distinct([(type(unit).__name__, int(unit.count)) for pool in pools for unit in pool.FUList])


def _core_of(machine: Machine) -> Any:
    cores = {"BaseO3CPU", "BaseMinorCPU"}
    path = next(row["path"] for row in machine.description["objects"] if {*row["bases"], row["type"]} & cores)
    found: Any = machine.root
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _distinct(units: Sequence[tuple[str, int]]) -> list[str]:
    """One name a unit; two descriptions of the same class are told apart by a number."""
    total, seen, names = Counter(name for name, count in units if count), Counter[str](), []
    for name, count in units:
        if count:
            seen[name] += 1
            names += [f"{name}{seen[name]}" if total[name] > 1 else name] * count
    return names


def as_dict(found: Pressure) -> dict[str, Any]:
    """For JSON."""
    return {**asdict(found), "bound": found.bound}
