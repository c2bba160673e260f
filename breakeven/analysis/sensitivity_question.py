"""What identifies the question that a sensitivity answers, in the store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from breakeven.sweeps.spec import SweepSpec


def question(spec: SweepSpec) -> str:
    """What identifies the question beside machine, engine and guest; sizes do not: they stand in the answer."""
    src, dst = spec.pairs()[0]
    told = (*spec.routines, src, dst, *spec.cache_states, *spec.measures, spec.calls, spec.size2, spec.flags,
            spec.routine_parameter, len(spec.sizes) == 1 and spec.sizes[0])  # fmt: skip
    return "sensitivity " + json.dumps(told)


def sizes_text(spec: SweepSpec) -> str:
    """The sizes that a sensitivity is of."""
    return f"{spec.sizes[0]} B" if len(spec.sizes) == 1 else f"{min(spec.sizes)} to {max(spec.sizes)} B"
