"""Throughput on every preset: no call takes less than its stores need at the ports of the first level."""

from __future__ import annotations

import pytest

from breakeven import api
from breakeven.machine.presets import list_presets
from breakeven.machine.resolve import resolve
from breakeven.points.machine_spec import MachineSpec
from tests.cli.conftest import _engine_is_built

pytestmark = pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")

#: routine -> bytes of its widest store; RVV: what the vector unit stores at once
STORED = {
    "riscv": {"rv-byte": 1, "rv-word": 8, "rv-word-unrolled8": 8, "rvv-memcpy-m1": 0, "rvv-memcpy-m8": 0},
    "x86": {
        "x64-copy-unrolled": 8, "x64-memcpy-orig": 8, "x64-memset-sse2": 16, "glibc-vec-erms-sse2": 16,
        "glibc-vec-erms-avx2": 32, "llvm-libc-memcpy-avx2": 32, "x64-memset-avx2": 32, "x64-memcpy-avx512": 64,
        "x64-memset-avx512": 64,
    },
}  # fmt: skip
SIZES = [8, 16, 32, 64, 128, 256, 1024]
#: of cores that execute one instruction at a time
ONE_STORE = 1


def stores_a_cycle(cpu: dict) -> int:
    """At most; gem5's O3 has 200 ports, and executes as many micro-ops as it issues."""
    ports = cpu.get("cacheStorePorts") or cpu.get("executeLSQMaxStoreBufferStoresPerCycle") or ONE_STORE
    return min(ports, cpu.get("issueWidth", ports))


@pytest.mark.slow
@pytest.mark.parametrize("preset", list_presets(), ids=lambda preset: preset.name)
def test_no_call_stores_more_a_cycle_than_the_ports_take(preset) -> None:
    params = {each["path"]: each["params"] for each in resolve(MachineSpec(preset.name)).description["objects"]}
    isa, cpu = params.get("system.cpu.isa", {}), params["system.cpu"]
    at_once = (isa.get("dlen") or isa.get("vlen") or 0) // 8
    can = {each.name for each in api.routines(preset.name) if not each.missing_extension}
    for routine, stored in STORED[preset.isa].items():
        if routine not in can:
            continue
        table = api.sweep(routine, SIZES, machines=preset.name, measure="throughput", store=False)
        most = stores_a_cycle(cpu) * (stored or at_once)
        rates = table["size"] * table["calls"] / table["cycles_median"]
        assert table["ok"].all() and (rates <= most).all(), (routine, most, dict(zip(SIZES, rates, strict=True)))


@pytest.mark.parametrize(("machine", "routine"), [("u74", "rv-word"), ("skylake", "x64-copy-unrolled")])
def test_a_call_takes_as_long_among_few_calls_as_among_many(machine: str, routine: str) -> None:
    """What begins and ends a measurement is in none of them."""
    each = [api.run(routine, 64, machine=machine, measure="throughput", calls=n, store=False) for n in (16, 32, 64)]
    per_call = [result.cycles_median / result.point.calls for result in each]
    assert max(per_call) < 1.02 * min(per_call) and {result.overhead for result in each} == {0}
