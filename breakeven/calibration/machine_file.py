"""The machine file: what was fitted, on top of the base, a line a parameter."""

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

HOST = {when}


def fitted(board):
    """What probes of the host decided: the model's number stands beside the host's where they differ."""
'''
_TAIL = """

def machine(**options):
    root = {base}.machine(**options)
    extend(fitted, root.system)
    return root
"""
_WIDTH = 118


def machine_file(fit: Fit, measurements: Measurements, name: str) -> str:
    """The file's text. `name`: what the machine is called, a Python identifier."""
    sure = sum(1 for each in fit.fitted for _ in each.settings)
    about = (
        f"Written by `breakeven calibrate` on {measurements.date}, from the preset {fit.base}: {len(fit.numbers)} "
        f"probes of {measurements.words} decided the {sure} values below. Whatever is not set here is {fit.base}'s, "
        "with the source that it has there. Every line may be edited."
    )
    text = _HEAD.format(
        host=_safe(measurements.host), about=_filled(about), base=fit.base, name=name,
        description=repr(f"{_safe(measurements.host)}, calibrated from {fit.base} on {measurements.date}"),
        when=repr(f"{measurements.date}, {_safe(measurements.words)}"),
    )  # fmt: skip
    for each in fit.fitted:
        text += f"    # {each.knob.name}{_said(fit, each)}\n"
        for path, value in each.settings.items():
            text += f"    board.{path} = measured({_literal(value)}, HOST, {_note(fit, measurements, each)!r})\n"
    if not fit.fitted:
        text += "    # No probe decides a parameter of this base.\n"
    return text + _TAIL.format(base=fit.base) + _not_modelled(fit)


def _said(fit: Fit, each: Fitted) -> str:
    base = "" if each.value == each.knob.base else f", {fit.base} has {each.knob.base}"
    return f"{base}"


def _note(fit: Fit, measurements: Measurements, each: Fitted) -> str:
    """The probe that says most: its number and spread, and how many there are."""
    if not each.probes:
        return "as Linux tells it"
    name = each.probes[0]
    host, _, model = fit.numbers[name]
    spread = measurements.probes[name].spread
    more = f", and {len(each.probes) - 1} more" if len(each.probes) > 1 else ""
    beside = f", here {model:.2f}" if abs(model - host) > fit.tolerances[name] else ""
    return f"{name}: {host:.2f} cycles, spread {spread:.2f}{beside}{more}"


def _literal(value: object) -> str:
    return repr(value)


def _safe(text: str) -> str:
    """Words of the host's, as a file in Python may hold them."""
    return re.sub(r"[^ -!#-\[\]-~]", "?", text)


def _filled(text: str) -> str:
    return "\n".join(textwrap.wrap(text, _WIDTH))


def _not_modelled(fit: Fit) -> str:
    names = fit.not_modelled()
    if not names:
        return ""
    lines = [f"# {name}: {fit.numbers[name][0]:.2f}, here {fit.numbers[name][2]:.2f}" for name in names]
    return (
        "\n\n# Not modelled: probes that no value brings near (cycles on the host, in this model).\n"
        + "\n".join(lines)
        + "\n"
    )
