"""One point of a routine on a preset: ``breakeven gem5 configs/point.py u74 rv-word-noalign 1448 --src 3``.

The same under a real gem5: ``gem5.opt configs/point.py u74 rv-word-noalign 1448 --src 3``.
"""

import argparse
import sys

from gem5_run import REPETITIONS, Point, machine, run

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("machine", help="a preset, or a machine file")
parser.add_argument("routine")
parser.add_argument("size", type=int, help="bytes")
parser.add_argument("--src", type=int, default=0, help="the source's offset from a page")
parser.add_argument("--dst", type=int, default=0, help="the destination's")
parser.add_argument("--state", type=int, default=0, help="0 warm, 1 source cold, 2 destination cold, 3 both")
parser.add_argument("--reps", type=int, default=REPETITIONS, help="measurements")
parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="change a parameter")
parser.add_argument("--guest", default="", help="an ELF instead of breakeven's own")
args = parser.parse_args()

root = machine(args.machine, args.guest, args.set)
point = Point(
    args.routine, args.size, src_offset=args.src, dst_offset=args.dst, cache_state=args.state, repetitions=args.reps
)
(result,) = run(root, [point])
print(
    f"{args.routine} on {args.machine}: {args.size} B, src+{args.src}, dst+{args.dst}: {result.cycles_median} cycles "
    f"(least {result.cycles_min}), {result.instructions} instructions, {result.problem or 'verified'}"
)
sys.exit(0 if result.ok else 1)
