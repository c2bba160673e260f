"""What the Python API's arguments mean: numbers, lists and texts to points, sweeps, machines and engines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from breakeven.errors import UserError

if TYPE_CHECKING:
    from breakeven.points import Point
    from breakeven.points.engine import Engine
    from breakeven.points.machine_spec import MachineSpec
    from breakeven.sweeps.spec import SweepSpec


#: numbers, or the command line's text for them
Numbers = int | str | Iterable[int]
#: machine parameters: dotted path -> value
Settings = Mapping[str, object]


class Measuring(TypedDict, total=False):
    """How a point is measured, beside where it copies; each as the command's option of this name (docs/cli.md)."""

    #: measurements (default: 21, or 85 where 21 do not converge; of a stream 3), and unmeasured calls before the first
    #: (2)
    repetitions: int
    warmup: int
    #: calls per measurement of throughput and interleaved (16)
    calls: int
    #: the second call of interleaved: bytes and offsets
    size2: int
    src_offset2: int
    dst_offset2: int
    #: of the buffers' contents
    seed: int
    #: bits of docs/guests.md, such as large pages
    flags: int
    #: of a routine that has one, such as a threshold; 0: its default
    routine_parameter: int


class Faulting(Measuring, total=False):
    """Of one point also where a user copy faults: a byte of the source (docs/guests.md)."""

    fault_at: int
    #: another name of `routine_parameter`
    parameter: int


#: swept machine parameters: dotted path -> values, or the command line's text (``"0:40:4"``)
Swept = Mapping[str, "str | Iterable[object]"]


def refuse_unknown(unknown: set[str], known: Iterable[str]) -> None:
    if unknown:
        raise TypeError(f"unknown option {sorted(unknown)[0]!r}; there are: {', '.join(sorted(known))}")


def path_of(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def machine_of(name: str, settings: Settings | None) -> MachineSpec:
    from breakeven.sweeps.request import machine_spec

    return machine_spec(name, settings_of(settings))


def settings_of(settings: Settings | None) -> list[str]:
    """Overrides as the command line's texts."""
    return [f"{path}={text_of(value)}" for path, value in (settings or {}).items()]


def text_of(value: object) -> str:
    """A parameter's value in the configuration's notation."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def names_of(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def numbers_of(values: Numbers, what: str, most: int) -> list[int]:
    from breakeven.points.ranges import parse_integers

    if isinstance(values, str):
        return parse_integers(values, what, 0, most)
    try:
        return [int(values)] if isinstance(values, int) else sorted({int(value) for value in values})
    except (TypeError, ValueError):
        raise UserError(f"{what} {values!r} is not a number, a list of them, or a text like '64..1448:8'") from None


def swept_values(path: str, values: str | Iterable[object]) -> list[str]:
    from breakeven.points.ranges import parse_sweep

    if isinstance(values, str):
        return parse_sweep(f"{path}={values}")[1]
    return list(dict.fromkeys(text_of(value) for value in values))


def point_of(routine: str, size: int | str, src: int, dst: int, cache: str, measure: str, options: Faulting) -> Point:
    """The point that the arguments describe."""
    from breakeven import points as pt
    from breakeven.points.ranges import parse_number

    refuse_unknown(set(options) - Faulting.__annotations__.keys(), Faulting.__annotations__)
    kind = pt.index_of(pt.MEASURES, measure, "measure")
    named: dict[str, Any] = {"calls": 16 if kind else 1, **options}
    if "routine_parameter" in named:
        named["parameter"] = named.pop("routine_parameter")
    point = pt.Point(
        routine=routine, size=parse_number(str(size), "size"), src_offset=src, dst_offset=dst, measure=kind,
        cache_state=pt.index_of(pt.CACHE_STATES, cache, "cache state"), **named,
    )  # fmt: skip
    point.validate()
    return point


def spec_of(
    routines: str | Sequence[str], sizes: Numbers, machines: str | Sequence[str], settings: Settings | None,
    guest: str | Path | None, *, src: Numbers, dst: Numbers, cache: str | Sequence[str], measure: str | Sequence[str],
    parameters: Swept | None, options: Measuring,
) -> SweepSpec:  # fmt: skip
    """The sweep that the arguments describe."""
    from breakeven import points as pt
    from breakeven.sweeps.request import named_routines
    from breakeven.sweeps.spec import SweepSpec

    refuse_unknown(set(options) - Measuring.__annotations__.keys(), Measuring.__annotations__)
    specs = [machine_of(name, settings) for name in names_of(machines)]
    spec = SweepSpec(
        routines=named_routines(names_of(routines), [s.name for s in specs], list(specs[0].settings), path_of(guest)),
        machines=specs,
        sizes=numbers_of(sizes, "size", pt.MAX_SIZE),
        src_offsets=numbers_of(src, "src offset", pt.MAX_OFFSET),
        dst_offsets=numbers_of(dst, "dst offset", pt.MAX_OFFSET),
        cache_states=names_of(cache),
        measures=names_of(measure),
        parameters={path: swept_values(path, values) for path, values in (parameters or {}).items()},
        **options,
    )
    spec.validate()
    return spec


def machines_on(engine: str, machines: Any) -> Any:
    """What runs the points: the machines named, or this host whatever they are."""
    from breakeven.points.machine_spec import HOST
    from breakeven.sweeps.request import engine_names

    return HOST if engine_names(engine, 1) == [HOST] else machines


@contextmanager
def opened_engine(store: bool | str | Path, guest: str | Path | None, engine: str = "embedded") -> Iterator[Engine]:
    """The engine behind a call; `store`: a file, True for the usual one, False for none."""
    from breakeven.engines.open import open_named

    path = None if isinstance(store, bool) else Path(store)
    with open_named(engine, path_of(guest), path, store is False) as opened:
        yield opened
