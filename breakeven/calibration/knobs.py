"""The parameters that are fitted: the paths that each sets, the values that are tried, the probes that decide it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from breakeven.config.errors import OverrideError
from breakeven.config.overrides import get_parameter

#: bytes a cycle of a repeated string instruction, 0: as when aligned; to what both sides are aligned, where the base's
#: mode does not mind
_ALIGNED = 32
_PACES = (0, *range(2, 28, 2), *range(28, 33), 36, 40, 44, 48, 56, 64)
#: names of the probes that decide a knob; a word and `*`: all that begin so
Names = tuple[str, ...]


@dataclass(frozen=True)
class Knob:
    """One number, or a choice, of the model."""

    name: str
    #: a value -> path -> what that parameter becomes, as ``--set`` writes it
    sets: Callable[[Any], dict[str, Any]]
    #: rising; the base's own is tried, too
    candidates: tuple[Any, ...]
    probes: Names
    #: what the base has
    base: Any
    #: how often it is fitted again after the others
    again: int = 0


class Base:
    """The tree of the base: what it has, and where."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self.cpu = root.system.cpu

    def value(self, path: str) -> Any:
        """What the base has there; None: no such parameter."""
        try:
            found = get_parameter(self.root, path)
        except OverrideError:
            return None
        return _plain(found)

    def units(self) -> list[tuple[str, list[str], int]]:
        """Of each functional unit: its path, the classes of its operations, how many there are."""
        return [
            (f"cpu.fuPool.FUList[{i}]", [str(op.opClass) for op in _listed(unit.opList)], int(unit.count))
            for i, unit in enumerate(_listed(self.cpu.fuPool.FUList))
        ]


def _listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, (list, tuple)) or hasattr(found, "__iter__") else [found]


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return bool(value)
    return int(value) if isinstance(value, int) else float(value) if isinstance(value, float) else value


def knobs(root: Any) -> list[Knob]:
    """Those that the base has, in the order in which they are fitted: the later ones lean on the earlier ones."""
    base = Base(root)
    return [knob for part in (_widths, _units, _latencies, _fences, _memory, _strings, _levels) for knob in part(base)]


def _one(base: Base, name: str, path: str, candidates: Sequence[Any], *probes: str, again: int = 0) -> Iterator[Knob]:
    """One parameter, where the base has it."""
    value = base.value(path)
    if value is not None:
        yield Knob(name, lambda found: {path: found}, tuple(candidates), probes, value, again)


def _widths(base: Base) -> Iterator[Knob]:
    stages = ("decodeWidth", "renameWidth", "dispatchWidth")
    present = [f"cpu.{stage}" for stage in stages if base.value(f"cpu.{stage}")]
    if len(present) < len(stages):
        return  # an in-order core
    value = base.value("cpu.renameWidth")
    later = {
        f"cpu.{name}": base.value(f"cpu.{name}") for name in ("fetchWidth", "commitWidth", "issueWidth", "wbWidth")
    }

    def sets(width: int) -> dict[str, Any]:
        wider = {path: width for path, least in later.items() if least < width}
        return {**dict.fromkeys(present, width), **wider}

    yield Knob("micro-ops a cycle", sets, tuple(range(2, 11)), ("nop", "addition, load or nop"), value)


def _units(base: Base) -> Iterator[Knob]:
    for name, operation, ports, probes in (
        ("additions a cycle", "IntAlu", "", ("independent addition",)),
        ("loads a cycle", "MemRead", "cpu.cacheLoadPorts", ("load of 8 B", "load of 16 B", "load of 32 B")),
        ("stores a cycle", "MemWrite", "cpu.cacheStorePorts", ("store of 8 B", "store of 16 B", "store of 32 B")),
    ):
        yield from _count(base, name, operation, ports, probes)
    width = base.value("cpu.issueWidth")
    if width is not None:
        both = {"cpu.issueWidth": 1, "cpu.wbWidth": 1}
        yield Knob(
            "operations begun a cycle", lambda found: dict.fromkeys(both, found), tuple(range(2, 17)),
            ("addition, load or store", "addition, load or nop", "load and store of 8 B"), width,
        )  # fmt: skip


