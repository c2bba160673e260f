"""The steps of `breakeven calibrate`: base preset, measurements, fit, machine file, comparison of routines."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from breakeven.calibration import accuracy, measurements
from breakeven.calibration.fit import Fit, Search
from breakeven.calibration.host import cache_sizes, check_host, host_extensions, measure
from breakeven.calibration.host_program import check_gcc
from breakeven.calibration.knobs import cache_levels
from breakeven.calibration.machine_file import machine_file
from breakeven.calibration.measurements import Measurements
from breakeven.calibration.model import Model
from breakeven.calibration.probes import probes
from breakeven.errors import UserError, near
from breakeven.files.writing import check_target, write_text
from breakeven.machine.host import host_fit
from breakeven.machine.presets import is_file_name, list_presets, load_machine

#: the base of a host that no preset fits
GENERIC = "x86_o3"
#: extension of a probe -> the base's parameter that enables it
_ENABLES = {"avx2": "enable_avx2", "avx512f": "enable_avx512"}

Progress = Callable[[int, int, str], None]


def base_preset(requested: str | None) -> str:
    """The preset that was requested, or the one that fits the host, or the generic one."""
    if requested is None:
        fit = host_fit()
        return fit.preset if fit is not None else GENERIC
    if is_file_name(requested):
        raise UserError(f"--base takes a preset, and {requested} is a file: `breakeven machines` lists the presets")
    isas = {each.name: each.isa for each in list_presets()}
    if requested not in isas:
        names = [name for name, isa in isas.items() if isa == "x86"]
        raise UserError(f"there is no preset {requested!r}{near(requested, names, all_of='there are')}")
    if isas[requested] != "x86":
        raise UserError(f"--base {requested} is no x86-64 preset: calibrate fits x86-64, not yet RISC-V")
    return requested


def read_or_measure(file: Path | None, progress: Progress | None = None, *, routines: bool = False) -> Measurements:
    """Reads the probes from `file`; if it has none, measures them and writes it. `routines`: they are wanted later."""
    kept = measurements.read(file) if file is not None and file.exists() else None
    if file is not None and not (kept and kept.probes and (kept.routines or not routines)):
        # What takes minutes to measure is not lost.
        check_target(file)
    check_gcc()
    if kept is not None and kept.probes:
        return kept
    check_host()
    measured = measure(probes(host_extensions(), len(cache_sizes())), progress)
    if kept is not None:
        measured = dataclasses.replace(measured, routines=kept.routines)
    if file is not None:
        measured.save(file)
    return measured


def fit_preset(base: str, measured: Measurements, progress: Progress | None = None) -> Fit:
    """Fits the base's parameters to the measurements."""
    root = load_machine(base)
    isa = root.system.cpu.isa[0]
    if not isa.enable_sse2:
        raise UserError(f"the probes need SSE2's fences, and {base} has none: take a later preset with --base")
    extensions = [name for name, enable in _ENABLES.items() if getattr(isa, enable)]
    known = [each for each in probes(extensions, cache_levels(root)) if each.name in measured.probes]
    if not known:
        raise UserError("the measurements have none of the probes that calibrate knows: measure again")
    return Search(Model(base, known), measured, progress).run()


def write_machine(fit: Fit, measured: Measurements, path: Path) -> None:
    """Writes the machine file; an interruption leaves no part of it."""
    write_text(path, machine_file(fit, measured, path.stem if path.stem.isidentifier() else "calibrated"))


def with_routines(measured: Measurements, progress: accuracy.Progress | None = None) -> Measurements:
    """The measurements with those of whole routines, which are measured if there are none."""
    if measured.routines:
        return measured
    check_host()
    routines = accuracy.measure_on_host(accuracy.host_points(), progress)
    return dataclasses.replace(measured, routines=routines)
