"""Measures the probes on the host: rounds of all bodies, and a summary of each body's rounds."""

from __future__ import annotations

import datetime
import math
import os
import platform
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from breakeven.calibration.host_program import HostProgram
from breakeven.calibration.measurements import CacheSize, Measured, Measurements
from breakeven.calibration.probe import EMPTY, PointerChase, Probe
from breakeven.engines.native import extensions, host_name
from breakeven.errors import UserError
from breakeven.machine.host import cpu_info

#: minimum and maximum rounds
ROUNDS, MOST_ROUNDS = 45, 90
#: minimum undisturbed rounds of a body
_LEAST_ROUNDS = 15
#: reason reported for a body with fewer
_SHARED = "core shared with another thread"
#: rounds of one run of the program
_STEP = 5
#: a body is noisy if the spread of its rounds is above both: this share of the median, and so many cycles
NOISY_SHARE, NOISY_CYCLES = 0.08, 2.5
#: the share for a pointer chase: other cores use the shared levels as well
_NOISY_CHASE_SHARE = 0.1
#: a host is too noisy if more than this share of the probes are
MOST_NOISY = 0.1
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_LARGEST_CHASE = 256 << 20

Progress = Callable[[int, int, str], None]


def check_host() -> None:
    """Raises `UserError` where probes cannot be measured."""
    if platform.machine() != "x86_64" or not cpu_info():
        raise UserError(
            "calibrate measures x86-64 on Linux, not yet RISC-V or anything else; this is "
            f"{platform.system()} on {platform.machine()}: read another host's measurements with --measurements FILE"
        )


def host_extensions() -> list[str]:
    """The extensions of the host's processor, as /proc/cpuinfo names them."""
    return extensions("x86", cpu_info())


def cache_sizes(folder: Path = _CACHES) -> tuple[CacheSize, ...]:
    """The data and unified caches of sysfs; empty: it has none."""
    found = []
    for index in sorted(folder.glob("index*")):
        try:
            kind = (index / "type").read_text().strip()
            level, ways = (int((index / name).read_text()) for name in ("level", "ways_of_associativity"))
            size = int((index / "size").read_text().strip().removesuffix("K")) << 10
        except (OSError, ValueError):
            continue
        if kind != "Instruction" and ways > 0 and size > 0:
            found.append(CacheSize(level, size, ways))
    return tuple(sorted(found, key=lambda cache: cache.level))


def chase_bytes(caches: Sequence[CacheSize]) -> dict[int, int]:
    """Level (0: the memory) -> bytes of a pointer chase that this level holds and the level before it does not."""
    found, before = {}, 0
    for cache in caches:
        found[cache.level] = min(cache.size // 2, 8 * before) if before else cache.size // 2
        before = cache.size
    return {**found, 0: min(4 * before, _LARGEST_CHASE)} if found else {}


def measure(probes: Sequence[Probe | PointerChase], progress: Progress | None = None) -> Measurements:
    """Measures all probes. Raises `UserError` if the host is too noisy."""
    caches = cache_sizes()
    sizes = chase_bytes(caches)
    bodies = list(dict.fromkeys([EMPTY, *(b for probe in probes if isinstance(probe, Probe) for b in probe.bodies)]))
    chases = [probe for probe in probes if isinstance(probe, PointerChase) and probe.level in sizes]
    rounds: list[list[float]] = []
    with HostProgram(bodies, [sizes[chase.level] for chase in chases]) as program:
        cpu = max(os.sched_getaffinity(0))
        while len(rounds) < ROUNDS or (len(rounds) < MOST_ROUNDS and _many_noisy(rounds, len(bodies))):
            if progress is not None:
                progress(len(rounds), max(ROUNDS, len(rounds) + 1), "the host's probes")
            rounds += program.rounds(cpu, _STEP, seed=1 + len(rounds))
    columns = [summary(column) for column in zip(*rounds, strict=True)]
    by_body = dict(zip(bodies, columns, strict=False))
    by_chase = dict(zip(chases, columns[len(bodies) :], strict=False))
    found: dict[str, Measured] = {}
    noisy: dict[str, str] = {}
    for probe in probes:
        if isinstance(probe, Probe):
            body, baseline = (by_body[each] for each in probe.bodies)
            found[probe.name] = _difference(body, baseline, probe.parts)
            spreads = [each.spread for each in (body, baseline) if _is_noisy(each, NOISY_SHARE)]
        elif probe in by_chase:
            found[probe.name] = by_chase[probe]
            spreads = [each.spread for each in (by_chase[probe],) if _is_noisy(each, _NOISY_CHASE_SHARE)]
        else:
            continue
        if spreads:
            noisy[probe.name] = _SHARED if math.isinf(max(spreads)) else f"{max(spreads):.0f} cycles"
    _refuse_noise(noisy, len(found), len(rounds))
    quiet = {name: each for name, each in found.items() if name not in noisy}
    return replace(this_host(), probes=quiet, caches=caches, gigahertz=round(columns[-1].cycles, 3), noisy=noisy)


def this_host() -> Measurements:
    """The host's processor and today's date, without any measurements."""
    info = cpu_info()
    family, model = (_number(info, key) for key in ("cpu family", "model"))
    return Measurements(host_name(), info.get("vendor_id", "?"), family, model, datetime.date.today().isoformat(), {})


def _number(info: dict[str, str], key: str) -> int:
    return int(info[key]) if info.get(key, "").isdigit() else 0


def summary(rounds: Sequence[float]) -> Measured:
    """The median of the undisturbed rounds. Spread: the range around it that holds half of them; infinite: too few."""
    undisturbed = [each for each in rounds if not math.isnan(each)]
    if not undisturbed:
        return Measured(math.nan, math.inf)
    median = statistics.median(undisturbed)
    spread = 2 * statistics.median(abs(each - median) for each in undisturbed)
    return Measured(median, spread if len(undisturbed) >= _LEAST_ROUNDS else math.inf)


def _difference(body: Measured, baseline: Measured, parts: int) -> Measured:
    spread = (body.spread + baseline.spread) / 2
    return Measured(round((body.cycles - baseline.cycles) / parts, 4), round(spread / parts, 4))


def _is_noisy(measured: Measured, share: float) -> bool:
    return measured.spread > max(NOISY_CYCLES, share * measured.cycles)


def _many_noisy(rounds: list[list[float]], bodies: int) -> bool:
    """Whether more than 5 % of the bodies are noisy: half the share at which measuring fails."""
    columns = list(zip(*rounds, strict=True))[:bodies]
    return sum(_is_noisy(summary(column), NOISY_SHARE) for column in columns) > bodies * MOST_NOISY / 2


def _refuse_noise(noisy: dict[str, str], probes: int, rounds: int) -> None:
    """Raises `UserError` if too many of so many probes are noisy."""
    if len(noisy) > MOST_NOISY * probes:
        name, reason = next(iter(noisy.items()))
        raise UserError(
            f"the host is too noisy: {len(noisy)} of {probes} probes differ between {rounds} rounds by more than "
            f"{100 * NOISY_SHARE:g} % and {NOISY_CYCLES:g} cycles, or could not be measured ({name}: {reason}), so "
            "nothing was fitted: stop other programs, or take another host"
        )
