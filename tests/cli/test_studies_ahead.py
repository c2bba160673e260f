"""Several studies in one pool of threads: the same outcomes as one point after the other, each point run once."""

from __future__ import annotations

import hashlib
import math
import os
import signal
import threading
from dataclasses import replace
from functools import partial

import pytest

from breakeven.engines.embedded import EmbeddedEngine
from breakeven.engines.stored import StoredEngine
from breakeven.errors import UserError
from breakeven.points import Point, pack
from breakeven.points.engine import Engine, Identity
from breakeven.points.machine_spec import MachineSpec
from breakeven.store import Store
from breakeven.studies import ahead
from breakeven.studies import study as st
from breakeven.studies.ahead import AheadEngine, run_studies
from breakeven.sweeps.spec import SweepSpec
from tests.cli.conftest import _engine_is_built

pytestmark = pytest.mark.slow

BOTH = ["slow", "fast"]


def cost(routine: str, size: int, row, machine) -> int:
    start = 40 if "=" in str(machine) else 10
    return 10 * size if routine == "slow" else start + 2 * size + int(row["src_offset"])


def study(name: str, on: str = "u74") -> st.Study:
    """Two grids that have points in common, and a search."""
    machine = MachineSpec(on)
    settings = {"cpu.executeBranchDelay": ["1", "2"]}
    grids = {
        "a": ("one", SweepSpec(BOTH, [machine], range(1, 40), src_offsets=[0, 3])),
        "b": ("two", SweepSpec(BOTH, [machine], range(20, 60), parameters=settings)),
        "c": ("three", SweepSpec(BOTH, [machine], range(30, 50))),
    }
    searches = {"where": ("who", SweepSpec(BOTH, [machine], range(1, 64)))}
    contents = st.Contents({}, [], [])
    return st.Study(name, "t", grids, lambda data: [], lambda data: contents, "text", searches)


class CountingSession:
    """Counts what it runs, and the threads that it runs in."""

    def __init__(self, inner, engine) -> None:
        self.inner, self.engine = inner, engine

    def routines(self):
        return self.inner.routines()

    def run(self, records, threads=0, progress=None, on_results=None):
        self.engine.threads.add(threading.get_ident())
        self.engine.ran += [(str(self.inner.machine), records[at : at + 128]) for at in range(0, len(records), 128)]
        return self.inner.run(records, threads, progress, on_results)


class Counting(Engine):
    def __init__(self, inner) -> None:
        self.inner, self.ran, self.threads = inner, [], set()

    def check(self, machine, routines=()) -> None:
        self.inner.check(machine, routines)

    def machine_hash(self, machine) -> str:
        return self.inner.machine_hash(machine)

    def open(self, machine):
        return CountingSession(self.inner.open(machine), self)


def test_the_outcomes_are_those_of_one_point_after_the_other(fake) -> None:
    names = ["nobody", "nothing"]
    plain = [st.run_study(study(name), fake(cost)) for name in names]
    engine, seen = Counting(fake(cost)), []
    pooled = list(run_studies([study(name) for name in names], engine, 3, lambda *at: seen.append(at)))
    for one, other in zip(plain, pooled, strict=True):
        assert one.study.name == other.study.name and one.points == other.points and one.failures == other.failures
        assert list(one.data.tables) == list(other.data.tables)
        for name, table in one.data.tables.items():
            assert table.equals(other.data.tables[name]), name
        assert one.data.found["where"].as_dict() == other.data.found["where"].as_dict()
        assert one.hashes == other.hashes
    # Points of several grids and studies run once (a search may meet one that is just being run), none of them here.
    asked = sum(table.shape[0] for outcome in plain for table in outcome.data.tables.values())
    assert 300 < len(set(engine.ran)) <= len(engine.ran) < 0.6 * asked
    assert threading.get_ident() not in engine.threads
    assert seen[-1][0] == seen[-1][1] and [done for done, *_ in seen] == sorted(done for done, *_ in seen)


def test_an_error_ends_the_pool(fake) -> None:
    bad = SweepSpec(BOTH, [MachineSpec("u74", ("bad=1",))], [1])
    broken = st.Study("nobody", "t", {"a": ("one", bad)}, lambda data: [], lambda data: None, "text")
    with pytest.raises(ValueError, match="bad machine"):
        list(run_studies([study("nobody"), broken, study("nobody")], fake(cost), 2))
    assert all(not thread.name.startswith("ThreadPool") for thread in threading.enumerate())


class WatchedSession(CountingSession):
    """Tells when a run is under way, and keeps those that came to their end."""

    def run(self, records, threads=0, progress=None, on_results=None):
        def watched(done, total) -> None:
            self.engine.under_way.set()
            progress(done, total)

        results = self.inner.run(records, threads, watched, on_results)
        self.engine.ended.append(records)
        return results


class Watched(Counting):
    def __init__(self, inner) -> None:
        super().__init__(inner)
        self.under_way, self.ended = threading.Event(), []

    def open(self, machine):
        return WatchedSession(self.inner.open(machine), self)


