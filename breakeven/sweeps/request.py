"""What was asked for: engines, machines, routines, points, sweeps, from numbers or the command line's texts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from breakeven import points as pt
from breakeven.errors import UserError, near, say
from breakeven.machine.host import host_fit, host_words
from breakeven.points.ranges import Swept as SweptTexts
from breakeven.points.ranges import parse_integers, parse_number, parse_sweep

if TYPE_CHECKING:
    from breakeven.points.machine_spec import MachineSpec
    from breakeven.points.mix import Mix
    from breakeven.points.record import Point
    from breakeven.sweeps.spec import SweepSpec

ENGINES = ("embedded", "detailed", "native", "gem5")


def engine_names(text: str, most: int = len(ENGINES)) -> list[str]:
    """The engines that ``--engine`` names, at most `most`; raises `UserError`."""
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in ENGINES:
            raise UserError(f"unknown engine {name!r}: one of {', '.join(ENGINES)}")
    if len(names) > most:
        raise UserError(f"--engine {text}: one at a time here; compare takes several")
    return names


#: calls of throughput and interleaved, and of a mix, where nobody asks for another number (half of what glibc's
#: bench-memcpy-random makes)
CALLS, MIX_CALLS = 16, 4096
#: bytes of a stream when none are asked for
TOTAL = "1MiB"
#: numbers, or the command line's text for them
Numbers = int | str | Iterable[int]
#: machine parameters: dotted path -> value; or texts ``path=value``, which may name one path several times
Settings = Mapping[str, object] | Sequence[str]
#: swept machine parameters: dotted path -> values, or the command line's text (``"0:40:4"``)
Swept = Mapping[str, "str | Iterable[object]"]


class Measuring(TypedDict, total=False):
    """How a point is measured, beside where it copies; each as the command's option of this name (docs/cli.md)."""

    #: measurements (default: 21, or 85 where 21 do not converge; of a stream 3), and unmeasured calls before them (2)
    repetitions: int | None
    warmup: int
    #: throughput and interleaved are the cycles of so many calls (16), a mix of so many different ones (4096)
    calls: int | None
    #: calls of different sizes in a row: sizes ("1..256"), "spec2017" or a file of a distribution; `size` is then the
    #: working set that their buffers are spread over
    mix: str
    #: of a mix: what both buffers' offsets are multiples of; 0: as often as in SPEC 2017
    align: int
    #: of a stream: bytes of all calls together (1 MiB), and its kind: moving, untouched, reader
    total: int | str
    stream: str
    #: the second call of interleaved: bytes and offsets
    size2: int | str
    src_offset2: int
    dst_offset2: int
    #: of the buffers' contents
    seed: int
    #: 2 MiB pages for the buffers instead of 4 KiB
    huge_pages: bool
    #: more bits of docs/guests.md
    flags: int
    #: of a routine that has one, such as a threshold; 0: its default
    routine_parameter: int
    #: bytes from the source to the destination in one buffer (-64, "4K"); 0: each has its own
    distance: int | str


class Faulting(Measuring, total=False):
    """Of one point also where a user copy faults."""

    #: the byte whose page is not mapped, and the side: src or dst
    fault_at: int | None
    fault_side: str


def machine_spec(name: str, settings: Settings | None) -> MachineSpec:
    """A machine by its name; ``host``: the preset that fits this host's processor."""
    from breakeven.points.machine_spec import MachineSpec

    if name == "host":
        fit = host_fit()
        if fit is None:
            raise UserError(
                f"no preset fits this host's processor ({host_words()}): name one (see `breakeven machines`)"
            )
        name = fit.preset
    return MachineSpec(name, tuple(settings_texts(settings)))


def settings_texts(settings: Settings | None) -> list[str]:
    """Overrides as the command line's texts."""
    if isinstance(settings, Mapping):
        return [f"{path}={_text(value)}" for path, value in settings.items()]
    return list(settings or ())


def on_engine(engine: str, machines: str | Sequence[str]) -> list[str]:
    """What runs the points of one engine: the machines named, or this host whatever they are."""
    from breakeven.points.machine_spec import HOST

    return [HOST] if engine_names(engine) == [HOST] else _names(machines)


