"""The host's numbers: probe by probe, with their spread, and as a file that a fit can be repeated from."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from breakeven.errors import UserError
from breakeven.files.reading import parsed_json, read_bounded
from breakeven.files.writing import write_text

#: of the file; another one is not read
VERSION = 1


@dataclass(frozen=True)
class Measured:
    """One probe's number."""

    cycles: float
    #: how far the rounds that count lie apart, at most
    spread: float


@dataclass(frozen=True)
class CacheSize:
    """One level of the data side, as Linux tells it."""

    level: int
    size: int
    ways: int


@dataclass(frozen=True)
class Measurements:
    """All of a host."""

    host: str
    vendor: str
    family: int
    model: int
    date: str
    probes: dict[str, Measured]
    caches: tuple[CacheSize, ...] = ()
    #: of the core's clock, while it measured
    gigahertz: float = 0.0
    #: probes whose rounds did not agree, and by how many cycles: nothing is fitted to them
    noisy: dict[str, float] = field(default_factory=dict)
    #: routines that were measured to judge a model, by `judge.key`: cycles
    routines: dict[str, float] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Writes the file."""
        write_text(path, json.dumps({"version": VERSION, **asdict(self)}, indent=1) + "\n")

    @property
    def words(self) -> str:
        """The host's processor."""
        return f"{self.vendor} family {self.family} model {self.model}"


def read(path: Path) -> Measurements:
    """Raises `UserError` for a file that is none of ours, or says what cannot be."""
    try:
        data = parsed_json(read_bounded(path))
    except (ValueError, RecursionError):
        raise UserError(f"{path} holds no measurements: it is not JSON") from None
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise UserError(f"{path} holds no measurements of this version of calibrate: measure again")
    try:
        probes = {str(name): _measured(each) for name, each in data["probes"].items()}
        caches = tuple(CacheSize(*(int(each[key]) for key in ("level", "size", "ways"))) for each in data["caches"])
        noisy, routines = (
            {str(name): float(each) for name, each in data[key].items()} for key in ("noisy", "routines")
        )
        gigahertz = float(data["gigahertz"])
        host, vendor, date = (str(data[key]) for key in ("host", "vendor", "date"))
        family, model = (int(data[key]) for key in ("family", "model"))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UserError(f"{path} holds no whole measurements: {type(error).__name__} {error}: measure again") from None
    return Measurements(host, vendor, family, model, date, probes, caches, gigahertz, noisy, routines)


def _measured(each: Any) -> Measured:
    found = Measured(float(each["cycles"]), float(each["spread"]))
    if not math.isfinite(found.cycles) or not (math.isfinite(found.spread) and found.spread >= 0):
        raise ValueError("a number that is none")
    return found
