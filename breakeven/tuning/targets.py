"""`tune --target`: a threshold that a library or a kernel ships, core by core, as the line that sets it.

A target is a choice that exists: below a size one way, from it on another. The ways are routines that make it, where
one routine has both by its parameter. Each size of the grid and each pair of offsets counts the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from breakeven.analysis.crossings import TIE
from breakeven.errors import UserError, near
from breakeven.machine.resolve import resolve
from breakeven.points.engine import Engine, SweepProgress
from breakeven.points.machine_spec import MachineSpec
from breakeven.sweeps.run import run_sweep
from breakeven.sweeps.spec import SweepSpec

#: a parameter that no length reaches, and one that every length does
NEVER, ALWAYS = 1 << 30, 1
#: as glibc takes a size that no length reaches
NO_SIZE = (1 << 64) - 1


class Way(NamedTuple):
    """How one side of the threshold is done."""

    #: as an answer names it
    name: str
    routine: str
    #: of the routine; 0: its own
    parameter: int = 0


@dataclass(frozen=True)
class Target:
    """A threshold that somebody ships."""

    name: str
    what: str
    isa: str
    below: Way
    #: what may be taken from the threshold on: the best of them is
    above: tuple[Way, ...]
    #: today's threshold; None: never
    today: int | None
    sizes: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    #: the line that sets it: of a threshold (None: never) and the way above
    line: Callable[[int | None, Way], str]
    cache: str = "warm"
    measure: str = "throughput"
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """A target on a machine. Losses are shares of the time of the better way, averaged over sizes and offsets."""

    target: Target
    machine: str
    way: Way
    #: the size from which `way` is taken; None: never
    threshold: int | None
    loss: float
    #: what today's threshold loses
    today_loss: float
    #: where the threshold found loses most: size and share
    worst: tuple[int, float]

    @property
    def line(self) -> str:
        """What to ship."""
        return self.target.line(self.threshold, self.way)

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "target": self.target.name, "machine": self.machine, "way": self.way.name, "threshold": self.threshold,
            "loss": self.loss, "today": self.target.today, "today_loss": self.today_loss, "worst_size": self.worst[0],
            "worst": self.worst[1], "line": self.line,
        }  # fmt: skip


def _steps(low: int, high: int, each: int = 4) -> tuple[int, ...]:
    """Sizes from `low` to `high`, so many to a doubling, `low` itself first."""
    found, i = [], 0
    while (size := round(low * 2 ** (i / each))) <= high:
        found.append(size)
        i += 1
    return tuple(found)


def _glibc(tunable: str) -> Callable[[int | None, Way], str]:
    return lambda size, way: f"GLIBC_TUNABLES=glibc.cpu.{tunable}={NO_SIZE if size is None else size}"


def _fsrm(size: int | None, way: Way) -> str:
    if size is None:
        return "clearcpuid=fsrm  # the kernel's command line"
    if size <= TARGETS["kernel-fsrm"].sizes[0]:
        return "# keep FSRM: rep movsb at every size"
    return f"cmp ${size}, %rdx; jb .Lmemcpy_orig  # ahead of FSRM's alternative in arch/x86/lib/memcpy_64.S"


def _ucopy(size: int | None, way: Way) -> str:
    return "# CONFIG_RISCV_ISA_V_UCOPY is not set" if size is None else f"CONFIG_RISCV_ISA_V_UCOPY_THRESHOLD={size}"


def _rvv(size: int | None, way: Way) -> str:
    group = way.name.removeprefix("m")
    at = "SIZE_MAX" if size is None else size
    return f"#define MEMCPY_VECTOR_THRESHOLD {at}  /* bytes */\n#define MEMCPY_VECTOR_LMUL {group}"


def _go(size: int | None, way: Way) -> str:
    there = "src/runtime/memmove_amd64.s"
    return f"// {there}: no rep movs" if size is None else f"CMPQ BX, ${size}  // {there}: rep movs above"


ALIKE = ((0, 0), (3, 3), (0, 16), (1, 0))
VECTOR_GROUPS = tuple(Way(f"m{n}", f"rvv-memcpy-m{n}") for n in (1, 2, 4, 8))
#: a program's copy opens no user pages, a kernel's memcpy neither
NO_SMAP = ("cpu.isa[0].enable_smap=false",)

TARGETS = {
    target.name: target
    for target in (
        Target(
            "glibc-rep-movsb", "glibc's x86_rep_movsb_threshold: vectors below, rep movsb from it on", "x86",
            Way("vectors", "glibc-vec-fsrm-avx2", NEVER), (Way("rep movsb", "glibc-vec-fsrm-avx2", ALWAYS),),
            2112, _steps(288, 16384), ALIKE, _glibc("x86_rep_movsb_threshold"),
        ),
        Target(
            "glibc-non-temporal", "glibc's x86_non_temporal_threshold (LLVM libc's copies): past the caches from it on",
            "x86", Way("through the caches", "llvm-libc-memcpy-avx2-nta", NEVER),
            (Way("past the caches", "llvm-libc-memcpy-avx2-nta", ALWAYS),),
            0xc0000, _steps(65536, 8 << 20, 1), ((0, 0),), _glibc("x86_non_temporal_threshold"), "cold", "latency",
        ),
        Target(
            "kernel-fsrm", "the kernel's memcpy: registers below, FSRM's alternative (rep movsb) from it on", "x86",
            Way("registers", "x64-memcpy-orig"), (Way("rep movsb", "x64-fsrm-inline"),),
            0, _steps(16, 4096, 2), ((0, 0), (2, 2), (0, 16), (2, 0)), _fsrm, settings=NO_SMAP,
        ),
        Target(
            "kernel-riscv-v", "the kernel's user copies: words below, vectors (here a plain copy's) from it on",
            "riscv", Way("words", "rv-copy-user-2024"), (Way("m8", "rvv-memcpy-m8"),),
            768, _steps(16, 4096, 2), ((0, 0), (0, 2), (3, 1)), _ucopy,
        ),
        Target(
            "rvv-memcpy", "a memcpy: words below, vectors of one register group from it on", "riscv",
            Way("words", "rv-word-unrolled8"), VECTOR_GROUPS, 0, _steps(8, 4096, 2), ((0, 0), (3, 5), (6, 2)), _rvv,
        ),
        Target(
            "go-memmove", "Go's memmove: sixteen-byte vectors to it, rep movsq or movsb above", "x86",
            Way("vectors", "go-memmove", NEVER), (Way("rep movs", "go-memmove", 256),),
            2048, _steps(288, 16384), ALIKE, _go,
        ),
    )
}  # fmt: skip


def target_named(name: str) -> Target:
    """The target; raises `UserError` with near names."""
    if name not in TARGETS:
        raise UserError(f"there is no target {name!r}{near(name, TARGETS, all_of='there are')}")
    return TARGETS[name]


def answer(
    target: Target, machine: MachineSpec, engine: Engine, threads: int = 0, progress: SweepProgress | None = None
) -> Answer:
    """The threshold on `machine` that loses least. Raises `UserError` where the machine has another instruction set."""
    if resolve(machine).isa != target.isa:
        raise UserError(f"target {target.name} is of {target.isa}, {machine} is not: name another machine")
    there = machine.with_settings(*target.settings)

    def times(way: Way) -> list[float]:
        """Cycles of a call, by size and pair of offsets."""
        spec = SweepSpec(
            [way.routine], [there], target.sizes, offset_pairs=target.pairs, cache_states=[target.cache],
            measures=[target.measure], routine_parameter=way.parameter,
        )  # fmt: skip
        table = run_sweep(spec, engine, threads, progress)
        by_point = table.assign(cycles=table["cycles_median"] / table["calls"])
        by_point = by_point.set_index(["size", "src_offset", "dst_offset"])["cycles"]
        return [float(by_point[size, src, dst]) for size in target.sizes for src, dst in target.pairs]

    return chosen(target, str(machine), times(target.below), {way: times(way) for way in target.above})


def chosen(target: Target, machine: str, below: Sequence[float], above: Mapping[Way, Sequence[float]]) -> Answer:
    """The way and the threshold that lose least; of those that lose the same the largest threshold.

    `below`, `above`: cycles by size and pair of offsets, sizes first.
    """
    sizes = [size for size in target.sizes for _ in target.pairs]
    best = [min(each) for each in zip(below, *above.values(), strict=True)]

    def losses(way: Way, at: int | None) -> list[float]:
        """Shares of the best time lost at each point; a tie loses nothing."""
        taken = [b if at is not None and size >= at else a for size, a, b in zip(sizes, below, above[way], strict=True)]
        return [lost(mine, least) for mine, least in zip(taken, best, strict=True)]

    def lost(mine: float, least: float) -> float:
        """Of a call that takes no time beside an empty one each cycle more counts as its whole time."""
        return 0.0 if mine <= least * (1 + TIE) else mine / least - 1 if least > 0 else mine

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    # Sums of fractions never meet exactly: equal is within rounding.
    tried = [(mean(losses(way, at)), way, at) for way in above for at in (None, *reversed(target.sizes))]
    loss, way, at = min(tried, key=lambda one: round(one[0], 12))
    found = losses(way, at)
    worst = max(range(len(sizes)), key=found.__getitem__)
    today = min(mean(losses(each, target.today)) for each in above)
    return Answer(target, machine, way, at, loss, today, (sizes[worst], found[worst]))
