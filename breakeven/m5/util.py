"""``m5.util``: the helpers that gem5 scripts use."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

from breakeven.m5 import units

#: ``m5.util.convert``
convert = SimpleNamespace(
    toBool=units.boolean,
    toInteger=units.integer,
    toMemorySize=units.memory_size,
    toMemoryBandwidth=units.memory_bandwidth,
    toLatency=units.seconds,
    anyToLatency=units.seconds,
    toFrequency=units.hertz,
    anyToFrequency=units.hertz,
    toVoltage=units.voltage,
    toCurrent=units.current,
    toTemperature=units.temperature,
)


def addToPath(path: str) -> None:
    """Let the script import from `path` (relative to the script)."""
    script = Path(sys.argv[0]).parent if sys.argv and sys.argv[0] else Path()
    sys.path.insert(1, str((script / path).resolve()))


def _say(kind: str, text: str, args: tuple[object, ...]) -> None:
    print(f"{kind}: {text % args if args else text}", file=sys.stderr)


def inform(text: str, *args: object) -> None:
    _say("info", text, args)


def warn(text: str, *args: object) -> None:
    _say("warn", text, args)


def fatal(text: str, *args: object) -> NoReturn:
    _say("fatal", text, args)
    sys.exit(1)


def panic(text: str, *args: object) -> NoReturn:
    _say("panic", text, args)
    sys.exit(1)
