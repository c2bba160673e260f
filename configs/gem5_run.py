"""Points of a guest on a preset, in a gem5 script: what `point.py` and `sweep.py` share.

Runs under ``breakeven gem5`` and under a real gem5 (v24.0 or later). There, what gem5 cannot express is left out of the
preset, and a warning names each such effect.
"""

import importlib
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

#: what a preset sets and a gem5 may lack -> what a run without it lacks
EFFECTS = {
    "AdjacentLinePrefetcher": "the adjacent-line prefetcher",
    "GshareBP": "the gshare predictor",
    "NextLinePrefetcher": "the next-line prefetcher",
    "PathHistoryBP": "the branch predictor by path, in whose place stands LTAGE",
    "StreamPrefetcher": "the stream prefetcher",
    "WriteCombiningBuffers": "write combining: non-temporal stores go through the caches",
    **dict.fromkeys(("X86Instruction", "X86Microcode"), "hardware's micro-ops: instructions are gem5's"),
    "X86StringMode": "the string engine: REP MOVS and STOS go element by element",
    **dict.fromkeys(("aliasCheckBits", "aliasPenalty"), "memory dependences by address bits"),
    "associativity": "the ways of the branch target buffer",
    "any_way": "random replacement while a way is free",
    "assoc": "the ways of the TLBs",
    **dict.fromkeys(("IQUnit", "instQueues", "iqInsertionPolicy"), "issue queues by kind: there is one"),
    "branchIssueWidth": "how many branches issue in a cycle",
    "bandwidth": "limits on the caches' bandwidth",
    **dict.fromkeys(("dlen", "whole_vector_groups"), "the width of the vector unit"),
    **dict.fromkeys(("forwardFailPenalty", "partialForwardPolicy"), "what failed store forwarding costs"),
    "forwardLatency": "the latency of store forwarding",
    **dict.fromkeys(("l2_size", "l2_assoc", "l2_latency"), "the second-level TLB"),
    **dict.fromkeys(("fenceLatency", "fenceAfterStores"), "what a fence's own work takes"),
    **dict.fromkeys(("decoupledFrontEnd", "numFTQEntries", "maxTakenPredPerCycle"), "branch prediction ahead of fetch"),
    "callReturnDelay": "what calls and returns cost fetch",
    "loadsLeaveAtIssue": "that a load leaves the issue queue when it issues",
    "loopBufferSize": "the loop buffer",
    "macroFusion": "fusion of instructions",
    "microFusion": "fusion of micro-ops",
    "microcode": "hardware's micro-ops: instructions are gem5's",
    "misaligned": "what misaligned accesses cost",
    "moveElimination": "elimination of moves",
    **dict.fromkeys(
        ("pml4e_cache_size", "pdpte_cache_size", "pde_cache_size", "level1_cache_size", "level2_cache_size"),
        "the page walker's caches",
    ),
    "renameRecovery": "recovery of the register map from checkpoints",
    "serialResponses": "how many answers of the cache a cycle takes",
    "serializingStopsFetch": "that fetch waits behind a serializing instruction",
    "slices": "the size of its third level, whose sets are no power of two: the next smaller one is taken",
    "storesLeaveOnMiss": "stores that leave the store queue on a miss",
    "tsoStoresInFlight": "how many stores are under way",
    "way_predictor_masks": "the way predictor of the first level",
    "write_allocate": "write misses that go past a cache",
    "write_buffer_size": "the memory's queue of writes",
    "write_combining": "write combining: non-temporal stores go through the caches",
}
#: what gem5 has under another name: a board's PMA checker says whether misaligned accesses trap
SAID_OTHERWISE = {"policy"}
#: `cpu.misaligned.policy` -> whether gem5's PMA checker lets a misaligned access to the memory pass
PASSES = {"hardware": True, "trap": False}


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
        for effect in left_out():
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
    return f"machines.{path.stem}" if of_package else path.stem


def presets():
    """The names of breakeven's machines."""
    return [path.stem for path in MACHINES.glob("*.py") if re.search(r"^NAME = ", path.read_text(), re.MULTILINE)]


def is_breakeven():
    """Whether breakeven's own engine runs this script."""
    return extensions().has_extensions()


def extensions():
    """Of the presets: which of breakeven's own classes and parameters there are, and which were left out."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    return importlib.import_module("machines.extensions")


def left_out():
    """What the preset uses of breakeven's own and this gem5 lacks, in words."""
    names = {name for name in extensions().LEFT_OUT if not name.startswith("gem5") and name not in SAID_OTHERWISE}
    return sorted({_effect(name) for name in names})


def _effect(name):
    """What a run lacks without the parameter or class `name`."""
    if name.startswith("enable_"):
        return "the lack of some extensions of the instruction set"
    return EFFECTS.get(name) or f"{name}, a parameter of breakeven's"


def set_parameter(system, text):
    """``cpu.dcache.size=64KiB``: a parameter below the system; a vector's values are separated by commas."""
    path, equals, value = text.partition("=")
    if not equals:
        fatal("--set takes path=value, not %s", text)
    if path.removeprefix("system.") == "cpu.misaligned.policy" and not is_breakeven():
        if value not in PASSES:
            fatal("gem5 knows misaligned accesses in hardware and traps, not %s", value)
        system.cpu.mmu.pma_checker.misaligned = system.mem_ranges if PASSES[value] else []
        return
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
