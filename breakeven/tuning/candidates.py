"""The routines that a dispatcher is made of where the user has named none: those that together are fastest."""

from __future__ import annotations

from collections.abc import Sequence

from breakeven.analysis.compare import curves_of
from breakeven.errors import UserError
from breakeven.points.distribution import Distribution
from breakeven.points.engine import Engine, SweepProgress
from breakeven.points.machine_spec import MachineSpec
from breakeven.routine.guest import guest_routines
from breakeven.sweeps.run import run_sweep
from breakeven.sweeps.spec import SweepSpec

#: candidates at most, and sizes at which all routines of the kind are looked at
_MOST, _SIZES = 3, 16
#: a further routine must save so much of the expected cycles
_WORTH = 0.01
#: what does a kind's work
_DO = {"copy": ("copy", "move")}


def best_candidates(
    kind: str, machine: MachineSpec, distribution: Distribution, offsets: tuple[Sequence[int], Sequence[int]],
    cache: str, measure: str, engine: Engine, threads: int = 0, progress: SweepProgress | None = None,
) -> list[str]:  # fmt: skip
    """Up to three routines that together take the fewest expected cycles, each added while it saves 1 %.

    Raises `UserError` where the machine has fewer than two of the kind.
    """
    kinds = _DO.get(kind, (kind,))
    names = [each.name for each in guest_routines(machine)[1] if each.kind in kinds and not each.missing_extension]
    if len(names) < 2:
        raise UserError(f"{machine} has no two routines of kind {kind}: name --candidates a,b")
    few = distribution.on_grid(_SIZES)
    src, dst = (sorted({side[0], side[len(side) // 2]}) for side in offsets)
    spec = SweepSpec(
        names, [machine], sorted(few.shares), src_offsets=src, dst_offsets=dst, cache_states=[cache],
        measures=[measure],
    )  # fmt: skip
    table = run_sweep(spec, engine, threads, progress)
    right = table.groupby("routine")["ok"].transform("all")
    mean = table[right].groupby(["routine", "size"], as_index=False)[["cycles_median", "calls"]].mean()
    sizes, curves = curves_of(mean)
    shares = [few.shares[int(size)] for size in sizes]

    def expected(chosen: list[str]) -> float:
        return sum(share * min(curves[name][i] for name in chosen) for i, share in enumerate(shares))

    found = [min(curves, key=lambda name: expected([name]))]
    while len(found) < min(_MOST, len(curves)):
        more = min((name for name in curves if name not in found), key=lambda name: expected([*found, name]))
        # A dispatcher needs two.
        if len(found) > 1 and expected([*found, more]) > (1 - _WORTH) * expected(found):
            break
        found.append(more)
    return found
