"""The probes on the host: rounds of all of them until they agree, or a sentence that they do not."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Callable, Sequence
from pathlib import Path

from breakeven.calibration.host_program import HostProgram
from breakeven.calibration.measurements import CacheSize, Measured, Measurements
from breakeven.calibration.probe import EMPTY, Body, Probe, Ring
from breakeven.engines.native import extensions, host_name
from breakeven.errors import UserError
from breakeven.machine.host import cpu_info

#: rounds before anything is said of their spread; at most, in steps of as many
ROUNDS, MOST_ROUNDS = 45, 150
#: what nothing has disturbed is the lower half of a body's rounds: its quartiles lie apart by no more than this share,
#: or by so many cycles
SHARE, CYCLES = 0.08, 2.5
#: the same of a ring: neighbours use the shared levels
_RING_SHARE = 0.1
#: a host on which more of the probes than this share never agree is too noisy
MOST_NOISY = 0.1
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_LARGEST_RING = 256 << 20

Progress = Callable[[int, int, str], None]


def check_host() -> None:
    """Raises `UserError` where there is nothing to measure on."""
    if platform.machine() != "x86_64" or not cpu_info():
        raise UserError(
            "calibrate measures x86-64 on Linux, not yet RISC-V or anything else; this is "
            f"{platform.system()} on {platform.machine()}: give numbers kept elsewhere with --measurements FILE"
        )


def host_extensions() -> list[str]:
    """What the host's processor has, as /proc/cpuinfo names it."""
    return extensions("x86", cpu_info())


def cache_sizes(folder: Path = _CACHES) -> tuple[CacheSize, ...]:
    """The levels of the data side, as Linux tells them; empty: it does not."""
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
    return tuple(sorted(found, key=lambda each: each.level))


def ring_bytes(caches: Sequence[CacheSize]) -> dict[int, int]:
    """Of each level, 0 for the memory, the bytes of a ring that it holds and the one before it does not."""
    found, before = {}, 0
    for cache in caches:
        found[cache.level] = min(cache.size // 2, 8 * before) if before else cache.size // 2
        before = cache.size
    return {**found, 0: min(4 * before, _LARGEST_RING)} if found else {}


def measure(probes: Sequence[Probe | Ring], progress: Progress | None = None) -> Measurements:
    """Measures all of them. Raises `UserError` on a host that is too noisy."""
    caches = cache_sizes()
    sizes = ring_bytes(caches)
    bodies = list(dict.fromkeys([EMPTY, *(b for each in probes if isinstance(each, Probe) for b in each.texts)]))
    rings = [each for each in probes if isinstance(each, Ring) and each.level in sizes]
    rounds: list[list[float]] = []
    with HostProgram(bodies, [sizes[ring.level] for ring in rings]) as program:
        cpu = max(os.sched_getaffinity(0))
        while len(rounds) < ROUNDS or (len(rounds) < MOST_ROUNDS and _apart(rounds, len(bodies))):
            if progress is not None:
                progress(len(rounds), max(ROUNDS, len(rounds) + 1), "the host's probes")
            rounds += program.rounds(cpu, 5, seed=1 + len(rounds))
    bodies_at = {body: _agreed([each[i] for each in rounds]) for i, body in enumerate(bodies)}
    rings_at = {ring: _agreed([each[len(bodies) + i] for each in rounds]) for i, ring in enumerate(rings)}
    found = {
        each.name: _of(each, bodies_at, rings_at) for each in probes if isinstance(each, Probe) or each in rings_at
    }
    noisy = _noisy(probes, bodies_at, rings_at)
    check_quiet(noisy, len(found), len(rounds))
    info = cpu_info()
    return Measurements(
        host=host_name(), vendor=info.get("vendor_id", "?"), family=_number(info, "cpu family"),
        model=_number(info, "model"), date=datetime.date.today().isoformat(),
        probes={name: each for name, each in found.items() if name not in noisy}, caches=caches,
        gigahertz=round(sorted(each[-1] for each in rounds)[len(rounds) // 2], 3), noisy=noisy,
    )  # fmt: skip


def _number(info: dict[str, str], key: str) -> int:
    return int(info[key]) if info.get(key, "").isdigit() else 0


def _agreed(values: list[float]) -> Measured:
    """The middle of the lower half of the rounds, and how far its quartiles lie apart."""
    lower = sorted(values)[: (len(values) + 1) // 2]
    quarter = len(lower) // 4
    return Measured(lower[len(lower) // 2], lower[-1 - quarter] - lower[quarter])


def _of(probe: Probe | Ring, bodies: dict[Body, Measured], rings: dict[Ring, Measured]) -> Measured:
    if isinstance(probe, Ring):
        return rings[probe]
    body, beside = (bodies[each] for each in probe.texts)
    cycles = (body.cycles - beside.cycles) / probe.each
    return Measured(round(cycles, 4), round((body.spread + beside.spread) / 2 / probe.each, 4))


def _disagrees(found: Measured, share: float = SHARE) -> bool:
    return found.spread > max(CYCLES, share * found.cycles)


def _apart(rounds: list[list[float]], bodies: int) -> bool:
    """Whether more than a few bodies have rounds that do not agree."""
    found = [_agreed([each[i] for each in rounds]) for i in range(bodies)]
    return sum(map(_disagrees, found)) > bodies * MOST_NOISY / 2


def _noisy(
    probes: Sequence[Probe | Ring], bodies: dict[Body, Measured], rings: dict[Ring, Measured]
) -> dict[str, float]:
    found: dict[str, float] = {}
    for probe in probes:
        if isinstance(probe, Ring):
            if probe in rings and _disagrees(rings[probe], _RING_SHARE):
                found[probe.name] = rings[probe].spread
        elif worst := [bodies[each].spread for each in probe.texts if _disagrees(bodies[each])]:
            found[probe.name] = round(max(worst), 1)
    return found


def check_quiet(noisy: dict[str, float], count: int, rounds: int) -> None:
    """Raises `UserError` when too many of `count` probes did not agree."""
    if len(noisy) > MOST_NOISY * count:
        name = max(noisy, key=lambda each: noisy[each])
        raise UserError(
            f"the host is too noisy: of {count} probes {len(noisy)} differ between {rounds} rounds by more than "
            f"{100 * SHARE:g} % or {CYCLES:g} cycles ({name}: {noisy[name]:.0f} cycles); nothing was fitted: stop what "
            "else runs, or take another host"
        )
