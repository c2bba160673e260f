"""Many points: `sweep` and `compare`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from breakeven.cli import completion
from breakeven.cli.app import app
from breakeven.cli.engines import EngineOption, EnginesOption, TrustNativeOption
from breakeven.cli.options import (
    DstOption,
    GuestOption,
    JsonOption,
    MachinesOption,
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
    was_given,
)
from breakeven.cli.point_options import measuring_option_group
from breakeven.errors import UserError
from breakeven.sweeps.request import engine_names, swept_texts


@app.command(short_help="Run a grid of points into a results file.")
@measuring_option_group
def sweep(
    context: typer.Context,
    *,
    routines: Annotated[
        list[str] | None,
        typer.Argument(
            help="Routines, or all, copy, user-copy, checksum, copy-checksum, set, move, clear, crc32c, ...",
            autocompletion=completion.routines,
        ),
    ] = None,
    sizes: SizesOption = "",
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="The sweep as a TOML file; -m for a machine of your own.")
    ] = None,
    machine: MachinesOption = ["u74"],  # noqa: B006
    src: Annotated[str, typer.Option("--src", "-s", help="Source offsets, e.g. 0..7.")] = "0",
    dst: Annotated[str, typer.Option("--dst", "-d", help="Destination offsets, e.g. 0..7.")] = "0",
    measuring: dict[str, Any],
    parameter: SweepOption = [],  # noqa: B006
    settings: SetOption = [],  # noqa: B006
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Results: .csv, .json or .parquet.")] = None,
    threads: ThreadsOption = 0,
    engine_name: EngineOption = "embedded",
    trust_native: TrustNativeOption = False,
    scheduler: SchedulerOption = None,
    guest: GuestOption = None,
    store: StoreOption = None,
    no_store: NoStoreOption = False,
    json: JsonOption = False,
) -> int:
    """Run routines x machines x sizes x offsets x cache states x measures x parameters into a results file.

    Without --out the table goes to sweep.csv (with --json: into the object).
    """
    from breakeven import api
    from breakeven.cli import summaries
    from breakeven.machine.presets import machine_names
    from breakeven.output.console import progress_bar
    from breakeven.points.table import check_output, check_replaces_table, write_table
    from breakeven.sweeps.file import read_sweep_file

    axes: dict[str, Any] = {
        "sizes": sizes, "src": src, "dst": dst, **measuring, "sweep": parameter,
        "routines": routines or [], "machines": machine_names(machine), "settings": settings,
    }  # fmt: skip
    if file:
        _refuse_axes(context)
        axes |= read_sweep_file(file)
        if was_given(context, "machine"):
            axes["machines"] = machine_names(machine)
    for name, what in (("routines", "routines: name some"), ("sizes", "sizes: give --sizes")):
        if not axes[name]:
            raise UserError(f"the sweep has no {what}, or a --file")
    named = axes.pop("out", None) or (None if json else Path("sweep.csv"))
    path = out or named
    if path:
        check_output(path)
    if path and not out:
        check_replaces_table(path)
    for name in ("cache", "measure"):
        axes[name] = axes[name].split(",")
    swept, start = swept_texts(axes.pop("sweep")), time.perf_counter()
    with progress_bar(not json, "sweep") as progress:
        table = api.sweep(
            axes.pop("routines"), axes.pop("sizes"), parameters=swept, threads=threads, engine=engine_name,
            scheduler=scheduler, guest=guest, store=kept_in(store, no_store), trust_native=trust_native,
            before=None if json else summaries.say_how_long, progress=progress, **axes,
        )  # fmt: skip
    seconds = time.perf_counter() - start
    if path:
        write_table(table, path)
    return summaries.sweep_done(table, path, seconds, json)


#: options of `sweep` that go with a file: those that are no axes, and the machines, of which a file names presets only
_BESIDE_A_FILE = {
    *("file", "machine", "out", "threads", "engine_name", "trust_native", "scheduler", "guest", "store", "no_store"),
    "json",
}


def _refuse_axes(context: typer.Context) -> None:
    """A sweep is in the file or on the command line, not in both."""
    for param in context.command.params:
        if param.name and was_given(context, param.name) and param.name not in _BESIDE_A_FILE:
            raise UserError(f"{param.opts[0]} and --file: write it into the file")


@app.command(short_help="Who wins where: a table, the size to ship, a plot.")
@measuring_option_group
def compare(
    *,
    routines: Annotated[
        list[str],
        typer.Argument(
            help="Two or more routines, in any order; or a kind: copy, checksum, ...",
            autocompletion=completion.routines,
        ),
    ],
    machine: MachinesOption = ["u74"],  # noqa: B006
    sizes: SizesOption = "1..256,265..2048:9",
    src: SrcOption = 0,
    dst: DstOption = 0,
    measuring: dict[str, Any],
    parameter: SweepOption = [],  # noqa: B006
    settings: SetOption = [],  # noqa: B006
    plot: PlotOption = None,
    no_plot: NoPlotOption = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Results too: .csv, .json, .parquet.")] = None,
    baseline: Annotated[
        Path | None, typer.Option(metavar="OLD.json", help="An earlier `compare --json`: what changed since.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Tables as GitHub's markdown.")] = False,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Say which parameter of the machine it rests on (runs `sensitivity`).")
    ] = False,
    threads: ThreadsOption = 0,
    engine: EnginesOption = "embedded",
    trust_native: TrustNativeOption = False,
    guest: GuestOption = None,
    store: StoreOption = None,
    no_store: NoStoreOption = False,
    no_trust: NoTrustOption = False,
    json: JsonOption = False,
) -> int:
    """Compare routines on a machine: a table and the sizes where the lead changes; with --plot the curves.

    Of several machines (-m u74,c906) each has its own. With --sweep the comparison runs along that parameter, at the
    one size given; with two engines, point by point with the error.
    """
    from breakeven import api
    from breakeven.analysis import baseline as earlier
    from breakeven.analysis import comparison
    from breakeven.cli import comparison_output
    from breakeven.cli import engines as several
    from breakeven.cli.summaries import say_how_long
    from breakeven.machine.presets import machine_names
    from breakeven.output.console import progress_bar
    from breakeven.points.table import check_output, write_table
    from breakeven.sweeps.plot_target import check_plot_asked, plot_target
    from breakeven.sweeps.spec import described

    names, machines = engine_names(engine), machine_names(machine)
    if len(machines) > 1 and (out or baseline or len(names) > 1 or (plot and plot.suffix)):
        raise UserError("--out, --baseline, --plot FILE and several --engine are of one machine: name one with -m")
    if "," in measuring["cache"] or "," in measuring["measure"]:
        raise UserError("compare looks at one cache state and one measure at a time")
    if out:
        check_output(out)
    plot = None if no_plot else plot
    check_plot_asked(plot)
    old = earlier.read_baseline(baseline) if baseline else None
    asked: dict[str, Any] = {
        "sizes": sizes, "settings": settings, "src": src, "dst": dst, "threads": threads,
        "parameters": swept_texts(parameter), "store": kept_in(store, no_store), "guest": guest,
        "trust_native": trust_native, **measuring,
    }  # fmt: skip
    if len(names) > 1:
        if old or markdown:
            raise UserError("--baseline and --markdown are of one engine's comparison: name one --engine")
        with progress_bar(not json, "compare") as progress:
            both = api.compare_engines(*routines, engines=names, machine=machines[0], progress=progress, **asked)
        if out:
            write_table(both.table, out)
        if plot := plot_target(plot, "compare", next(iter(both.found.values())).spec):
            several.plot_engines(both, plot)
        return several.engines_done(both, plot, out, json)
    each, plots = [], []
    with progress_bar(not json, "compare") as progress:
        for name in machines:
            each.append(
                api.compare(
                    *routines,
                    machine=name,
                    engine=engine,
                    confidence=confidence,
                    progress=progress,
                    before=None if json else say_how_long,
                    **asked,
                )
            )
    for found in each:
        plots.append(plot_target(plot, "compare", found.spec))
        if plots[-1]:
            comparison.plot_comparison(found, plots[-1])
    if len(each) > 1:
        return comparison_output.comparisons_done(each, plots, json, markdown=markdown, trust=not no_trust)
    found, plot = each[0], plots[0]
    if out:
        write_table(described(found.table, found.spec), out)
    against = earlier.against(found, old, str(baseline)) if old else None
    return comparison_output.comparison_done(
        found, plot, out, json, markdown=markdown, baseline=against, trust=not no_trust
    )
