"""What the engine's profile is made of (scripts/with-profile): the reference programs on gem5's cores, and points of
sweeps on presets of both instruction sets.

    exercise_engine.py LIB_ENGINE_SO programs|points
"""

import importlib.util
import json
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO))

PROGRAMS = {
    "micro.rv64.elf": ["atomic", "timing", "minor", "o3"],
    "micro.x86.elf": ["x86_atomic", "x86_timing", "x86_minor", "x86_o3"],
}
#: instructions of a program, about half of it
MOST_INSTRUCTIONS = 4_000_000
#: routines by machine; each in several sizes and at every offset
POINTS = {
    "u74": ["rv-copy-user-2021", "rv-word-noalign"],
    "c910": ["rv-copy-user-2021", "rv-word"],
    "o3": ["rv-copy-user-2021"],
    "westmere": ["x64-csum-herbert", "x64-csum-naive-adc"],
    "broadwell": ["x64-copy-erms", "x64-copy-unrolled", "x64-copy-nocache-2023"],
}
SIZES = (16, 256, 1448)
#: routines whose loops run long enough to have a steady state
LOOPS = {
    "minor": ["rv-copy-user-2021"],
    "o3": ["rv-copy-user-2021"],
    "c920": ["rvv-memcpy-m4", "rvv-csum-m8"],
    "x86_o3": ["x64-copy-unrolled"],
}
LOOP_SIZE = 16384


def load(path: Path):
    """The engine at `path` as the package's own."""
    import breakeven

    spec = importlib.util.spec_from_file_location("breakeven._engine", path)
    assert spec is not None and spec.loader is not None
    engine = importlib.util.module_from_spec(spec)
    sys.modules["breakeven._engine"] = engine
    spec.loader.exec_module(engine)
    breakeven._engine = engine  # type: ignore[attr-defined]
    return engine


def run_programs(engine) -> None:
    from breakeven.machine.presets import describe_machine

    for program, machines in PROGRAMS.items():
        elf = (REPO / "tests/data/gem5" / program).read_bytes()
        for machine in machines:
            guest = engine.Machine(json.dumps(describe_machine(machine)), elf)
            while guest.run(max_insts=MOST_INSTRUCTIONS)["cause"] in ("workbegin", "workend"):
                pass


def run_points(engine) -> None:
    from breakeven.files.binaries import guest_elf
    from breakeven.machine.presets import describe_machine
    from breakeven.points import Point, pack

    def sweep(machine: str, points: list[Point]) -> None:
        isa = "riscv" if points[0].routine.startswith("rv") else "x86"
        engine.Sweep(json.dumps(describe_machine(machine)), guest_elf(isa)).run(pack(points), threads=1)

    for machine, routines in POINTS.items():
        sweep(machine, [Point(routine=r, size=n, src_offset=at) for r in routines for n in SIZES for at in range(8)])
    for machine, routines in LOOPS.items():
        sweep(machine, [Point(routine=r, size=LOOP_SIZE) for r in routines])


if __name__ == "__main__":
    {"programs": run_programs, "points": run_points}[sys.argv[2]](load(Path(sys.argv[1]).resolve()))
