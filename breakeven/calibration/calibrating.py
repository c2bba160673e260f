"""A calibration from start to end: the host's numbers, measured or kept; the fit; the machine file."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from breakeven.calibration import judge, measurements
from breakeven.calibration.fit import Fit, Search
from breakeven.calibration.host import cache_sizes, check_host, host_extensions, measure
from breakeven.calibration.host_program import check_gcc
from breakeven.calibration.machine_file import machine_file
from breakeven.calibration.measurements import Measurements
from breakeven.calibration.model import Model
from breakeven.calibration.probes import probes
from breakeven.errors import UserError, near
from breakeven.files.writing import write_text
from breakeven.machine.host import host_fit
from breakeven.machine.presets import is_file_name, list_presets, load_machine

#: of a host that no preset fits
GENERIC = "x86_o3"
#: extensions that a probe may need, and the base's switch of each
_SWITCHES = {"avx2": "enable_avx2", "avx512f": "enable_avx512"}
#: levels that a probe may name
_LEVELS = 4

Progress = Callable[[int, int, str], None]


def base_for(asked: str | None) -> str:
    """The base: what was asked for, the preset that fits the host, or the generic one."""
    if asked is None:
        fit = host_fit()
        return fit.preset if fit is not None else GENERIC
    if is_file_name(asked):
        raise UserError(f"--base takes a preset, and {asked} is a file: `breakeven machines` lists the presets")
    presets = {each.name: each.isa for each in list_presets()}
    if asked not in presets:
        names = [name for name, isa in presets.items() if isa == "x86"]
        raise UserError(f"there is no preset {asked!r}{near(asked, names, all_of='there are')}")
    if presets[asked] != "x86":
        raise UserError(f"--base {asked} is no x86-64 preset: calibrate fits x86-64, not yet RISC-V")
    return asked


def measurements_from(file: Path | None, progress: Progress | None = None) -> Measurements:
    """Read from `file`, where there is one; else measured, and kept there."""
    check_gcc()
    if file is not None and file.exists():
        return measurements.read(file)
    check_host()
    found = measure(probes(host_extensions(), len(cache_sizes())), progress)
    if file is not None:
        found.save(file)
    return found


def fitted(base: str, found: Measurements, progress: Progress | None = None) -> Fit:
    """The base's parameters by these numbers."""
    isa = load_machine(base).system.cpu.isa[0]
    if not isa.enable_sse2:
        raise UserError(f"the probes need SSE2's fences, and {base} has none: take a later preset with --base")
    has = [name for name, switch in _SWITCHES.items() if getattr(isa, switch)]
    asked = [each for each in probes(has, _LEVELS) if each.name in found.probes]
    if not asked:
        raise UserError("the measurements have none of the probes that calibrate knows: measure again")
    return Search(Model(base, asked), found, progress).run()


def write_machine(fit: Fit, found: Measurements, path: Path) -> None:
    """The machine file, whole or not at all."""
    write_text(path, machine_file(fit, found, path.stem if path.stem.isidentifier() else "calibrated"))


def native_routines(found: Measurements, progress: judge.Progress | None = None) -> Measurements:
    """With the numbers of whole routines, measured where the file has none."""
    if found.routines:
        return found
    check_host()
    return dataclasses.replace(found, routines=judge.native(judge.questions(), progress))
