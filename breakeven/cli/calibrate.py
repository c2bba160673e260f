"""Fits a preset to the host's processor, and compares machines with it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from breakeven.cli import completion
from breakeven.cli.app import app
from breakeven.cli.options import JsonOption, ThreadsOption
from breakeven.errors import UserError

if TYPE_CHECKING:
    from breakeven.calibration.measurements import Measurements
    from breakeven.points.machine_spec import MachineSpec


@app.command("calibrate", short_help="Fit a preset to this host's processor with probes; compare machines with it.")
def calibrate_(
    *,
    machine: Annotated[
        str,
        typer.Argument(
            help="With --check: a machine to compare; nothing is fitted.", autocompletion=completion.machines
        ),
    ] = "",
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="PRESET",
            help="The preset to start from (else the one that fits this host).",
            autocompletion=completion.machines,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="The machine file, also where there is one.", show_default="my_cpu.py"
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--measurements", metavar="FILE", help="Measurements of the host: read if FILE has them, else written."
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Also compare whole routines with the host.")] = False,
    threads: ThreadsOption = 0,
    json: JsonOption = False,
) -> int:
    """Measure this host's processor with short probes and fit the parameters of a preset to them.

    It takes two to four minutes and writes a machine file for -m. The file sets what the probes decide; everything else
    stays as in the preset. With --check, whole routines are measured on the host and simulated as well: errors by kind
    and size, and how often the model names the faster of two routines. No routine is used to fit. A check takes one
    to ten minutes for each machine.
    """
    from breakeven.calibration import measurements, report, workflow
    from breakeven.calibration.fit import as_options
    from breakeven.calibration.host import this_host
    from breakeven.files.sandbox import terminable
    from breakeven.files.writing import check_target, default_place
    from breakeven.output.console import print_json, print_parts
    from breakeven.points.machine_spec import MachineSpec

    started = time.perf_counter()
    if machine and not check:
        raise UserError(f"to compare {machine} with the host add --check; to fit from it use --base {machine}")
    if machine and base:
        raise UserError("--check MACHINE compares that machine as it is: leave out --base")
    if out is None and not machine:
        out = default_place("my_cpu.py", "--out")
        if out.exists():
            raise UserError(f"'{out}' is there already, and may have been edited: give --out {out} to replace it")
    fit, models, parts = None, {machine: MachineSpec(machine)}, []
    if not machine:
        preset = workflow.base_preset(base)
        check_target(out)
        if out.suffix != ".py":
            raise UserError(f"{out}: the name of a machine file must end in .py")
        with terminable(), _progress(json, "calibrate") as progress:
            measured = workflow.read_or_measure(file, progress, routines=check)
            fit = workflow.fit_preset(preset, measured, progress)
        workflow.write_machine(fit, measured, out)
        # Not the file: it would import what else lies in its folder, and nobody has named it as a machine.
        models = {preset: MachineSpec(preset), str(out): MachineSpec(preset, as_options(fit.settings))}
        parts = report.fit_parts(fit, measured)
    elif file is not None and file.exists():
        measured = measurements.read(file)
    else:
        measured = this_host()
    host, simulated = _check(measured, models, file, threads, json) if check else ({}, {})
    if json:
        more = {"machine": None if machine else str(out), "wall_seconds": round(time.perf_counter() - started, 3)}
        print_json({**report.as_dict(fit, host, simulated), **more})
        return 0
    parts += report.accuracy_parts(host, simulated) if check else []
    if fit is not None:
        parts.append(f"machine: {out} (-m {out}), in {time.perf_counter() - started:.0f} s")
    print_parts(parts)
    return 0


def _check(
    measured: Measurements, models: dict[str, MachineSpec], file: Path | None, threads: int, json: bool
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Cycles of whole routines: the host's, and those of each model."""
    from breakeven.calibration import accuracy, workflow
    from breakeven.files.writing import check_target

    if file is not None and not measured.routines:
        check_target(file)
    with _progress(json, "the host's routines") as progress:
        complete = workflow.with_routines(measured, _labelled(progress, "the host's routines"))
    if file is not None and complete is not measured:
        complete.save(file)
    points, simulated = accuracy.parsed(complete.routines), {}
    for name, model in models.items():
        with _progress(json, name) as progress:
            simulated[name] = accuracy.simulate(model, points, threads, _labelled(progress, name))
        if points and not simulated[name]:
            raise UserError(f"{model} runs none of the routines that were measured: measure again")
    return complete.routines, simulated


def _labelled(progress: Any, label: str) -> Any:
    return None if progress is None else lambda done, total: progress(done, total, label)


@contextlib.contextmanager
def _progress(json: bool, label: str) -> Iterator[Any]:
    from breakeven.output.console import progress_bar

    with progress_bar(not json, label, counted=False) as progress:
        yield progress
