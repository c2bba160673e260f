"""From trees to descriptions: proxies, units, errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import breakeven.m5.objects as o
from breakeven import m5
from breakeven.config.describe import canonical, describe, machine_hash
from breakeven.config.errors import ConfigError
from breakeven.config.proxy import Parent, Self

DATA = Path(__file__).parents[1] / "data"


def by_path(root: Any) -> dict[str, Any]:
    return {entry["path"]: entry for entry in describe(root)["objects"]}


def errors_of(root: Any) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        describe(root)
    return caught.value.errors


def test_objects_have_paths_types_bases_and_ports(root: Any) -> None:
    objects = by_path(root)
    cpu = objects["system.cpu"]
    assert cpu["type"] == "RiscvAtomicSimpleCPU"
    assert cpu["bases"] == ["BaseAtomicSimpleCPU", "BaseSimpleCPU", "RiscvCPU", "BaseCPU", "ClockedObject", "SimObject"]
    assert cpu["ports"]["icache_port"] == ["system.membus.cpu_side_ports"]
    assert objects["system.membus"]["ports"]["mem_side_ports"] == ["system.memory.port"]
    assert objects["root"]["params"]["full_system"] is True
    assert list(objects) == [entry["path"] for entry in describe(root)["objects"]]


def test_values_are_in_the_engines_units(root: Any) -> None:
    objects = by_path(root)
    assert objects["system.clk_domain"]["params"]["clock"] == [1000]
    assert objects["system.memory"]["params"]["latency"] == 30000
    assert objects["system.memory"]["params"]["bandwidth"] == 12.8 * 2**30
    assert objects["system"]["params"]["mem_ranges"] == [{"start": 0x80000000, "end": 0x84000000}]
    assert objects["system.cpu"]["params"]["progress_interval"] == 0.0
    assert objects["system.cpu"]["params"]["checker"] is None


def test_proxies_are_followed(root: Any) -> None:
    objects = by_path(root)
    assert objects["system.cpu"]["params"]["clk_domain"] == {"ref": "system.clk_domain"}
    assert objects["system.cpu.mmu.dtb.walker"]["params"]["system"] == {"ref": "system"}
    assert objects["system.cpu.mmu.dtb.walker"]["params"]["pma_checker"] == {"ref": "system.cpu.mmu.pma_checker"}
    assert objects["system"]["params"]["memories"] == [{"ref": "system.memory"}]
    assert objects["system.cpu"]["params"]["eventq_index"] == 0


def test_proxies_can_step_index_and_scale(root: Any) -> None:
    system = root.system
    system.cache = o.Cache(size="32KiB", assoc=2, tag_latency=2, data_latency=Self.tag_latency * 3, response_latency=1)
    system.cache.mshrs = Parent.cpu.numThreads + 3
    system.cache.tgts_per_mshr = Parent.cpu[0].numThreads * 20
    system.cache.cpu_side = system.membus.mem_side_ports
    system.cache.mem_side = system.membus.cpu_side_ports
    params = by_path(root)["system.cache"]["params"]
    assert (params["data_latency"], params["mshrs"], params["tgts_per_mshr"]) == (6, 4, 20)
    assert str(Parent.cpu[0].numThreads * 20) == "Parent.cpu[0].numThreads * 20"
    with pytest.raises(AttributeError, match="proxy"):
        Parent.cpu.size = 3


def test_a_subclass_appears_as_what_the_engine_models(root: Any) -> None:
    class Board(o.SystemXBar):
        width = 64

    root.system.spare = Board()
    entry = by_path(root)["system.spare"]
    assert (entry["type"], entry["bases"][0], entry["params"]["width"]) == ("SystemXBar", "CoherentXBar", 64)


def test_all_errors_come_together_with_path_and_fix(root: Any) -> None:
    system = root.system
    system.l2 = o.Cache(assoc=8, tag_latency=2, data_latency=2, response_latency=2, mshrs=4, tgts_per_mshr=4)
    system.l2.cpu_side = system.membus.mem_side_ports
    system.broken = o.BaseXBar(width=Parent.no_such_thing, frontend_latency=1, forward_latency=1, response_latency=1)
    stray = o.SrcClockDomain(clock="1GHz", voltage_domain=o.VoltageDomain())
    other = o.System()
    other.stray = stray
    system.cpu.clk_domain = stray
    errors = errors_of(root)
    text = "\n".join(errors)
    assert "system.l2.size (MemorySize): has no default: give it a value, e.g. system.l2.size = '32KiB'" in text
    assert "system.l2.mem_side is not connected" in text
    assert "system.broken.width (Unsigned): Parent.no_such_thing cannot be resolved" in text
    assert "system.broken is a BaseXBar, which is abstract" in text
    assert "system.cpu.clk_domain (ClockDomain): it refers to <System>.stray, which is not below the root" in text


def test_circles_and_ambiguity_are_errors(root: Any) -> None:
    root.system.one = o.SimpleMemory(latency=Self.latency_var, latency_var=Self.latency)
    root.system.one.port = root.system.membus.mem_side_ports
    assert any("refers back" in error for error in errors_of(root))

    class Asks(o.SnoopFilter):
        pass

    assert "not a Root" in errors_of(o.System())[0]


def test_parent_any_must_fit_one(root: Any) -> None:
    root.system.cpu.mmu.other = o.PMAChecker()
    errors = errors_of(root)
    assert any("Parent.any fits more than one object" in error for error in errors)


def test_hash_is_of_the_canonical_text(root: Any) -> None:
    description = describe(root)
    text = canonical(description)
    assert json.loads(text) == description
    assert " " not in text.replace("simulation of", "")
    assert machine_hash(description) == machine_hash(json.loads(text))
    before = machine_hash(description)
    m5.apply_override(root, "cpu.numThreads=1")
    assert machine_hash(describe(root)) == before
    m5.apply_override(root, "clk_domain.clock=2GHz")
    assert machine_hash(describe(root)) != before


@pytest.mark.parametrize(
    "name",
    [
        "atomic",
        "timing",
        "minor",
        "o3",
        "u74",
        "c906",
        "c910",
        "o3_large",
        "x86_timing",
        "x86_minor",
        "x86_o3",
    ],
)
def test_presets_describe_as_stored(name: str) -> None:
    from breakeven.machine.presets import describe_machine

    stored = json.loads((DATA / "descriptions" / f"{name}.json").read_text())
    described = {entry["path"]: entry for entry in describe_machine(name)["objects"]}
    for entry in stored["objects"]:
        assert described.pop(entry["path"], None) == entry, entry["path"]
    assert not described
