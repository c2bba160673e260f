"""What was asked for, in the command line's texts: engines, machines, routines, sweeps. The command line and the Python
API both come through here, so that the same words mean the same.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.errors import UserError

if TYPE_CHECKING:
    from breakeven.points.machine_spec import MachineSpec

ENGINES = ("embedded", "native", "gem5")


def engine_names(text: str, most: int = len(ENGINES)) -> list[str]:
    """The engines that ``--engine`` names, at most `most`; raises `UserError`."""
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in ENGINES:
            raise UserError(f"unknown engine {name!r}: one of {', '.join(ENGINES)}")
    if len(names) > most:
        raise UserError(f"--engine {text}: one at a time here; compare takes several")
    return names


#: bytes of a stream when none are asked for
TOTAL = "1MiB"


def machine_spec(name: str, settings: list[str]) -> MachineSpec:
    """A machine from the command line; ``host``: the preset that fits this host's processor."""
    from breakeven.points.machine_spec import MachineSpec

    if name == "host":
        from breakeven.machine.host import host_fit, host_words

        fit = host_fit()
        if fit is None:
            raise UserError(
                f"no preset fits this host's processor ({host_words()}): name one (see `breakeven machines`)"
            )
        name = fit.preset
    return MachineSpec(name, tuple(settings))


def sweep_spec(
    routines: list[str], machines: list[str], settings: list[str], guest: Path | None, engine: str = "embedded",
    **axes: Any,
) -> Any:  # fmt: skip
    """A sweep from the command line's texts; `engine` native: on this host, whatever machine is named."""
    from breakeven import points as pt
    from breakeven.points.machine_spec import HOST
    from breakeven.points.ranges import parse_integers, parse_number, parse_sweep
    from breakeven.sweeps.spec import SweepSpec

    if engine_names(engine) == [HOST]:
        machines = [HOST]
    parameters: dict[str, list[str]] = {}
    for text in axes.pop("sweep"):
        path, values = parse_sweep(text)
        if path in parameters:
            raise UserError(f"--sweep names {path} twice")
        parameters[path] = values
    spec = SweepSpec(
        routines=named_routines(routines, machines, settings, guest),
        machines=[machine_spec(name, settings) for name in dict.fromkeys(machines)],
        sizes=parse_integers(axes.pop("sizes"), "size", 0, pt.MAX_SIZE),
        src_offsets=parse_integers(axes.pop("src"), "src offset", 0, pt.MAX_OFFSET),
        dst_offsets=parse_integers(axes.pop("dst"), "dst offset", 0, pt.MAX_OFFSET),
        cache_states=list(dict.fromkeys(axes.pop("cache").split(","))),
        measures=list(dict.fromkeys(axes.pop("measure").split(","))),
        parameters=parameters,
        size2=parse_number(axes.pop("size2"), "size2"),
        total=parse_number(axes.pop("total", TOTAL), "total"),
        flags=pt.stream_flags(axes.pop("stream", "")) | (pt.FLAG_HUGE_PAGES if axes.pop("huge_pages") else 0),
        **axes,
    )
    spec.validate()
    return spec


#: what stands for the routines of a kind
_KINDS = {
    "all": ("copy", "user-copy", "checksum", "copy-checksum"),
    "copy": ("copy", "user-copy"),
    "user-copy": ("user-copy",),
    "checksum": ("checksum",),
    "copy-checksum": ("copy-checksum",),
}


def named_routines(names: list[str], machines: list[str], settings: list[str], guest: Path | None) -> list[str]:
    """The routines named; ``all`` and the names of kinds stand for those of a kind."""
    if not _KINDS.keys() & set(names):
        return list(dict.fromkeys(names))
    if len(machines) > 1:
        from breakeven.routine.checks import check_one_isa

        check_one_isa([name for name in names if name in _KINDS], [machine_spec(name, []) for name in machines])
    known = _routines_of(machines[0], settings, guest)
    lacking = {r.name for name in machines for r in _routines_of(name, settings, guest) if r.lacks}
    found: list[str] = []
    for name in names:
        found += [r.name for r in known if r.kind in _KINDS[name]] if name in _KINDS else [name]
    left_out = sorted(lacking.intersection(found) - set(names))
    if left_out:
        # A kind is whatever runs there; a routine that is named is not left out but refused.
        print(f"breakeven: left out, as a machine lacks what they need: {', '.join(left_out)}", file=sys.stderr)
    return [name for name in dict.fromkeys(found) if name not in left_out]


def _routines_of(machine: str, settings: list[str], guest: Path | None) -> list[Any]:
    from breakeven.engines.native import NativeEngine
    from breakeven.points.machine_spec import HOST
    from breakeven.routine.guest import guest_routines

    if machine == HOST:
        return NativeEngine().routines()
    return guest_routines(machine_spec(machine, settings), guest)[1]