def test_ctrl_c_ends_what_is_under_way() -> None:
    """A search of points that each take seconds: none of them comes to its end."""
    if not _engine_is_built():
        pytest.skip("the engine or the guests are not built")
    names, machine = ["sol-bcopy", "sol-kcopy-nta"], MachineSpec("nehalem")
    slow = SweepSpec(names, [machine], [128 << 10], measures=["stream"], total=64 << 20, repetitions=1, flags=4)
    over = {"mem_ctrl.write_buffer_size": ["2", "4", "8", "16"]}
    long = st.Study("nobody", "t", {"a": ("one", slow)}, lambda data: [], lambda data: None, "text",
                    {"where": ("who", replace(slow, parameters=over))})  # fmt: skip
    engine = Watched(EmbeddedEngine())

    def interrupt() -> None:
        engine.under_way.wait()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt, daemon=True)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            list(run_studies([long], engine, 2))
    finally:
        signal.signal(signal.SIGINT, before)
    assert not engine.ended
    assert all(not thread.name.startswith("ThreadPool") for thread in threading.enumerate())


class Storable(Counting):
    """What a store may stand before; its routines have no guest. `most`: Ctrl-C comes when it has run so many."""

    def __init__(self, inner, most: float = math.inf) -> None:
        super().__init__(inner)
        self.most, self.turn = most, threading.Lock()

    def identity(self, machine):
        text = str(machine)
        return Identity("engine", hashlib.sha256(text.encode()).hexdigest(), "guest"), text

    def routines(self, machine):
        return self.inner.open(machine).routines()

    def open(self, machine):
        session = StorableSession(self.inner.open(machine), self)
        session.machine_hash = self.identity(machine)[0].machine_hash
        return session


class StorableSession(CountingSession):
    """Runs one point after the other, each kept as it comes."""

    def run(self, records, threads=0, progress=None, on_results=None):
        found = []
        for number, at in enumerate(range(0, len(records), 128)):
            with self.engine.turn:
                if len(self.engine.ran) >= self.engine.most:
                    raise KeyboardInterrupt
                result = super().run(records[at : at + 128])
            found.append(number.to_bytes(4, "little") + result[4:])
            on_results(found[-1][:4], found[-1])
            progress(number + 1, len(records) // 128)
        return b"".join(found)


def record(seen: list[tuple[int, int, str]], done: int, total: int, label: str) -> None:
    seen.append((done, total, label))


@pytest.mark.parametrize("most", [1, 150, 420])
def test_a_run_that_was_stopped_goes_on_where_it_was(fake, tmp_path, most: int) -> None:
    studies = [study("nobody"), study("nothing", "c906")]
    plain = [st.run_study(each, fake(cost)) for each in studies]
    with Store(tmp_path / "whole.sqlite") as store:
        whole = Storable(fake(cost))
        list(run_studies(studies, StoredEngine(whole, store), 2))
    totals: list[list[tuple[int, int, str]]] = [[], [], []]
    engines = [Storable(fake(cost), most), Storable(fake(cost)), Storable(fake(cost), 0)]
    outcomes: list[st.Outcome] = []
    for engine, seen in zip(engines, totals, strict=True):
        with Store(tmp_path / "store.sqlite") as store:
            try:
                told = partial(record, seen)
                outcomes = list(run_studies(studies, StoredEngine(engine, store), 2, told))
            except KeyboardInterrupt:
                assert engine is engines[0]
    first, second, third = (engine.ran for engine in engines)
    assert len(first) == most and third == []
    assert not set(first) & set(second) and {*first, *second} == set(whole.ran)
    for one, other in zip(plain, outcomes, strict=True):
        assert all(table.equals(other.data.tables[name]) for name, table in one.data.tables.items())
    # What was there is no part of the work, nor of its estimate: after a full run the reports alone are left.
    assert most == 1 or totals[1][0][1] < totals[0][0][1]
    assert {done for done, *_ in totals[2]} <= {0, ahead.REPORT, 2 * ahead.REPORT}
    assert totals[2][-1][:2] == (2 * ahead.REPORT, 2 * ahead.REPORT)
    assert {label for *_, label in totals[1]} >= {"nobody (1 of 2)", "nothing (2 of 2)"}


def test_what_is_known_is_not_run_again(fake) -> None:
    engine = Counting(fake(cost))
    knowing, machine = AheadEngine(engine), MachineSpec("u74")
    points = [Point("slow", size, repetitions=21) for size in (1, 2, 3)]
    first = knowing.open(machine).run(pack(points))
    again = knowing.open(machine).run(pack(points[::-1]))
    assert len(engine.ran) == 3
    size = len(first) // 3
    assert [again[i * size + 4 : (i + 1) * size] for i in (2, 1, 0)] == [
        first[i * size + 4 : (i + 1) * size] for i in range(3)
    ]
    assert [int.from_bytes(again[i * size : i * size + 4], "little") for i in range(3)] == [0, 1, 2]
    with pytest.raises((UserError, ValueError)):
        AheadEngine(fake(cost)).check(MachineSpec("bad"))
