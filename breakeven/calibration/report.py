"""What `calibrate` prints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from breakeven.calibration.fit import Fit
from breakeven.calibration.judge import Judged, by_size, rows
from breakeven.calibration.measurements import Measurements
from breakeven.output.console import Table


def fitted_parts(fit: Fit, measurements: Measurements) -> list[str | Table]:
    """What was fitted, and what no value reproduces."""
    changed = [each for each in fit.fitted if each.value != each.knob.base]
    table = Table(
        ("parameter", fit.base, "fitted", "probes"),
        [(each.knob.name, _word(each.knob.base), _word(each.value), len(each.probes) or "Linux") for each in changed],
        f"{measurements.host} ({measurements.words}), measured {measurements.date}", (1, 2, 3),
    )  # fmt: skip
    parts: list[str | Table] = [table] if changed else []
    confirmed = len(fit.fitted) - len(changed)
    parts.append(f"{len(changed)} parameters changed, {confirmed} confirmed, by {len(fit.numbers)} probes")
    missing = fit.not_modelled()
    if missing:
        numbers = [(name, *(f"{each:.2f}" for each in fit.numbers[name])) for name in missing]
        heads = ("not modelled: no value brings it near", "host", fit.base, "fitted")
        parts.append(Table(heads, numbers, "", (1, 2, 3)))
    if measurements.noisy:
        worst = ", ".join(f"{name} ({spread:.0f} cycles)" for name, spread in measurements.noisy.items())
        parts.append(f"left out, as their rounds did not agree: {worst}")
    return parts


def _word(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(str(each) for each in value.values())
    return f"{value:g}" if isinstance(value, float) else str(value)


def judged_parts(host: Mapping[str, float], models: Mapping[str, Mapping[str, float]]) -> list[str | Table]:
    """Each model beside the host: by kind and measure; by size."""
    parts: list[str | Table] = []
    heads = ("points", "measure", "long", "median error", "signed", "within 10 %", "short", "cycles off", "within 2",
             "winner right", "of pairs")  # fmt: skip
    for name, model in models.items():
        found = [(kind, measure, *_cells(each)) for kind, measure, each in rows(host, model)]
        parts.append(Table(heads, found, f"{name}, beside the host's processor", range(2, len(heads))))
        sized = [(size, *_cells(each)) for size, each in by_size(host, model)]
        parts.append(Table(("size", *heads[2:]), sized, f"{name}, by size", range(len(heads) - 1)))
    parts.append(
        "long: calls of 50 cycles and more; an error is (model - host) / host. winner right: pairs of routines of a "
        "kind between which the host's lead is over 10 %"
    )
    return parts


def _cells(each: Judged) -> tuple[Any, ...]:
    return (
        each.long, _percent(each.error), _percent(each.bias, "+"), _percent(each.within), each.short,
        "" if math.isnan(each.apart) else f"{each.apart:.1f}", _percent(each.short_within),
        _percent(each.right), each.pairs,
    )  # fmt: skip


def _percent(share: float, sign: str = "") -> str:
    return "" if math.isnan(share) else f"{100 * share:{sign}.1f} %"


def as_dict(
    fit: Fit | None, routines: Mapping[str, float], models: Mapping[str, Mapping[str, float]]
) -> dict[str, Any]:
    """For ``--json``."""
    found: dict[str, Any] = {}
    if fit is not None:
        found["base"] = fit.base
        found["fitted"] = [
            {"parameter": each.knob.name, "base": each.knob.base, "value": each.value, "paths": list(each.settings),
             "probes": list(each.probes)}
            for each in fit.fitted
        ]  # fmt: skip
        missing = set(fit.not_modelled())
        found["probes"] = [
            {
                "probe": name,
                "host": numbers[0],
                "base": numbers[1],
                "fitted": numbers[2],
                "modelled": name not in missing,
            }
            for name, numbers in fit.numbers.items()
        ]
    found["judged"] = [
        {"machine": name, "kind": kind, "measure": measure, **vars(each)}
        for name, model in models.items() for kind, measure, each in rows(routines, model)
    ]  # fmt: skip
    return found
