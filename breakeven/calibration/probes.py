"""The list of all probes."""

from __future__ import annotations

from collections.abc import Iterable

from breakeven.calibration import core_probes, memory_probes
from breakeven.calibration.probe import PointerChase, Probe

#: in the order in which tables show them
GROUPS = (
    core_probes.fences,
    core_probes.widths,
    core_probes.latencies,
    core_probes.throughputs,
    core_probes.branches,
    memory_probes.throughputs,
    memory_probes.latencies,
    memory_probes.crossings,
    memory_probes.copies,
    memory_probes.non_temporal_stores,
    memory_probes.rep_movs,
    memory_probes.rep_stos,
)


def probes(extensions: Iterable[str], levels: int) -> list[Probe | PointerChase]:
    """The probes that run on a processor with these extensions and so many levels of caches."""
    available = {"", *extensions}
    short = [probe for group in GROUPS for probe in group() if probe.extension in available]
    return [*short, *memory_probes.levels(levels)]