def _count(base: Base, name: str, operation: str, ports: str, probes: Names) -> Iterator[Knob]:
    """How many units do `operation`, by the number of those that do nothing else; and the cache's ports for it."""
    family = {"MemRead": {"MemRead", "FloatMemRead"}, "MemWrite": {"MemWrite", "FloatMemWrite"}}.get(
        operation, {operation}
    )
    units = [(path, set(classes), count) for path, classes, count in base.units() if operation in classes]
    alone = [(path, count) for path, classes, count in units if classes <= family]
    others = sum(count for _, classes, count in units if not classes <= family)
    if not units:
        return
    path, count = alone[0] if alone else ("", 0)
    least = sum(count for _, count in alone[1:]) + others

    def sets(value: int) -> dict[str, Any]:
        found: dict[str, Any] = {ports: value} if ports else {}
        return {**found, f"{path}.count": value - least} if path else found

    if path or ports:
        value = base.value(ports) if ports else least + count
        first = max(least + 1, 1) if path else 1
        yield Knob(name, sets, tuple(range(first, 9 if not ports else 5)), probes, value)


def _latencies(base: Base) -> Iterator[Knob]:
    for name, operation, probe in (
        ("cycles of a multiplication", "IntMult", "dependent multiplication"),
        ("cycles of a vector addition", "SimdAdd", "dependent vector addition"),
        ("cycles of a vector multiplication", "SimdMult", "dependent vector multiplication"),
    ):
        paths = [
            f"{path}.opList[{n}].opLat"
            for path, classes, _ in base.units() for n, each in enumerate(classes) if each == operation
        ]  # fmt: skip
        yield from _all_alike(base, name, paths, range(1, 9), probe)
    rows = _listed(getattr(base.cpu.isa[0].microcode, "instructions", []))
    for mnemonic, probes in (
        ("adc", ("dependent adc", "dependent adc of a word in memory")), ("psadbw", ("dependent psadbw",)),
    ):  # fmt: skip
        paths = [
            f"cpu.isa[0].microcode.instructions[{n}].latency"
            for n, row in enumerate(rows) if mnemonic in list(row.mnemonics)
        ]  # fmt: skip
        yield from _all_alike(base, f"cycles of {mnemonic}", paths, range(1, 9), *probes)
    yield from _one(
        base, "stages after a misprediction", "cpu.fetchToDecodeDelay", range(1, 16),
        "branch that cannot be predicted, half of them wrong",
    )  # fmt: skip


def _all_alike(base: Base, name: str, paths: list[str], candidates: Sequence[Any], *probes: str) -> Iterator[Knob]:
    """Several parameters with one value."""
    if paths:
        yield Knob(name, lambda found: dict.fromkeys(paths, found), tuple(candidates), probes, base.value(paths[0]))


#: the parameters of a fence, and the probes that decide them: the one place that names them
FENCE = "cpu.fenceLatency"
FENCE_AFTER = {"cpu.fenceAfterStores": "fences around * stores"}
_AROUND = "fences around * dependent additions"


def _fences(base: Base) -> Iterator[Knob]:
    now = {path: base.value(path) for path in (FENCE, *FENCE_AFTER)}
    if None in now.values():
        return

    # What one of them hides the others may show: all are tried from a fence that waits for nothing, too.
    def sets(latency: int | None) -> dict[str, Any]:
        return now if latency is None else {FENCE: latency, **dict.fromkeys(FENCE_AFTER, 0)}

    yield Knob("fence, alone", sets, tuple(range(61)), (_AROUND,), None)
    for path, probes in (*FENCE_AFTER.items(), (FENCE, _AROUND)):
        yield from _one(base, f"fence, {path.removeprefix('cpu.fence')}", path, range(61), probes, again=2)


#: where a store, or a load, lies in two lines and nothing waits for it
_STORES_ACROSS = tuple(f"store of {size} B across a line" for size in (8, 16, 32))
_LOADS_ACROSS = tuple(f"load of {size} B across a line" for size in (8, 16, 32))
_WITHIN = ("store of 8 B across 32 B", "store of 16 B across 32 B", "load of 8 B across 32 B")


