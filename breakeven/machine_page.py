"""A machine's description as one readable page: the parameters that decide a copy's speed, level by level."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Section = tuple[str, list[tuple[str, str]]]

#: what a person wants to know of a core; the rest is in `--json`
_CORE = (
    "fetch1LineWidth",
    "fetch1FetchLimit",
    "decodeInputWidth",
    "executeInputWidth",
    "executeIssueLimit",
    "executeCommitLimit",
    "executeMemoryIssueLimit",
    "executeMemoryCommitLimit",
    "executeBranchDelay",
    "executeMaxAccessesInMemory",
    "executeLSQRequestsQueueSize",
    "executeLSQTransfersQueueSize",
    "executeLSQStoreBufferSize",
    "executeLSQMaxStoreBufferStoresPerCycle",
    "executeAllowEarlyMemoryIssue",
)
_CACHE = (
    "assoc",
    "tag_latency",
    "data_latency",
    "response_latency",
    "mshrs",
    "tgts_per_mshr",
    "write_buffers",
    "bandwidth",
)
_TLB = ("size", "assoc", "l2_size", "l2_assoc", "l2_latency")
_XBAR = ("width", "frontend_latency", "forward_latency", "response_latency", "bandwidth_limit")
_DRAM = ("tRCD", "tCL", "tRP", "tRAS", "tBURST", "banks_per_rank", "ranks_per_channel", "page_policy", "addr_mapping")
_ZERO_MEANS = {
    "assoc": "fully associative",
    "l2_size": "none",
    "bandwidth": "unlimited",
    "granule": "the line",
    "fetch1LineWidth": "the line",
}


def bytes_text(count: int) -> str:
    """A number of bytes as KiB, MiB or GiB where it is whole."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size and count % size == 0:
            return f"{count // size} {unit}"
    return f"{count} B"


def _value(name: str, value: Any) -> str:
    if value == 0 and not isinstance(value, bool) and name in _ZERO_MEANS:
        return _ZERO_MEANS[name]
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _some(params: dict[str, Any], names: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(name, _value(name, params[name])) for name in names if name in params]


def _side_by_side(heading: str, columns: dict[str, list[tuple[str, str]]]) -> list[Section]:
    """Objects of one kind as columns, so that levels can be compared and the whole stays a page."""
    if not columns:
        return []
    names = [path.removeprefix("system.").removeprefix("cpu.") for path in columns]
    values = [dict(rows) for rows in columns.values()]
    widths = [max(len(name), *(len(v) for v in column.values())) for name, column in zip(names, values, strict=True)]

    def line(cells: list[str]) -> str:
        return "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))

    keys = dict.fromkeys(key for column in values for key in column)
    return [(heading, [("", line(names)), *((key, line([c.get(key, "-") for c in values])) for key in keys)])]


class Page:
    """Finds the parts of a description."""

    def __init__(self, description: dict[str, Any]) -> None:
        self.objects = {item["path"]: item for item in description["objects"]}

    def _is(self, item: dict[str, Any], kind: str) -> bool:
        return item["type"] == kind or kind in item["bases"]

    def _all(self, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
        return ((path, item) for path, item in self.objects.items() if self._is(item, kind))

    def _clock(self, params: dict[str, Any]) -> str:
        domain = self.objects.get((params.get("clk_domain") or {}).get("ref", ""), {"params": {}})["params"]
        ticks = domain.get("clock")
        return f"{1e12 / ticks[0] / 1e9:g} GHz" if ticks else "derived"

    def sections(self) -> list[Section]:
        """The page: (heading, rows of name and value) from the core outwards."""
        found: list[Section] = []
        for path, item in self._all("BaseCPU"):
            params = item["params"]
            rows = [("clock", self._clock(params)), *_some(params, _CORE)]
            found.append((f"{path.removeprefix('system.')}: {item['type']}", rows))
        found += self._units()
        for path, item in self._all("MisalignedAccess"):
            chosen = tuple(name for name in item["params"] if name != "eventq_index")
            found.append((f"{path.removeprefix('system.')}: {item['type']}", _some(item["params"], chosen)))
        for path, item in self._all("BranchPredictor"):
            rows = [
                (n, str(v)) for n, v in item["params"].items() if isinstance(v, int) and n.endswith(("Size", "Bits"))
            ]
            for part in ("btb", "ras"):
                entries = self.objects.get(f"{path}.{part}", {"params": {}})["params"].get("numEntries")
                rows += [(f"{part}.numEntries", str(entries))] if entries is not None else []
            found.append((f"{path.removeprefix('system.')}: {item['type']}", rows))
        caches = {}
        for path, item in self._all("BaseCache"):
            params = item["params"]
            policy = self.objects.get((params.get("replacement_policy") or {}).get("ref", ""), {"type": "none"})["type"]
            caches[path] = [
                ("size", bytes_text(params["size"])),
                *_some(params, _CACHE),
                ("replacement_policy", policy),
            ]
        found += _side_by_side("caches (cycles)", caches)
        found += _side_by_side("TLBs (entries, cycles)", {p: _some(i["params"], _TLB) for p, i in self._all("BaseTLB")})
        buses = {p: _some(i["params"], _XBAR) for p, i in self._all("BaseXBar")}
        return found + _side_by_side("buses (bytes, cycles)", buses) + self._memory()

    def _units(self) -> list[Section]:
        rows = []
        for path, item in self._all("MinorFU"):
            classes = [
                other["params"]["opClass"]
                for name, other in self.objects.items()
                if name.startswith(f"{path}.opClasses.") and self._is(other, "MinorOpClass")
            ]
            shown = ", ".join(classes[:4]) + (f" and {len(classes) - 4} more" if len(classes) > 4 else "")
            params = item["params"]
            rows.append((path.rsplit(".", 1)[1], f"latency {params['opLat']}, every {params['issueLat']}: {shown}"))
        return [("functional units (cycles)", rows)] if rows else []

    def _memory(self) -> list[Section]:
        found: list[Section] = []
        for path, item in self._all("AbstractMemory"):
            params = item["params"]
            extent = params["range"]
            rows = [("size", bytes_text(extent["end"] - extent["start"]))]
            for name in ("latency", "bandwidth", "latency_var"):
                if name in params:
                    unit = "GB/s" if name == "bandwidth" else "ns"
                    number = params[name] / (1e9 if name == "bandwidth" else 1e3)
                    rows.append((name, f"{number:g} {unit}" if number else "unlimited" if name == "bandwidth" else "0"))
            for name in _DRAM:
                if name in params:
                    is_time = name.startswith("t") and isinstance(params[name], int)
                    rows.append((name, f"{params[name] / 1e3:g} ns" if is_time else str(params[name])))
            found.append((f"{path.removeprefix('system.')}: {item['type']}", rows))
        return found
