"""Every point at which an x86 routine must be right: `scripts/exhaustive` runs them all, the test a fixed sample.

The guest compares every byte, the return value and what a routine may not touch; a wrong result has a status.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import islice, product
from typing import Any

from breakeven.engines.embedded import EmbeddedEngine
from breakeven.engines.run_points import run_points
from breakeven.points import FAULT_IN_DESTINATION, Point
from breakeven.points.machine_spec import MachineSpec

SIZES = [*range(513), 4095, 4096, 4097]
FAULT_SIZES = [1, 7, 8, 15, 16, 31, 33, 63, 64, 65, 127, 128, 129, 200, 255, 300, 512]
FAULT_OFFSETS = [(0, 0), (3, 0), (0, 5), (7, 9)]
#: points that are asked for at once
BATCH = 20_000


def plain_points(routine: Any, first: int = 0, step: int = 1) -> Iterator[Point]:
    """All sizes at all offsets of both ends (a checksum has one end); with a step, a sample of them."""
    space = product(SIZES, range(16), range(1 if routine.kind == "checksum" else 16))
    for size, source, destination in islice(space, first, None, step):
        yield Point(routine.name, size, source, destination, repetitions=1, warmup=0)


def fault_points(routine: Any, first: int = 0, step: int = 1) -> Iterator[Point]:
    """A user copy that meets a missing page at each of its bytes, on either side; of other routines none."""
    sizes = FAULT_SIZES if routine.kind == "user-copy" else []
    faults = [(size, byte | side) for size in sizes for byte in range(size + 1) for side in (0, FAULT_IN_DESTINATION)]
    for (size, fault), (source, destination) in islice(product(faults, FAULT_OFFSETS), first, None, step):
        yield Point(routine.name, size, source, destination, repetitions=1, warmup=0, fault_at=fault)


def main() -> int:
    """Runs every point of the routines named, or of all; says which are wrong."""
    parser = argparse.ArgumentParser(prog="scripts/exhaustive", description="Every x86 routine at every point.")
    parser.add_argument("routines", nargs="*", metavar="ROUTINE", help="these only")
    parser.add_argument("-m", "--machine", default="x86_atomic")
    options = parser.parse_args()
    session = EmbeddedEngine().open(MachineSpec(options.machine, ("cpu.isa.enable_avx512=true",)))
    found = {routine.name: routine for routine in session.routines()}
    if unknown := [name for name in options.routines if name not in found]:
        parser.error(f"there is no routine {unknown[0]!r}")
    wrong = 0
    for name in options.routines or found:
        count = 0
        for points in (plain_points(found[name]), fault_points(found[name])):
            while batch := list(islice(points, BATCH)):
                count += len(batch)
                for point, result in zip(batch, run_points(session, batch), strict=True):
                    if result.status != 0:
                        wrong += 1
                        print(f"wrong: {point}: {result}", flush=True)
        print(f"{name}: {count} points, {wrong} wrong so far", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
