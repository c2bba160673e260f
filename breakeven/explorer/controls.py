"""The parameters of a machine as a page's sliders, switches and choices: value, unit, range, source, group.

What there is, its unit, its range and its source are `breakeven.machine.parameters`'; here stands how a person looks
for it, and how far a slider goes.
"""

from __future__ import annotations

import re
from typing import Any

from breakeven.machine.parameters import Parameter, bounds_checked, parameters
from breakeven.machine.resolve import Machine

#: group -> the paths in it; the first that matches counts
GROUPS = {
    # Placed first to match first; shown last.
    "model": r"(^|\.)gem5\w*$",
    "misaligned access": r"\.misaligned\.|cpu\.(forward|partialForward|alias)",
    "string instructions": r"\.microcode\.(rep_|string)|microcode\.flag_stall",
    "caches": r"(^|\.)(icache|dcache|l1\w*|l2\w*|l3\w*)\.|write_combining|\.prefetcher\.",
    "memory": r"^mem|(^|\.)(dram|membus|mmu|dtb|itb)\b|bandwidth$",
    "branch prediction": r"branchPred",
    "core": r"^cpu\.|clk_domain",
    "other": r"",
}
_MODEL = "model"
#: mark of `machine_sources` -> word
_MARKS = {"u": "sourced", "c": "calibrated", "a": "assumed", "g": "gem5", "m": "measured", "s": "set"}
#: an owner's path -> what it is called
_OWNERS = (
    (r"cpu\.dcache\.prefetcher", "L1D prefetcher"), (r"cpu\.dcache", "L1D"), (r"cpu\.icache", "L1I"),
    (r"l2(cache)?\.prefetcher\S*", "L2 prefetcher"), (r"l2(cache)?", "L2"), (r"l3(cache)?", "L3"),
    (r"cpu\.mmu\.dtb", "data TLB"), (r"cpu\.mmu\.itb", "instruction TLB"), (r"mem_ctrl\S*", "memory"),
    (r"cpu\.branchPred", "predictor"), (r"cpu\.branchPred\.btb", "BTB"), (r"cpu\.branchPred\.ras", "return stack"),
    (r"cpu\.branchPred\.indirectBranchPred", "indirect predictor"), (r"cpu\.misaligned", ""), (r"cpu", ""),
    (r"cpu\.isa(\.microcode)?", ""),
)  # fmt: skip
_OPCLASS = re.compile(r"(?:executeFuncUnits\.funcUnits|fuPool\.FUList)\.(.+)")
_MICROCODE = re.compile(r"cpu\.isa\.microcode\.(.+)")
#: what a description counts in -> what a page shows, the factor between them, and what `--set` wants behind a number
_UNITS = {"ps": ("ns", 1000, "ps"), "B/s": ("GB/s", 1e9, "B/s"), "Hz": ("GHz", 1e9, "Hz")}
_RANGE = re.compile(r"(\d+) to (\d+)")
#: numbers that limit a format or only name things
_NO_HARDWARE = re.compile(r"eventq_index|numPhys(Mat|VecPred)|max_insts|full_system|instShiftAmt|is_read_only|opClass$")
_TIMES = re.compile(r"(?i)(lat|latency|delay|penalty|cycles|startup|uops|cross_\w+|rate|per_cycle|stall)$")


def controls(machine: Machine) -> list[dict[str, Any]]:
    """Every parameter that the engine reads, in the order of the groups, those whose value has a source first."""
    from breakeven.machine.sources import Sources

    spec = machine.spec
    sources = Sources(machine.root, spec.settings)
    shown = sources.shown_paths()
    raw = {
        f"{shown[item['path']]}.{name}".removeprefix("system."): value
        for item in machine.description["objects"]
        for name, value in item["params"].items()
    }
    bounds = {
        f"{shown[path]}.{name}".removeprefix("system."): limits
        for (path, name), limits in bounds_checked(machine.description).items()
    }
    found = [_control(each, raw[each.path], bounds.get(each.path)) for each in parameters(machine.description, sources)]
    order = [group for group in GROUPS if group != _MODEL] + [_MODEL]
    return sorted(filter(None, found), key=lambda each: (order.index(each["group"]), not each["main"]))


def _control(each: Parameter, value: Any, bounds: tuple[int, int] | None = None) -> dict[str, Any] | None:
    owner, _, name = each.path.rpartition(".")
    marks = each.mark.replace("*", "")
    if isinstance(value, list) and len(value) == 1 and not isinstance(value[0], bool):
        value = value[0]
    group = next(group for group, pattern in GROUPS.items() if re.search(pattern, each.path))
    found: dict[str, Any] = {
        "path": each.path, "label": label_of(owner, name), "group": group, "source": each.source,
        "mark": _MARKS.get(marks[:1], "gem5"), "changed": "*" in each.mark,
        "main": bool(each.mark) or group == "misaligned access",
    }  # fmt: skip
    # What only says how gem5 does a thing is no hardware: it is not ranked among it.
    if _NO_HARDWARE.search(name) or group == _MODEL:
        found["main"] = False
    if isinstance(value, bool):
        return {**found, "kind": "switch", "value": str(value).lower()}
    if isinstance(value, str):
        choices = [word.strip() for word in each.takes.split(",") if word.strip()]
        return {**found, "kind": "choice", "value": value, "choices": choices} if len(choices) > 1 else None
    if not isinstance(value, (int, float)):
        return None
    return {**found, "kind": "number", **_number(each, name, value, bounds)}


def _number(each: Parameter, name: str, value: float, bounds: tuple[int, int] | None) -> dict[str, Any]:
    unit = each.unit or ("B" if each.value.endswith("B") and name == "size" else "")
    shown_unit, factor, suffix = _UNITS.get(unit, (unit, 1, ""))
    limits = _RANGE.search(each.takes)
    low, high = (int(limits[1]), int(limits[2])) if limits else bounds or (0, 1 << 62)
    sized = name in ("size", "assoc", "l2_size", "l2_assoc") or unit in ("B", "entries", "ways")
    if value >= 2 and sized and not _TIMES.search(name):
        scale, least, most = "log2", value / 16, value * 16
        least = max(least, 1)
    else:
        scale, least, most = "linear", 0, max(4 * value, 16 * factor)
    word = each.value if not any(letter.isdigit() for letter in each.value) else ""
    return {
        "value": f"{value:.12g}{suffix}", "number": value, "unit": shown_unit, "factor": factor, "suffix": suffix,
        "scale": scale, "least": max(low, least), "most": min(high, most), "low": low, "high": high,
        "whole": isinstance(value, int), "word": word,
    }  # fmt: skip


def label_of(owner: str, name: str) -> str:
    """A parameter's name as words: ``L1D tag latency``."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).replace("_", " ")
    words = " ".join(word if word.isupper() else word.lower() for word in words.split()).removeprefix("num ")
    return " ".join(filter(None, (_owner(owner), words)))


def _owner(path: str) -> str:
    for pattern, called in _OWNERS:
        if re.fullmatch(pattern, path):
            return called
    if inside := _MICROCODE.fullmatch(path):
        return inside[1].replace(".", " ")
    if plain := re.search(r"funcUnits\[(\d+)\](.*)", path):
        return f"functional unit {plain[1]}{plain[2].replace('.', ' ')}"
    if unit := _OPCLASS.search(path):
        return unit[1].replace("timings", "").replace("opClasses.", "").replace("opList.", "").replace(".", " ").strip()
    return path.removeprefix("cpu.").replace("branchPred.", "").replace(".", " ")
