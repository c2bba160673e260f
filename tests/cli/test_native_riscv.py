"""`--engine native` of a RISC-V host, without one: its program under qemu's user mode. Results and the contract are
tested; under qemu the cycles mean nothing but that something was counted."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from breakeven import api
from breakeven import points as pt
from breakeven.analysis.across_engines import NO_SMAP, spec_for
from breakeven.engines import native
from breakeven.engines.run_points import run_points
from breakeven.errors import UserError
from breakeven.files.data import DataNotFound, find_data
from breakeven.machine.host import fit_for, host_words
from breakeven.machine.presets import list_presets
from breakeven.points.machine_spec import HOST, MachineSpec
from breakeven.sweeps.request import machine_spec
from breakeven.sweeps.spec import SweepSpec
from tests.tiers import some_or_all

pytestmark = pytest.mark.slow

U74 = """processor\t: 0
hart\t\t: 1
isa\t\t: rv64imafdc_zicntr_zicsr_zifencei_zihpm_zca_zcd_zba_zbb
mmu\t\t: sv39
uarch\t\t: sifive,u74-mc
mvendorid\t: 0x489
marchid\t\t: 0x8000000000000007
mimpid\t\t: 0x4210427

processor\t: 1
uarch\t\t: sifive,s7
"""
#: the kernel of 2021 told no more than this
OLD_U74 = "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\nuarch\t\t: sifive,bullet0\n"
C906 = """processor\t: 0
hart\t\t: 0
isa\t\t: rv64imafdc
mmu\t\t: sv39
uarch\t\t: thead,c906
mvendorid\t: 0x5b7
marchid\t\t: 0x0
mimpid\t\t: 0x0
"""
C910 = C906.replace("c906", "c910")
#: T-Head's pair of numbers without the device tree's word
NAMELESS = C906.replace("uarch\t\t: thead,c906\n", "")


@pytest.fixture
def cpuinfo(monkeypatch, tmp_path):
    """Makes this a RISC-V host whose ``/proc/cpuinfo`` is a text."""

    def become(text: str) -> None:
        (tmp_path / "cpuinfo").write_text(text)
        monkeypatch.setattr(
            "breakeven.machine.host.Path",
            lambda *parts: tmp_path / "cpuinfo" if parts == ("/proc/cpuinfo",) else Path(*parts),
        )
        monkeypatch.setattr(platform, "machine", lambda: "riscv64")

    return become


@pytest.fixture
def host(cpuinfo, monkeypatch, tmp_path):
    """A RISC-V host as qemu makes one, running the program `name`."""
    pytest.importorskip("breakeven._engine")
    if not (qemu := shutil.which("qemu-riscv64")):
        pytest.skip("no qemu-riscv64 (scripts/setup --test-tools)")

    def become(name: str = "riscv-native") -> native.NativeEngine:
        try:
            program = find_data("guests", name)
        except DataNotFound:
            pytest.skip(f"no {name}: there was no compiler for RISC-V Linux (scripts/setup --test-tools)")
        script = tmp_path / name
        script.write_text(f'#!/bin/sh\nexec {qemu} {program} "$@"\n')
        script.chmod(0o700)
        monkeypatch.setattr(native, "_program", lambda isa, own: script)
        monkeypatch.setattr(native, "ROUNDS", 3)
        cpuinfo(U74)
        return native.NativeEngine()

    return become


@some_or_all(4)
def test_every_routine_is_right_on_the_host(host, every):
    engine = host()
    # This host has no vectors, and is older than some extensions.
    younger = {"rv-clear-zicboz", "rv-crc32c-zbc"}
    routines = [each for each in engine.routines() if not each.missing_extension]
    lacking = {each.name for each in engine.routines() if each.missing_extension}
    assert len(routines) > 14 and {each for each in lacking if not each.startswith("rvv-")} <= younger
    assert lacking >= {each.name for each in engine.routines() if each.name.startswith("rvv-")}
    points = [
        pt.Point(each.name, size, src_offset=src, dst_offset=dst)
        for each in routines for size in (0, 1, 7, 64, 100, 1448) for src, dst in ((0, 0), (3, 0), (5, 6))
    ][::every]  # fmt: skip
    session = engine.open(MachineSpec(HOST))
    results = np.frombuffer(session.run(pt.pack(points)), pt.result_dtype())
    assert list(results["index"]) == list(range(len(points)))
    assert not results["status"].any()
    # Something was counted; nothing else is known of a time under qemu.
    assert (results["cycles_median"][[point.size == 1448 for point in points]] > 0).all()
    assert (results["overhead"] > 0).all() and (results["cycles_min"] <= results["cycles_median"]).all()
    assert not results["instructions"].any()
    assert engine.counter in ("rdcycle", "rdcycle,perf", "rdtime")
    assert engine.clock is not None and engine.clock[0] > 0
    assert all(engine.half_iqr_of(point.pack()) is not None for point in points)


def test_the_timer_counts_where_nothing_else_does(host, monkeypatch):
    monkeypatch.setenv("BREAKEVEN_COUNTER", "rdtime")
    engine = host()
    (result,) = run_points(engine.open(MachineSpec(HOST)), [pt.Point("rv-byte", 1448)])
    assert result.ok and result.cycles_median > 0 and engine.counter == "rdtime"


def test_faults_measures_and_refusals(host):
    engine = host()
    session = engine.open(MachineSpec(HOST))
    copies = ("rv-copy-user-2017", "rv-copy-user-2021", "rv-copy-user-2024")
    points = [pt.Point(name, 100, src_offset=4065, fault_at=60) for name in copies]
    points += [pt.Point(name, 4096 + 100, fault_at=4096 | 1 << 63) for name in copies]
    points += [pt.Point("rv-word", 100, measure=measure, calls=5, size2=50) for measure in (1, 2)]
    points += [pt.Point("rv-word", 100, measure=pt.MEASURES.index("stream"), calls=50)]
    points += [pt.Point("rv-word", 100, cache_state=pt.CACHE_STATES.index("l2"))]
    points += [pt.Point("rv-byte", 100, fault_at=50)]
    results = run_points(session, points)
    assert [result.status for result in results[:-1]] == [0] * (len(points) - 1)
    assert all(60 <= result.ret <= 100 for result in results[:3])
    assert pt.STATUSES[results[-1].status] == "point out of range"
    cold = pt.Point("rv-word", 100, cache_state=pt.CACHE_STATES.index("cold"))
    try:  # by what this qemu's processor has
        assert run_points(session, [cold])[0].ok
    except UserError as error:
        assert "cold points need cbo.flush" in str(error)


@pytest.mark.parametrize(
    ("routine", "status", "detail"),
    [
        ("broken-short", "wrong output", 99),
        ("broken-after", pt.STATUSES[6], 100),
        ("broken-s3", pt.STATUSES[6], 1 << 62 | 1 << 3),
        ("broken-fs11", pt.STATUSES[6], 1 << 62 | 1 << 23),
        ("broken-sp", pt.STATUSES[6], 1 << 62 | 1 << 24),
        ("broken-wild", "unexpected trap", 13),
        ("broken-jump", "unexpected trap", 13),
        ("broken-return", "wrong return value", 0),
    ],
)
def test_a_broken_routine_is_found_out(host, routine, status, detail):
    session = native.NativeSession(host("riscv-native-broken"), None)
    records = pt.pack([pt.Point(routine, 100, src_offset=3, dst_offset=5), pt.Point("whole", 100, src_offset=3)])
    bad, good = pt.unpack_results(session.run(records))
    assert (pt.STATUSES[bad.status], bad.detail) == (status, detail)
    # The C library's registers are its own again: the rest goes on.
    assert good.ok and good.cycles_median < 1 << 40


def test_from_python_and_what_a_host_lacks(host, cpuinfo):
    host()
    assert api.run("rv-do-csum-2024-zbb", 64, engine="native").ok
    cpuinfo(OLD_U74)
    with pytest.raises(UserError, match="rv-do-csum-2024-zbb on native: it needs Zbb, which this host lacks"):
        api.run("rv-do-csum-2024-zbb", 64, engine="native")
    with pytest.raises(UserError, match="there is no routine 'x64-byte'"):
        api.run("x64-byte", 64, engine="native")


@pytest.mark.parametrize(
    ("text", "preset", "exact"),
    [
        (U74, "u74", True),
        (OLD_U74, "u74", True),
        (U74.replace("uarch\t\t: sifive,u74-mc\n", ""), "u74", True),
        (C906, "c906", True),
        (C910, "c910", True),
        (C910.replace("c910", "c920"), "c920", True),
        (C910.replace("c910", "c908"), "c908", True),
        (U74.replace("sifive,u74-mc", "sifive,p550"), "p550", True),
        (U74.replace("sifive,u74-mc", "spacemit,x60").replace("0x489", "0x710"), "x60", True),
    ],
)
def test_the_preset_of_a_host(cpuinfo, text, preset, exact):
    cpuinfo(text)
    fit = fit_for(native.cpu_info())
    assert fit is not None and (fit.preset, fit.exact) == (preset, exact)
    assert preset in [each.name for each in list_presets()]
    assert machine_spec("host", []) == MachineSpec(preset)


def test_a_host_that_no_preset_fits(cpuinfo):
    cpuinfo(NAMELESS)
    assert fit_for(native.cpu_info()) is None
    assert host_words() == "mvendorid 0x5b7, marchid 0x0, isa rv64imafdc"
    with pytest.raises(UserError, match="no preset fits this host's processor .*mvendorid 0x5b7.*: name one"):
        machine_spec("host", [])
    assert native.host_name() == native.platform.processor() or native.host_name() == "riscv64"
    cpuinfo(U74.replace("sifive,u74-mc", "andes,ax45").replace("0x489", "0x31e"))
    assert fit_for(native.cpu_info()) is None and native.host_name() == "andes,ax45"


def test_a_machine_beside_the_host_keeps_its_instruction_set():
    for machine, settings in (("u74", ()), ("x86_minor", (NO_SMAP,))):
        spec = SweepSpec(["any"], [MachineSpec(machine)], [8])
        assert spec_for("embedded", spec, beside_host=True).machines == [MachineSpec(machine, settings)]


def test_the_program_says_how_it_is_called(host):
    host()
    done = subprocess.run([native._program("riscv", None)], capture_output=True, text=True)
    assert done.returncode == 2 and "usage:" in done.stderr
