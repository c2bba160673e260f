"""The search for the break-even: `find` and `surface`."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from breakeven.cli import completion
from breakeven.cli.app import app
from breakeven.cli.options import (
    DstOption,
    GuestOption,
    JsonOption,
    MachineOption,
    NoPlotOption,
    NoStoreOption,
    NoTrustOption,
    PlotOption,
    SchedulerOption,
    SetOption,
    SizesOption,
    SrcOption,
    StoreOption,
    SweepOption,
    ThreadsOption,
    kept_in,
    number,
)
from breakeven.cli.point_options import measuring_option_group
from breakeven.errors import UserError
from breakeven.sweeps.request import swept_texts

RoutinesArgument = Annotated[
    list[str], typer.Argument(metavar="A B", help="Two routines, in either order.", autocompletion=completion.routines)
]
_SIZES, _OFFSETS = "1..2048", "0..63"


def quiet_threads() -> None:
    """The surrogate's matrices are small: more threads of the linear algebra than one only get in the engine's way."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _two(routines: list[str]) -> list[str]:
    if len(routines) != 2:
        raise UserError("a search compares two different routines")
    return routines


def _axis(along: str, axes: dict[str, Any]) -> dict[str, Any]:
    """The texts of the axes when the search goes along `along`."""
    name, _, values = along.partition("=")
    if name not in ("size", "src", "dst"):
        if not values:
            raise UserError(f"--along {along!r} is not size, src, dst or PATH=LOW:HIGH[:STEP]")
        axes["sweep"] = [*axes["sweep"], along]
    elif name == "size":
        axes["sizes"] = values or axes["sizes"] or _SIZES
    else:
        axes[name] = values or _OFFSETS
    if not axes["sizes"]:
        raise UserError(f"a search along {name} needs one size: give --sizes N")
    return axes


@app.command("find", short_help="Where the lead changes between two routines, with a tenth of the grid's points.")
@measuring_option_group
def find_(
    *,
    routines: RoutinesArgument,
    machine: MachineOption = "u74",
    along: Annotated[
        str, typer.Option("--along", "-a", metavar="AXIS", help="size, src[=0..7], dst[=0..7] or PATH=LOW:HIGH[:STEP].")
    ] = "size",
    sizes: Annotated[str, typer.Option("--sizes", "-n", help="The grid along size, or the one size.")] = "",
    src: SrcOption = 0,
    dst: DstOption = 0,
    budget: Annotated[
        int, typer.Option(parser=number(0), help="Points to measure of each routine; 0: a tenth of the grid.")
    ] = 0,
    measuring: dict[str, Any],
    settings: SetOption = [],  # noqa: B006
    plot: PlotOption = None,
    no_plot: NoPlotOption = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Measured points: .csv, .json, .parquet.")] = None,
    threads: ThreadsOption = 0,
    scheduler: SchedulerOption = None,
    guest: GuestOption = None,
    store: StoreOption = None,
    no_store: NoStoreOption = False,
    no_trust: NoTrustOption = False,
    json: JsonOption = False,
) -> int:
    """Find where the lead changes between two routines: along size, an offset or a machine parameter.

    The answer is that of `compare` on the full grid, from a tenth of its points; what is in doubt is said.
    """
    quiet_threads()
    from breakeven import api
    from breakeven.analysis.search_result import plot_find
    from breakeven.cli import search_output
    from breakeven.output.console import progress_bar
    from breakeven.points.table import check_output, write_table
    from breakeven.sweeps.plot_target import check_plot_asked, plot_target
    from breakeven.sweeps.spec import described

    old, new = _two(routines)
    axes = _axis(along, {"sizes": sizes, "src": src, "dst": dst, "sweep": []})
    if out:
        check_output(out)
    plot = None if no_plot else plot
    check_plot_asked(plot)
    swept, start = swept_texts(axes.pop("sweep")), time.perf_counter()
    with progress_bar(not json, "find") as progress:
        found = api.find(
            old, new, machine=machine, settings=settings, parameters=swept, budget=budget or None, threads=threads,
            store=kept_in(store, no_store), guest=guest, scheduler=scheduler, progress=progress, **axes, **measuring,
        )  # fmt: skip
    seconds = time.perf_counter() - start
    if out:
        write_table(described(found.table, found.spec), out)
    if plot := plot_target(plot, "find", found.spec):
        plot_find(found, plot)
    return search_output.find_done(found, plot, out, seconds, json, trust=not no_trust)


@app.command("surface", short_help="The break-even size as a function of one or two machine parameters.")
@measuring_option_group
def surface_(
    *,
    routines: RoutinesArgument,
    parameter: SweepOption,
    machine: MachineOption = "u74",
    sizes: SizesOption = _SIZES,
    src: SrcOption = 0,
    dst: DstOption = 0,
    measuring: dict[str, Any],
    settings: SetOption = [],  # noqa: B006
    plot: PlotOption = None,
    no_plot: NoPlotOption = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The surface: .csv, .json, .parquet.")] = None,
    threads: ThreadsOption = 0,
    scheduler: SchedulerOption = None,
    guest: GuestOption = None,
    store: StoreOption = None,
    no_store: NoStoreOption = False,
    json: JsonOption = False,
) -> int:
    """Which size to ship as the threshold, for every value of one or two machine parameters: a search for each."""
    quiet_threads()
    from breakeven import api
    from breakeven.analysis.search_result import plot_surface
    from breakeven.cli import search_output
    from breakeven.output.console import progress_bar
    from breakeven.points.table import check_output, write_table
    from breakeven.sweeps.plot_target import check_plot_asked, plot_target
    from breakeven.sweeps.spec import described

    old, new = _two(routines)
    if out:
        check_output(out)
    plot = None if no_plot else plot
    check_plot_asked(plot)
    start = time.perf_counter()
    with progress_bar(not json, "surface") as progress:
        found = api.surface(
            old, new, swept_texts(parameter), sizes=sizes, machine=machine, settings=settings, src=src, dst=dst,
            threads=threads, store=kept_in(store, no_store), guest=guest, scheduler=scheduler, progress=progress,
            **measuring,
        )  # fmt: skip
    seconds = time.perf_counter() - start
    if out:
        write_table(described(found.table(), found.spec), out)
    if plot := plot_target(plot, "surface", found.spec):
        plot_surface(found, plot)
    return search_output.surface_done(found, plot, out, seconds, json)
