"""The host's measurements, and the file that keeps them."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from breakeven.errors import UserError
from breakeven.files.reading import parsed_json, read_bounded
from breakeven.files.writing import write_text

#: of the file: a file of another version is refused. 2: throughputs are slopes; 3: of 64 calls
VERSION = 3
#: bytes of a cache at most
LARGEST_CACHE = 1 << 40
#: cycles of a probe or a call at most
_MOST = 1e9


@dataclass(frozen=True)
class Measured:
    """What a probe took."""

    cycles: float
    #: of a body: half of its rounds lie in a range of so many cycles around `cycles`; of a probe: the mean of its
    #: body's and its baseline's, divided by its parts
    spread: float


@dataclass(frozen=True)
class CacheSize:
    """One data or unified cache."""

    level: int
    size: int
    ways: int


@dataclass(frozen=True)
class Measurements:
    """All that was measured on one host."""

    host: str
    vendor: str
    family: int
    model: int
    date: str
    #: by the probe's name
    probes: dict[str, Measured]
    caches: tuple[CacheSize, ...] = ()
    #: the core's clock during the probes
    gigahertz: float = 0.0
    #: probes that were too noisy to be fitted to, and their spread or the reason why they have none
    noisy: dict[str, str] = field(default_factory=dict)
    #: cycles of whole routines, by `accuracy.RoutinePoint.key`: a fit does not read them
    routines: dict[str, float] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Writes the file."""
        write_text(path, json.dumps({"version": VERSION, **asdict(self)}, indent=1) + "\n")

    @property
    def processor(self) -> str:
        """Vendor, family and model, as CPUID has them."""
        return f"{self.vendor} family {self.family} model {self.model}"


def read(path: Path) -> Measurements:
    """Reads a file that `Measurements.save` wrote. Raises `UserError` for any other, and for impossible numbers."""
    try:
        data = parsed_json(read_bounded(path))
    except (ValueError, RecursionError):
        raise UserError(f"{path} holds no measurements: it is not JSON") from None
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise UserError(f"{path} holds no measurements of this version of calibrate: measure again")
    from breakeven.calibration.accuracy import parsed  # with it come the engines

    try:
        probes = {str(name): _measured(each) for name, each in data["probes"].items()}
        caches = tuple(map(_cache, data["caches"]))
        noisy = {str(name): str(reason) for name, reason in data["noisy"].items()}
        routines = {str(key): _within(each, 0.0, _MOST) for key, each in data["routines"].items()}
        parsed(routines)
        gigahertz = _within(data["gigahertz"], 0.0, 1000.0)
        host, vendor, date = (str(data[key]) for key in ("host", "vendor", "date"))
        family, model = (int(data[key]) for key in ("family", "model"))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UserError(
            f"{path} holds no complete measurements: {type(error).__name__} {error}: measure again"
        ) from None
    return Measurements(host, vendor, family, model, date, probes, caches, gigahertz, noisy, routines)


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value} is not finite")
    return number


def _within(value: Any, least: float, most: float) -> float:
    number = _finite(value)
    if not least <= number <= most:
        raise ValueError(f"{value} is not between {least} and {most}")
    return number


def _cache(data: Any) -> CacheSize:
    level, size, ways = (int(data[key]) for key in ("level", "size", "ways"))
    if not (0 < size <= LARGEST_CACHE and 0 < ways <= size):
        raise ValueError(f"a cache of {size} bytes in {ways} ways")
    return CacheSize(level, size, ways)


def _measured(data: Any) -> Measured:
    # A probe is a difference of two measurements: noise may make it negative.
    return Measured(_within(data["cycles"], -_MOST, _MOST), _within(data["spread"], 0.0, _MOST))
