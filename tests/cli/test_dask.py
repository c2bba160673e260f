"""Points on the workers of a dask scheduler."""

import json
import logging
import os
import shutil
import signal
import subprocess
import sys

import pytest

from breakeven.engines.dask import DaskEngine, _run_chunk
from breakeven.engines.embedded import EmbeddedEngine
from breakeven.engines.stored import StoredEngine
from breakeven.errors import UserError
from breakeven.files.binaries import load_engine
from breakeven.points import POINT_BYTES
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.record import lists_of
from breakeven.store import Store
from breakeven.sweeps.run import run_sweep
from breakeven.sweeps.spec import SweepSpec
from tests.cli.conftest import _engine_is_built
from tests.waiting import until

distributed = pytest.importorskip("distributed")

#: without a dashboard there is a web port all the same
NO_PAGES = ["--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
HERE = ["--host", "127.0.0.1", *NO_PAGES]


class Here(DaskEngine):
    """Its workers are this process, and the last chunk is done first."""

    def __init__(self, fingerprint: str) -> None:
        self._local, self._fingerprint = EmbeddedEngine(), fingerprint
        self.program = self._local.program

    def threads(self) -> int:
        return 2

    def results(self, description: str, program: bytes, records: bytes, size: int):
        for start in reversed(range(0, len(records) // POINT_BYTES, size)):
            part = records[start * POINT_BYTES : (start + size) * POINT_BYTES]
            yield start, _run_chunk(self._fingerprint, description, program, part, lists_of(part))


@pytest.mark.slow
def test_chunks_give_the_same_table_in_any_order(tmp_path) -> None:
    if not _engine_is_built():
        pytest.skip("the engine or the guests are not built")
    told: list[int] = []
    with Store(tmp_path / "points.sqlite") as store:
        engine = StoredEngine(Here(load_engine().fingerprint), store)
        table = run_sweep(SPEC, engine, progress=lambda done, *_: told.append(done))
        assert table.equals(run_sweep(SPEC, EmbeddedEngine()))
        assert store.statistics()["points"] == len(table) == engine.simulated
    assert len(told) > 2 and told == sorted(told)
    with pytest.raises(UserError, match="a worker has another version of breakeven's engine"):
        run_sweep(SPEC, Here("another"))


@pytest.fixture
def cluster():
    if not _engine_is_built():
        pytest.skip("the engine or the guests are not built")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, silence_logs=logging.CRITICAL, dashboard_address=""
    ) as started:
        yield started


SPEC = SweepSpec(["rv-word", "rv-byte"], [MachineSpec("u74")], range(1, 200), repetitions=1)


@pytest.mark.long
def test_a_worker_killed_in_mid_sweep_loses_nothing(cluster, tmp_path) -> None:
    here = run_sweep(SPEC, EmbeddedEngine())
    killed = []
    with DaskEngine(cluster.scheduler_address) as engine, Store(tmp_path / "points.sqlite") as store:

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


@pytest.mark.long
def test_the_command(cluster, breakeven, tmp_path) -> None:
    command = ["sweep", "rv-word", "--sizes", "1..20", "--no-store"]
    done = breakeven(*command, "--scheduler", cluster.scheduler_address, "-o", "far.csv")
    assert done.returncode == 0, done.stderr
    assert breakeven(*command, "-o", "near.csv").returncode == 0
    assert (tmp_path / "far.csv").read_bytes() == (tmp_path / "near.csv").read_bytes()


def test_no_scheduler_is_one_sentence(monkeypatch) -> None:
    from breakeven.engines import dask as dask_engine

    monkeypatch.setattr(dask_engine, "TIMEOUT", 0.5)
    with pytest.raises(UserError, match="no dask scheduler at 'tcp://127.0.0.1:1'"):
        dask_engine.DaskEngine("tcp://127.0.0.1:1")
    for address in ("nonsense://x", "abc", "", "/", "tcp://", "host:", "inproc://x", "tcp://a b:1"):
        with pytest.raises(UserError, match="is no address of a dask scheduler: give it like tcp://127.0.0.1:8786"):
            dask_engine.DaskEngine(address)
    with pytest.raises(UserError, match="distributed.comm.tls"):
        dask_engine.DaskEngine("tls://127.0.0.1:1")


@pytest.mark.long
def test_a_lost_scheduler_keeps_what_is_done(tmp_path) -> None:
    """The scheduler's process is killed in mid sweep: one sentence, and the points done so far are in the store."""
    if not _engine_is_built():
        pytest.skip("the engine or the guests are not built")
    scheduler = start("scheduler", *HERE, "--port", "0", "--scheduler-file", tmp_path / "s.json")
    worker = None
    try:
        address = wait_for(lambda: json.loads((tmp_path / "s.json").read_text())["address"])
        worker = start("worker", address, *HERE, "--nthreads", "1", "--nanny-port", "0")
        with DaskEngine(address) as engine, Store(tmp_path / "points.sqlite") as store:
            wait_for(engine.threads)

            def progress(done: int, total: int, _: str) -> None:
                if 0 < done < total and scheduler.poll() is None:
                    scheduler.kill()
                    scheduler.wait()

            with pytest.raises(UserError, match="is lost: finished points are in the store"):
                run_sweep(SPEC, StoredEngine(engine, store), progress=progress)
            assert 0 < store.statistics()["points"] < 2 * len(SPEC.sizes)
    finally:
        for process in (scheduler, worker):
            if process is not None:
                process.terminate()
                process.wait(20)


@pytest.mark.long
def test_only_this_computer_reaches_the_ports(tmp_path) -> None:
    """Scheduler and worker as docs/cli.md starts them, and the sweep: whatever listens listens on loopback."""
    if not _engine_is_built():
        pytest.skip("the engine or the guests are not built")
    found = tmp_path / "s.json"
    own = listening(os.getpid())
    processes = [start("scheduler", *HERE, "--port", "0", "--scheduler-file", found)]
    try:
        address = wait_for(lambda: json.loads(found.read_text())["address"])
        processes.append(start("worker", address, *HERE, "--nthreads", "1"))
        with DaskEngine(address) as engine:
            wait_for(engine.threads)
            during: list[set[tuple[str, int]]] = []

            def progress(done: int, total: int, _: str) -> None:
                if not during:
                    during.extend([listening(os.getpid()), *(listening(each.pid, True) for each in processes)])

            run_sweep(SPEC, engine, progress=progress)
        ours, schedulers, workers = during
        assert ours == own
        # The worker's nanny has a port of its own; without a dashboard each has a page of its health all the same.
        assert len(schedulers) >= 2 and len(workers) >= 3, during
        assert {host for host, _ in schedulers | workers} == {"127.0.0.1"}, during
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(20)


def listening(pid: int, children: bool = False) -> set[tuple[str, int]]:
    """Hosts and ports that a process listens at, and its children with it."""
    psutil = pytest.importorskip("psutil")  # dask brings it
    root = psutil.Process(pid)
    family = [root, *(root.children(recursive=True) if children else [])]
    connections = [entry for process in family for entry in process.net_connections()]
    return {tuple(entry.laddr) for entry in connections if entry.status == psutil.CONN_LISTEN}


def start(part: str, *arguments: object) -> subprocess.Popen[bytes]:
    """A process of dask's command line, `part` of it."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{part}", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_for(question):
    """The answer of `question` once it has one."""

    def answer():
        try:
            return question()
        except (OSError, ValueError, UserError):
            return None

    return until(answer)


@pytest.mark.long
def test_a_worker_of_another_version_is_one_sentence(cluster, monkeypatch) -> None:
    from breakeven.engines import dask as dask_engine

    monkeypatch.setattr(dask_engine, "_run_chunk", _of_another_version)
    another = pytest.raises(UserError, match="a worker has another version of breakeven's engine")
    with dask_engine.DaskEngine(cluster.scheduler_address) as engine, another:
        run_sweep(SPEC, engine)


def _of_another_version(fingerprint: str, *rest):
    return _run_chunk("0" + fingerprint, *rest)


@pytest.mark.long
def test_tls_lets_in_who_has_a_certificate(tmp_path, monkeypatch) -> None:
    """Scheduler and worker with TLS, as docs/cli.md has it: the sweep needs the certificate."""
    if not _engine_is_built() or not shutil.which("openssl"):
        pytest.skip("the engine is not built, or no openssl")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=breakeven", "-keyout", key]
    subprocess.run([*make, "-out", cert], check=True, capture_output=True)
    tls = ["--tls-ca-file", cert, "--tls-cert", cert, "--tls-key", key, *NO_PAGES, "--host", "tls://127.0.0.1"]
    found = tmp_path / "s.json"
    processes = [start("scheduler", "--port", "0", "--scheduler-file", found, *tls)]
    try:
        address = wait_for(lambda: json.loads(found.read_text())["address"])
        assert address.startswith("tls://127.0.0.1:")
        processes.append(start("worker", address, "--nthreads", "1", "--no-nanny", *tls))
        # dask reads its configuration when it is imported: a process of its own.
        command = [sys.executable, "-m", "breakeven", "sweep", "rv-word", "--sizes", "1..9", "--no-store"]
        far = [*command, "--scheduler", address, "-o", str(tmp_path / "far.csv")]
        refused = subprocess.run(far, capture_output=True, text=True, timeout=120)
        assert refused.returncode == 1 and "distributed.comm.tls" in refused.stderr, refused.stderr
        for name, value in {"CA_FILE": cert, "CLIENT__CERT": cert, "CLIENT__KEY": key}.items():
            monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{name}", str(value))
        let_in = wait_for(lambda: served(subprocess.run(far, capture_output=True, text=True, timeout=120)))
        assert let_in.returncode == 0, let_in.stderr
        near = subprocess.run([*command, "-o", str(tmp_path / "near.csv")], capture_output=True, timeout=120)
        assert near.returncode == 0
        assert (tmp_path / "far.csv").read_bytes() == (tmp_path / "near.csv").read_bytes()
    finally:
        for process in processes:
            process.terminate()
            process.wait(20)


def served(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    """What a command did; it is to be tried again while the worker has not come yet."""
    if "has no workers" in done.stderr:
        raise UserError(done.stderr)
    return done
