"""``m5.event``: exit events, and events of the script's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from breakeven.config.current import current
from breakeven.m5.simulate import ExitEvent, Scheduled

__all__ = ["Event", "EventQueue", "ExitEvent", "create", "getEventQueue", "mainq"]


class Event:
    """Something that happens at a tick: subclass it with ``__call__``, and schedule it on `mainq`."""

    Default_Pri = 0
    Sim_Exit_Pri = 75

    def __init__(self, pri: int = Default_Pri) -> None:
        self.priority = pri

    def __call__(self) -> None:
        raise NotImplementedError(f"{type(self).__name__} needs a __call__")


class _Function(Event):
    def __init__(self, function: Callable[[], Any], pri: int) -> None:
        super().__init__(pri)
        self._function = function

    def __call__(self) -> None:
        self._function()


def create(function: Callable[[], Any], priority: int = Event.Default_Pri) -> Event:
    """The event that calls `function`."""
    return _Function(function, priority)


class EventQueue:
    """The running script's events, by tick."""

    def schedule(self, event: Event, when: int) -> None:
        """`event` is called when the simulation has come to the tick `when`."""
        session = current()
        if when < session.current_tick():
            raise ValueError(f"tick {when} is over: it is {session.current_tick()}")
        session.scheduled.append(Scheduled(when, event.priority, event))

    def deschedule(self, event: Event) -> None:
        session = current()
        session.scheduled[:] = [each for each in session.scheduled if each.event is not event]


mainq = EventQueue()


def getEventQueue(index: int = 0) -> EventQueue:
    return mainq
