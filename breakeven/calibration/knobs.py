"""The knobs: what is fitted, which parameters each sets, the values to try, the probes that decide it.

A knob whose value needs no search (cache sizes of sysfs, the clock) has no probes: `known_knobs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from breakeven.calibration.measurements import Measurements
from breakeven.config.errors import OverrideError
from breakeven.config.overrides import get_parameter

#: path of a parameter, as ``--set`` names it -> value
Settings = dict[str, Any]


@dataclass(frozen=True)
class Knob:
    """Parameters of the model that one value decides."""

    name: str
    settings_of: Callable[[Any], Settings]
    #: ascending; the base's value is tried as well
    candidates: tuple[Any, ...]
    #: names of the probes that decide it; `*` stands for any text
    probes: tuple[str, ...]
    #: the base's value
    base: Any
    #: how many times it is fitted again after all the others
    repeats: int = 0


class Base:
    """The base's parameters."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self.cpu = root.system.cpu

    def value(self, path: str) -> Any:
        """The base's value; None: the base has no such parameter."""
        try:
            value = get_parameter(self._root, path)
        except OverrideError:
            return None
        if isinstance(value, bool):
            return bool(value)
        return int(value) if isinstance(value, int) else float(value) if isinstance(value, float) else value

    def queues(self) -> list[str]:
        """Paths of the issue queues that have units of their own."""
        return [f"cpu.instQueues[{i}]" for i, _ in enumerate(self.value("cpu.instQueues") or [])]

    def units(self) -> list[tuple[str, list[str], int]]:
        """Path, classes of operations and count of each functional unit; none of a core without `fuPool`."""
        return [
            (f"{path}.fuPool.FUList[{i}]", [str(each.opClass) for each in _as_list(unit.opList)], int(unit.count))
            for path in self.queues() or ["cpu"]
            for i, unit in enumerate(_as_list(self.value(f"{path}.fuPool.FUList") or []))
        ]


def cache_levels(root: Any) -> int:
    """How many levels of data caches the base has."""
    base = Base(root)
    return 1 + sum(base.value(f"l{level}.size") is not None for level in (2, 3, 4))


def _as_list(value: Any) -> list[Any]:
    return list(value) if hasattr(value, "__iter__") else [value]


def knobs(root: Any) -> list[Knob]:
    """The knobs of this base, in the order in which they are fitted: the earlier ones also change later probes."""
    base = Base(root)
    groups = (_front_end, _units, _latencies, _fences, _memory, _string_instructions, _levels)
    return [knob for group in groups for knob in group(base)]


def _single(
    base: Base, name: str, path: str, candidates: Sequence[Any], *probes: str, repeats: int = 0
) -> Iterator[Knob]:
    """A knob of one parameter, if the base has it."""
    value = base.value(path)
    if value is not None:
        yield Knob(name, lambda value: {path: value}, tuple(candidates), probes, value, repeats)


def _shared(base: Base, name: str, paths: list[str], candidates: Sequence[Any], *probes: str) -> Iterator[Knob]:
    """A knob that gives several parameters the same value."""
    if paths:
        yield Knob(name, lambda value: dict.fromkeys(paths, value), tuple(candidates), probes, base.value(paths[0]))


def _front_end(base: Base) -> Iterator[Knob]:
    stages = ("decodeWidth", "renameWidth", "dispatchWidth")
    present = [f"cpu.{stage}" for stage in stages if base.value(f"cpu.{stage}")]
    if len(present) < len(stages):
        return  # an in-order core
    others = {
        f"cpu.{name}": base.value(f"cpu.{name}") for name in ("fetchWidth", "commitWidth", "issueWidth", "wbWidth")
    }

    def settings_of(width: int) -> Settings:
        too_narrow = {path: width for path, base_width in others.items() if base_width < width}
        return {**dict.fromkeys(present, width), **too_narrow}

    deciding = ("nop", "mix of additions, loads and nops")
    yield Knob("micro-ops per cycle", settings_of, tuple(range(2, 11)), deciding, base.value("cpu.renameWidth"))
    stops = "cpu.serializingStopsFetch"
    yield from _single(base, "fetch waits behind a fence", stops, (False, True), "taken jump after a fence")
    ahead = "cpu.decoupledFrontEnd"
    another_line = "call of a function in another line, in a loop"
    yield from _single(base, "prediction runs ahead of fetch", ahead, (False, True), another_line, repeats=1)
    yield from _single(base, "fetch targets per cycle", "cpu.maxTakenPredPerCycle", range(1, 4), "taken jump in a loop")
    delay = "cpu.callReturnDelay"
    calls = "call of a function*, in a loop"
    yield from _single(base, "target delay of calls, returns and indirect jumps", delay, range(7), calls)
    width = "cpu.branchIssueWidth"
    yield from _single(base, "branches per cycle", width, range(1, 7), "branch that is not taken")


