"""Load-to-use of every level on every preset: the number configured is the number measured.

The formula is that of docs/memory.md ("Load to use") and docs/machines.md, evaluated here from the description;
`breakeven.analysis.load_to_use`, what `machines show` prints, measures.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest

from breakeven.analysis import load_to_use as ltu
from breakeven.analysis.load_to_use import data_caches, load_to_use, load_to_use_of
from breakeven.errors import UserError
from breakeven.machine.presets import find_machine, list_presets
from breakeven.machine.resolve import Machine, resolve
from breakeven.points.machine_spec import MachineSpec
from tests.cli.conftest import _engine_is_built

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built"),
]

IN_UNIT = 1  # cycles that a load spends in its unit while the cache is asked
#: what a core adds to its first level where that is not `IN_UNIT`: units of three cycles, gem5's Minor that issues
#: loads early, simple cores that do one instruction after the other
OTHER_FIRST = {"x86_minor": 0.22, "timing": 2.09, "x86_timing": 2.59} | dict.fromkeys(
    ("bonnell", "c906", "c908", "u74", "x280", "x60"), 2
)
#: the same beyond it
OTHER = {"x86_minor": 1.26, "timing": 2.09, "x86_timing": 2.59}
#: what may be missing to the memory's latency where that is not 0.5
LESS_TO_MEMORY = {"c908": 0.75, "x60": 0.75}
#: an exclusive second level: each load sends a line of the first one there
SWAPS = {"k7": 7}


def configured(machine: Machine) -> dict[str, float]:
    """Cycles from the access to its response; of the memory only where it is a SimpleMemory."""
    objects = {item["path"]: item for item in machine.description["objects"]}

    def params(path: str) -> dict[str, Any]:
        return objects[path]["params"]

    path, found = 0.0, {}
    for level, _ in data_caches(machine.description):
        cache = params(f"system.{level}")
        tag, data = cache["tag_latency"], cache["data_latency"]
        found[level] = path + (tag + data if cache["sequential_access"] else max(tag, data))
        bus = objects[f"system.{level}"]["ports"]["mem_side"][0].rpartition(".")[0]
        crossbar, snooped = params(bus), params(f"{bus}.snoop_filter")["lookup_latency"]
        path += tag + cache["response_latency"]
        path += crossbar["frontend_latency"] + crossbar["forward_latency"] + snooped + crossbar["response_latency"]
    if found and "latency" in params("system.mem_ctrl"):
        period = params(params("system.cpu")["clk_domain"]["ref"])["clock"][0]
        found["memory"] = path + params("system.mem_ctrl")["latency"] / period
    return found


@pytest.mark.parametrize("name", [preset.name for preset in list_presets()])
def test_every_level_takes_what_is_configured(name: str) -> None:
    spec = MachineSpec(name)
    measured, expected = {each.level: each.cycles for each in load_to_use(spec)}, configured(resolve(spec))
    assert [*expected][: len(measured)] == [*measured][: len(expected)] and [*measured][-1] == "memory"
    for i, (level, cycles) in enumerate(expected.items()):
        if level == "memory":
            # Whole cycles at each clock on the way, and what a loop around 64 loads costs.
            assert cycles + IN_UNIT - LESS_TO_MEMORY.get(name, 0.5) < measured[level] < cycles + IN_UNIT + 1
        else:
            beside = OTHER.get(name, IN_UNIT) if i else OTHER_FIRST.get(name, IN_UNIT)
            beside += SWAPS.get(name, 0) if i else 0
            assert measured[level] == pytest.approx(cycles + beside, abs=0.07)
    stated = re.search(r"^LOAD_TO_USE = (\{.*?\})", find_machine(name).read_text(), re.MULTILINE)
    if stated:
        caches = [cycles for level, cycles in measured.items() if level != "memory"]
        assert [*ast.literal_eval(stated[1]).values()] == pytest.approx(caches, abs=0.05)


@pytest.mark.parametrize("parameter", ["l2bus.frontend_latency", "l2.data_latency"])
def test_one_cycle_more_is_one_cycle_more(parameter: str) -> None:
    """A latency that is changed in one place is measured in one place."""
    owner, _, name = parameter.rpartition(".")
    objects = {item["path"]: item for item in resolve(MachineSpec("u74")).description["objects"]}
    now = objects[f"system.{owner}"]["params"][name]
    base, changed = (load_to_use(MachineSpec("u74", more)) for more in ((), (f"{parameter}={now + 1}",)))
    assert [after.cycles - before.cycles for before, after in zip(base, changed, strict=True)][:2] == pytest.approx(
        [0, 1], abs=0.01
    )


def test_a_store_is_asked_first(tmp_path, monkeypatch) -> None:
    store, spec = tmp_path / "s.sqlite", MachineSpec("c906")
    found = load_to_use_of(spec, store)
    assert [(each.level, each.size_bytes) for each in found] == [("cpu.dcache", 32768), ("memory", 0)]
    assert found[0].nanoseconds == found[0].cycles == 3
    monkeypatch.setattr(ltu, "_measured", lambda machine: [])
    assert load_to_use_of(spec, store) == found and load_to_use_of(spec, store, no_store=True) == []
    assert load_to_use_of(MachineSpec("c906", ("cpu.dcache.tag_latency=2",)), store) == []
    monkeypatch.setattr(ltu, "_METHOD", b"another")
    assert load_to_use_of(spec, store) == []


def test_a_machine_with_too_little_memory_says_so(tmp_path) -> None:
    small = tmp_path / "small.py"
    small.write_text(
        "from machines import u74\n"
        "from m5.objects import AddrRange\n"
        "def machine(**options):\n"
        "    root = u74.machine(**options)\n"
        "    root.system.mem_ranges = [AddrRange(0x80000000, size='4MiB')]\n"
        "    root.system.mem_ctrl.range = root.system.mem_ranges[0]\n"
        "    return root\n"
    )
    with pytest.raises(UserError, match="load-to-use was not measured"):
        load_to_use(MachineSpec(str(small)))
