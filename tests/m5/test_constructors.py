"""What the presets' boards take as keyword parameters (configs/machines/constructors.py)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

from breakeven.config.describe import describe
from breakeven.files.data import find_data
from breakeven.m5.loader import as_m5, load_module
from breakeven.machine.presets import find_machine, list_presets, load_machine

NAMES = [preset.name for preset in list_presets()]
#: option -> a value that no preset has
OTHER = {
    "clk_freq": "123MHz", "l1i_size": "2KiB", "l1d_size": "2KiB", "l1d_assoc": 1, "l2_size": "8KiB", "l2_assoc": 1,
    "l3_size": "16KiB", "l3_assoc": 1, "mem_latency": "77ns", "mem_bandwidth": "7GiB/s", "misaligned": "emulate",
    "rob_entries": 33, "load_queue": 9, "store_queue": 7, "issue_width": 3, "store_buffer": 9, "prefetchers": False,
}  # fmt: skip

#: what follows from a cache's size and ways, and what goes with a prefetcher
DERIVED = re.compile(r"\.tags\.|prefetcher")


def machine_and_board(name: str) -> tuple[Any, Any]:
    """`machine()` of a preset, and its board's constructor."""
    found = load_module(find_machine(name))
    boards = [value for word, value in found.items() if word.endswith("Board") and hasattr(value, "options")]
    return found["machine"], boards[-1]


def values(root: Any) -> dict[str, Any]:
    return {
        f"{each['path']}.{name}": value for each in describe(root)["objects"] for name, value in each["params"].items()
    }


def others(board: Any, now: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every option with another value than the preset's."""
    for option, paths in board.options.items():
        switch = [now[f"system.{path.replace('[0]', '')}"] for path in paths]
        yield option, OTHER[option] if option in OTHER else not switch[0]


@pytest.mark.parametrize("name", NAMES)
def test_every_option_sets_what_it_names_and_nothing_else(name: str) -> None:
    machine, board = machine_and_board(name)
    assert machine.options == board.options
    with as_m5(find_data("configs", "machines")):
        now = values(machine())
        changed = values(machine(**dict(others(board, now))))
    named = {f"system.{path.replace('[0]', '')}" for paths in board.options.values() for path in paths}
    differ = {path for path in now if changed.get(path) != now[path] and not DERIVED.search(path)}
    assert differ == named
    assert not [path for path, value in changed.items() if path.endswith(".prefetcher") and value is not None]


@pytest.mark.parametrize("name", NAMES)
def test_a_board_has_the_options_of_what_it_has(name: str) -> None:
    """Each cache its size, each core its clock, each in the signature and the documentation."""
    machine, board = machine_and_board(name)
    with as_m5(find_data("configs", "machines")):
        system = machine().system
        wanted = {"clk_freq"} | {f"{level}_size" for level in ("l2", "l3") if getattr(system, level, None) is not None}
        wanted |= {"l1d_size", "l1i_size"} if getattr(system.cpu, "dcache", None) is not None else set()
    assert wanted <= set(board.options)
    for constructor in (board, machine):
        assert list(board.options) == list(inspect.signature(constructor).parameters)[:-1]
        assert all(f"\n{option}: " in (inspect.getdoc(constructor) or "") for option in board.options)


def test_a_board_as_the_document_makes_it() -> None:
    _, board = machine_and_board("u74")
    assert board.__name__ == "U74Board"
    with as_m5(find_data("configs", "machines")):
        made = board(clk_freq="1.2GHz", l1d_size="64KiB", misaligned="hardware", zbb=True)
        assert made.cpu.dcache.size == 65536 and made.cpu.isa[0].enable_Zbb
        assert made.cpu.misaligned.policy == "hardware"
        with pytest.raises(TypeError, match="l3_size"):
            board(l3_size="1MiB")
    assert describe(load_machine("u74", zbb=False)) == describe(load_machine("u74"))


def test_what_gem5_lacks_is_refused_there() -> None:
    """A preset's option `misaligned` says why a gem5 without it refuses it."""
    found = load_module(find_machine("atomic"))
    owner = found["constructor"].__globals__

    class Gem5:
        """An object with what a real gem5's core has."""

        cpu = object()

    with pytest.raises(TypeError, match="U74Board: misaligned is breakeven's"):
        owner["_apply"](Gem5(), "U74Board", "misaligned", "hardware")
