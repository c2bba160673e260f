"""How often each size is copied: evenly, as published, or as the user counted.

A file has lines ``SIZE WEIGHT`` or ``FIRST..LAST WEIGHT`` (the weight is spread over the range; commas will do, ``#``
begins a comment), or one line of weights by size from 0 on, separated by commas, as LLVM's libc keeps the distributions
of Google's servers (libc/benchmarks/distributions).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from breakeven.config.units import typed_size
from breakeven.errors import UserError
from breakeven.files.reading import read_bounded
from breakeven.points import MAX_SIZE
from breakeven.points.ranges import ranges_text

#: sizes that all ranges of a file may name together, and bytes of a file: a line of 32 for each
MAX_SIZES = 1 << 20
_MAX_BYTES = 32 * MAX_SIZES
#: of a size that is drawn at all, and the reciprocal of the largest: no sum or share of them leaves the numbers
_LEAST_WEIGHT = 1e-100
#: characters of a wrong line that are shown
_SHOWN = 60

#: memcpy calls of SPEC 2017, as glibc's bench-memcpy-random draws them: the shares of four sizes and the cumulative
#: ones are published (https://sourceware.org/git/?p=glibc.git, benchtests/bench-memcpy-random.c); evenly within a bin:
#: assumed; the sizes beyond 1024 end at 4095
_SPEC2017 = {
    (8, 8): 0.136, (16, 16): 0.146, (1, 16): 0.116, (32, 32): 0.341, (17, 32): 0.029, (33, 64): 0.009,
    (65, 128): 0.024, (152, 152): 0.081, (129, 256): 0.019, (257, 1024): 0.075, (1025, 4095): 0.024,
}  # fmt: skip
PUBLISHED = {"spec2017": _SPEC2017}


@dataclass(frozen=True)
class Distribution:
    """Shares by size; they add up to 1."""

    name: str
    shares: Mapping[int, float]
    #: the command line's options for it; empty: only Python can give these weights
    options: tuple[str, ...] = ()

    def on_grid(self, most: int) -> Distribution:
        """At most `most` sizes: the others' shares go to the nearest that stays. Sizes of a large share stay."""
        if len(self.shares) <= most:
            return self
        heavy = [n for n, share in self.shares.items() if share >= 1 / most]
        rest = [n for n in self.shares if n not in set(heavy)]
        # Evenly along the logarithm, as curves of cycles bend; every size where they are dense anyway.
        kept, step = [], (rest[-1] / max(rest[0], 1)) ** (1 / max(most - len(heavy) - 1, 1))
        at = float(max(rest[0], 1))
        for n in rest:
            if n >= at or n == rest[-1]:
                kept.append(n)
                at = max(n * step, n + 1)
        grid = sorted({*heavy, *kept})
        shares = dict.fromkeys(grid, 0.0)
        i = 0
        for n, share in self.shares.items():
            while i + 1 < len(grid) and abs(grid[i + 1] - n) < abs(grid[i] - n):
                i += 1
            shares[grid[i]] += share
        return replace(self, shares=shares)


def uniform(sizes: list[int]) -> Distribution:
    """Every size as often as the others."""
    named = text = ranges_text(sizes)
    if len(text) > _SHOWN:
        named = f"{len(set(sizes))} sizes from {min(sizes)} to {max(sizes)} ({_digest(sorted(set(sizes)))})"
    shares = {n: 1 / len(sizes) for n in sorted(sizes)}
    return Distribution(f"uniform over {named}", shares, ("--sizes", text))


def _digest(of: Sequence[object]) -> str:
    return hashlib.sha256(repr(of).encode()).hexdigest()[:6]


def distribution_of(given: str | Mapping[int, float], sizes: list[int]) -> Distribution:
    """Weights by size; else by name: ``uniform`` (over `sizes`), a published one, or a file. Raises `UserError`."""
    if isinstance(given, Mapping):
        return _normalised(
            "the distribution", {(int(n), int(n)): weight for n, weight in given.items()}, "given weights"
        )
    return uniform(sizes) if given == "uniform" else replace(load(given), options=("--distribution", given))


def load(name: str) -> Distribution:
    """A published distribution by name, or a file; raises `UserError` that names the line."""
    if name in PUBLISHED:
        return _normalised(name, PUBLISHED[name], name)
    path = Path(name)
    if not path.is_file():
        known = ", ".join(["uniform", *PUBLISHED])
        raise UserError(f"there is no distribution {name!r}: one of {known}, or a file (docs/tune.md)")
    try:
        text = read_bounded(path, _MAX_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the distribution {name!r}: {error}") from None
    lines = [line for line in text.splitlines() if line.partition("#")[0].strip()]
    if len(lines) == 1 and lines[0].count(",") > 1:
        found = _normalised(name, _by_size(lines[0], name), path.name)
    else:
        found = _normalised(name, _by_line(text, name), path.name)
    # Files of one name are told apart.
    return replace(found, name=f"{path.name} ({_digest(list(found.shares.items()))})")


def _by_size(line: str, name: str) -> dict[tuple[int, int], float]:
    if line.count(",") > MAX_SIZES:
        raise UserError(f"{name}: one line of more than {MAX_SIZES} weights: take fewer")
    weights = [part for part in line.split(",") if part.strip()]
    try:
        return {(n, n): float(weight) for n, weight in enumerate(weights)}
    except ValueError as error:
        raise UserError(f"{name}: {_shown(str(error))}: one line of weights by size") from None


def _by_line(text: str, name: str) -> dict[tuple[int, int], float]:

    found: dict[tuple[int, int], float] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        try:
            sizes, weight = words
            first, _, last = sizes.partition("..")
            key = typed_size(first), typed_size(last or first)
            found[key] = found.get(key, 0.0) + float(weight)
        except ValueError:
            raise UserError(f"{name}, line {number}: {_shown(line)!r} is not SIZE WEIGHT or A..B WEIGHT") from None
    return found


def _shown(text: str) -> str:
    """A line as an error has it."""
    text = text.strip()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _normalised(name: str, weights: Mapping[tuple[int, int], float], title: str) -> Distribution:
    shares: dict[int, float] = {}
    if sum(max(0, last - first + 1) for first, last in weights) > MAX_SIZES:
        raise UserError(f"{name}: the ranges have more than {MAX_SIZES} sizes in all: take shorter ones, or fewer")
    for (first, last), weight in weights.items():
        if not 0 <= first <= last <= MAX_SIZE:
            raise UserError(f"{name}: sizes {first}..{last} are out of range: 0 to {MAX_SIZE}")
        if weight and not _LEAST_WEIGHT <= weight <= 1 / _LEAST_WEIGHT:
            raise UserError(
                f"{name}: the weight {weight} of {first}..{last} is no share: 0, or {_LEAST_WEIGHT} to "
                f"{1 / _LEAST_WEIGHT:g}"
            )
        for n in range(first, last + 1) if weight else ():
            shares[n] = shares.get(n, 0.0) + weight / (last - first + 1)
    if not shares:
        raise UserError(f"{name}: no size has a weight")
    total = sum(shares.values())
    return Distribution(title, {n: shares[n] / total for n in sorted(shares)})
