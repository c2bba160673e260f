"""`breakeven._engine` as Python sees it (docs/development.md): errors, hooks, interruption, determinism."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from breakeven import _engine
from breakeven.files.binaries import guest_elf
from breakeven.points import Point, pack

DATA = Path(__file__).resolve().parent.parent / "data"
REFERENCE = (DATA / "gem5/micro.rv64.elf").read_bytes()


def description(name: str) -> str:
    return (DATA / f"descriptions/{name}.json").read_text()


@pytest.fixture(scope="module")
def guest() -> bytes:
    return guest_elf("riscv")


def test_a_run_reports_gem5s_cause_and_totals() -> None:
    machine = _engine.Machine(description("atomic"), REFERENCE)
    end = machine.run()
    assert end["cause"] == "m5_exit instruction encountered"
    assert (end["code"], end["insts"], end["cycles"], end["ticks"]) == (0, 7490836, 7490836, 7490836 * 500)
    assert len(machine.dumps()) == 34
    assert machine.stats_txt().count("Begin Simulation Statistics") == 34
    names = [name for name, _, _, _ in machine.stats()]
    assert {"simSeconds", "simTicks", "finalTick", "simFreq", "hostSeconds", "simInsts", "simOps"} <= set(names)
    assert "system.cpu.numCycles" in names
    assert len(names) == len(set(names)), "every statistic once"


def test_statistics_have_units_and_descriptions() -> None:
    for core in ("atomic", "timing", "minor"):
        machine = _engine.Machine(description(core), REFERENCE)
        machine.run(max_insts=50_000)
        for name, value, unit, text in machine.stats():
            assert isinstance(value, float) and unit and text, name


def test_limits_are_totals_and_a_run_goes_on() -> None:
    machine = _engine.Machine(description("timing"), REFERENCE)
    first = machine.run(max_insts=1000)
    assert (first["cause"], first["insts"]) == ("max instruction count", 1000)
    again = machine.run(max_insts=1000)
    assert again["insts"] == 1000
    assert machine.run(max_ticks=first["ticks"] + 10**6)["cause"] == "simulate() limit reached"


def test_what_cannot_be_built_is_one_sentence() -> None:
    cases = [
        (lambda: _engine.Machine("{}", REFERENCE), "not a machine description"),
        (lambda: _engine.Machine(description("atomic"), b"MZ"), "not an ELF file"),
        (lambda: _engine.Machine(description("atomic"), REFERENCE[:5000]), "truncated"),
        (lambda: _engine.Sweep(description("atomic"), REFERENCE), "did not ask for its points"),
        (lambda: _engine.routines(REFERENCE), "no routines"),
    ]
    for call, words in cases:
        with pytest.raises(_engine.EngineError, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
    broken = json.loads(description("minor"))
    for entry in broken["objects"]:
        if entry["type"] == "Cache":
            entry["params"]["assoc"] = 0
    assert len(_engine.check_description(json.dumps(broken))) == 3
    assert _engine.check_description(description("minor")) == []


def test_a_hook_sees_every_dump_and_its_exception_comes_out() -> None:
    seen: list[int] = []
    _engine.Machine(description("atomic"), REFERENCE).run(stats_hook=lambda stats: seen.append(len(stats)))
    assert len(seen) == 34 and min(seen) > 10

    def fail(stats: object) -> None:
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        _engine.Machine(description("atomic"), REFERENCE).run(stats_hook=fail)


class Alarm(Exception):
    pass


@pytest.fixture
def alarm():
    def ring(*_: object) -> None:
        raise Alarm

    before = signal.signal(signal.SIGUSR1, ring)
    yield lambda: os.kill(os.getpid(), signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.slow
def test_a_signal_interrupts_a_run(alarm) -> None:
    machine = _engine.Machine(description("minor"), REFERENCE)
    rung = []

    def ring_once(stats: object) -> None:
        if not rung:
            rung.append(True)
            alarm()

    with pytest.raises(Alarm):
        machine.run(stats_hook=ring_once)
    # It stands where it was stopped and goes on.
    assert machine.run()["cause"] == "m5_exit instruction encountered"


@pytest.mark.slow
def test_sweeps_do_not_depend_on_threads(guest: bytes) -> None:
    sweep = _engine.Sweep(description("minor"), guest)
    names = [row["name"] for row in _engine.routines(guest)]
    records = pack([Point(routine=name, size=size, src_offset=size % 8) for name in names for size in (0, 7, 100)])
    one = sweep.run(records, threads=1)
    assert one == sweep.run(records, threads=2) == sweep.run(records)
    assert len(one) == len(records) // 2
    assert all(one[i + 4 : i + 8] == bytes(4) for i in range(0, len(one), 64)), "every output is right"


def test_progress_may_stop_a_sweep(guest: bytes) -> None:
    sweep = _engine.Sweep(description("minor"), guest)
    records = pack([Point(routine="rv-byte", size=60_000) for _ in range(200)])
    calls: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        calls.append((done, total))
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        sweep.run(records, threads=2, on_progress=stop)
    assert calls and calls[0][1] == 200 and calls[0][0] < 200


@pytest.mark.slow
def test_a_boot_a_long_point_and_a_look_into_one_are_stopped_on_their_way(guest: bytes) -> None:
    class Enough(Exception):
        pass

    calls: list[tuple[int, ...]] = []

    def stop(*told: int) -> None:
        calls.append(told)
        raise Enough

    for core in ("minor", "o3"):
        sweep = _engine.Sweep(description(core), guest)
        # It takes minutes to its end.
        long = Point(routine="rv-byte", size=1 << 24).pack()
        for run, told in (
            (lambda core=core: _engine.Sweep(description(core), guest, stop), ()),
            (lambda sweep=sweep, long=long: sweep.run(long, 1, stop), (0, 1)),
            (lambda sweep=sweep, long=long: sweep.measured(long, None, 1 << 20, stop), ()),
        ):
            # It is asked while it goes on, and no more once it has raised.
            calls.clear()
            with pytest.raises(Enough):
                run()
            assert calls == [told]
        # Whoever goes on gets what there is otherwise, too. By the instructions: a longer one is asked more often.
        often = []
        for size in (4096, 16384):
            point = Point(routine="rv-byte", size=size).pack()
            calls.clear()
            seen, alone = sweep.measured(point, None, 1 << 20, lambda: calls.append(())), sweep.measured(point)
            assert seen[:3] == alone[:3]
            often.append(len(calls))
        assert 0 < often[0] < often[1]


def test_a_whole_sweep_tells_its_end(guest: bytes) -> None:
    calls: list[tuple[int, int]] = []
    sweep = _engine.Sweep(description("atomic"), guest)
    sweep.run(pack([Point(routine="rv-word", size=64)] * 3), threads=1, on_progress=lambda *call: calls.append(call))
    assert calls[-1] == (3, 3)
