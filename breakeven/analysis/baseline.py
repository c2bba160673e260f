"""A comparison beside an earlier one of its own (``compare --json``): what became faster, what slower, what moved."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.analysis.crossings import TIE, leads
from breakeven.analysis.verdict import describe_leads
from breakeven.errors import UserError
from breakeven.files.reading import parsed_json, read_bounded
from breakeven.output.console import Table
from breakeven.points.result import LEAST_CYCLES, MOST_CYCLES

if TYPE_CHECKING:
    from breakeven.analysis.comparison import Comparison


@dataclass(frozen=True)
class Band:
    """Neighbouring sizes (or values of a parameter) at which a routine changed in the same way."""

    routine: str
    first: float
    last: float
    points: int
    #: ``faster``, ``slower``, ``unchanged`` (within a tie)
    verdict: str
    #: earlier time over that of now: median, least, most
    speedup: float
    least: float
    most: float


@dataclass(frozen=True)
class Baseline:
    """What differs from the earlier comparison."""

    name: str
    #: how the question itself differs, in words
    different: list[str]
    bands: list[Band]
    #: who led where, in words, where it is otherwise now; empty: as before; None: the two have other routines or values
    before: str | None

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return asdict(self)

    def parts(self) -> list[str | Table]:
        """For the screen."""
        parts: list[str | Table] = [f"against {self.name}: {what}" for what in self.different]
        rows = [
            (band.routine, _range(band), _change(band), band.points)
            for band in self.bands
        ]  # fmt: skip
        parts.append(Table(("routine", "sizes", "now (median, least to most)", "points"), rows,
                           f"now against {self.name} (within {TIE:.0%}: unchanged)", right=(3,)))  # fmt: skip
        if self.before is not None:
            parts.append(f"before: {self.before}" if self.before else "the lead changes where it did before")
        return parts


def _range(band: Band) -> str:
    return f"{band.first:g}" if band.first == band.last else f"{band.first:g}..{band.last:g}"


def _change(band: Band) -> str:
    if band.verdict == "unchanged":
        return "unchanged"
    # Both are told as a factor above 1.
    factors = (band.speedup, band.least, band.most)
    if band.verdict == "slower":
        factors = (1 / band.speedup, 1 / band.most, 1 / band.least)
    median, least, most = (f"{factor:.2f}x" for factor in factors)
    return f"{median} {band.verdict}" + (f" ({least} to {most})" if least != most else "")


def read_baseline(path: Path) -> dict[str, Any]:
    """An earlier ``compare --json``; raises `UserError` for anything else."""
    wrong = UserError(f"{str(path)!r} is no earlier comparison: name a file with the output of `compare --json`")
    try:
        found = parsed_json(read_bounded(path))
        curves = {str(name): [_cycles(v) for v in curve] for name, curve in found["cycles"].items()}
        x = [_number(v) for v in found["x"]]
        if any(len(curve) != len(x) for curve in curves.values()) or not isinstance(found["along"], str):
            raise wrong
    except OSError as error:
        raise UserError(f"cannot read the baseline {str(path)!r}: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise wrong from None
    if found.get("ok") is False:
        raise UserError(
            f"{str(path)!r} has wrong outputs ({found.get('first_failure')}): its times compare with nothing"
        )
    return {**found, "x": x, "cycles": curves}


def _number(value: Any) -> float:
    """A size or a parameter's value; raises `ValueError` for what is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(value)
    return float(value)


def _cycles(value: Any) -> float:
    if value != 0 and not LEAST_CYCLES <= (cycles := _number(value)) <= MOST_CYCLES:
        raise ValueError(value)
    return 0.0 if value == 0 else cycles


def against(found: Comparison, old: Mapping[str, Any], name: str) -> Baseline:
    """What differs between `found` and the earlier comparison `old` (`read_baseline`), called `name`."""
    if old["along"] != found.along:
        raise UserError(f"{name} goes along {old['along']}, this comparison along {found.along}")
    shared = [routine for routine in found.curves if routine in old["cycles"]]
    at = {value: i for i, value in enumerate(old["x"])}
    common = [i for i, value in enumerate(found.x) if value in at]
    if not shared or not common:
        raise UserError(f"{name} has no {'routine' if not shared else found.along} that this comparison has, too")
    different = [f"{what} {before} before, {now} now" for what, before, now in _questions(found, old) if before != now]
    missing = len(found.x) - len(common), len(old["x"]) - len(common)
    if any(missing):
        different.append(f"{len(common)} points are in both; {missing[0]} are new, {missing[1]} are gone")
    for text, names, others in (("new", found.curves, old["cycles"]), ("gone", old["cycles"], found.curves)):
        different += [f"{routine} is {text}" for routine in names if routine not in others]
    bands = [
        band
        for routine in shared
        for band in _bands(
            routine,
            [found.x[i] for i in common],
            [old["cycles"][routine][at[found.x[i]]] for i in common],
            [found.curves[routine][i] for i in common],
        )
    ]
    return Baseline(name, different, bands, _before(found, old))


def _questions(found: Comparison, old: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """What a comparison may have had otherwise: name, before, now."""
    now = found.as_dict()
    names = {"conditions": "conditions:", "repetitions": "measurements of a point:"}
    return [(text, old[key], now[key]) for key, text in names.items() if key in old]


def _bands(routine: str, x: Sequence[float], old: Sequence[float], new: Sequence[float]) -> list[Band]:
    grouped: list[tuple[str, list[int]]] = []
    for i, (before, now) in enumerate(zip(old, new, strict=True)):
        faster, slower = before > now * (1 + TIE), now > before * (1 + TIE)
        verdict = "faster" if faster else "slower" if slower else "unchanged"
        if grouped and grouped[-1][0] == verdict:
            grouped[-1][1].append(i)
        else:
            grouped.append((verdict, [i]))
    found = []
    for verdict, where in grouped:
        ratios = [old[i] / new[i] if new[i] > 0 and old[i] > 0 else 1.0 for i in where]
        found.append(
            Band(
                routine,
                x[where[0]],
                x[where[-1]],
                len(where),
                verdict,
                statistics.median(ratios),
                min(ratios),
                max(ratios),
            )
        )
    return found


def _before(found: Comparison, old: Mapping[str, Any]) -> str | None:
    if found.leads is None or set(found.curves) != set(old["cycles"]) or found.x != old["x"]:
        return None
    then = describe_leads(leads([int(size) for size in found.x], old["cycles"]))
    return "" if then == describe_leads(found.leads) else then
