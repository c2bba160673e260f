"""`--engine native`: the routines on this host's processor, measured; the simulator beside it."""

from __future__ import annotations

import json
import platform

import numpy as np
import pytest

from breakeven import api as breakeven_api
from breakeven import points as pt
from breakeven.analysis.across_engines import EngineComparison
from breakeven.analysis.comparison import Comparison
from breakeven.engines import native
from breakeven.engines.native import NativeEngine
from breakeven.engines.run_points import run_points
from breakeven.errors import UserError
from breakeven.machine.host import fit_for
from breakeven.machine.presets import list_presets
from breakeven.points.machine_spec import HOST, MachineSpec
from breakeven.sweeps.spec import SweepSpec

pytestmark = pytest.mark.slow

on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="this host is no x86-64")


@pytest.fixture
def session():
    pytest.importorskip("breakeven._engine")
    return NativeEngine().open(MachineSpec(HOST))


def test_a_host_of_another_kind_is_refused(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(UserError, match="x86-64 or RISC-V .* host; this is Linux on aarch64$"):
        NativeEngine()


@on_x86
def test_cycles_of_the_host(session):
    """A chain of one addition a byte pair: the checksum with adc cannot take less than a cycle for eight bytes."""
    lengths = (4096, 8192)
    results = run_points(session, [pt.Point("x64-csum-naive-adc", n) for n in lengths])
    for n, result in zip(lengths, results, strict=True):
        assert result.ok
        # Noise only lengthens. The counter may tick at half of a raised clock: half a tick an addition.
        assert result.cycles_min > n / 8 / 2
        assert result.cycles_min <= result.cycles_median


@on_x86
def test_from_python():
    pytest.importorskip("breakeven._engine")
    table = breakeven_api.sweep(["x64-byte", "x64-copy-erms"], [64, 512], engine="native")
    assert list(table["machine"]) == ["native"] * 4 and table["ok"].all()
    assert breakeven_api.run("x64-byte", 64, engine="native").ok
    assert breakeven_api.run("x64-byte", 64, machine="host", store=False).ok
    with pytest.raises(UserError, match="one at a time"):
        breakeven_api.compare("x64-byte", "x64-copy-erms", engine="embedded,native")


@on_x86
def test_wrong_points_are_told(session):
    records = [pt.Point("x64-copy-string", 100, fault_at=50), pt.Point("x64-byte", 100, fault_at=50)]
    faulted, refused = run_points(session, records)
    assert faulted.ok and faulted.ret >= 50
    assert pt.STATUSES[refused.status] == "point out of range"
    with pytest.raises(UserError, match="4 KiB pages only"):
        run_points(session, [pt.Point("x64-byte", 8, flags=pt.FLAG_HUGE_PAGES)])
    with pytest.raises(UserError, match="no parameters to set"):
        NativeEngine().open(MachineSpec(HOST, ("cpu.width=4",)))


@on_x86
def test_every_point_of_many_has_its_own_result(session):
    spec = SweepSpec(["x64-byte", "x64-copy-erms"], [MachineSpec(HOST)], list(range(0, 600, 2)), repetitions=1)
    records = spec.records()
    seen: list[int] = []
    results = np.frombuffer(session.run(records.tobytes(), progress=lambda n, _: seen.append(n)), pt.result_dtype())
    assert list(results["index"]) == list(range(600))
    assert not results["status"].any()
    assert seen == sorted(seen) and seen[-1] == 600
    by_byte = results["cycles_median"][:300]
    assert np.median(by_byte[250:]) > 2 * np.median(by_byte[50:100])


@on_x86
def test_two_engines_point_by_point(breakeven):
    done = breakeven(
        "compare", "x64-copy-unrolled", "x64-copy-erms", "-m", "x86_minor", "--engine", "embedded,native",
        "--sizes", "64,1024", "--json", "--repetitions", "5",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {one["repetitions"] for one in found["engines"].values()} == {5}
    assert list(found["engines"]) == ["embedded", "native"]
    assert found["engines"]["embedded"]["machine"] == "x86_minor cpu.isa.enable_smap=false"
    assert [(row["routine"], row["size"]) for row in found["points"]] == [
        (name, size) for name in ("x64-copy-unrolled", "x64-copy-erms") for size in (64, 1024)
    ]
    assert all(row["half_iqr"] is not None for row in found["points"])
    assert [row["routine"] for row in found["summary"]] == ["x64-copy-unrolled", "x64-copy-erms", ""]
    done = breakeven("compare", "x64-byte", "x64-copy-erms", "-m", "x86_o3", "--engine", "embedded,native", "-n", "64")
    assert done.returncode == 0 and "embedded against native" in done.stdout
    done = breakeven("run", "x64-byte", "--engine", "native", "--size", "64")
    assert done.returncode == 0 and "not counted" in done.stdout
    done = breakeven("run", "rv-byte", "--engine", "native", "--size", "64")
    assert done.returncode == 1 and "there is no routine 'rv-byte'" in done.stderr
    assert "unknown engine 'nativ'" in breakeven("sweep", "x64-byte", "-n", "8", "--engine", "nativ").stderr
    assert "one at a time" in breakeven("sweep", "x64-byte", "-n", "8", "--engine", "embedded,native").stderr


def test_errors_are_of_the_first_engine():
    def comparison(curves):
        return Comparison(None, None, "size", [10, 20], curves, [], [], [], [])  # type: ignore[arg-type]

    found = EngineComparison(
        {"embedded": comparison({"a": [10.0, 120.0]}), "native": comparison({"a": [20.0, 100.0]})}, {}, {("a", 20): 2.5}
    )
    assert found.errors().to_dict(orient="list") == {
        "routine": ["a", "a"], "size": [10, 20], "embedded": [10.0, 120.0], "native": [20.0, 100.0],
        "half_iqr": [pytest.approx(float("nan"), nan_ok=True), 2.5], "error": [-0.5, 0.2],
    }  # fmt: skip
    (row, everything) = found.summary()
    assert row["routine"] == "a" and everything["routine"] == ""
    assert row["median"] == pytest.approx(0.35)
    # The error of a point of 20 cycles is no error of the model's.
    assert (row["long_points"], row["long_median"], row["long_worst_size"]) == (1, 0.2, 20)


@pytest.mark.parametrize(
    ("vendor", "family", "model", "preset", "exact"),
    [
        ("GenuineIntel", 6, 0x4F, "broadwell", True),
        ("GenuineIntel", 6, 0x97, "goldencove", True),
        ("GenuineIntel", 6, 0x55, "skylake", True),
        ("AuthenticAMD", 25, 0x01, "zen3", True),
        ("AuthenticAMD", 25, 0x11, "zen4", True),
        ("AuthenticAMD", 26, 0x02, "zen5", True),
        ("GenuineIntel", 6, 0x8F, "sapphirerapids", True),
        ("GenuineIntel", 6, 0xCF, "sapphirerapids", False),
        ("GenuineIntel", 6, 0xC6, "lioncove", True),
    ],
)
def test_the_preset_of_a_processor(vendor, family, model, preset, exact):
    fit = fit_for({"vendor_id": vendor, "cpu family": str(family), "model": str(model)})
    assert fit is not None and (fit.preset, fit.exact) == (preset, exact)
    assert preset in [each.name for each in list_presets()]


def test_a_processor_that_nothing_fits():
    assert fit_for({"vendor_id": "GenuineIntel", "cpu family": "6", "model": "1"}) is None
    assert fit_for({}) is None


def test_a_program_whose_heap_is_in_the_way_runs_again(tmp_path):
    program = tmp_path / "program"
    lines = ["echo >> tries", 'test $(wc -l < tries) = "$1" && exit 0', "echo no room for the buffers >&2", "exit 1"]
    program.write_text("\n".join(["#!/bin/sh", f"cd {tmp_path}", *lines]))
    program.chmod(0o700)
    assert native._run(program, tmp_path, [3]) == ""
    (tmp_path / "tries").unlink()
    with pytest.raises(UserError, match="no room for the buffers"):
        native._run(program, tmp_path, [99])
    assert len((tmp_path / "tries").read_text().splitlines()) == native._ATTEMPTS
