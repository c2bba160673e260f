"""A table of points on a preset: ``breakeven gem5 configs/sweep.py u74 rv-word-noalign --sizes 8..512:8 --src 0,3``.

The same under a real gem5, in one process. Results go to ``sweep.csv`` in the output folder (and ``results.bin``, as
the guest left them). ``--points FILE`` runs a points file instead of a grid.
"""

import argparse
import csv
import itertools
import sys
from pathlib import Path

import m5
from gem5_run import REPETITIONS, Point, machine, run

from breakeven.points import MAX_OFFSET, MAX_SIZE, unpack
from breakeven.points.ranges import parse_integers

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("machine", help="a preset, or a machine file")
parser.add_argument("routines", nargs="*")
parser.add_argument("--sizes", default="64", help="like 8..512:8, 64,1448 or 1..65536:log8")
parser.add_argument("--src", default="0", help="offsets of the source")
parser.add_argument("--dst", default="0", help="offsets of the destination")
parser.add_argument("--state", type=int, default=0, help="0 warm, 1 source cold, 2 destination cold, 3 both")
parser.add_argument("--reps", type=int, default=REPETITIONS, help="measurements a point")
parser.add_argument("--points", default="", metavar="FILE", help="a points file instead of a grid")
parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="change a parameter")
parser.add_argument("--guest", default="", help="an ELF instead of breakeven's own")
args = parser.parse_args()

if args.points:
    data = Path(args.points).read_bytes()
    points = unpack(data)
else:
    if not args.routines:
        parser.error("name a routine, or a points file")
    grid = itertools.product(
        args.routines,
        parse_integers(args.sizes, "--sizes", 0, MAX_SIZE),
        parse_integers(args.src, "--src", 0, MAX_OFFSET),
        parse_integers(args.dst, "--dst", 0, MAX_OFFSET),
    )
    points = [
        Point(routine, size, src_offset=src, dst_offset=dst, cache_state=args.state, repetitions=args.reps)
        for routine, size, src, dst in grid
    ]
    data = points
results = run(machine(args.machine, args.guest, args.set), data)

with open(Path(m5.options.outdir) / "sweep.csv", "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow([
        "routine", "size", "src_offset", "dst_offset", "cycles_median", "cycles_min", "instructions", "problem",
    ])  # fmt: skip
    for point, result in zip(points, results):  # noqa: B905  (gem5's Python may be older than zip's strict)
        rows.writerow([
            point.routine, point.size, point.src_offset, point.dst_offset, result.cycles_median, result.cycles_min,
            result.instructions, result.problem,
        ])  # fmt: skip
wrong = sum(not result.ok for result in results)
print(f"{len(results)} points on {args.machine}, {wrong} of them wrong: {m5.options.outdir}/sweep.csv")
sys.exit(1 if wrong else 0)
