"""A machine's parameter in words with its unit, for the axes of a figure: a reader of a report knows no paths."""

from __future__ import annotations

import re

from breakeven.config.overrides import kind_of
from breakeven.machine.parameters import unit_of
from breakeven.machine.presets import load_machine
from breakeven.points.machine_spec import MachineSpec

#: what the end of a path means; the unit comes from `machine_parameters.unit_of`
_WORDS = [
    (re.compile(rf"(.*\.)?{pattern}"), words)
    for pattern, words in (
        (r"rep_movs(\[\d+\]|\.\w+)\.startup_uops", "start-up of REP MOVS"),
        (r"rep_movs(\[\d+\]|\.\w+)\.bytes_per_cycle", "pace of REP MOVS"),
        (r"rep_movs(\[\d+\]|\.\w+)\.co_alignment", "alignment that fast REP MOVS asks for"),
        (r"misaligned\.split_slots", "load slots that a load across two lines takes"),
        (r"misaligned\.split_store_slots", "further store slots that a store across two lines takes"),
        (r"misaligned\.line_cross_load", "delay of a load across two lines"),
        (r"misaligned\.page_cross_load", "delay of a load across two pages"),
        (r"misaligned\.emulate_cycles", "cost of a misaligned access"),
        (r"mem_ctrl\.write_buffer_size", "writes that the memory has under way"),
        (r"microcode\.flag_stall", "length of a partial-flag stall"),
        (r"l2\.data_latency", "latency of the second level"),
        (r"cpu\.trapLatency", "the processor's own part of a trap"),
        (r"cpu\.fetchToDecodeDelay", "time from fetch to decode"),
    )
]
#: parameters whose values are powers of two: nothing lies between two of them
_POWERS = re.compile(r".*(alignment|granule|block|cache_line_size|assoc)")


def axis_words(machine: MachineSpec, path: str) -> str:
    """``start-up of REP MOVS (micro-ops)`` for the parameter at `path`; one without words keeps its name, spelt out."""
    kind, name = kind_of(load_machine(machine.name, machine.settings), path)
    spelt = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", " ", name).lower()
    words = next((words for pattern, words in _WORDS if pattern.fullmatch(path)), spelt)
    unit = {"B": "bytes", "B/cycle": "bytes a cycle"}.get(unit_of(kind, name), unit_of(kind, name))
    return f"{words} ({unit})" if unit else words


def has_gaps(path: str) -> bool:
    """Whether a parameter's values are powers of two, so that no line may join them."""
    return _POWERS.fullmatch(path) is not None
