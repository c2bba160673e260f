"""Sweeps: routines x machines x swept parameters x sizes x offsets x cache states x measures, to a tidy table.

A sweep's rows are in the order of that product whatever the number of threads, and the table written for a given sweep
is the same bytes every time.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from breakeven import points as pt
from breakeven.errors import UserError
from breakeven.measurements import converged_column, repetitions_of
from breakeven.output_file import replacing
from breakeven.paths import check_target
from breakeven.runner import Engine, MachineSpec, check_routines

if TYPE_CHECKING:
    import pandas as pd

#: points in one sweep (their records alone take 128 bytes each)
MAX_POINTS = 4_000_000
#: progress callback: points done, points in all, what is running
SweepProgress = Callable[[int, int, str], None]


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
    #: calls per measurement for throughput and interleaved
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
    #: (src, dst) pairs instead of the product of `src_offsets` and `dst_offsets`
    offset_pairs: Sequence[tuple[int, int]] = ()

    def pairs(self) -> list[tuple[int, int]]:
        """The (source, destination) offsets."""
        return list(self.offset_pairs) or list(itertools.product(self.src_offsets, self.dst_offsets))

    def repetitions_of(self, measure: str) -> int:
        """Measurements of each point of `measure`."""
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

    def count(self) -> int:
        """Points in all."""
        variants = int(np.prod([len(values) for values in self.parameters.values()], dtype=object))
        return self.points_per_machine() * len(self.machines) * variants

    def validate(self) -> None:
        """Raises `UserError`, one sentence that names the axis."""
        for name in ("routines", "machines", "sizes", "src_offsets", "dst_offsets", "cache_states", "measures"):
            if not getattr(self, name):
                raise UserError(f"the sweep has no {name.replace('_', ' ')}")
        if self.count() > MAX_POINTS:
            raise UserError(f"the sweep has {self.count()} points, more than {MAX_POINTS}: take fewer sizes or offsets")
        for routine in self.routines:
            pt.check_routine_name(routine)
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
        self._validate_streams()
        for state, measure in itertools.product(self.cache_states, self.measures):
            pt.check_packets_measure(
                pt.index_of(pt.MEASURES, measure, "measure"), pt.index_of(pt.CACHE_STATES, state, "cache state")
            )

    def _validate_streams(self) -> None:
        streams, others = "stream" in self.measures, set(self.measures) - {"stream"}
        if others and self.flags & sum(pt.STREAM_FLAGS.values()):
            raise UserError(f"{', '.join(pt.STREAM_FLAGS)} are of the stream measure: give --measure stream alone")
        if streams and not 1 <= self.total <= pt.MAX_STREAM:
            raise UserError(f"total {self.total} is out of range: 1 to {pt.MAX_STREAM} bytes")
        for state in self.cache_states if streams else ():
            pt.check_stream_state(pt.STREAM, pt.index_of(pt.CACHE_STATES, state, "cache state"))
        for size in self.sizes if streams else ():
            calls = pt.stream_calls(self.total, size)
            if not 1 <= size * calls <= pt.MAX_STREAM or calls > pt.MAX_COUNT:
                raise UserError(f"a stream of {calls} calls of {size} bytes is out of range: take other sizes")

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
        table["routine"] = np.array([name.encode() for name in self.routines], "S40")[routine]
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
        table["flags"] = self.flags
        table["parameter"] = self.routine_parameter
        table["fault_at"] = pt.NO_FAULT
        return table


def run_sweep(
    spec: SweepSpec, engine: Engine, threads: int = 0, progress: SweepProgress | None = None, one_job: bool = False
) -> pd.DataFrame:
    """Runs every point of `spec`; one row each (see `frame` for the columns). `one_job`: its routines are compared, so
    that they must be of one kind."""
    import pandas as pd

    records = spec.records()
    data = records.tobytes()
    total, done = spec.count(), 0
    # All machines are built before the first point runs: a wrong parameter fails at once, not after minutes.
    variants = list(spec.variants())
    for machine, _ in variants:
        engine.check(machine, spec.routines)
    frames = []
    for machine, chosen in variants:
        session = engine.open(machine)
        check_routines(session, list(spec.routines), one_job)
        report = None
        if progress is not None:
            start, label = done, str(machine)
            progress(start, total, label)

            def report(count: int, _: int, start: int = start, label: str = label) -> None:
                progress(start + count, total, label)

        results = np.frombuffer(session.run(data, threads, report), pt.result_dtype())
        if len(results) != len(records):
            raise UserError(f"the guest left {len(results)} results for {len(records)} points on {machine}")
        frames.append(frame(machine.name, chosen, records, results))
        done += len(records)
    if progress is not None:
        progress(total, total, "done")
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)


def frame(machine: str, parameters: dict[str, str], records: np.ndarray, results: np.ndarray) -> pd.DataFrame:
    """The tidy table of one machine's points. `cycles_*` are per measurement: of `calls` calls together, without
    `overhead`, what as many empty calls take."""
    import pandas as pd

    names = [name.decode() for name in records["routine"]]
    columns: dict[str, object] = {
        "routine": pd.Categorical(names, categories=list(dict.fromkeys(names))),
        "machine": machine,
        "size": records["size"].astype("i8"),
        "src_offset": records["src_offset"].astype("i8"),
        "dst_offset": records["dst_offset"].astype("i8"),
        "cache_state": np.array(pt.CACHE_STATES)[records["cache_state"]],
        "measure": np.array(pt.MEASURES)[records["measure"]],
        "repetitions": records["repetitions"].astype("i8"),
        "calls": records["calls"].astype("i8"),
    }
    for name in ("cycles_min", "cycles_median", "cycles_total", "instructions", "overhead"):
        columns[name] = results[name].astype("i8")
    columns["converged"] = converged_column(records, results)
    columns["ok"] = results["status"] == 0
    columns["status"] = results["status"].astype("i8")
    # Unsigned: a wrong return value may be any 64 bits. Of a right result it is what `converged` is told by.
    columns["detail"] = np.where(results["status"] == 0, 0, results["detail"]).astype("u8")
    columns.update(parameters)
    table = pd.DataFrame(columns)
    table["routine"] = table["routine"].astype(str)
    return table


#: what `described` tells of a sweep: a column's name and the field of `SweepSpec`
SETTINGS = "settings"
DESCRIBED = {
    "warmup": "warmup", "seed": "seed", "flags": "flags", "parameter": "routine_parameter",
    "size2": "size2", "src_offset2": "src_offset2", "dst_offset2": "dst_offset2",
}  # fmt: skip


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
    return table.assign(**columns)


def failures(table: pd.DataFrame) -> list[str]:
    """One sentence per point whose output was wrong, in order."""
    bad = table[~table["ok"]]
    return [
        f"{row.routine} on {row.machine}, size {row.size}, src {row.src_offset}, dst {row.dst_offset}, "
        f"{row.cache_state}: {pt.describe_status(int(row.status), int(row.detail))}"
        for row in bad.itertuples()
    ]


FORMATS = (".csv", ".json", ".parquet")


def check_output(path: Path) -> None:
    """Raises `UserError` before the sweep runs when its table could not be written to `path`."""
    import importlib.util

    if path.suffix not in FORMATS:
        raise UserError(f"cannot write {str(path)!r}: the name must end in {', '.join(FORMATS)}")
    if path.suffix == ".parquet" and not (
        importlib.util.find_spec("pyarrow") or importlib.util.find_spec("fastparquet")
    ):
        raise UserError("writing .parquet needs the package pyarrow: install it, or write .csv")
    check_target(path)


def write_table(table: pd.DataFrame, path: Path) -> None:
    """The table as .csv, .json (a list of rows) or .parquet."""
    with replacing(path) as beside:
        if path.suffix == ".csv":
            table.to_csv(beside, index=False, lineterminator="\n")
        elif path.suffix == ".json":
            table.to_json(beside, orient="records", indent=1)
        else:
            table.to_parquet(beside, index=False)