def _units(base: Base) -> Iterator[Knob]:
    for name, operation, ports, probes in (
        ("additions per cycle", "IntAlu", "", ("independent addition",)),
        ("loads per cycle", "MemRead", "cpu.cacheLoadPorts", ("load of 8 B", "load of 16 B", "load of 32 B")),
        ("stores per cycle", "MemWrite", "cpu.cacheStorePorts", ("store of 8 B", "store of 16 B", "store of 32 B")),
    ):
        yield from _unit_count(base, name, operation, ports, probes)
    width = base.value("cpu.issueWidth")
    if width is not None:
        paths = ("cpu.issueWidth", "cpu.wbWidth")
        yield Knob(
            "operations issued per cycle", lambda value: dict.fromkeys(paths, value), tuple(range(2, 17)),
            ("mix of additions, loads and stores", "mix of additions, loads and nops", "load and store of 8 B"), width,
        )  # fmt: skip


def _unit_count(base: Base, name: str, operation: str, ports: str, probes: tuple[str, ...]) -> Iterator[Knob]:
    """How many units do `operation`: varies the count of a unit that does nothing else, and the cache's `ports`.

    Where issue queues have units of their own, the counts stay the base's: one more unit in one queue would only make
    up for queues that are filled unevenly."""
    family = {"MemRead": {"MemRead", "FloatMemRead"}, "MemWrite": {"MemWrite", "FloatMemWrite"}}.get(
        operation, {operation}
    )
    units = [(path, set(classes), count) for path, classes, count in base.units() if operation in classes]
    if not units:
        return
    dedicated = [(path, count) for path, classes, count in units if classes <= family]
    path, count = dedicated[0] if dedicated and not base.queues() else ("", 0)
    others = sum(count for _, _, count in units) - count

    def settings_of(value: int) -> Settings:
        settings: Settings = {ports: value} if ports else {}
        return {**settings, f"{path}.count": value - others} if path else settings

    if path or ports:
        value = base.value(ports) if ports else others + count
        fewest = max(others + 1, 1) if path else 1
        yield Knob(name, settings_of, tuple(range(fewest, 5 if ports else 9)), probes, value)


def _latencies(base: Base) -> Iterator[Knob]:
    for name, operation, probe in (
        ("latency of a multiplication", "IntMult", "dependent multiplication"),
        ("latency of a vector addition", "SimdAdd", "dependent vector addition"),
        ("latency of a vector multiplication", "SimdMult", "dependent vector multiplication"),
    ):
        paths = [
            f"{path}.opList[{n}].opLat"
            for path, classes, _ in base.units() for n, each in enumerate(classes) if each == operation
        ]  # fmt: skip
        yield from _shared(base, name, paths, range(1, 9), probe)
    rows = _as_list(getattr(base.cpu.isa[0].microcode, "instructions", []))
    for mnemonic, probes in (
        ("adc", ("dependent adc", "dependent adc from memory")), ("psadbw", ("dependent psadbw",)),
    ):  # fmt: skip
        paths = [
            f"cpu.isa[0].microcode.instructions[{n}].latency"
            for n, row in enumerate(rows) if mnemonic in list(row.mnemonics)
        ]  # fmt: skip
        yield from _shared(base, f"latency of {mnemonic}", paths, range(1, 9), *probes)
    stages = "branch that is mispredicted half the time"
    yield from _single(base, "cycles from fetch to decode", "cpu.fetchToDecodeDelay", range(1, 16), stages)


#: a fence's latency and the parameter that adds to it, with the probes that decide them
_FENCE, _FENCE_PROBES = "cpu.fenceLatency", "call of * dependent additions between fences"
_AFTER_STORES, _AFTER_STORES_PROBES = "cpu.fenceAfterStores", "call of * stores between fences"


