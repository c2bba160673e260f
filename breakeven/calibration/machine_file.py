"""The machine file: the fitted parameters on top of the base, one line each."""

from __future__ import annotations

import re
import textwrap

from breakeven.calibration.fit import Fit, Fitted
from breakeven.calibration.measurements import Measurements

_HEAD = '''"""{host}, calibrated.

{about}
"""

from machines import {base}
from machines.extensions import extend
from machines.provenance import measured

NAME = "{name}"
DESCRIPTION = {description}
ISA = "x86"

HOST = {processor}


def fitted(board):
    """The parameters that probes of the host decided."""
'''
_TAIL = """

def machine(**options):
    root = {base}.machine(**options)
    extend(fitted, root.system)
    return root
"""
_WIDTH = 118


def machine_file(fit: Fit, measurements: Measurements, name: str) -> str:
    """The file's text. `name`: the machine's, a Python identifier."""
    values = sum(len(each.settings) for each in fit.fitted)
    about = (
        f"`breakeven calibrate` wrote this file on {measurements.date}: the {values} values below come from "
        f"{len(fit.probes)} probes of {measurements.processor}, from sysfs and from timing. All other values are those "
        f"of the preset {fit.base}, with their sources. Every line may be edited."
    )
    host = _printable(measurements.host)
    text = _HEAD.format(
        host=host, about="\n".join(textwrap.wrap(_printable(about), _WIDTH)), base=fit.base, name=name,
        description=repr(f"{host}, calibrated from {fit.base} on {_printable(measurements.date)}"),
        processor=repr(_printable(f"{measurements.date}, {measurements.processor}")),
    )  # fmt: skip
    for each in fit.fitted:
        changed = "" if each.value == each.knob.base else f" ({fit.base}: {each.knob.base})"
        text += f"    # {each.knob.name}{changed}\n"
        for path, value in each.settings.items():
            text += f"    board.{path} = measured({value!r}, HOST, {_note(fit, measurements, each)!r})\n"
    if not fit.fitted:
        text += "    # No probe decides a parameter of this base.\n"
    return text + _TAIL.format(base=fit.base) + _not_modelled(fit)


def _note(fit: Fit, measurements: Measurements, fitted: Fitted) -> str:
    """The first probe that decided, with its cycles and spread, and how many more did."""
    if not fitted.responding:
        return "from sysfs" if "clk_domain.clock" not in fitted.settings else "timed"
    name, *others = fitted.responding
    probe = fit.probes[name]
    model = "" if probe.reproduced else f", in this model {probe.fitted:.2f}"
    more = f"; and {len(others)} more probe{'s'[: len(others) > 1]}" if others else ""
    return f"{name}: {probe.host:.2f} cycles, spread {measurements.probes[name].spread:.2f}{model}{more}"


def _printable(text: str) -> str:
    """The host's words without what could end a string in Python."""
    return re.sub(r"[^ -!#-\[\]-~]", "?", text)


def _not_modelled(fit: Fit) -> str:
    lines = [f"# {name}: {each.host:.2f}, {each.fitted:.2f}\n" for name, each in fit.not_modelled().items()]
    head = "\n\n# Not modelled: probes that the fitted model does not reproduce (cycles on the host, in this model).\n"
    return head + "".join(lines) if lines else ""
