"""``m5.util.convert``: gem5's names for the conversions of `units`."""

from __future__ import annotations

from breakeven.m5 import units


def toFloat(value: str) -> float:
    return float(value)


def toMetricFloat(value: str) -> float:
    """A number with a decimal prefix (``"2k"`` is 2000)."""
    return units.prefixed(value)


toInteger = units.integer
toBool = units.boolean
toMemorySize = units.memory_size
toMemoryBandwidth = units.memory_bandwidth
toNetworkBandwidth = units.network_bandwidth
#: seconds
toLatency = anyToLatency = units.seconds
#: Hz
toFrequency = anyToFrequency = units.hertz
toVoltage = units.voltage
toCurrent = units.current
toEnergy = units.energy
toTemperature = units.temperature