def _fences(base: Base) -> Iterator[Knob]:
    current = {path: base.value(path) for path in (_FENCE, _AFTER_STORES)}
    if None in current.values():
        return

    # `fenceAfterStores` can hide `fenceLatency`: the first pass sets it to 0.
    def settings_of(latency: int | None) -> Settings:
        return current if latency is None else {_FENCE: latency, _AFTER_STORES: 0}

    latencies = tuple(range(61))
    yield Knob("latency of a fence, first pass", settings_of, latencies, (_FENCE_PROBES,), None)
    after = "cycles of a fence after stores"
    stores = (_AFTER_STORES_PROBES, "call of * copies between fences")
    yield from _single(base, after, _AFTER_STORES, latencies, *stores, repeats=2)
    yield from _single(base, "latency of a fence", _FENCE, latencies, _FENCE_PROBES, repeats=2)


def _memory(base: Base) -> Iterator[Knob]:
    tag, data = base.value("cpu.dcache.tag_latency"), base.value("cpu.dcache.data_latency")
    if tag is not None and tag == data:
        paths = ["cpu.dcache.tag_latency", "cpu.dcache.data_latency"]
        yield from _shared(base, "latency of the first level", paths, range(1, 9), "load to use, first level")
    forwarded = ("store and load of the same 8 B", "store of 16 B and load of 8 of them")
    yield from _single(base, "latency of store forwarding", "cpu.forwardLatency", range(1, 13), *forwarded)
    for name, path, candidates, probe in (
        ("latency of a load that a store covers in part", "forwardFailPenalty", range(31),
         "store of 4 B and load of 8 B that include them"),
        ("more latency of a load at a store's page offset", "aliasPenalty", range(21),
         "latency that a load has more at a store's page offset"),
        ("more latency of a load across a line", "misaligned.line_cross_load", range(21),
         "latency that a load of * across a line has more"),
        ("more latency of a load across a page", "misaligned.page_cross_load", range(61),
         "latency that a load of * across a page has more"),
    ):  # fmt: skip
        yield from _single(base, name, f"cpu.{path}", candidates, probe)
    # Only loads decide it: stores across 16 and 32 bytes take longer on some hosts, but in the model a split store also
    # keeps loads out of the memory pipeline, so that no value is right for stores alone and for copies.
    slots, lines = "cpu.misaligned.split_slots", "load of * across a line"
    yield from _single(base, "slots of a split access", slots, range(9), lines)
    page_cross = "cpu.misaligned.page_cross_store"
    yield from _single(base, "cycles of a store across a page", page_cross, range(61), "store of 8 B across a page")
    if base.value("cpu.write_combining.buffers") is not None:
        buffers: list[tuple[str, str, Sequence[int]]] = [
            ("non-temporal stores are posted", "posted", (False, True)),
            ("write-combining buffers", "buffers", range(2, 33)),
            ("latency of a non-temporal store", "latency", range(0, 401, 10)),
            ("bytes of a partial write", "partial_bytes", (8, 16, 32, 64)),
        ]
        for name, path, values in buffers:
            path = f"cpu.write_combining.{path}"
            yield from _single(base, name, path, values, "non-temporal stores of *", repeats=2)


#: bytes per cycle; 0: as when aligned
_RATES = (0, *range(2, 28, 2), *range(28, 33), 36, 40, 44, 48, 56, 64)
#: the alignment from which a mode is misaligned, if the base's mode has none
_ALIGNMENT = 32


def _string_instructions(base: Base) -> Iterator[Knob]:
    microcode = base.cpu.isa[0].microcode
    for kind, instruction in (("rep_movs", "rep movs"), ("rep_stos", "rep stos")):
        modes = _as_list(getattr(microcode, kind, None) or [])
        paths = [f"cpu.isa[0].microcode.{kind}[{n}].min_page_offset" for n, mode in enumerate(modes)
                 if mode.min_page_offset]  # fmt: skip
        distances = (1, 8, 16, 17, 20, 24, 32, 33, 48, 64, 65)
        name = f"{instruction}: least fast page offset"
        yield from _shared(base, name, paths, distances, f"`{instruction}b` of 512 B to a page offset *")
        for n, mode in enumerate(modes):
            yield from _string_mode(base, kind, n, mode, (f"`{instruction}*", f"16 `{instruction}*"))


