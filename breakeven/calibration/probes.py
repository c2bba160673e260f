"""All probes, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Iterable

from breakeven.calibration import bodies_core, bodies_memory, bodies_strings
from breakeven.calibration.probe import Probe, Ring

#: by what they are about
PARTS = {
    "fences": bodies_core.fences,
    "widths": bodies_core.widths,
    "latencies": bodies_core.latencies,
    "units": bodies_core.throughputs,
    "branches": bodies_core.branches,
    "loads and stores": bodies_memory.paces,
    "forwarding and crossings": bodies_memory.latencies,
    "crossings": bodies_memory.crossings,
    "copies": bodies_memory.copies,
    "past the caches": bodies_memory.past_the_caches,
    "REP MOVS": bodies_strings.moves,
    "REP STOS": bodies_strings.fills,
}


def probes(extensions: Iterable[str], levels: int) -> list[Probe | Ring]:
    """Those that a processor with these extensions and levels of caches has."""
    has = {"", *extensions}
    found = [probe for part in PARTS.values() for probe in part() if probe.needs in has]
    return [*found, *bodies_memory.levels(levels)]
