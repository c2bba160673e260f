"""Quantities with units, and what comes of them."""

import m5
from m5.objects import *
from m5.params import NULL, Param
from m5.util import convert, inform, warn
from m5.util.convert import toMemorySize

assert toMemorySize("32kB") == 32768 == toMemorySize("32KiB")
assert convert.anyToLatency("2GHz") == 0.5e-9 and convert.toFrequency("1GHz") == 1e9
assert convert.toMemoryBandwidth("1GiB/s") == 1 << 30 and convert.toVoltage("900mV") == 0.9
cache = Cache(size="64KiB", assoc=8, tag_latency=1, data_latency=1, response_latency=1, mshrs=4, tgts_per_mshr=4)
assert cache.size == 65536 and cache.prefetcher == NULL and not cache.prefetcher
ranges = AddrRange("1GiB"), AddrRange(0x1000, size="4KiB"), AddrRange(start=16, end=32), AddrRange("16:32")
assert [each.size() for each in ranges] == [1 << 30, 4096, 16, 16]
domain = SrcClockDomain(clock=["2GHz", "1GHz"], voltage_domain=VoltageDomain(voltage=["1V", "0.9V"]))
assert [each.period.getValue() for each in domain.clock] == [500, 1000]
assert m5.ticks.fromSeconds(1e-9) == 1000 and m5.MaxTick > 1 << 60
inform("%d ranges", len(ranges))
warn("nothing is simulated")
print("units are right")