def _string_mode(base: Base, kind: str, number: int, mode: Any, probes: tuple[str, ...]) -> Iterator[Knob]:
    """The knobs of one mode of a string instruction."""
    path, name = f"cpu.isa[0].microcode.{kind}[{number}]", f"{kind.replace('_', ' ')}, mode {number}"
    unit, most = ("startup", 256) if mode.startup else ("startup_uops", 801)
    yield from _single(base, f"{name}: {unit}", f"{path}.{unit}", range(most), *probes, repeats=1)
    if not int(mode.block):
        return
    yield from _single(base, f"{name}: bytes per cycle", f"{path}.bytes_per_cycle", _RATES[1:], *probes)
    known = int(mode.alignment)
    for what, rate in (
        ("misaligned", "bytes_per_cycle_misaligned"),
        ("sides misaligned to each other", "bytes_per_cycle_crossed"),
    ):

        def settings_of(value: float, rate: str = rate) -> Settings:
            alignment = known if known > 1 or not value else _ALIGNMENT
            return {f"{path}.{rate}": value, f"{path}.alignment": alignment}

        current = base.value(f"{path}.{rate}")
        if current is not None:
            yield Knob(f"{name}: bytes per cycle, {what}", settings_of, _RATES, probes, current)


def _levels(base: Base) -> Iterator[Knob]:
    for level in (2, 3, 4):
        name, probe = f"latency of level {level}", f"load to use, level {level}"
        yield from _single(base, name, f"l{level}.data_latency", range(1, 201), probe)
    latency = base.value("mem_ctrl.latency")
    if latency is not None:
        nanoseconds = round(latency.ticks / 1000) if hasattr(latency, "ticks") else round(float(latency) * 1e9)
        yield Knob(
            "latency of the memory in ns", lambda value: {"mem_ctrl.latency": f"{value}ns"}, tuple(range(5, 301)),
            ("load to use, memory",), nanoseconds,
        )  # fmt: skip


_LINE = 64
#: the base's clock stays if the measured one differs by less than this share
_CLOCK_DIFFERENCE = 0.02


def known_knobs(root: Any, measurements: Measurements) -> list[tuple[Knob, Settings]]:
    """Cache sizes of sysfs and the measured clock, where the base has other ones: knobs with what they set."""
    base = Base(root)
    found: list[tuple[Knob, Settings]] = []
    for cache in measurements.caches:
        path = "cpu.dcache" if cache.level == 1 else f"l{cache.level}"
        settings = _cache_settings(base, path, cache.size, cache.ways)
        if settings and (base.value(f"{path}.size"), base.value(f"{path}.assoc")) != (cache.size, cache.ways):
            current = f"{int(base.value(f'{path}.size')) >> 10}KiB in {base.value(f'{path}.assoc')} ways"
            found.append((_known(f"size of level {cache.level}", settings, current), settings))
    clock = base.value("clk_domain.clock")
    if clock is not None and measurements.gigahertz:
        gigahertz = _gigahertz(clock)
        if abs(measurements.gigahertz / gigahertz - 1) > _CLOCK_DIFFERENCE:
            settings = {"clk_domain.clock": f"{measurements.gigahertz * 1000:.0f}MHz"}
            found.append((_known("clock", settings, f"{gigahertz * 1000:.0f}MHz"), settings))
    return found


def _known(name: str, settings: Settings, current: str) -> Knob:
    return Knob(name, lambda settings: settings, (settings,), (), current)


def _cache_settings(base: Base, path: str, size: int, ways: int) -> Settings:
    """Empty: the base has no such level, or the model cannot have that size."""
    if base.value(f"{path}.size") is None or size % (_LINE * ways):
        return {}
    sets = size // _LINE // ways
    slices = sets // (sets & -sets)
    settings: Settings = {f"{path}.size": f"{size >> 10}KiB", f"{path}.assoc": ways}
    current = base.value(f"{path}.slices")
    if slices == 1 and current in (None, 1):
        return settings
    return {} if current is None else {**settings, f"{path}.slices": slices}


def _gigahertz(clock: Any) -> float:
    value = clock[0] if isinstance(clock, list) else clock
    return 1000 / value.ticks if hasattr(value, "ticks") else float(value) / 1e9
