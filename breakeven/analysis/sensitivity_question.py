"""What identifies the question that a sensitivity answers, in the store."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from breakeven.sweeps.spec import SweepSpec


#: of a sweep, what stands beside the question: the machine, and the sizes in the answer; or is told by the pairs
_BESIDE = ("machines", "sizes", "src_offsets", "dst_offsets", "offset_pairs")


def question(spec: SweepSpec) -> str:
    """What identifies the question beside machine, engine and guest: all that decides the points but several sizes."""
    told = {each.name: getattr(spec, each.name) for each in fields(spec) if each.name not in _BESIDE}
    told |= {"pairs": spec.pairs(), "size": spec.sizes[0] if len(spec.sizes) == 1 else None}
    told["mix"] = spec.mix.drawn(max(spec.sizes)).name if spec.mix else 0
    return "sensitivity " + json.dumps(told, default=list)


def sizes_text(spec: SweepSpec) -> str:
    """The sizes that a sensitivity is of."""
    return f"{spec.sizes[0]} B" if len(spec.sizes) == 1 else f"{min(spec.sizes)} to {max(spec.sizes)} B"
