"""Points on the workers of a dask scheduler."""

import logging
import os
import signal

import pytest

from breakeven.errors import UserError
from breakeven.runner import EmbeddedEngine, MachineSpec
from breakeven.store import Store
from breakeven.stored import StoredEngine
from breakeven.sweep import SweepSpec, run_sweep
from tests.cli.conftest import _engine_is_built

distributed = pytest.importorskip("distributed")


@pytest.fixture
def cluster():
    if not _engine_is_built():
        pytest.skip("the engine or the guests are not built")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, silence_logs=logging.CRITICAL, dashboard_address=""
    ) as started:
        yield started


SPEC = SweepSpec(["rv-word", "rv-byte"], [MachineSpec("u74")], range(1, 200), repetitions=1)


def test_a_worker_killed_in_mid_sweep_loses_nothing(cluster, tmp_path) -> None:
    from breakeven.spread import SpreadEngine

    here = run_sweep(SPEC, EmbeddedEngine())
    killed = []
    with SpreadEngine(cluster.scheduler_address) as engine, Store(tmp_path / "points.sqlite") as store:

        def progress(done: int, total: int, _: str) -> None:
            if 0 < done < total and not killed:
                pid = next(iter(engine._client.run(os.getpid).values()))
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)

        stored = StoredEngine(engine, store)
        table = run_sweep(SPEC, stored, progress=progress)
        assert killed
        assert table.equals(here)
        assert store.statistics()["points"] == len(table) == stored.simulated
        # A second sweep is read from the store.
        again = StoredEngine(engine, store)
        assert run_sweep(SPEC, again).equals(here)
        assert again.simulated == 0


def test_the_command(cluster, breakeven, tmp_path) -> None:
    command = ["sweep", "rv-word", "--sizes", "1..20", "--no-store"]
    done = breakeven(*command, "--scheduler", cluster.scheduler_address, "-o", "far.csv")
    assert done.returncode == 0, done.stderr
    assert breakeven(*command, "-o", "near.csv").returncode == 0
    assert (tmp_path / "far.csv").read_bytes() == (tmp_path / "near.csv").read_bytes()


def test_no_scheduler_is_one_sentence(monkeypatch) -> None:
    from breakeven import spread

    monkeypatch.setattr(spread, "TIMEOUT", 0.5)
    with pytest.raises(UserError, match="no dask scheduler at 'tcp://127.0.0.1:1'"):
        spread.SpreadEngine("tcp://127.0.0.1:1")
    with pytest.raises(UserError, match="no dask scheduler at 'nonsense://x'"):
        spread.SpreadEngine("nonsense://x")
