"""What a sweep is of: every list is one axis of a product."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from breakeven import points as pt
from breakeven.errors import UserError
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.measurements import repetitions_of
from breakeven.points.ranges import MAX_POINTS, MAX_VARIANTS, quantities
from breakeven.points.sequence import check_sequence
from breakeven.points.table import DESCRIBED, SETTINGS

if TYPE_CHECKING:
    import pandas as pd

    from breakeven.points.mix import Mix


#: seconds of one core that a point takes, and for each byte of a call: x64-copy-unrolled on zen5, simulated on a Zen 5.
#: Copies by bytes take three times as long, rv-word on u74 a quarter
_SECONDS, _SECONDS_A_BYTE = 0.004, 3e-6
#: working sets of a mix
MAX_WORKING_SETS = 64


@dataclass(frozen=True)
class SweepSpec:
    """What to run. Every list is one axis of the product."""

    routines: Sequence[str]
    machines: Sequence[MachineSpec]
    sizes: Sequence[int]
    src_offsets: Sequence[int] = (0,)
    dst_offsets: Sequence[int] = (0,)
    cache_states: Sequence[str] = ("warm",)
    measures: Sequence[str] = ("latency",)
    #: machine parameter -> its values, as text in the parameter's own notation
    parameters: dict[str, Sequence[str]] = field(default_factory=dict)
    #: measurements of each point; None: as many as `measurements.repetitions_of` its measure
    repetitions: int | None = None
    warmup: int = 2
    #: throughput and interleaved are the cycles of so many calls
    calls: int = 16
    #: bytes of all calls of a stream together
    total: int = 1 << 20
    #: second size and offsets of the interleaved measure
    size2: int = 0
    src_offset2: int = 0
    dst_offset2: int = 0
    seed: int = 1
    flags: int = 0
    #: `parameter` of every point: of routines that have one; 0: their default
    routine_parameter: int = 0
    #: bytes from the source to the destination in one buffer; 0: each has its own, and the destination's offsets count
    distance: int = 0
    #: measure points again whose median has not converged, where nobody asked for `repetitions` (`converged`)
    again: bool = True
    #: of the mix measure: what is drawn; the sizes are then those of the working set
    mix: Mix | None = None
    #: (src, dst) pairs instead of the product of `src_offsets` and `dst_offsets`
    offset_pairs: Sequence[tuple[int, int]] = ()

    def pairs(self) -> list[tuple[int, int]]:
        """The (source, destination) offsets."""
        return list(self.offset_pairs) or list(itertools.product(self.src_offsets, self.dst_offsets))

    @property
    def by_rule(self) -> bool:
        """Whether points are measured until they have converged."""
        return self.repetitions is None and self.again

    def repetitions_of(self, measure: str) -> int:
        """Measurements of each point of `measure` (by rule: of those that converge so)."""
        return repetitions_of(measure) if self.repetitions is None else self.repetitions

    def variants(self) -> Iterator[tuple[MachineSpec, dict[str, str]]]:
        """Every machine with every combination of the swept parameters."""
        for machine in self.machines:
            for values in itertools.product(*self.parameters.values()):
                chosen = dict(zip(self.parameters, values, strict=True))
                yield machine.with_settings(*(f"{path}={value}" for path, value in chosen.items())), chosen

    def points_per_machine(self) -> int:
        """Points on each machine variant."""
        # Counted, not listed: this is what refuses a product too large to be listed.
        pairs = len(self.offset_pairs) or len(self.src_offsets) * len(self.dst_offsets)
        axes = (self.routines, self.sizes, self.cache_states, self.measures)
        return pairs * int(np.prod([len(axis) for axis in axes], dtype=object))

    def count_variants(self) -> int:
        """As many as `variants` has."""
        return len(self.machines) * int(np.prod([len(values) for values in self.parameters.values()], dtype=object))

    def count(self) -> int:
        """Points in all."""
        return self.points_per_machine() * self.count_variants()

    def validate(self) -> None:
        """Raises `UserError`, one sentence that names the axis."""
        for name in ("routines", "machines", "sizes", "src_offsets", "dst_offsets", "cache_states", "measures"):
            if not getattr(self, name):
                raise UserError(f"the sweep has no {name.replace('_', ' ')}")
        # No number is told: the product may have hundreds of digits.
        if self.count_variants() > MAX_VARIANTS:
            raise UserError(f"the sweep has more than {MAX_VARIANTS} variants of machines: take fewer swept values")
        if self.count() > MAX_POINTS:
            raise UserError(f"the sweep has more than {MAX_POINTS} points: take fewer sizes or offsets")
        for routine in self.routines:
            pt.check_routine_name(routine)
            check_sequence(routine, self.routine_parameter, self.distance)
        for size in self.sizes:
            pt.check_range("size", int(size))
        for src, dst in self.pairs():
            pt.check_range("src_offset", int(src))
            pt.check_range("dst_offset", int(dst))
        if self.repetitions is not None:
            pt.check_range("repetitions", self.repetitions)
        for name in ("warmup", "calls", "size2", "src_offset2", "dst_offset2", "seed", "flags"):
            pt.check_range(name, getattr(self, name))
        pt.check_range("parameter", self.routine_parameter)
        pt.check_range("distance", self.distance)
        for size, measure in itertools.product(self.sizes, self.measures) if self.distance else ():
            pt.check_distance(self.distance, int(size), pt.index_of(pt.MEASURES, measure, "measure"))
        self._validate_streams()
        self._validate_mix()
        for state, measure in itertools.product(self.cache_states, self.measures):
            pt.check_state(
                pt.index_of(pt.MEASURES, measure, "measure"), pt.index_of(pt.CACHE_STATES, state, "cache state")
            )

    def _validate_streams(self) -> None:
        streams, others = "stream" in self.measures, set(self.measures) - {"stream"}
        reader = pt.STREAM_FLAGS["reader"] if others == {"mix"} else 0
        if others and self.flags & (sum(pt.STREAM_FLAGS.values()) - reader):
            raise UserError(f"{', '.join(pt.STREAM_FLAGS)} are of the stream measure: give --measure stream alone")
        if streams and not 1 <= self.total <= pt.MAX_STREAM:
            raise UserError(f"total {self.total} is out of range: 1 to {pt.MAX_STREAM} bytes")
        for size in self.sizes if streams else ():
            calls = pt.stream_calls(self.total, size)
            if not 1 <= size * calls <= pt.MAX_STREAM or calls > pt.MAX_COUNT:
                raise UserError(f"a stream of {calls} calls of {size} bytes is out of range: take other sizes")

    def _validate_mix(self) -> None:
        if ("mix" in self.measures) != (self.mix is not None):
            raise UserError("the mix measure goes with a mix (and a mix with no other measure)")
        # Each has a list of its own, of up to a MiB.
        if self.mix and len(self.sizes) > MAX_WORKING_SETS:
            raise UserError(
                f"a mix is for working sets, {MAX_WORKING_SETS} at most, and there are {len(self.sizes)}: "
                "give some (--sizes 16K,64K)"
            )
        for size in self.sizes if self.mix else ():
            for src, dst in self.pairs():
                pt.Point("mix", int(size), src, dst, measure=pt.MIX, calls=self.calls, mix=1).validate()

    def check_searched(self) -> None:
        """Raises `UserError` where a search would look for a size among working sets."""
        if self.mix and len(self.sizes) > 1:
            raise UserError("a mix holds many sizes, so there is none to search for: give one working set (--sizes N)")

    def records(self) -> np.ndarray:
        """The points of one machine variant, as a structured array."""
        self.validate()
        states = [pt.index_of(pt.CACHE_STATES, state, "cache state") for state in self.cache_states]
        measures = [pt.index_of(pt.MEASURES, measure, "measure") for measure in self.measures]
        pairs = self.pairs()
        axes = [range(len(self.routines)), states, measures, range(len(self.sizes)), range(len(pairs))]
        routine, state, measure, size, pair = (
            grid.ravel() for grid in np.meshgrid(*[np.asarray(axis) for axis in axes], indexing="ij")
        )
        table = np.zeros(len(routine), pt.point_dtype())
        table["routine"] = np.array([pt.check_routine_name(name) for name in self.routines], "S40")[routine]
        table["size"] = np.array(self.sizes, "u8")[size]
        table["src_offset"] = np.array([src for src, _ in pairs], "u4")[pair]
        table["dst_offset"] = np.array([dst for _, dst in pairs], "u4")[pair]
        table["cache_state"] = state
        table["measure"] = measure
        table["repetitions"] = np.array([self.repetitions_of(name) for name in pt.MEASURES])[measure]
        of_stream = np.array([pt.stream_calls(self.total, each) for each in self.sizes])[size]
        table["calls"] = np.select([measure == 0, measure == pt.STREAM], [1, of_stream], self.calls)
        interleaved = measure == pt.MEASURES.index("interleaved")
        for name in ("src_offset2", "dst_offset2"):
            table[name] = np.where(interleaved, getattr(self, name), 0)
        table["size2"] = np.where(interleaved | (state >= pt.PACKETS), self.size2, 0)
        table["warmup"] = self.warmup
        table["seed"] = self.seed
        table["flags"] = self.flags | (pt.FLAG_DISTANCE if self.distance else 0)
        table["parameter"] = self.routine_parameter
        table["distance"] = self.distance
        table["fault_at"] = pt.NO_FAULT
        if self.mix:
            table["mix"] = np.array([self.mix.drawn(int(each)).name for each in self.sizes], "u8")[size]
        return table


def axis_of(spec: SweepSpec, path: str) -> tuple[list[float], str]:
    """The values of a swept parameter as numbers, and their unit; raises `UserError` where they are none."""
    try:
        return quantities(spec.parameters[path])
    except ValueError:
        raise UserError(
            f"values along {path} must be numbers, sizes (16K,32K) or times and frequencies (10ns:40ns:10ns): "
            "the sweep command takes others"
        ) from None


def axis_label(spec: SweepSpec, along: str) -> str:
    """What an axis is called: a field of the points, or a swept parameter with its values' unit."""
    unit = axis_of(spec, along)[1] if along in spec.parameters else ""
    return f"{along} ({unit})" if unit else along


def seconds_of(specs: Sequence[SweepSpec]) -> float:
    """About how long these sweeps take on one core where nothing is in a store."""
    return sum(
        spec.count() / len(spec.sizes) * (_SECONDS + _SECONDS_A_BYTE * size) for spec in specs for size in spec.sizes
    )


def described(table: pd.DataFrame, spec: SweepSpec) -> pd.DataFrame:
    """`table` with a column for everything that `spec` has otherwise than by default and the rows do not say.

    ``settings`` are the machines' own ``path=value`` as a shell would take them; the others are numbers.
    """
    columns: dict[str, object] = {}
    if own := spec.machines[0].settings:
        columns[SETTINGS] = shlex.join(own)
    for column, name in DESCRIBED.items():
        value = getattr(spec, name)
        if value != SweepSpec.__dataclass_fields__[name].default:
            columns[column] = value
    if spec.mix:
        columns["mix"] = spec.mix.text
        columns |= {"align": spec.mix.align} if spec.mix.align else {}
    return table.assign(**columns)