def _memory(base: Base) -> Iterator[Knob]:
    tag, data = base.value("cpu.dcache.tag_latency"), base.value("cpu.dcache.data_latency")
    if tag is not None and tag == data:
        paths = ["cpu.dcache.tag_latency", "cpu.dcache.data_latency"]
        yield from _all_alike(base, "cycles of the first level", paths, range(1, 9), "load to use, first level")
    for name, path, candidates, probes in (
        ("store to load", "forwardLatency", range(1, 13), ("store and load of the same 8 B",)),
        ("store to a load that it covers in part", "forwardFailPenalty", range(31),
         ("store of 4 B and load of 8 B over it",)),
        ("load that a store's low bits fit", "aliasPenalty", range(21), ("store and load 4 KiB apart",)),
        ("line crossed by a load", "misaligned.line_cross_load", range(21), ("load to use across a line",)),
        ("page crossed by a load", "misaligned.page_cross_load", range(61), ("load to use across a page",)),
    ):  # fmt: skip
        yield from _one(base, name, f"cpu.{path}", candidates, *probes)
    splits: list[tuple[str, str, Sequence[int], Names]] = [
        ("B that an access may not cross for nothing", "granule", (0, 16, 32),
         (*_WITHIN, "copy by 8 B of 4 KiB, 4 B off a word")),
        ("further cycles of a store in two lines", "split_store_slots", range(9), (*_STORES_ACROSS, *_WITHIN)),
        ("further cycles of a load in two lines", "split_slots", range(9), (*_LOADS_ACROSS, *_WITHIN)),
    ]  # fmt: skip
    for name, path, values, names in splits:
        yield from _one(base, name, f"cpu.misaligned.{path}", values, *names, again=2)
    yield from _one(base, "line crossed by a store", "cpu.misaligned.line_cross_store", range(21), *_STORES_ACROSS)
    across = "store of 8 B across a page"
    yield from _one(base, "page crossed by a store", "cpu.misaligned.page_cross_store", range(61), across)
    if base.value("cpu.write_combining.buffers") is not None:
        for name, path, tried in (
            ("non-temporal stores are posted", "posted", (False, True)),
            ("write-combining buffers", "buffers", range(2, 33)),
            ("way of a non-temporal store", "latency", range(0, 401, 10)),
            ("B that a part of a buffer is written by", "partial_bytes", (8, 16, 32, 64)),
        ):
            yield from _one(base, name, f"cpu.write_combining.{path}", tried, "* past the caches", again=2)


def _strings(base: Base) -> Iterator[Knob]:
    microcode = base.cpu.isa[0].microcode
    for kind, instruction in (("rep_movs", "rep movs"), ("rep_stos", "rep stos")):
        modes = _listed(getattr(microcode, kind, None) or [])
        for attribute in ("min_page_offset",):
            paths = [f"cpu.isa[0].microcode.{kind}[{n}].{attribute}" for n, mode in enumerate(modes)
                     if getattr(mode, attribute)]  # fmt: skip
            near = (f"`{instruction}b` of 512 B, *", f"`{instruction}b` * to an odd place")
            distances = (1, 8, 16, 17, 20, 24, 32, 33, 48, 64, 65)
            yield from _all_alike(base, f"{instruction}: nearest fast distance", paths, distances, *near)
        for n, mode in enumerate(modes):
            yield from _mode(base, kind, n, mode, (f"`{instruction}*", f"16 `{instruction}*"))


def _mode(base: Base, kind: str, number: int, mode: Any, probes: Names) -> Iterator[Knob]:
    """One mode of a repeated string instruction."""
    path, name = f"cpu.isa[0].microcode.{kind}[{number}]", f"{kind.replace('_', ' ')}, mode {number}"
    start = "startup" if getattr(mode, "startup", 0) else "startup_uops"
    most = 256 if start == "startup" else 801
    yield from _one(base, f"{name}: start", f"{path}.{start}", range(most), *probes, again=1)
    if not int(mode.block):
        return
    yield from _one(base, f"{name}: B a cycle", f"{path}.bytes_per_cycle", _PACES[1:], *probes)
    known = int(mode.alignment)
    for what, pace in (
        ("misaligned", "bytes_per_cycle_misaligned"),
        ("misaligned to one another", "bytes_per_cycle_crossed"),
    ):

        def sets(value: float, pace: str = pace) -> dict[str, Any]:
            aligned = known if known > 1 or not value else _ALIGNED
            return {f"{path}.{pace}": value, f"{path}.alignment": aligned}

        now = base.value(f"{path}.{pace}")
        if now is not None:
            yield Knob(f"{name}: B a cycle, {what}", sets, _PACES, probes, now)


def _levels(base: Base) -> Iterator[Knob]:
    for level in (2, 3, 4):
        yield from _one(
            base, f"cycles of level {level}", f"l{level}.data_latency", range(1, 201), f"load to use, level {level}"
        )
    latency = base.value("mem_ctrl.latency")
    if latency is not None:
        yield Knob(
            "latency of the memory", lambda found: {"mem_ctrl.latency": f"{found}ns"}, tuple(range(5, 301)),
            ("load to use, memory",), _nanoseconds(latency),
        )  # fmt: skip


def _nanoseconds(latency: Any) -> int:
    return round(latency.ticks / 1000) if hasattr(latency, "ticks") else round(float(latency) * 1e9)
