"""A machine on one readable page: what decides the speed of a copy, from the core outwards.

Each heading is a path and each value's name the rest of it: what ``--set`` takes. `Sources` gives the marks.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from breakeven.errors import say
from breakeven.machine.sources import MARKS, Sources, Unmarked
from breakeven.output.console import WIDTH

if TYPE_CHECKING:
    from breakeven.config.simobject import SimObject

#: a heading and the lines below it
Section = tuple[str, list[str]]

#: the parameters of a core by what they are about; the rest is in ``--json``
_CORE = {
    "widths a cycle": (
        "width", "fetch1LineWidth", "fetch1FetchLimit", "decodeInputWidth", "executeInputWidth", "executeIssueLimit",
        "executeCommitLimit", "executeMemoryIssueLimit", "executeMemoryCommitLimit", "fetchWidth", "decodeWidth",
        "renameWidth", "dispatchWidth", "issueWidth", "wbWidth", "commitWidth", "squashWidth", "cacheLoadPorts",
        "cacheStorePorts", "branchIssueWidth", "maxTakenPredPerCycle", "executeLSQMaxStoreBufferStoresPerCycle",
    ),
    "queues, registers": (
        "fetch2InputBufferSize", "decodeInputBufferSize", "executeInputBufferSize", "executeMaxAccessesInMemory",
        "executeLSQRequestsQueueSize", "executeLSQTransfersQueueSize", "executeLSQStoreBufferSize", "fetchBufferSize",
        "fetchQueueSize", "loopBufferSize", "numFTQEntries", "numROBEntries", "numIQEntries", "LQEntries", "SQEntries",
        "numPhysIntRegs", "numPhysFloatRegs", "SSITSize", "LFSTSize",
    ),
    "cycles": (
        "fetch1ToFetch2BackwardDelay", "executeBranchDelay", "fetchToDecodeDelay", "decodeToRenameDelay",
        "renameToIEWDelay", "issueToExecuteDelay", "iewToCommitDelay", "commitToFetchDelay", "trapLatency",
        "forwardLatency", "forwardFailPenalty", "aliasPenalty", "fenceLatency", "fenceAfterStores",
        "callReturnDelay",
    ),
    "rules": (
        "executeAllowEarlyMemoryIssue", "needsTSO", "tsoStoresInFlight", "storesLeaveOnMiss", "partialForwardPolicy",
        "aliasCheckBits", "LSQDepCheckShift", "microFusion", "macroFusion", "moveElimination", "renameRecovery",
        "iqInsertionPolicy", "loadsLeaveAtIssue",
        "decoupledFrontEnd", "serializingStopsFetch",
    ),
}  # fmt: skip
_CACHE = (
    "size", "assoc", "tag_latency", "data_latency", "response_latency", "mshrs", "tgts_per_mshr", "write_buffers",
    "bandwidth",
)  # fmt: skip
_TLB = ("size", "assoc", "l2_size", "l2_assoc", "l2_latency")
_XBAR = ("width", "frontend_latency", "forward_latency", "response_latency", "bandwidth_limit")
_DRAM = (
    "latency", "bandwidth", "tRCD", "tCL", "tRP", "tRAS", "tBURST", "banks_per_rank", "ranks_per_channel",
    "page_policy", "addr_mapping",
)  # fmt: skip
#: shown only where they are not gem5's
_DETAILS = (
    "tagBits", "instShiftAmt", "requiresBTBHit", "indirectTagSize", "indirectGHRBits", "indirectHashGHR",
    "indirectHashTargets", "speculativePathLength", "histBufferSize", "initialTCounterValue", "block_size", "latency",
    "tag_prefetch", "max_prefetch_requests_with_pending_translation", "use_virtual_addresses", "on_data", "on_inst",
    "on_miss", "on_read", "on_write", "page_bytes", "queue_filter", "queue_size", "queue_squash", "cache_snoop",
    "prefetch_on_access", "prefetch_on_pf_hit", "throttle_control_percentage", "numUseAltOnNa", "initialLoopAge",
    "initialLoopIter", "optionalAgeReset", "restrictAllocation", "useDirectionBit", "useHashing", "useSpeculation",
    "speculativeHistUpdate",
)  # fmt: skip
_ZERO_MEANS = {
    "assoc": "fully associative",
    "l2_size": "none",
    "bandwidth": "unlimited",
    "granule": "the line",
    "fetch1LineWidth": "the line",
    "loopBufferSize": "none",
    "branchIssueWidth": "as many as find a unit",
    "aliasCheckBits": "none",
}
_SIZES = ("size", "pair_bytes", "buffer_bytes", "partial_bytes", "page_bytes")


def bytes_text(count: int) -> str:
    """A number of bytes as KiB, MiB or GiB where it is whole."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size and count % size == 0:
            return f"{count // size} {unit}"
    return f"{count} B"


