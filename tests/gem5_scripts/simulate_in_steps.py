"""simulate(ticks) stops after exactly so many ticks, as often as one likes."""

import sys

import m5
from common_system import whole_system
from m5.objects import Root

root = Root(full_system=True, system=whole_system(sys.argv[1]))
m5.instantiate()
ticks = []
while True:
    event = m5.simulate(1234567)
    ticks.append(m5.curTick())
    if event.getCause() != "simulate() limit reached":
        break
assert ticks[:3] == [1234567, 2469134, 3703701], ticks
assert m5.simulate(0).getCause() == "simulate() limit reached"
print("steps", len(ticks) > 3, "ended by", event.getCause())
