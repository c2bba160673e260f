"""What to tune for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from breakeven import points as pt
from breakeven.errors import UserError
from breakeven.output.shell import shell_command
from breakeven.points.distribution import Distribution
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.measurements import repetitions_of
from breakeven.points.ranges import MAX_POINTS, ranges_text

#: points of the candidates, unless the user asks for more: beyond it sizes are thinned out
POINTS = 1000
#: tests that a dispatcher may make
MOST_BRANCHES = 16
#: sizes that are simulated at each offset, however few `POINTS` are
_LEAST_SIZES = 16


@dataclass(frozen=True)
class TuneRequest:
    """What to tune for."""

    machine: MachineSpec
    candidates: Sequence[str]
    distribution: Distribution
    src: Sequence[int] = (0,)
    dst: Sequence[int] = (0,)
    branches: int = 3
    cache: str = "warm"
    measure: str = "latency"
    #: most points of the candidates
    points: int = POINTS
    #: of the function in the header
    name: str = "tuned_copy"
    #: near the best routine at every size, instead of the least expected cycles
    everywhere: bool = False
    #: measurements of each point; None: as many as `measurements.repetitions_of` says
    repetitions: int | None = None

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [(src, dst) for src in self.src for dst in self.dst]

    def validate(self) -> None:
        """Raises `UserError` naming what cannot be."""
        if not self.name.isidentifier():
            raise UserError(f"the function's name {self.name!r} is no C identifier")
        if len(dict.fromkeys(self.candidates)) < 2:
            raise UserError("tune needs at least two different candidates: --candidates a,b")
        if not 0 <= self.branches <= MOST_BRANCHES or self.points < 1:
            raise UserError(
                f"branches {self.branches} must be 0 to {MOST_BRANCHES}, and points {self.points} 1 or more"
            )
        # Counted before the pairs are listed.
        if min(_LEAST_SIZES, len(self.distribution.shares)) * self._each_size() > MAX_POINTS:
            raise UserError(f"tune has more than {MAX_POINTS} points: take fewer offsets (--src, --dst)")
        for word, names, what in (
            (self.cache, pt.CACHE_STATES, "cache state"),
            (self.measure, pt.MEASURES[:2], "measure"),
        ):
            pt.index_of(names, word, what)

    def _each_size(self) -> int:
        """Points of each size."""
        return len(self.src) * len(self.dst) * len(self.candidates)

    @property
    def measurements(self) -> int:
        return self.repetitions or repetitions_of(self.measure)

    def command(self) -> str:
        """What asks for the same on the command line; empty: only Python can give these weights."""
        if not self.distribution.options:
            return ""
        words = ["--machine", self.machine.name]
        words += [word for setting in self.machine.settings for word in ("--set", setting)]
        words += ["--candidates", ",".join(self.candidates), *self.distribution.options]
        given: dict[str, object] = {
            "--src": ranges_text(self.src), "--dst": ranges_text(self.dst), "--branches": self.branches,
            "--cache": self.cache, "--measure": self.measure, "--points": self.points, "--name": self.name,
        }  # fmt: skip
        for option, value in given.items():
            words += [option, str(value)]
        words += ["--repetitions", str(self.repetitions)] if self.repetitions else []
        return shell_command("tune", (), [*words, *(["--everywhere"] if self.everywhere else [])])

    def grid(self) -> Distribution:
        """The sizes that are simulated, with the shares they stand for."""
        most = max(_LEAST_SIZES, self.points // self._each_size())
        return self.distribution.on_grid(most)
