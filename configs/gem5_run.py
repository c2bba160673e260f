"""Points of a guest on a preset, in a gem5 script: what `point.py` and `sweep.py` share.

Runs under ``breakeven gem5`` and under a real gem5 (v24.0 or later). There, what gem5 cannot express is left out of the
preset, and a warning names each such effect.
"""

import ast
import importlib
import json
import os
import re
import sys
from pathlib import Path

import m5
from m5.util import fatal, warn

HERE = Path(__file__).resolve().parent
MACHINES = HERE / "machines"
# A real gem5's Python does not know where breakeven is: two folders above, or above the wheel's data.
PACKAGE = next(folder / "breakeven" for folder in HERE.parents if (folder / "breakeven" / "points").is_dir())
if str(PACKAGE.parent) not in sys.path:
    sys.path.append(str(PACKAGE.parent))

from breakeven.points import Point, points_file, unpack_results  # noqa: E402
from breakeven.points.measurements import REPETITIONS  # noqa: E402, F401

#: names that a preset uses and gem5 has not -> what a run without them lacks
EFFECTS = {
    "AdjacentLinePrefetcher": "the adjacent-line prefetcher",
    "GshareBP": "the gshare predictor",
    "MisalignedAccess": "what misaligned accesses cost",
    "NextLinePrefetcher": "the next-line prefetcher",
    "StreamPrefetcher": "the stream prefetcher",
    "WriteCombiningBuffers": "write combining: non-temporal stores go through the caches",
    "X86Microcode": "hardware's micro-ops: instructions are gem5's",
    "X86StringMode": "the string engine: REP MOVS and STOS go element by element",
    "aliasCheckBits": "memory dependences by address bits",
    "associativity": "the ways of the branch target buffer",
    "bandwidth": "limits on the caches' bandwidth",
    "bandwidth_limit": "limits on the buses' bandwidth",
    "forwardFailPenalty": "what failed store forwarding costs",
    "forwardLatency": "the latency of store forwarding",
    "l2_size": "the second-level TLB",
    "loopBufferSize": "the loop buffer",
    "macroFusion": "fusion of instructions",
    "microFusion": "fusion of micro-ops",
    "microcode": "hardware's micro-ops: instructions are gem5's",
    "misaligned": "what misaligned accesses cost",
    "moveElimination": "elimination of moves",
    "partialForwardPolicy": "what partial store forwarding costs",
    "renameRecovery": "recovery of the register map from checkpoints",
    "serialResponses": "how many answers of the cache a cycle takes",
    "slices": "the size of its third level, whose sets are no power of two: the next smaller one is taken",
    "tsoStoresInFlight": "how many stores are under way",
    "write_allocate": "write misses that go past a cache",
    "write_combining": "write combining: non-temporal stores go through the caches",
}


def guest_elf(isa):
    """The guest that holds the routines of `isa`: of the checkout, or of the wheel."""
    places = [folder / f"{isa}.elf" for folder in (HERE.parent / "build" / "guests", HERE.parent / "guests")]
    found = [path for path in places if path.is_file()]
    if not found:
        fatal("there is no guest %s.elf: build it with `scons guests`, or name one with --guest", isa)
    return str(found[0])


def machine(name, guest="", settings=()):
    """The Root of the preset `name` (or of the machine file there) around the guest; `settings`: ``path=value``."""
    path = Path(name) if name.endswith(".py") else MACHINES / f"{name}.py"
    if not path.is_file():
        fatal("there is no machine %s: one of %s, or a .py file", name, " ".join(sorted(presets())))
    preset = importlib.import_module(importable(path.resolve()))
    option = "bootloader" if preset.ISA == "riscv" else "object_file"
    root = preset.machine(**{option: guest or guest_elf(preset.ISA)})
    if not is_breakeven():
        for effect in left_out(path):
            warn("%s without %s: gem5 cannot express it", preset.NAME, effect)
    else:
        # A preset says what it means: what it does not set is no trait of gem5's.
        for cpu in root.system.cpu:
            for name in dir(cpu):
                if name.startswith("gem5"):
                    setattr(cpu, name, getattr(cpu, name))
    for text in settings:
        set_parameter(root.system, text)
    return root


