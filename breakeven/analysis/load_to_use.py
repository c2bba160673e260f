"""Load-to-use latency of every level of a machine, measured: cycles from a load's issue to that of a load whose address
it delivers.

For each level a ring of pointers in random order is followed, of lines that this level holds and the one before it
cannot; for the memory, lines that nothing has touched. Prefetchers stay on: the order gives them nothing to learn from.
The program is workloads/load_to_use; what its loop costs beside the loads is less than a cycle in 64 loads.
"""

from __future__ import annotations

import hashlib
import json
import random
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.engines.embedded import EmbeddedEngine
from breakeven.engines.open import opened_store
from breakeven.errors import UserError
from breakeven.files.binaries import guest_elf, load_engine
from breakeven.files.data import find_data
from breakeven.files.reading import parsed_json
from breakeven.machine.resolve import Machine, resolve
from breakeven.points.machine_spec import MachineSpec

if TYPE_CHECKING:
    from breakeven.store import Store


#: where the program keeps its table (workloads/load_to_use/*.S)
_TABLE = {"riscv": 0x8020_0000, "x86": 0x40_0000}
_TABLE_BYTES = 4096
#: loads in one turn of the loop
_TURN = 64
#: turns of the two measurements: the cycles of the first are taken from those of the second
_TURNS = (16, 80)
#: the same of the memory, where each load needs a line of its own; a turn is long beside a misprediction there
_UNTOUCHED_TURNS = (2, 12)
#: turns at least that come before: predictors learn the loop
_LEARNING = 64
#: a ring has this many times the lines that the level before it holds, or half of its own level
_BEYOND = 8
#: pointers of a ring at most; then they lie farther apart
_MOST = 4096
#: times that a ring is followed before it is measured: replacement need not be LRU
_LAPS = 3
_PAGE, _LARGE_PAGE, _LINE = 4096, 2 << 20, 64
_MOST_CYCLES = 200_000_000
#: part of what the store knows an answer by: to be changed with anything above, or with the rings below
_METHOD = b"1"


@dataclass(frozen=True)
class Latency:
    """One level: a cache by its path, or ``memory``."""

    level: str
    #: of the cache; of the memory 0
    size_bytes: int
    #: of the core's clock
    cycles: float
    nanoseconds: float


def load_to_use(spec: MachineSpec, store: Store | None = None) -> list[Latency]:
    """The levels from the core outwards, measured, or read from `store` where they were measured before.

    Raises `UserError` for a machine that cannot be built, has no CPU that is known, or has less memory than the rings.
    """
    machine = resolve(spec)
    if store is None:
        return _measured(machine)
    identity, text = EmbeddedEngine().identity(spec)
    question = f"load to use {hashlib.sha256(_program(machine.isa) + _METHOD).hexdigest()}"
    with store.telling("measured again"):
        context = store.find(identity)
        noted = None if context is None else store.noted(context, question)
    if known := _read(noted):
        return known
    found = _measured(machine)
    store.note(store.context(identity, str(spec), text), question, json.dumps([asdict(row) for row in found]))
    return found


def _read(noted: str | None) -> list[Latency]:
    """The levels in a note; none where it holds no such: a store says what its maker wrote."""
    try:
        return [
            Latency(str(row["level"]), int(row["size_bytes"]), float(row["cycles"]), float(row["nanoseconds"]))
            for row in parsed_json(noted or "[]")
        ]
    except (ValueError, TypeError, LookupError, OverflowError):
        return []


def load_to_use_of(spec: MachineSpec, store: Path | None = None, no_store: bool = False) -> list[Latency]:
    """`load_to_use` with the user's store, or the one named, where one is wanted."""
    with opened_store(store, no_store) as opened:
        return load_to_use(spec, opened)


def _program(isa: str) -> bytes:

    return guest_elf(isa, find_data("guests", f"load-to-use-{isa}.elf"))


