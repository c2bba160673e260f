"""Mixes: many calls in a row whose sizes follow a distribution and whose places are drawn at random.

One size repeated is what a branch predictor learns by heart. Programs call with sizes that differ from call to call; of
such calls a mix measures the whole row. They are drawn here, not by the guest, so that a simulator, a real gem5 and
this host's processor make the same ones. A point names its list of calls by what the list holds, and whoever runs the
point hands the list on behind the points (docs/guests.md).
"""

from __future__ import annotations

import hashlib
import itertools
import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from breakeven.errors import PointError, UserError
from breakeven.points.distribution import PUBLISHED, Distribution, load, uniform
from breakeven.points.ranges import parse_integers
from breakeven.points.record import (
    CALL,
    LIST,
    MAX_MIX_CALLS,
    MAX_SIZE,
    MAX_STREAM,
    CallList,
    check_range,
    kept_list,
)

#: how source and destination of SPEC 2017's calls are aligned: alignment -> share (glibc, bench-memcpy-random.c)
SPEC2017_ALIGNED = (
    {8: 300, 16: 292, 32: 168, 64: 153, 4: 79, 2: 14, 1: 18},
    {8: 265, 16: 263, 64: 209, 32: 174, 4: 90, 2: 10, 1: 13},
)


@dataclass(frozen=True)
class Mix:
    """Calls whose sizes follow `distribution`; their buffers lie anywhere in a working set."""

    #: how it was asked for
    text: str
    distribution: Distribution
    calls: int
    #: both buffers lie at multiples of it; 0: at those of `SPEC2017_ALIGNED`, as often as there
    align: int = 0
    #: of the draws
    seed: int = 1

    def __post_init__(self) -> None:
        check_range("calls", self.calls)
        check_range("seed", self.seed)
        if self.calls > MAX_MIX_CALLS:
            raise PointError(f"calls {self.calls} is out of range: 1 to {MAX_MIX_CALLS} for a mix")
        if isinstance(self.align, bool) or not isinstance(self.align, int) or not 0 <= self.align <= 4096:
            raise PointError(f"align {self.align!r} is out of range: 1 to 4096, or 0 for the alignments of SPEC 2017")

    def __str__(self) -> str:
        aligned = f", aligned to {self.align}" if self.align else ""
        seed = f", seed {self.seed}" if self.seed != 1 else ""
        return f"{self.distribution.name}, {self.calls} calls{aligned}{seed}"

    def drawn(self, working_set: int) -> CallList:
        """The calls, within `working_set` bytes of either buffer; the same ones on every host. Raises `PointError`."""
        check_range("size", working_set)
        sizes = list(self.distribution.shares)
        if sizes[-1] > working_set:
            raise PointError(
                f"a mix of up to {sizes[-1]} bytes does not fit into a working set of {working_set}: "
                f"give a size of {sizes[-1]} and more"
            )
        shares = [*itertools.accumulate(self.distribution.shares.values())]
        aligned = [{self.align: 1}] * 2 if self.align else SPEC2017_ALIGNED
        sides = [(list(side), [*itertools.accumulate(side.values())]) for side in aligned]
        # Of `random` this alone is the same in every version of Python.
        draw = random.Random(self.seed).random
        packed, total = bytearray(), 0
        for _ in range(self.calls):
            size = sizes[_drawn_index(shares, draw())]
            offsets = []
            for alignments, weights in sides:
                align = alignments[_drawn_index(weights, draw())]
                offsets.append(int(draw() * ((working_set - size) // align + 1)) * align)
            packed += CALL.pack(size, *offsets)
            total += size
        if total > MAX_STREAM:
            raise PointError(f"{self.calls} calls of this mix have {total} bytes: {MAX_STREAM} at most; give --calls")
        name = int.from_bytes(hashlib.sha256(packed).digest()[:8], "little") >> 1 or 1
        return kept_list(CallList(name, self.calls, total, LIST.pack(name, self.calls) + packed))


def _drawn_index(cumulative: Sequence[float], draw: float) -> int:
    return min(bisect_right(cumulative, draw * cumulative[-1]), len(cumulative) - 1)


def mix_of(text: str, calls: int = 4096, align: int = 0, seed: int = 1) -> Mix:
    """The mix that a text names: sizes (``1..256``, each as often), a published distribution or a file of one. Raises
    `UserError`.

    What names sizes is never a file's name: whoever wrote a sweep may have left a file of that name beside it."""
    if not isinstance(text, str):
        raise UserError(f"there is no mix {text!r}: give a text, such as '1..256'")
    try:
        distribution = load(text) if text in PUBLISHED else uniform(parse_integers(text, "size", 0, MAX_SIZE))
    except UserError:
        if not _is_file(text):
            known = ", ".join(PUBLISHED)
            raise UserError(
                f"there is no mix {text!r}: give sizes (1..256), {known} or a file (docs/tune.md)"
            ) from None
        distribution = load(text)
    return Mix(text, distribution, calls, align, seed)


def _is_file(text: str) -> bool:
    """Whether a text is a file's name; one that is too long for a name is none."""
    try:
        return Path(text).is_file()
    except OSError:
        return False
