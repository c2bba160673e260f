"""The tables of `breakeven calibrate`, and its JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from breakeven.calibration.accuracy import Accuracy, by_kind, by_size
from breakeven.calibration.fit import Fit
from breakeven.calibration.measurements import Measurements
from breakeven.output.console import Table


def fit_parts(fit: Fit, measurements: Measurements) -> list[str | Table]:
    """The fitted values, and the probes that are not modelled."""
    changed = [each for each in fit.fitted if each.value != each.knob.base]
    rows = [
        (each.knob.name, _cell(each.knob.base), _cell(each.value), len(each.responding) or "none") for each in changed
    ]
    title = f"{measurements.host} ({measurements.processor}), measured {measurements.date}"
    table = Table(("parameter", fit.base, "fitted", "probes"), rows, title, (1, 2, 3))
    parts: list[str | Table] = [table] if changed else []
    unchanged = len(fit.fitted) - len(changed)
    parts.append(f"{len(changed)} parameters changed, {unchanged} unchanged; {len(fit.probes)} probes")
    missing = [
        (name, *(f"{cycles:.2f}" for cycles in (each.host, each.base, each.fitted)))
        for name, each in fit.not_modelled().items()
    ]
    if missing:
        parts.append(Table(("not modelled: cycles of the probe", "host", fit.base, "fitted"), missing, "", (1, 2, 3)))
    if measurements.noisy:
        noisy = ", ".join(f"{name} ({reason})" for name, reason in measurements.noisy.items())
        parts.append(f"noisy probes, not used: {noisy}")
    return parts


def _cell(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(str(each) for each in value.values())
    return f"{value:g}" if isinstance(value, float) else str(value)


def accuracy_parts(host: Mapping[str, float], models: Mapping[str, Mapping[str, float]]) -> list[str | Table]:
    """The accuracy of each model: by kind and measure, then by size."""
    parts: list[str | Table] = []
    heads = ("points", "measure", "long", "median error", "signed", "within 10 %", "short", "cycles off", "signed",
             "within 2", "winner right", "of pairs")  # fmt: skip
    for name, model in models.items():
        rows = [(kind, measure, *_cells(each)) for kind, measure, each in by_kind(host, model)]
        parts.append(Table(heads, rows, f"{name} compared with the host", range(2, len(heads))))
        rows_of_size = [(size, *_cells(each)) for size, each in by_size(host, model)]
        parts.append(Table(("size", *heads[2:]), rows_of_size, f"{name} by size", range(len(heads) - 1)))
    parts.append(
        "long: calls of 50 cycles and more on the host; an error is (model - host) / host. winner right: share of the "
        "pairs of routines of a kind, with a lead above 10 % on the host, whose winner the model names"
    )
    return parts


def _cells(each: Accuracy) -> tuple[Any, ...]:
    return (
        each.long, _percent(each.median_error), _percent(each.bias, "+"), _percent(each.long_near), each.short,
        _one_digit(each.difference), _one_digit(each.short_bias, "+"), _percent(each.short_near),
        _percent(each.winner_right), each.pairs,
    )  # fmt: skip


def _percent(share: float, sign: str = "") -> str:
    return "" if math.isnan(share) else f"{100 * share:{sign}.1f} %"


def _one_digit(cycles: float, sign: str = "") -> str:
    return "" if math.isnan(cycles) else f"{cycles:{sign}.1f}"


def as_dict(fit: Fit | None, host: Mapping[str, float], models: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """For ``--json``."""
    result: dict[str, Any] = {}
    if fit is not None:
        result["base"] = fit.base
        result["fitted"] = [
            {"parameter": each.knob.name, "base": each.knob.base, "value": each.value, "paths": list(each.settings),
             "probes": list(each.responding)}
            for each in fit.fitted
        ]  # fmt: skip
        result["probes"] = [
            {"probe": name, "host": each.host, "base": each.base, "fitted": each.fitted, "modelled": each.reproduced}
            for name, each in fit.probes.items()
        ]
    result["accuracy"] = [
        {"machine": name, "kind": kind, "measure": measure, **vars(each)}
        for name, model in models.items() for kind, measure, each in by_kind(host, model)
    ]  # fmt: skip
    return result