def sweep_spec(
    routines: str | Sequence[str], machines: str | Sequence[str], settings: Settings | None, guest: Path | None,
    engine: str = "embedded", *, sizes: Numbers, src: Numbers, dst: Numbers, cache: str | Sequence[str],
    measure: str | Sequence[str], parameters: Swept | None, options: Measuring, quiet: bool = False,
) -> SweepSpec:  # fmt: skip
    """The sweep that the arguments describe. `quiet`: nothing is said of routines that a machine does not run."""
    from breakeven.sweeps.spec import SweepSpec

    _refuse_unknown(options, Measuring)
    texts = settings_texts(settings)
    specs = [machine_spec(name, texts) for name in dict.fromkeys(on_engine(engine, machines))]
    more: dict[str, Any] = dict(options)
    flags = _flags(more)
    for name, default in (("size2", "0"), ("total", TOTAL)):
        more[name] = parse_number(str(more.get(name, default)), name)
    more["distance"] = _distance(more)
    measures = list(dict.fromkeys(_names(measure)))
    mix = _take_mix(more, measures)
    spec = SweepSpec(
        routines=named_routines(_names(routines), [spec.name for spec in specs], texts, guest, quiet),
        machines=specs,
        sizes=numbers(sizes, "size", pt.MAX_SIZE),
        src_offsets=numbers(src, "src offset", pt.MAX_OFFSET),
        dst_offsets=numbers(dst, "dst offset", pt.MAX_OFFSET),
        cache_states=list(dict.fromkeys(_names(cache))),
        measures=measures,
        mix=mix,
        parameters=_all_swept(parameters or {}),
        flags=flags,
        **more,
    )
    spec.validate()
    return spec


def point_of(routine: str, size: int | str, src: int, dst: int, cache: str, measure: str, options: Faulting) -> Point:
    """The point that the arguments describe."""

    _refuse_unknown(options, Faulting)
    more: dict[str, Any] = dict(options)
    flags = _flags(more)
    mix = _take_mix(more, measures := [measure])
    measure = measures[0]
    parameter = more.pop("routine_parameter", 0)
    length, total = parse_number(str(size), "size"), parse_number(str(more.pop("total", TOTAL)), "total")
    kind = pt.index_of(pt.MEASURES, measure, "measure")
    calls = pt.stream_calls(total, length) if kind == pt.STREAM else more["calls"]
    drawn = mix.drawn(length) if mix else None
    more |= {
        "calls": calls if kind else 1, "mix": drawn.name if drawn else 0,
        "size2": parse_number(str(more.get("size2", 0)), "size2"),
        "fault_at": _fault(more.pop("fault_at", None), more.pop("fault_side", "src")),
        "distance": _distance(more),
    }  # fmt: skip
    point = pt.Point(
        routine=routine, size=length, src_offset=src, dst_offset=dst, measure=kind, flags=flags, parameter=parameter,
        cache_state=pt.index_of(pt.CACHE_STATES, cache, "cache state"), **more,
    )  # fmt: skip
    point.validate()
    return point


def _refuse_unknown(options: Mapping[str, object], known: Any) -> None:
    names = [name for base in (Measuring, known) for name in base.__annotations__]
    if unknown := sorted(set(options) - set(names)):
        if unknown[0] in ("machine", "machines"):
            other = "machines" if unknown[0] == "machine" else "machine"
            raise TypeError(f"there is no {unknown[0]!r} here: give {other}")
        raise TypeError(f"unknown option {unknown[0]!r}; there are: {', '.join(sorted(set(names)))}")


def _flags(options: dict[str, Any]) -> int:
    """The bits that options stand for, which are taken out."""

    stream = pt.stream_flags(options.pop("stream", ""))
    return int(options.pop("flags", 0)) | stream | (pt.FLAG_HUGE_PAGES if options.pop("huge_pages", False) else 0)


def _take_mix(options: dict[str, Any], measures: list[str]) -> Mix | None:
    """The mix that options describe, which are taken out; `measures` and the number of calls become those of one."""
    text, align = options.pop("mix", ""), options.pop("align", 0)
    if options.get("calls") is None:
        options["calls"] = MIX_CALLS if text else CALLS
    if text == "":
        if align:
            raise UserError(f"align {align} is of a mix: give one (1..256, spec2017 or a file)")
        if "mix" in measures:
            raise UserError("the mix measure needs what is mixed: sizes (1..256), spec2017 or a file (--mix)")
        return None
    if set(measures) - {"latency", "mix"}:
        raise UserError(f"a mix is a measure of its own: leave out measure {', '.join(measures)}")
    from breakeven.points.mix import mix_of

    for name, default in (("size2", "0"), ("src_offset2", "0"), ("dst_offset2", "0"), ("total", TOTAL)):
        if parse_number(str(options.get(name, default)), name) != parse_number(default, name):
            raise UserError(f"{name.replace('_offset', '')} is not of a mix: leave it out")
    measures[:] = ["mix"]
    return mix_of(text, options["calls"], align, options.get("seed", 1))


