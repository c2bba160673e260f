"""Points on many machines: an engine whose sessions hand chunks of points to the workers of a dask scheduler.

Looks like any `Engine`, so sweeps, searches and the store do not know. A chunk carries all that it needs (description,
guest, points), so any worker can run it, and dask gives the chunks of a worker that dies to another one. Results come
back as they are done and are handed on at once: with a store before this engine, what is done stays done.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.engines.embedded import EmbeddedEngine
from breakeven.errors import UserError
from breakeven.files.binaries import load_engine
from breakeven.machine.resolve import resolve
from breakeven.points import POINT_BYTES, RESULT_BYTES
from breakeven.points.engine import Engine, Progress, Results, Routine
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.record import lists_of

if TYPE_CHECKING:
    from breakeven.points.engine import Identity


#: points of a chunk: a tenth of a second or more of work, a thousandth of its transport
MOST_POINTS, LEAST_POINTS = 128, 4
#: chunks for each of the workers' threads, so that the slowest does not keep the others waiting
CHUNKS_A_THREAD = 8
#: seconds to find the scheduler
TIMEOUT = 15
#: chunks that a chunk's worker may take down with it before it is given up
RETRIES = 5

#: what can be the address of a scheduler on another machine or this one
_ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx|ucxx)://)?(\[[0-9a-fA-F:.%]+\]|[^\s/:\[\]]+):\d{1,5}")
TLS_HELP = "name certificate and key in dask's configuration (distributed.comm.tls)"
#: of each worker thread: the machine that it last booted
_booted = threading.local()


def _run_chunk(fingerprint: str, description: str, program: bytes, records: bytes, lists: bytes) -> bytes:
    """On a worker: the results of some points."""
    engine = load_engine()
    if engine.fingerprint != fingerprint:
        raise UserError("a worker has another version of breakeven's engine: install the same one everywhere")
    key = (description, program)
    if getattr(_booted, "key", None) != key:
        _booted.sweep, _booted.key = engine.Sweep(description, program), key
    results: bytes = _booted.sweep.run(records, threads=1, lists=lists)
    return results


class DaskSession:
    """A session whose points run elsewhere."""

    def __init__(self, machine: MachineSpec, engine: DaskEngine) -> None:
        self.machine = machine
        self._engine = engine
        resolved = resolve(machine)
        self.machine_hash = resolved.hash
        self._description = resolved.text
        self._program = engine.program.of(resolved.isa)

    def routines(self) -> list[Routine]:
        return self._engine.routines(self.machine)

    def run(
        self, records: bytes, threads: int = 0, progress: Progress | None = None, on_results: Results | None = None
    ) -> bytes:
        """As a session's; `threads` is the workers' affair."""
        total = len(records) // POINT_BYTES
        per_thread = -(-total // (self._engine.threads() * CHUNKS_A_THREAD))
        size = min(max(per_thread, LEAST_POINTS), MOST_POINTS)
        rows: list[bytes] = [b""] * total
        done = 0
        for start, results in self._engine.results(self._description, self._program, records, size):
            if len(results) != min(size, total - start) * RESULT_BYTES:
                raise UserError(f"a worker left {len(results)} bytes of results for {size} points on {self.machine}")
            some = range(start, start + len(results) // RESULT_BYTES)
            for i in some:
                at = (i - start) * RESULT_BYTES
                rows[i] = i.to_bytes(4, "little") + results[at + 4 : at + RESULT_BYTES]
            done += len(some)
            if on_results is not None:
                on_results(b"".join(i.to_bytes(4, "little") for i in some), b"".join(rows[i] for i in some))
            if progress is not None:
                progress(done, total)
        return b"".join(rows)


class DaskEngine(Engine):
    """The workers of the dask scheduler at `address`. `elf`: a guest of the user's own."""

    def __init__(self, address: str, elf: Path | None = None) -> None:
        self._local = EmbeddedEngine(elf)
        self.program = self._local.program
        self._client = _connect(address)
        self._address = address

    def __enter__(self) -> DaskEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def check(self, machine: MachineSpec, routines: Sequence[str] = ()) -> None:
        self._local.check(machine, routines)

    def machine_hash(self, machine: MachineSpec) -> str:
        return self._local.machine_hash(machine)

    def identity(self, machine: MachineSpec) -> tuple[Identity, str]:
        return self._local.identity(machine)

    def routines(self, machine: MachineSpec) -> list[Routine]:
        return self._local.routines(machine)

    def open(self, machine: MachineSpec) -> DaskSession:
        return DaskSession(machine, self)

    def threads(self) -> int:
        """Threads of all workers."""
        count: int = sum(self._client.nthreads().values())
        if count == 0:
            raise UserError(f"the scheduler {self._address} has no workers: start some (dask worker {self._address})")
        return count

    def results(self, description: str, program: bytes, records: bytes, size: int) -> Any:
        """The first point of each chunk and its results, as they are done."""
        from concurrent.futures import CancelledError

        from distributed import as_completed
        from distributed.scheduler import KilledWorker

        starts = range(0, len(records) // POINT_BYTES, size)
        chunks = [records[at * POINT_BYTES : (at + size) * POINT_BYTES] for at in starts]
        fingerprint = load_engine().fingerprint
        futures = self._client.map(
            _run_chunk, [fingerprint] * len(chunks), [description] * len(chunks), [program] * len(chunks), chunks,
            [lists_of(chunk) for chunk in chunks], pure=False, retries=RETRIES, batch_size=64,
        )  # fmt: skip
        start_of = {future.key: start for future, start in zip(futures, starts, strict=True)}
        try:
            for future, results in as_completed(futures, loop=self._client.loop, with_results=True):
                if not isinstance(results, bytes):  # a chunk that was cancelled: dask hands the error on as its result
                    raise self._lost()
                yield start_of[future.key], results
                future.release()
        except KilledWorker as error:
            raise UserError(f"workers died again and again at the same points ({error}): look at their logs") from None
        except (OSError, CancelledError):
            raise self._lost() from None
        except ImportError as error:
            raise UserError(f"a worker cannot run points ({error}): install this breakeven on every worker") from None
        finally:
            with suppress(Exception):  # a scheduler that is lost has nothing left to cancel
                self._client.cancel(futures)

    def _lost(self) -> UserError:
        return UserError(
            f"the scheduler {self._address} is lost: finished points are in the store; start it and run this again"
        )


def _connect(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise UserError("--scheduler needs the package distributed: pip install distributed") from None
    if not _ADDRESS.fullmatch(address):
        raise UserError(f"{address!r} is no address of a dask scheduler: give it like tcp://127.0.0.1:8786")
    try:
        return Client(address, timeout=TIMEOUT, set_as_default=False)
    except TypeError as error:  # what dask raises for an address by TLS and no certificates
        raise UserError(f"no dask scheduler at {address!r}: {error}; {TLS_HELP}") from None
    except (OSError, ValueError) as error:
        text = str(error).partition("\n")[0] or type(error).__name__
        raise UserError(f"no dask scheduler at {address!r}: {text}") from None