def shown_value(name: str, value: Any, cache: bool = False) -> str:
    """A parameter's value as the page has it; `cache`: of a cache, whose size is in bytes."""
    if value == 0 and not isinstance(value, bool) and name in _ZERO_MEANS:
        return _ZERO_MEANS[name]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name in _SIZES and (cache or name != "size"):
        return bytes_text(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def in_columns(cells: Sequence[str], indent: int = 0) -> list[str]:
    """Cells side by side, down the columns, as many columns as the page holds."""
    if not cells:
        return []
    width = max(map(len, cells)) + 2
    count = max(1, (WIDTH - indent) // width)
    height = -(-len(cells) // count)
    lines = (cells[row::height] for row in range(height))
    return [" " * indent + "".join(f"{cell:<{width}}" for cell in line).rstrip() for line in lines]


class Page:
    """Finds the parts of a description and marks their values."""

    def __init__(self, description: dict[str, Any], sources: Sources | Unmarked) -> None:
        self.objects = {item["path"]: item for item in description["objects"]}
        self.sources = sources
        self._shown = sources.shown_paths()

    def _short(self, path: str) -> str:
        return self._shown[path]

    def _last(self, path: str) -> str:
        """An element of a vector as ``--set`` takes it, without its owner."""
        return self._shown[path].removeprefix(self._shown[path.rpartition(".")[0]] + ".")

    def _is(self, item: dict[str, Any], kind: str) -> bool:
        return item["type"] == kind or kind in item["bases"]

    def _all(self, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
        return ((path, item) for path, item in self.objects.items() if self._is(item, kind))

    def _clock(self, params: dict[str, Any]) -> str:
        path = (params.get("clk_domain") or {}).get("ref", "")
        ticks = self.objects.get(path, {"params": {}})["params"].get("clock")
        if not ticks:
            return "derived clock"
        mark = self.sources.mark(path, "clock", ticks)
        return f"{1e12 / ticks[0] / 1e9:.4g} GHz{mark and f' {mark}'}"

    def _text(self, path: str, name: str, shown: str = "") -> str:
        value = self.objects[path]["params"][name]
        cache = self._is(self.objects[path], "BaseCache")
        mark = self.sources.mark(path, name, value)
        return f"{shown or shown_value(name, value, cache)}{mark and f' {mark}'}"

    def _cells(self, path: str, names: Sequence[str]) -> list[str]:
        params = self.objects[path]["params"]
        return [f"{name} {self._text(path, name)}" for name in names if name in params]

    def _plain(self, path: str) -> list[str]:
        """The parameters of an object that are plain values, without details that are gem5's."""
        params = self.objects[path]["params"]
        names = [
            name
            for name, value in params.items()
            if name not in ("eventq_index", "numThreads")
            and (isinstance(value, (int, float, str)) or _is_numbers(value))
            and (name not in _DETAILS or self.sources.mark(path, name, value))
        ]
        return self._cells(path, names)

    def sections(self) -> Iterator[Section]:
        """The page from the core outwards."""
        for path, item in self._all("BaseCPU"):
            yield f"{self._short(path)}: {item['type']}, {self._clock(item['params'])}", self._core(path)
        yield from self._units()
        yield from self._microcode()
        for kind in ("MisalignedAccess", "WriteCombiningBuffers"):
            for path, item in self._all(kind):
                yield f"{self._short(path)}: {item['type']}", in_columns(self._plain(path))
        for path, item in self._all("BranchPredictor"):
            yield f"{self._short(path)}: {self._class(path, item)}", self._predictor(path)
        yield from self._side_by_side("caches (cycles)", "BaseCache", _CACHE)
        for path, item in self._all("BasePrefetcher"):
            if item["type"] != "MultiPrefetcher":
                shown = in_columns(self._plain(path))
                yield f"{self._short(path)}: {item['type']}", shown
        yield from self._side_by_side("TLBs (entries, cycles)", "BaseTLB", _TLB)
        yield from self._side_by_side("buses (bytes, cycles)", "BaseXBar", _XBAR)
        yield from self._memory()

    def _class(self, path: str, item: dict[str, Any]) -> str:
        """The class of an object that its owner could have of another class."""
        owner, _, name = path.rpartition(".")
        mark = self.sources.mark(owner, name, item["type"]) if owner in self.objects else ""
        return f"{item['type']}{mark and f' {mark}'}"

    def _core(self, path: str) -> list[str]:
        lines = []
        by_queue = self.objects[path]["params"].get("instQueues")
        for about, every in _CORE.items():
            names = [name for name in every if not (by_queue and name == "numIQEntries")]
            shown = in_columns(self._cells(path, names), indent=2)
            if shown:
                lines += [f"{about}:", *shown]
        return lines

    def _units(self) -> Iterator[Section]:
        sections: dict[str, list[str]] = {}
        for path, _ in self._all("MinorFU"):
            classes = [
                other["params"]["opClass"]
                for name, other in self.objects.items()
                if name.startswith(f"{path}.opClasses.") and self._is(other, "MinorOpClass")
            ]
            lat, every = self._text(path, "opLat"), self._text(path, "issueLat")
            lines = sections.setdefault(path.rpartition(".")[0], [])
            lines += _wrapped(f"{self._last(path)}: opLat {lat}, issueLat {every}: {_some(classes)}")
        by_queue = any(True for _ in self._all("IQUnit"))
        for path, item in self._all("FUDesc"):
            owner = path.rpartition(".")[0]
            queue = self.objects.get(owner.rpartition(".")[0], {})
            if by_queue and not self._is(queue, "IQUnit"):
                continue  # of a gem5 without such queues
            by_timing: dict[str, list[str]] = {}
            for reference in item["params"]["opList"]:
                operation = self.objects[reference["ref"]]["params"]
                pipelined = "" if operation["pipelined"] else ", not pipelined"
                by_timing.setdefault(f"{operation['opLat']}{pipelined}", []).append(operation["opClass"])
            shown = "; ".join(f"{', '.join(classes)}: {timing}" for timing, classes in by_timing.items())
            lines = sections.setdefault(owner, [])
            if by_queue and not lines:
                lines.append(f"numEntries {self._text(owner.rpartition('.')[0], 'numEntries')}")
            lines += _wrapped(f"{self._last(path)}: count {self._text(path, 'count')}; opLat of {shown}")
        for owner, lines in sections.items():
            yield f"{self._short(owner)} (functional units, cycles)", lines

    def _microcode(self) -> Iterator[Section]:
        """x86: how instructions become micro-ops, and the string engine."""
        for path, item in self._all("X86Microcode"):
            heading, params = self._short(path), item["params"]
            yield f"{heading}: {item['type']}", in_columns(self._plain(path))
            instructions = [
                f"{self._last(each)}: {', '.join(self._said(each))} (for {' '.join(self._mnemonics(each))})"
                for each in _paths(params["instructions"])
            ]
            if instructions:
                yield f"{heading} (instructions that differ; cycles, micro-ops)", _wrapped(*instructions)
            for name in ("rep_movs", "rep_stos"):
                modes = [
                    f"{self._last(each)}: {', '.join(self._said(each)) or 'as gem5'}" for each in _paths(params[name])
                ]
                if modes:
                    what = "the first whose conditions hold; cycles, micro-ops, bytes"
                    yield f"{heading} ({name} modes, {what})", _wrapped(*modes)

    def _mnemonics(self, path: str) -> list[str]:
        return list(self.objects[path]["params"]["mnemonics"])

    def _said(self, path: str) -> list[str]:
        """The plain parameters that differ from their defaults."""
        params = self.objects[path]["params"]
        plain = [
            name for name, value in params.items() if isinstance(value, (int, float, str)) and name != "eventq_index"
        ]
        changed = [name for name in plain if params[name] != self.sources.default(path, name)]
        # The mark of difference would stand at each.
        return [cell.replace(" *", " ").rstrip() for cell in self._cells(path, changed)]

    def _predictor(self, path: str) -> list[str]:
        cells = self._plain(path)
        for part in self.objects:
            if part.startswith(f"{path}."):
                cells += [f"{part.removeprefix(f'{path}.')}.{cell}" for cell in self._plain(part)]
        return in_columns([cell for cell in cells if len(cell) <= 48]) + [cell for cell in cells if len(cell) > 48]

    def _side_by_side(self, heading: str, kind: str, names: Sequence[str]) -> Iterator[Section]:
        """Objects of one kind as columns, so that levels can be compared."""
        found = list(self._all(kind))
        if not found:
            return
        rows = [["", *(self._short(path) for path, _ in found)]]
        for name in names:
            texts = [self._text(path, name) if name in item["params"] else "-" for path, item in found]
            if any(text != "-" for text in texts):
                rows.append([name, *texts])
        if kind == "BaseCache":
            rows += self._cache_objects(found)
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]
        yield heading, [line.rstrip() for line in lines]

    def _cache_objects(self, found: list[tuple[str, dict[str, Any]]]) -> Iterator[list[str]]:
        for name in ("replacement_policy", "prefetcher"):
            row = [name]
            for _, item in found:
                inner = (item["params"].get(name) or {}).get("ref", "")
                row.append(self._class(inner, self.objects[inner]) if inner in self.objects else "none")
            yield row

    def _memory(self) -> Iterator[Section]:
        for path, item in self._all("AbstractMemory"):
            params = item["params"]
            extent = params["range"]
            cells = [f"range {bytes_text(extent['end'] - extent['start'])}"]
            for name in _DRAM:
                if name in params:
                    cells.append(f"{name} {self._text(path, name, _memory_text(name, params[name]))}")
            yield f"{self._short(path)}: {item['type']}", in_columns(cells)


def _is_numbers(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, int) for one in value)


def _paths(references: Any) -> list[str]:
    return [each["ref"] for each in references or ()]


def _wrapped(*texts: str) -> list[str]:
    width = WIDTH - 2
    return [line for text in texts for line in textwrap.wrap(text, width, subsequent_indent="    ")]


def _some(classes: list[str]) -> str:
    return ", ".join(classes[:8]) + (f" and {len(classes) - 8} more" if len(classes) > 8 else "")


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH - 2 else f"{line[: WIDTH - 5]}..."


def _memory_text(name: str, value: Any) -> str:
    if name == "bandwidth":
        return f"{value / 1e9:.4g} GB/s" if value else "unlimited"
    if name == "latency" or (name.startswith("t") and isinstance(value, int)):
        return f"{value / 1e3:g} ns"
    return str(value)


def constructor_section(root: SimObject) -> list[Section]:
    """What the board's constructor takes (configs/machines/constructors.py); nothing for a machine without one."""
    construct = getattr(getattr(root, "system", None), "_constructor", None)
    if construct is None:
        return []
    cells = [f"{name} ({', '.join(paths)})" if paths else name for name, paths in construct.options.items()]
    return [(f"{construct.__name__}(...) (its options, the paths that they set)", in_columns(cells))]


def legend() -> str:
    return "; ".join(f"{mark} {meaning}" for mark, meaning in MARKS.items())


def print_page(description: dict[str, Any], sources: Sources, *before: Section) -> None:
    """Prints the page below its title; `before`: sections that do not come from the description."""
    say(f"  marks  {legend()}")
    print("  --set  takes the heading and the name: --set cpu.dcache.size=64K; units, ranges: machines params")
    for heading, lines in (*before, *Page(description, sources).sections()):
        say(f"\n{heading}")
        for line in lines:
            say(f"  {line}")
    cited = sources.rows()
    if cited:
        print("\nrows of configs/machines/uarch.csv")
        width = max(len(row) for row, _ in cited)
        for row, says in cited:
            say(f"  {_cut(f'{row:<{width}}  {says}')}")
