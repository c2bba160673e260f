"""A model of the host's processor, by probes of it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from breakeven.cli import completion
from breakeven.cli.app import app
from breakeven.cli.options import JsonOption, ThreadsOption
from breakeven.errors import UserError


@app.command("calibrate", short_help="Fit a machine to this host's processor, by probes; check machines against it.")
def calibrate_(
    *,
    machine: Annotated[
        str,
        typer.Argument(help="With --check: a machine to judge, not calibrated.", autocompletion=completion.machines),
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
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The machine file.")] = Path("my_cpu.py"),
    numbers: Annotated[
        Path | None, typer.Option("--measurements", metavar="FILE", help="Read the host's numbers, or keep them there.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Then compare whole routines with the host's.")] = False,
    threads: ThreadsOption = 0,
    json: JsonOption = False,
) -> int:
    """Measure this host's processor with short probes and fit the parameters of a preset to them.

    Takes about two minutes and leaves a machine file that -m takes: it sets what was measured and leaves the rest as
    the preset has it. With --check, routines that no probe is made of are measured on the host and simulated: errors by
    kind and size, and how often the winner is right. That takes ten minutes more for each machine.
    """
    from breakeven.calibration import calibrating, report
    from breakeven.files.writing import check_target
    from breakeven.output.console import print_json, print_parts

    started = time.perf_counter()
    if machine and not check:
        raise UserError(f"{machine} is judged with --check; to start from it say --base {machine}")
    if machine and base:
        raise UserError("--check MACHINE judges that machine as it is: leave out --base")
    fit, models = None, [machine]
    if machine:
        found = _kept_routines(numbers)
    else:
        chosen = calibrating.base_for(base)
        check_target(out)
        if out.suffix != ".py":
            raise UserError(f"{out} is no name of a machine file: it ends in .py")
        with _bar(json, "calibrate") as progress:
            found = calibrating.measurements_from(numbers, progress)
            fit = calibrating.fitted(chosen, found, progress)
        calibrating.write_machine(fit, found, out)
        models = [chosen, str(out if out.is_absolute() else Path(".", out))]
    parts: list[Any] = [] if fit is None else report.fitted_parts(fit, found)
    host, judged = (_judged(found, models, numbers, threads, json)) if check else ({}, {})
    if json:
        files = {"machine": None if machine else str(out), "host_seconds": round(time.perf_counter() - started, 3)}
        print_json({**report.as_dict(fit, host, judged), **files})
        return 0
    parts += report.judged_parts(host, judged) if check else []
    if fit is not None:
        parts.append(f"machine: {out} (-m {models[-1]}), in {time.perf_counter() - started:.0f} s")
    print_parts(parts)
    return 0


def _kept_routines(numbers: Path | None) -> Any:
    """The measurements of a file; without one, none yet."""
    from breakeven.calibration import measurements

    if numbers is not None and numbers.exists():
        return measurements.read(numbers)
    return measurements.Measurements("", "", 0, 0, "", {})


def _judged(found: Any, models: list[str], numbers: Path | None, threads: int, json: bool) -> tuple[Any, Any]:
    """The host's routines, and each model's."""
    from breakeven.calibration import calibrating, judge

    with _bar(json, "the host's routines") as progress:
        whole = calibrating.native_routines(found, _of_one(progress, "the host's routines"))
    if numbers is not None and whole is not found and whole.probes:
        whole.save(numbers)
    asked = judge.kept_questions(whole.routines)
    judged = {}
    for name in models:
        with _bar(json, name) as progress:
            judged[name] = judge.simulated(name, asked, threads, _of_one(progress, name))
    return whole.routines, judged


def _of_one(progress: Any, label: str) -> Any:
    return None if progress is None else lambda done, total: progress(done, total, label)


@contextlib.contextmanager
def _bar(json: bool, what: str) -> Iterator[Any]:
    from breakeven.output.console import progress_bar

    with progress_bar(not json, what, counted=False) as progress:
        yield progress
