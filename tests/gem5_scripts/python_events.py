"""Events of the script's own, at ticks of its choice, and an exit that it schedules."""

import sys

import m5
from common_system import whole_system
from m5.objects import Root

root = Root(full_system=True, system=whole_system(sys.argv[1]))
m5.instantiate()


class Hello(m5.event.Event):
    def __call__(self):
        print("hello at", m5.curTick())


m5.event.mainq.schedule(Hello(), 2000000)
m5.event.mainq.schedule(m5.event.create(lambda: print("called at", m5.curTick())), 1000000)
m5.scheduleTickExitFromCurrent(3000000, "enough")
event = m5.simulate()
print(event.getCause(), m5.curTick())
m5.setMaxTick(4000000)
print(m5.simulate().getCause(), m5.curTick())
