"""Options that several commands share, and what their texts mean."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from breakeven.cli import completion
from breakeven.errors import UserError

#: what the engine takes
MAX_U64 = (1 << 64) - 1

MachineOption = Annotated[
    str,
    typer.Option(
        "--machine", "-m", help="Preset (see `machines`) or a machine .py file.", autocompletion=completion.machines
    ),
]
MachinesOption = Annotated[
    list[str],
    typer.Option("--machine", "-m", help="Preset or .py file; may be repeated.", autocompletion=completion.machines),
]
SetOption = Annotated[
    list[str], typer.Option("--set", metavar="PATH=VALUE", help="Override a machine parameter; may be repeated.")
]
PlotOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE|FORMAT", help="Draw a plot (.png, .svg, .pdf); `png` alone: name the file, too."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
GuestOption = Annotated[Path | None, typer.Option("--guest", metavar="ELF", help="A guest of your own.")]
ThreadsOption = Annotated[int, typer.Option("--threads", "-j", min=0, max=1024, help="Host threads; 0: one a core.")]
MaxInstsOption = Annotated[int, typer.Option(min=0, max=MAX_U64, help="Stop after this many instructions; 0: 10^12.")]
MaxCyclesOption = Annotated[int, typer.Option(min=0, max=MAX_U64, help="Stop after this many cycles; 0: 10^13.")]
InitParamOption = Annotated[int, typer.Option(min=0, max=MAX_U64, help="What the guest's initparam returns.")]
SizesOption = Annotated[str, typer.Option("--sizes", "-n", help="64,1448  64..1448  64..1448:8  1..64K*2 (mixed).")]
StateOption = Annotated[
    str,
    typer.Option(
        "--cache",
        help="warm, cold, src-cold, dst-cold, l2, src-l2, dst-l2, src-l2-dst-cold, src-cold-dst-l2, receive, send.",
    ),
]
MeasureOption = Annotated[str, typer.Option("--measure", help="latency, throughput, interleaved, stream.")]
RepetitionsOption = Annotated[
    int | None, typer.Option("--repetitions", help="Measurements per point (median): 21; of a stream 3.")
]
WarmupOption = Annotated[int, typer.Option("--warmup", help="Unmeasured calls before the first measurement.")]
CallsOption = Annotated[int, typer.Option("--calls", help="Calls per measurement (throughput, interleaved).")]
HugeOption = Annotated[bool, typer.Option("--huge-pages", help="2 MiB pages for the buffers instead of 4 KiB.")]
StreamOption = Annotated[
    str, typer.Option("--stream", help="Of a stream: moving (source), untouched (pages of it), reader; with commas.")
]
TotalOption = Annotated[str, typer.Option("--total", help="Bytes of all calls of a stream together.")]
Size2Option = Annotated[
    str, typer.Option("--size2", help="Second size (interleaved); bytes of the program's buffer (receive, send).")
]
Src2Option = Annotated[int, typer.Option("--src2", help="Second source offset (interleaved).")]
Dst2Option = Annotated[int, typer.Option("--dst2", help="Second destination offset (interleaved).")]
ParameterOption = Annotated[
    int, typer.Option("--parameter", help="Of a routine that has one, such as a threshold; 0: its default.")
]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of the buffers' contents.")]
SweepOption = Annotated[
    list[str], typer.Option("--sweep", metavar="PATH=A:B:STEP|V,V,...", help="Sweep a machine parameter.")
]
StoreOption = Annotated[
    Path | None, typer.Option("--store", metavar="FILE", help="Where points are kept (else $BREAKEVEN_STORE).")
]
SchedulerOption = Annotated[
    str, typer.Option("--scheduler", metavar="ADDRESS", help="Run on the workers of this dask scheduler (tcp://...).")
]
NoStoreOption = Annotated[bool, typer.Option("--no-store", help="Simulate every point; keep none.")]


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


def was_given(context: typer.Context, parameter: str) -> bool:
    """Whether the command line names the option of this parameter."""
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


#: bytes of a stream when none are asked for
TOTAL = "1MiB"


def machine_spec(name: str, settings: list[str]) -> Any:
    """A machine from the command line; ``host``: the preset that fits this host's processor."""
    from breakeven.runner import MachineSpec

    if name == "host":
        from breakeven.host_preset import host_fit, host_words

        fit = host_fit()
        if fit is None:
            raise UserError(
                f"no preset fits this host's processor ({host_words()}): name one (see `breakeven machines`)"
            )
        name = fit.preset
    return MachineSpec(name, tuple(settings))


@contextmanager
def open_engine(guest: Path | None, store: Path | None, no_store: bool, scheduler: str = "") -> Iterator[Any]:
    """The engine that simulates (here, or on a dask scheduler's workers), with the store before it if one is wanted.

    Without `guest`, routines that the user has added are there as well.
    """
    from breakeven.own_engine import with_own
    from breakeven.runner import EmbeddedEngine
    from breakeven.store import OFF, Store, default_path

    path = store or default_path()
    with ExitStack() as stack:
        kept = None if no_store or str(path) == OFF else stack.enter_context(Store(path))

        def make(elf: Path | None) -> Any:
            if scheduler:
                from breakeven.spread import SpreadEngine

                engine: Any = stack.enter_context(SpreadEngine(scheduler, elf))
            else:
                engine = EmbeddedEngine(elf)
            if kept is not None:
                from breakeven.stored import StoredEngine

                engine = StoredEngine(engine, kept)
            return engine

        yield make(guest) if guest else with_own(make)


def sweep_spec(
    routines: list[str], machines: list[str], settings: list[str], guest: Path | None, engine: str = "embedded",
    **axes: Any,
) -> Any:  # fmt: skip
    """A sweep from the command line's texts; `engine` native: on this host, whatever machine is named."""
    from breakeven import points as pt
    from breakeven.ranges import parse_integers, parse_number, parse_sweep
    from breakeven.runner import HOST
    from breakeven.sweep import SweepSpec

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
        from breakeven.routine_errors import check_one_isa

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
    from breakeven.native import NativeEngine
    from breakeven.runner import HOST, guest_routines

    if machine == HOST:
        return NativeEngine().routines()
    return guest_routines(machine_spec(machine, settings), guest)[1]