def _measured(machine: Machine) -> list[Latency]:
    levels = data_caches(machine.description)
    table = _Table(_TABLE[machine.isa])
    # Before anything counts the program itself has been fetched once.
    table.add_ring(_PAGE)
    before = 0
    for _, size in levels:
        table.add_ring(min(size // 2, _BEYOND * before) if before else size // 2)
        before = size
    table.add_untouched()
    cpu, period = _core(machine.description)
    guest = load_engine().Machine(machine.text, _program(machine.isa), readfile=table.file())
    end = guest.run(max_cycles=_MOST_CYCLES)
    cycles = [next(v for name, v, *_ in dump if name == f"{cpu}.numCycles") for dump in guest.dumps()][2:]
    if "m5_exit" not in end["cause"] or len(cycles) != 2 * (len(levels) + 1):
        raise UserError(f"{machine.spec}: load-to-use was not measured: {end['detail'] or end['cause']}")
    found = []
    for i, (level, size) in enumerate([*levels, ("memory", 0)]):
        short, long = table.entries[i + 1][3:]
        each = (cycles[2 * i + 1] - cycles[2 * i]) / ((long - short) * _TURN)
        found.append(Latency(level, size, round(each, 2), round(each * period / 1000, 2)))
    return found


def _core(description: dict[str, Any]) -> tuple[str, int]:
    """The core's path and its clock's period in ps."""
    objects = {item["path"]: item for item in description["objects"]}
    cpu = next(item for item in objects.values() if "BaseCPU" in item["bases"])
    return cpu["path"], objects[cpu["params"]["clk_domain"]["ref"]]["params"]["clock"][0]


def data_caches(description: dict[str, Any]) -> list[tuple[str, int]]:
    """The caches that a load asks, one after the other: path as ``--set`` takes it, and bytes."""
    caches = [item for item in description["objects"] if "BaseCache" in item["bases"]]
    found: list[tuple[str, int]] = []
    asks = [f"{_core(description)[0]}.dcache_port"]
    while True:
        on_the_way = [item for item in caches if set(asks) & set(item["ports"].get("cpu_side", ()))]
        if not on_the_way:
            return found
        cache = on_the_way[0]
        caches.remove(cache)
        found.append((cache["path"].removeprefix("system."), int(cache["params"]["size"])))
        buses = {port.rpartition(".")[0] for port in cache["ports"]["mem_side"]}
        asks = [f"{bus}.mem_side_ports" for bus in buses] + cache["ports"]["mem_side"]


class _Table:
    """What the program reads: an entry for each level, and the rings behind them."""

    def __init__(self, base: int) -> None:
        self.base = base
        self.data = bytearray()
        self.entries: list[tuple[int, int, int, int, int]] = []
        self._random = random.Random(1)

    def _room(self, size: int, align: int) -> int:
        """The address of so many more bytes."""
        at = self.base + _TABLE_BYTES + len(self.data)
        begin = -(-at // align) * align
        self.data.extend(bytes(begin - at + size))
        return begin

    def _ring(self, lines: Sequence[int]) -> int:
        """Makes the lines at these addresses one ring in random order; its first address."""
        order = list(lines)
        self._random.shuffle(order)
        for here, there in zip(order, [*order[1:], order[0]], strict=True):
            struct.pack_into("<Q", self.data, here - self.base - _TABLE_BYTES, there)
        return order[0]

    def add_ring(self, size: int) -> None:
        """A ring over `size` bytes, followed until it lies where it can."""
        apart = 512
        while size // apart > _MOST:
            apart *= 2
        size = max(size, 4 * apart)
        begin = self._room(size, _PAGE)
        lines = range(begin, begin + size, apart)
        turns = max(_LEARNING, -(-_LAPS * len(lines) // _TURN))
        self.entries.append((self._ring(lines), turns, 0, *_TURNS))

    def add_untouched(self) -> None:
        """A ring of lines that are touched when they are measured and never before, in pages that are known."""
        count = _TURN * sum(_UNTOUCHED_TURNS)
        apart = _PAGE + _LINE
        begin = self._room(count * apart, _LARGE_PAGE)
        end = begin + count * apart
        start = self._ring([begin + i * apart for i in range(count)])
        # In the line before the next page: no line of the ring comes near it.
        known = self._ring([page + 2 * _LINE + 8 for page in range(begin, end - _PAGE, _LARGE_PAGE)])
        self.entries.append((known, 4, start, *_UNTOUCHED_TURNS))

    def file(self) -> bytes:
        """The table and the rings; the first 8 bytes: how many there are."""
        size = _TABLE_BYTES + len(self.data)
        table = struct.pack("<Q", size) + b"".join(struct.pack("<5Q", *entry) for entry in self.entries)
        return table.ljust(_TABLE_BYTES, b"\0") + bytes(self.data)


def load_to_use_section(found: Sequence[Latency], why_not: str = "") -> tuple[str, list[str]]:
    """A heading and lines for `machines show`; `why_not`: what stood in the way of a measurement."""
    if why_not:
        return "load to use", [f"not measured: {why_not}"]
    from breakeven.machine.page import bytes_text

    rows = [
        (each.level, bytes_text(each.size_bytes) if each.size_bytes else "", f"{each.cycles:.1f}",
         f"{each.nanoseconds:.1f} ns")
        for each in found
    ]  # fmt: skip
    wide = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        f"{level:<{wide[0]}}  {size:>{wide[1]}}  {cycles:>{wide[2]}}  {time:>{wide[3]}}"
        for level, size, cycles, time in rows
    ]
    return "load to use, measured (cycles)", lines