def importable(path):
    """The name by which the machine file can be imported: a preset's in the package ``machines``, else its own."""
    of_package = path.parent == MACHINES
    sys.path[:0] = [str(HERE)] if of_package else [str(path.parent), str(HERE)]
    if not is_breakeven():
        # Former names, `import u74`: breakeven itself finds them, with a warning.
        sys.path.append(str(MACHINES))
    return f"machines.{path.stem}" if of_package else path.stem


def presets():
    """The names of breakeven's machines."""
    return [path.stem for path in MACHINES.glob("*.py") if re.search(r"^NAME = ", path.read_text(), re.MULTILINE)]


def is_breakeven():
    """Whether breakeven's own engine runs this script."""
    return hasattr(m5.objects, "MisalignedAccess")


def left_out(path):
    """What the preset at `path`, or a preset that it builds on, uses of breakeven's own, in words."""
    found, seen, queue = set(), set(), [path]
    while queue:
        file = queue.pop()
        if file in seen or not file.is_file():
            continue
        seen.add(file)
        tree = ast.parse(file.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                # `from machines.u74 import U74CPU`, and `from machines import u74`
                names = [node.module, *(alias.name for alias in node.names)]
                queue += [MACHINES / f"{name.removeprefix('machines.')}.py" for name in names]
        found.update(EFFECTS[name] for name in _names(tree) if name in EFFECTS)
    return sorted(found)


def _names(tree):
    """Names in a preset that may be breakeven's own: attributes, values in class bodies, classes, keywords."""
    facts = json.loads((PACKAGE / "config" / "data" / "gem5.json").read_text())
    # `SimpleMemory(bandwidth=...)` is gem5's; a cache's is not.
    of_gem5 = {name for each in facts.values() for name in each.get("params", {})}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.keyword) and node.arg not in of_gem5:
            yield node.arg
        elif isinstance(node, ast.ClassDef):
            for line in node.body:
                if isinstance(line, ast.Assign):
                    yield from (target.id for target in line.targets if isinstance(target, ast.Name))


def set_parameter(system, text):
    """``cpu.dcache.size=64KiB``: a parameter below the system; a vector's values are separated by commas."""
    path, equals, value = text.partition("=")
    if not equals:
        fatal("--set takes path=value, not %s", text)
    node, *steps = system, *path.removeprefix("system.").split(".")
    for step in steps[:-1]:
        name, *indices = re.split(r"[\[\]]+", step.rstrip("]"))
        node = getattr(node, name)
        for index in indices:
            node = node[int(index)]
    setattr(node, steps[-1], value.split(",") if "," in value else value)


def run(root, points):
    """Run `points` on the machine; their results in the same order.

    `points`: `Point` objects, or the bytes of a points file. The points go to ``points.bin`` in the output folder, the
    results come back as ``results.bin``.
    """
    folder = Path(m5.options.outdir)
    folder.mkdir(parents=True, exist_ok=True)
    data = points if isinstance(points, bytes) else points_file(b"".join(point.pack() for point in points))
    (folder / "points.bin").write_bytes(data)
    results = folder / "results.bin"
    # A stale file must not answer for a guest that dies.
    results.unlink(missing_ok=True)
    root.system.readfile = os.fspath(folder / "points.bin")
    m5.instantiate()
    while True:
        event = m5.simulate()
        if event.getCause() not in ("workbegin", "workend"):
            break
    if not results.is_file():
        fatal("the guest left no results: it ended with %r", event.getCause())
    return unpack_results(results.read_bytes())


__all__ = ["Point", "guest_elf", "machine", "presets", "run"]