def _distance(options: Mapping[str, object]) -> int:
    text = str(options.get("distance", 0))
    length = parse_number(text.removeprefix("-"), "distance")
    return -length if text.startswith("-") else length


def _fault(index: int | None, side: str) -> int:

    if side not in ("src", "dst"):
        raise UserError(f"unknown side {side!r} of --fault-at: src or dst")
    if index is None:
        return pt.NO_FAULT
    if not 0 <= index <= pt.MAX_SIZE:
        raise UserError(f"fault_at {index} is out of range: 0 to the size")
    return index | (pt.FAULT_IN_DESTINATION if side == "dst" else 0)


def numbers(values: Numbers, what: str, most: int) -> list[int]:
    """Numbers as an axis of a sweep: ascending, each once; `what` names them in errors."""

    if isinstance(values, str):
        return parse_integers(values, what, 0, most)
    try:
        return [int(values)] if isinstance(values, int) else sorted({int(value) for value in values})
    except (TypeError, ValueError):
        raise UserError(f"{what} {values!r} is not a number, a list of them, or a text like '64..1448:8'") from None


def swept_texts(texts: Iterable[str]) -> dict[str, str]:
    """Swept parameters from ``path=values`` texts; raises `UserError` for a path named twice, and for too many."""
    found = SweptTexts()
    for text in texts:
        found.add(text)
    return found.texts


def _all_swept(parameters: Swept) -> dict[str, Sequence[str]]:
    # All are counted before the first is listed.
    swept_texts(f"{path}={values}" for path, values in parameters.items() if isinstance(values, str))
    return {path: _swept(path, values) for path, values in parameters.items()}


def _swept(path: str, values: str | Iterable[object]) -> list[str]:

    if isinstance(values, str):
        return parse_sweep(f"{path}={values}")[1]
    return list(dict.fromkeys(_text(value) for value in values))


def _text(value: object) -> str:
    """A parameter's value in the configuration's notation."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _names(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


#: what stands for the routines of a kind; beside these each checksum other than the Internet's for its own (`_kinds`)
_KINDS = {
    "all": ("copy", "user-copy", "checksum", "copy-checksum", "set", "move", "clear"),
    "copy": ("copy", "user-copy"),
    "user-copy": ("user-copy",),
    "checksum": ("checksum",),
    "copy-checksum": ("copy-checksum",),
    "set": ("set",),
    "move": ("move",),
    "clear": ("clear",),
}


def _kinds() -> dict[str, tuple[str, ...]]:
    from breakeven.routine.checks import other_checksums

    others = sorted(other_checksums())
    return {**_KINDS, "all": (*_KINDS["all"], *others), **{name: (name,) for name in others}}


def check_kind(kind: str) -> None:
    """Refuses what names no kind of routine."""
    kinds = _kinds().keys() - {"all"}
    if kind not in kinds:
        raise UserError(f"there is no kind {kind!r} of routine{near(kind, kinds, all_of='there are')}")


def named_routines(
    names: list[str], machines: list[str], settings: list[str], guest: Path | None, quiet: bool = False
) -> list[str]:
    """The routines named; ``all`` and the names of kinds stand for those of a kind."""
    kinds = _kinds()
    if not kinds.keys() & set(names):
        return list(dict.fromkeys(names))
    if len(machines) > 1:
        from breakeven.routine.checks import check_one_isa

        check_one_isa([name for name in names if name in kinds], [machine_spec(name, []) for name in machines])
    known = _routines_of(machines[0], settings, guest)
    lacking = {r.name for name in machines for r in _routines_of(name, settings, guest) if r.missing_extension}
    found: list[str] = []
    for name in dict.fromkeys(names):
        found += [r.name for r in known if r.kind in kinds[name]] if name in kinds else [name]
    left_out = sorted(lacking.intersection(found) - set(names))
    if left_out and not quiet:
        # A kind is whatever runs there; a routine that is named is not left out but refused.
        said = f"breakeven: left out, as a machine lacks what they need: {', '.join(left_out)}"
        say(said, file=sys.stderr)
    return [name for name in dict.fromkeys(found) if name not in left_out]


def _routines_of(machine: str, settings: list[str], guest: Path | None) -> list[Any]:
    from breakeven.engines.native import NativeEngine
    from breakeven.points.machine_spec import HOST
    from breakeven.routine.guest import guest_routines

    if machine == HOST:
        return NativeEngine().routines()
    return guest_routines(machine_spec(machine, settings), guest)[1]
