"""What needs no probe: the sizes of the caches, as Linux tells them, and the clock."""

from __future__ import annotations

from typing import Any

from breakeven.calibration.knobs import Base, Knob
from breakeven.calibration.measurements import Measurements

_LINE = 64
#: a clock nearer than this to the base's is the base's
_CLOCK = 0.02


def told(root: Any, measurements: Measurements) -> list[tuple[Knob, Any]]:
    """Knobs with their values, where the host's differ from the base's."""
    base = Base(root)
    found: list[tuple[Knob, Any]] = []
    for cache in measurements.caches:
        path = "cpu.dcache" if cache.level == 1 else f"l{cache.level}"
        values = _geometry(base, path, cache.size, cache.ways)
        if values and any(base.value(name) != _bytes(value) for name, value in values.items()):
            now = f"{int(base.value(f'{path}.size')) >> 10}KiB in {base.value(f'{path}.assoc')} ways"
            found.append((_fixed(f"size of level {cache.level}", values, now), values))
    clock = base.value("clk_domain.clock")
    if clock is not None and measurements.gigahertz:
        ours = _gigahertz(clock)
        if abs(measurements.gigahertz / ours - 1) > _CLOCK:
            values = {"clk_domain.clock": f"{measurements.gigahertz * 1000:.0f}MHz"}
            found.append((_fixed("clock", values, f"{ours * 1000:.0f}MHz"), values))
    return found


def _fixed(name: str, values: dict[str, Any], now: str) -> Knob:
    return Knob(name, lambda found: found, (values,), (), now)


def _geometry(base: Base, path: str, size: int, ways: int) -> dict[str, Any]:
    """Empty: the base has no such level, or cannot have one of this size."""
    if base.value(f"{path}.size") is None or size % (_LINE * ways):
        return {}
    sets = size // _LINE // ways
    slices = sets // (sets & -sets)
    values: dict[str, Any] = {f"{path}.size": f"{size >> 10}KiB", f"{path}.assoc": ways}
    if slices == 1 and base.value(f"{path}.slices") in (None, 1):
        return values
    return {} if base.value(f"{path}.slices") is None else {**values, f"{path}.slices": slices}


def _bytes(value: Any) -> Any:
    return int(value.removesuffix("KiB")) << 10 if isinstance(value, str) else value


def _gigahertz(clock: Any) -> float:
    value = clock[0] if isinstance(clock, list) else clock
    return 1000 / value.ticks if hasattr(value, "ticks") else float(value) / 1e9
