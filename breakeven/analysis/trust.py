"""How far to believe an answer, in a line: what silicon said of the preset that gave it.

``configs/machines/trust.csv`` has a row for each preset; `scripts/trust.py` makes it from the results that are kept.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from breakeven.files.data import find_data
from breakeven.machine.presets import MODELS
from breakeven.points.machine_spec import HOST
from breakeven.routine.checks import jobs_of

if TYPE_CHECKING:
    from breakeven.points.machine_spec import MachineSpec

#: parameters without which a host's program runs: what the host was compared with
_IN_A_PROGRAM = {"cpu.isa.enable_smap=false"}


class Known(NamedTuple):
    """What is known of a preset. Shares and errors in per cent, differences in cycles; None: not measured."""

    preset: str
    #: the core that was measured; empty: none was
    host: str
    #: of five routines: median error of calls of 50 cycles and more, median difference of shorter ones
    copy_error: float | None
    copy_cycles: float | None
    checksum_error: float | None
    checksum_cycles: float | None
    #: pairs of all routines of which the host has one ahead in a mix, and the least and the greatest share named right
    pairs: int
    named_least: float | None
    named_most: float | None
    #: published rows on it that can fail: nothing was chosen after the first verdict, and those that are reproduced
    predicted: int
    predicted_right: int
    #: a model, state, definition or value was chosen with the number known
    chosen: int
    chosen_right: int
    #: values that the preset's file marks, and those of them that are assumed
    values: int
    assumed: int


FIELDS = Known._fields
_TEXTS = ("preset", "host")


@cache
def _rows() -> dict[str, Known]:
    with find_data("configs", "machines/trust.csv").open(newline="", encoding="utf-8") as file:
        found = [
            Known(**{name: _value(name, text) for name, text in row.items()})  # type: ignore[arg-type]
            for row in csv.DictReader(file)
        ]
    return {row.preset: row for row in found}


def _value(name: str, text: str) -> str | float | int | None:
    if name in _TEXTS:
        return text
    return None if not text else float(text) if "." in text else int(text)


def known(preset: str) -> Known | None:
    """What is known of a preset; None: it is none of ours."""
    return _rows().get(preset)


def trust_line(machine: MachineSpec, routines: Iterable[str]) -> str:
    """The line that stands below an answer of the simulator on `machine`, about these routines; empty for the host."""
    if machine.name == HOST:
        return ""
    found = known(machine.name)
    if found is None:
        said = f"nobody has compared {machine.name} with silicon (`breakeven calibrate --check` does)"
    elif machine.name in MODELS:
        said = f"{machine.name} is a model of no processor"
    else:
        said = "; ".join(filter(None, (_measured(found, list(routines)), _published(found), _assumed(found))))
        if {*machine.settings} - _IN_A_PROGRAM:
            said += "; with other values (--set) it is no processor that was measured"
    return f"trust: {said}"


def _measured(found: Known, routines: list[str]) -> str:
    if not found.host:
        return f"no {found.preset} was measured with these routines"
    jobs = set(jobs_of(routines).values())
    kinds = [
        f"{what} of 50 cycles and more {error:g} % off, shorter ones by {cycles:g} cycle{'' if cycles == 1 else 's'}"
        for what, error, cycles, job in (
            ("copies", found.copy_error, found.copy_cycles, "copy"),
            ("checksums", found.checksum_error, found.checksum_cycles, "checksum"),
        )
        if job in jobs
    ]
    if not kinds:
        return f"no routine of this kind was measured one by one beside a {found.host}"
    least, most = found.named_least, found.named_most
    mixes = f"; in mixes it names the faster routine in {least:.0f} to {most:.0f} % of pairs" if least and most else ""
    return f"beside a {found.host} {', '.join(kinds)} (medians){mixes}"


def _published(found: Known) -> str:
    """Of numbers that others published of this processor."""
    parts = []
    if found.predicted:
        parts.append(f"{found.predicted_right} of {found.predicted} right as predicted")
    if found.chosen:
        parts.append(f"{found.chosen_right} of {found.chosen} right with something chosen later")
    return f"published numbers: {', '.join(parts)}" if parts else ""


def _assumed(found: Known) -> str:
    return f"{found.assumed} of its {found.values} values are assumed"
