"""Measures what users wait for. Medians of several runs, one thread.

<isa>.<core>.mips   million simulated instructions a host second on the gem5 reference ELF, process start not counted
loop.<machine>.<routine>.mips
                    the same of the routine alone: warm calls of 16 KiB, one after the other
loop.<machine>.<routine>.ratio
                    that over the speed without memoized execution
point_ms            one warm 1448-byte point of 3 measurements (rv-copy-user-2021 on u74) inside a sweep, milliseconds
o3_point_ms         the same point on o3
run_s               `breakeven run` of that point from the shell, seconds
help_cpu_s          processor time (user and system) of `breakeven --help`, seconds
run_cpu_s           ... of `breakeven run` of a small point that is simulated
compare_cpu_s       ... of `breakeven compare` of points that are in the store
peak_mb             the largest resident set of those processes, 10^6 bytes
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
ELFS = {"riscv": REPO / "tests/data/gem5/micro.rv64.elf", "x86": REPO / "tests/data/gem5/micro.x86.elf"}
CORES = {f"riscv.{core}": core for core in ("atomic", "timing", "minor", "o3")}
CORES |= {f"x86.{core}": f"x86_{core}" for core in ("atomic", "timing", "minor", "o3")}
#: scalar loops and vector loops, by machine
LOOPS = (
    ("minor", "rv-word"),
    ("o3", "rv-word"),
    ("o3", "rv-word-unrolled8"),
    ("x86_o3", "x64-memcpy-orig"),
    ("skylake", "x64-csum-herbert"),
    *((machine, f"rvv-memcpy-m{group}") for machine in ("c920", "x100") for group in (1, 2, 4, 8)),
    *((machine, f"rvv-csum-m{group}") for machine in ("c920", "x100") for group in (1, 4)),
)
POINT = ["rv-copy-user-2021", "--machine", "u74", "--size", "1448", "--src", "3", "--no-store"]
STARTS = {
    "help_cpu_s": ["--help"],
    "run_cpu_s": ["run", "rv-word", "--size", "64", "--no-store"],
    "compare_cpu_s": ["compare", "rv-byte", "rv-word", "--sizes", "1..256", "--store"],
}


def child(*args: str) -> tuple[bytes, float, resource.struct_rusage]:
    """Runs one process: its output, wall seconds and what it used."""
    start = time.perf_counter()
    process = subprocess.Popen(args, stdout=subprocess.PIPE, cwd=REPO)
    assert process.stdout is not None
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"bench: {' '.join(args)} failed with status {process.returncode}")
    return out, time.perf_counter() - start, usage


def start_seconds(command: list[str], repeat: int) -> float:
    """Processor time of a command, the median of `repeat`; the first, which may have points to simulate, left out."""
    used = [child(*command)[2] for _ in range(repeat + 1)][1:]
    return statistics.median(usage.ru_utime + usage.ru_stime for usage in used)


def point_ms(machine: str, points: int) -> float:
    from breakeven import _engine
    from breakeven.files.binaries import guest_elf
    from breakeven.machine.presets import describe_machine
    from breakeven.points import Point, pack

    sweep = _engine.Sweep(json.dumps(describe_machine(machine)), guest_elf("riscv"))
    point = Point(routine="rv-copy-user-2021", size=1448, repetitions=3)
    records = pack([replace(point, src_offset=i % 8) for i in range(points)])
    start = time.perf_counter()
    sweep.run(records, threads=1)
    return (time.perf_counter() - start) * 1e3 / points


def loop_mips(machine: str, routine: str, memoize: bool) -> float:
    """Million instructions a second of 300 calls of 16 KiB: what they take beyond a run with 6 of them."""
    from breakeven import _engine
    from breakeven.files.binaries import guest_elf
    from breakeven.machine.presets import describe_machine
    from breakeven.points import MEASURES, Point, pack, points_file

    os.environ["BREAKEVEN_MEMOIZE"] = "on" if memoize else "off"
    description = describe_machine(machine)
    elf = guest_elf("riscv" if routine.startswith("rv") else "x86")

    def run(calls: int) -> tuple[int, float]:
        point = Point(routine=routine, size=16384, measure=MEASURES.index("throughput"), calls=calls, repetitions=3)
        end = _engine.Machine(json.dumps(description), elf, readfile=points_file(pack([point]))).run()
        return end["insts"], end["host_seconds"]

    (few, before), (many, after) = run(2), run(102)
    return (many - few) / (after - before) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeat", type=int, default=5, help="runs per number (the median counts)")
    options = parser.parse_args()
    breakeven = str(REPO / ".venv/bin/breakeven")
    result: dict[str, float] = {}
    peak = 0
    for name, machine in CORES.items():
        speeds = []
        for _ in range(options.repeat):
            out, _, usage = child(breakeven, "exec", str(ELFS[name.split(".")[0]]), "--machine", machine, "--json")
            run = json.loads(out)
            speeds.append(run["instructions"] / run["host_seconds"] / 1e6)
            peak = max(peak, usage.ru_maxrss * 1024)
        result[f"{name}.mips"] = round(statistics.median(speeds), 2)
    for machine, routine in LOOPS:
        on, off = (
            statistics.median(loop_mips(machine, routine, memoize) for _ in range(options.repeat))
            for memoize in (True, False)
        )
        result[f"loop.{machine}.{routine}.mips"] = round(on, 2)
        result[f"loop.{machine}.{routine}.ratio"] = round(on / off, 2)
    os.environ.pop("BREAKEVEN_MEMOIZE", None)
    for key, machine in (("point_ms", "u74"), ("o3_point_ms", "o3")):
        result[key] = round(statistics.median(point_ms(machine, 400) for _ in range(options.repeat)), 4)
    seconds = []
    for _ in range(2 * options.repeat):
        _, wall, usage = child(breakeven, "run", *POINT, "--json")
        seconds.append(wall)
        peak = max(peak, usage.ru_maxrss * 1024)
    result["run_s"] = round(statistics.median(seconds), 3)
    with tempfile.TemporaryDirectory() as folder:
        for key, command in STARTS.items():
            store = [f"{folder}/points.sqlite"] if command[-1] == "--store" else []
            result[key] = round(start_seconds([breakeven, *command, *store], 2 * options.repeat), 3)
    result["peak_mb"] = round(peak / 1e6, 1)
    if options.json:
        print(json.dumps(result))
    else:
        for key, value in result.items():
            print(f"{key:40} {value:10}")


if __name__ == "__main__":
    main()
