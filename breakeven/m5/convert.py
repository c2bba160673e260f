"""``m5.util.convert``: gem5's names for the conversions of `units`."""

from __future__ import annotations

from breakeven.config import units


def toFloat(value: str) -> float:
    return float(value)


def toMetricFloat(value: str) -> float:
    """A number with a decimal prefix (``"2k"`` is 2000)."""
    return units.prefixed(value)


#: factors under gem5's names
atto, femto, pico, nano, micro, milli = (10.0**power for power in range(-18, 0, 3))
kilo, mega, giga, tera, peta, exa = (10.0**power for power in range(3, 19, 3))
kibi, mebi, gibi, tebi, pebi, exbi = (1024**power for power in range(1, 7))

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
