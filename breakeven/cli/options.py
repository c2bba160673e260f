"""Options that several commands share. What their texts mean: `breakeven.sweeps.request`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from breakeven.cli import completion
from breakeven.errors import UserError

#: what the engine takes
MAX_U64 = (1 << 64) - 1


def number(least: int | None = None, most: int = MAX_U64) -> Callable[[Any], int]:
    """Parses an option's whole number (``64``, ``0x40``, ``4KiB``). Without `least` the request checks its range."""

    def parse(value: Any) -> int:
        from breakeven.points.ranges import parse_number

        if isinstance(value, int):  # a default
            return value
        text = value.strip()
        try:
            found = -parse_number(text[1:], "the value") if text[:1] == "-" else parse_number(text, "the value")
        except UserError:
            raise typer.BadParameter(f"{value!r} is not a number (like 1448, 64K or 2MiB)") from None
        if least is not None and not least <= found <= most:
            raise typer.BadParameter(f"{value} is out of range: {least} to {most}")
        return found

    parse.__name__ = "int"  # what help shows
    return parse


NUMBER = number()

SrcOption = Annotated[int, typer.Option("--src", "-s", parser=NUMBER, help="Source offset from a page boundary.")]
DstOption = Annotated[int, typer.Option("--dst", "-d", parser=NUMBER, help="Destination offset from a page boundary.")]

MachineOption = Annotated[
    str,
    typer.Option(
        "--machine", "-m", help="Preset (see `machines`) or a machine .py file.", autocompletion=completion.machines
    ),
]
MachinesOption = Annotated[
    list[str],
    typer.Option(
        "--machine",
        "-m",
        help="Preset or .py file; several: repeated, with commas, or all.",
        autocompletion=completion.machines,
    ),
]
SetOption = Annotated[
    list[str], typer.Option("--set", metavar="PATH=VALUE", help="Override a machine parameter; may be repeated.")
]
PlotOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE|FORMAT", help="Draw a plot (.png, .svg, .pdf); `png` alone: name the file, too."),
]
NoPlotOption = Annotated[bool, typer.Option("--no-plot", help="Draw none, whatever --plot says.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
GuestOption = Annotated[Path | None, typer.Option("--guest", metavar="ELF", help="A guest of your own.")]
ThreadsOption = Annotated[
    int, typer.Option("--threads", "-j", parser=number(0, 1024), help="Host threads; 0: one a core.")
]
MaxInstsOption = Annotated[int, typer.Option(parser=number(0), help="Stop after this many instructions; 0: 10^12.")]
MaxCyclesOption = Annotated[int, typer.Option(parser=number(0), help="Stop after this many cycles; 0: 10^13.")]
InitParamOption = Annotated[int, typer.Option(parser=number(0), help="What the guest's initparam returns.")]
SizesOption = Annotated[str, typer.Option("--sizes", "-n", help="64,1448  64..1448  64..1448:8  1..64K*2 (mixed).")]
StateOption = Annotated[
    str,
    typer.Option(
        "--cache",
        help="warm, cold, src-cold, dst-cold, l2, src-l2, dst-l2, src-l2-dst-cold, src-cold-dst-l2, receive, send.",
    ),
]
MeasureOption = Annotated[
    str,
    typer.Option(
        "--measure",
        help="latency (one call between fences), throughput (one call more in a row), interleaved, stream; see --mix.",
    ),
]
RepetitionsOption = Annotated[
    int | None,
    typer.Option(
        "--repetitions",
        parser=NUMBER,
        help="Measurements per point (median): 21, or 85 where 21 do not converge; of a stream 3.",
    ),
]
WarmupOption = Annotated[
    int, typer.Option("--warmup", parser=NUMBER, help="Unmeasured calls before the first measurement.")
]
CallsOption = Annotated[
    int | None,
    typer.Option("--calls", parser=NUMBER, help="Cycles are of so many calls: throughput, interleaved 16; a mix 4096."),
]
MixOption = Annotated[
    str | None,
    typer.Option(
        "--mix", help="Calls of sizes drawn at random: 1..256, spec2017 or a file; the size is the working set."
    ),
]
NoTrustOption = Annotated[bool, typer.Option("--no-trust", help="Leave out how near the machine is to silicon.")]
AlignOption = Annotated[
    int, typer.Option("--align", parser=NUMBER, help="Mix: offsets are multiples of this; 0: as SPEC 2017's.")
]
HugeOption = Annotated[bool, typer.Option("--huge-pages", help="2 MiB pages for the buffers instead of 4 KiB.")]
StreamOption = Annotated[
    str,
    typer.Option(
        "--stream", help="Of a stream: moving (source), untouched (pages of it), reader (of a mix, too); with commas."
    ),
]
TotalOption = Annotated[str, typer.Option("--total", help="Bytes of all calls of a stream together.")]
Size2Option = Annotated[
    str, typer.Option("--size2", help="Second size (interleaved); bytes of the program's buffer (receive, send).")
]
Src2Option = Annotated[int, typer.Option("--src2", parser=NUMBER, help="Second source offset (interleaved).")]
Dst2Option = Annotated[int, typer.Option("--dst2", parser=NUMBER, help="Second destination offset (interleaved).")]
ParameterOption = Annotated[
    int,
    typer.Option("--parameter", parser=NUMBER, help="Of a routine that has one, such as a threshold; 0: its default."),
]
DistanceOption = Annotated[
    str,
    typer.Option("--distance", help="Bytes from source to destination in one buffer (-64, 4K); 0: each has its own."),
]
SeedOption = Annotated[int, typer.Option("--seed", parser=NUMBER, help="Seed of the buffers' contents.")]
SweepOption = Annotated[
    list[str], typer.Option("--sweep", metavar="PATH=A:B:STEP|V,V,...", help="Sweep a machine parameter.")
]
StoreOption = Annotated[
    Path | None, typer.Option("--store", metavar="FILE", help="Where points are kept (else $BREAKEVEN_STORE).")
]
SchedulerOption = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="Run on the workers of this dask scheduler (tcp://...)."),
]
NoStoreOption = Annotated[bool, typer.Option("--no-store", help="Simulate every point; keep none.")]


def was_given(context: typer.Context, parameter: str) -> bool:
    """Whether the command line names the option of this parameter."""
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


def kept_in(store: Path | None, no_store: bool) -> bool | Path:
    """``--store`` and ``--no-store`` as the Python API takes them."""
    return False if no_store else store or True
