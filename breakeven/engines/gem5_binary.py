"""A real gem5 as an engine: the same guest and points under `configs/sweep.py`, each point in a process of gem5's.

Like the simulator's, a point starts from the guest's boot, whatever ran before it; processes run side by side. The
binary is what ``$GEM5`` names, else ``gem5``, ``gem5.opt`` or ``gem5.fast`` on the path; of a script that starts one,
both. What gem5 cannot express of a
preset is left out; its warnings say what, once (`configs/gem5_run.py`). Results may be kept: what decides them besides
machine, guest and point is the binary and our scripts. If one of these files is changed while a gem5 runs, its point
is not told.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import Context
from functools import cached_property
from pathlib import Path
from queue import Empty, SimpleQueue

from breakeven.engines.embedded import Program
from breakeven.errors import UserError, say
from breakeven.files import landlock, sandbox
from breakeven.files.data import find_data
from breakeven.files.places import resolved
from breakeven.machine.presets import find_machine
from breakeven.machine.resolve import of_request, resolve
from breakeven.points import POINT_BYTES, RESULT_BYTES, points_file, unpack
from breakeven.points.engine import FOREIGN, Engine, Identity, Progress, Results, Routine
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.record import lists_of
from breakeven.routine.checks import check_known

ENVIRONMENT = "GEM5"
_NAMES = ("gem5", "gem5.opt", "gem5.fast")
#: lines of gem5's last words that are told
_LAST = 5
#: the oldest gem5 whose scripts are like ours
_OLDEST = (24, 0)
#: seconds within which a gem5 says what it is
_PATIENCE = 120
#: asks a gem5 what it is
_ASK = """
import os
import _m5.core
from m5.defines import buildEnv
print("breakeven asks:", _m5.core.gem5Version)
print("built with BINARY =", os.path.realpath("/proc/self/exe"))
for option, value in buildEnv.items():
    print("built with", option, "=", value)
"""
#: what gem5's build options call our instruction sets
_BUILT = {"riscv": "USE_RISCV_ISA", "x86": "USE_X86_ISA"}


def find_gem5() -> str:
    """The binary; raises `UserError` that says how to name one."""
    named = os.environ.get(ENVIRONMENT)
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, _NAMES)), None)
    if found:
        return found
    what = f"{ENVIRONMENT}={named} is no program" if named else f"there is none on the path ({', '.join(_NAMES)})"
    raise UserError(f"--engine gem5 needs a gem5 (v24.0 or later): {what}; set {ENVIRONMENT} to its binary")


def build_of(binary: str) -> dict[str, str]:
    """The build options that a gem5 tells of itself. Raises `UserError` if it is none, or older than our scripts.

    A script asks: ``--build-info`` of v24.0 fails before its first line (`m5.defines` has no version there)."""
    with sandbox.terminable(), tempfile.TemporaryDirectory(prefix="breakeven-") as name:
        script = Path(name) / "build.py"
        script.write_text(_ASK)
        try:
            said = sandbox.attend([binary, "--outdir", name, str(script)], os.environ, _PATIENCE).out
        except (OSError, sandbox.TimedOut):
            said = ""
    version = re.search(r"^breakeven asks: (\D*)(\d+)\.(\d+)([\d.]*)", said, re.MULTILINE)
    if version is None:
        raise UserError(f"{binary} is no gem5: it does not run a script that asks its version; set {ENVIRONMENT}")
    if (int(version[2]), int(version[3])) < _OLDEST:
        number = f"{version[2]}.{version[3]}{version[4]}"
        raise UserError(f"{binary} is gem5 {number}: the scripts need 24.0 or later")
    return dict(re.findall(r"^built with (\w+) = (.*)$", said, re.MULTILINE))


class Gem5Session:
    """Points on one machine; each is a run of gem5."""

    def __init__(self, engine: Gem5Engine, machine: MachineSpec) -> None:
        self.machine = machine
        self.machine_hash = engine.machine_hash(machine)
        self._engine = engine

    def routines(self) -> list[Routine]:
        return self._engine.routines(self.machine)

    def _simulated(self, record: bytes, folder: Path, programs: sandbox.Programs) -> bytes:
        row = self._engine.simulate(self.machine, record, folder, programs)
        self._engine.check_unchanged(self.machine, self.machine_hash)
        return row

    def run(
        self, records: bytes, threads: int = 0, progress: Progress | None = None, on_results: Results | None = None
    ) -> bytes:
        """As a session's; `threads` processes at a time. If gem5 gives up on a point, those under way are waited for
        and told, and the error says how many are done."""
        points = [records[at : at + POINT_BYTES] for at in range(0, len(records), POINT_BYTES)]
        rows: dict[int, bytes] = {}
        failure: UserError | None = None
        programs = sandbox.Programs()
        futures: dict[Future[bytes], int] = {}
        ended: SimpleQueue[Future[bytes]] = SimpleQueue()
        workers = min(threads or os.cpu_count() or 1, max(len(points), 1))
        with (
            sandbox.terminable(), tempfile.TemporaryDirectory(prefix="breakeven-") as name,
            ThreadPoolExecutor(workers) as pool,
        ):  # fmt: skip
            try:
                for i, each in enumerate(points):
                    future = pool.submit(of_request(self._simulated, each, Path(name), programs))
                    futures[future] = i
                    future.add_done_callback(ended.put)
                for _ in points:
                    future = _next(ended)
                    if future.cancelled():
                        continue
                    i = futures[future]
                    try:
                        rows[i] = i.to_bytes(4, "little") + future.result()[4:]
                    except UserError as error:
                        failure = failure or error
                        _cancel(futures)
                        continue
                    if on_results is not None:
                        on_results(i.to_bytes(4, "little"), rows[i])
                    if progress is not None:
                        progress(len(rows), len(points))
            except BaseException:
                _cancel(futures)
                programs.end()
                raise
        if failure is not None:
            raise UserError(f"{failure} ({len(rows)} of {len(points)} points are done)")
        return b"".join(rows[i] for i in range(len(points)))


def _state(path: Path) -> tuple[int, ...]:
    """What no change of a file leaves as it was."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _next(ended: SimpleQueue[Future[bytes]]) -> Future[bytes]:
    """The next point that has ended."""
    while True:
        # Python sees a signal of the moment before a wait only when that ends.
        with suppress(Empty):
            return ended.get(timeout=sandbox.GLANCE)


def _cancel(futures: dict[Future[bytes], int]) -> None:
    for future in futures:
        future.cancel()


class Gem5Engine(Engine):
    """A gem5 on this host. `elf`: a guest other than breakeven's own."""

    def __init__(self, elf: Path | None = None) -> None:
        self._program = Program(elf)
        self._gem5 = find_gem5()
        self._told: set[str] = set()
        self._seen: dict[Path, tuple[int, ...]] = {}

    def check(self, machine: MachineSpec, routines: Sequence[str] = ()) -> None:
        """What this process can know: gem5 reads parameters that the embedded engine has no rule for, and judges
        values itself."""
        check_known(self.routines(machine), routines, machine)
        self._check_build(machine)

    def _check_kernel(self) -> None:
        other = self._program.elf
        if other is not None and not landlock.version():
            raise UserError(
                f"--engine gem5 runs breakeven's guest alone here: gem5 writes any file that another one ({other}) "
                "names, and this kernel has no Landlock to hold it (Linux 5.13)"
            )

    def _check_build(self, machine: MachineSpec) -> None:
        isa = resolve(machine, unread=True).isa
        if self._build.get(_BUILT[isa], "True") not in ("True", "1", "y"):
            raise UserError(f"{self._gem5} was built without {isa}: build it with {_BUILT[isa]}=y for {machine}")

    def machine_hash(self, machine: MachineSpec) -> str:
        return resolve(machine, unread=True).hash

    def identity(self, machine: MachineSpec) -> tuple[Identity, str]:
        self._changed(machine)
        resolved = resolve(machine, unread=True)
        guest = hashlib.sha256(self._program.of(resolved.isa)).hexdigest()
        return Identity(self._fingerprint, resolved.hash, guest), resolved.text

    def routines(self, machine: MachineSpec) -> list[Routine]:
        return self._program.routines(resolve(machine, unread=True))

    def open(self, machine: MachineSpec) -> Gem5Session:
        self._check_kernel()
        self._check_build(machine)
        self._changed(machine)
        return Gem5Session(self, machine)

    @cached_property
    def _build(self) -> dict[str, str]:
        return build_of(self._gem5)

    @cached_property
    def _files(self) -> list[Path]:
        """What decides results besides machine, guest and point."""
        named, real = resolved(Path(self._gem5)), Path(self._build.get("BINARY", os.devnull))
        binaries = [named] if real == named or not real.is_file() else [named, real]
        return [*binaries, find_data("configs", "sweep.py"), find_data("configs", "gem5_run.py")]

    def _changed(self, machine: MachineSpec) -> list[Path]:
        """Files that are not as they were when this was first asked of them."""
        paths = [*self._files, resolved(find_machine(machine.name))]
        now = {path: _state(path) for path in paths}
        return [path for path in paths if self._seen.setdefault(path, now[path]) != now[path]]

    def check_unchanged(self, machine: MachineSpec, machine_hash: str) -> None:
        """Raises `UserError` after a run that may have read another file than its point would be kept under."""
        changed = [str(path) for path in self._changed(machine)]
        # In a context of its own the machine's file is read as it is now, with the modules beside it.
        if not changed and Context().run(resolve, machine, True).hash != machine_hash:
            changed = [f"a module of {machine.name}"]
        if changed:
            raise UserError(f"{', '.join(changed)} was changed while gem5 ran: run it again")

    @cached_property
    def _fingerprint(self) -> str:
        """Of the binary and of the scripts that it runs."""
        found = hashlib.sha256()
        for path in self._files:
            with open(path, "rb") as file:
                found.update(hashlib.file_digest(file, "sha256").digest())
        return f"{FOREIGN}gem5-{found.hexdigest()}"

    def simulate(self, machine: MachineSpec, record: bytes, where: Path, programs: sandbox.Programs) -> bytes:
        """The result of one packed point, by a gem5 that works below `where` and is one of `programs`. Raises
        `UserError` with gem5's last words."""
        with tempfile.TemporaryDirectory(dir=where) as name:
            folder = Path(name)
            asked = folder / "asked.bin"
            asked.write_bytes(points_file(record, lists_of(record)))
            script = find_data("configs", "sweep.py")
            command = [self._gem5, "--outdir", name, str(script), str(resolved(find_machine(machine.name)))]
            command += ["--points", str(asked)]
            command += [word for setting in machine.settings for word in ("--set", setting)]
            guest = folder / "guest.elf"
            guest.write_bytes(self._program.of(resolve(machine, unread=True).isa))
            command += ["--guest", str(guest)]
            status, out, error = self._wait_for(command, folder, programs)
            # With a wrong output the script ends with 1; the result says so.
            result = folder / "results.bin"
            row = result.read_bytes() if result.is_file() else b""
        if len(row) != RESULT_BYTES:
            words = "\n".join((error or out).strip().splitlines()[-_LAST:]) or f"it ended with status {status}"
            (point,) = unpack(points_file(record))
            raise UserError(f"gem5 gave up on {point.routine}, {point.size} bytes, on {machine}: {words}")
        self._tell(error)
        return row

    def _wait_for(self, command: list[str], folder: Path, programs: sandbox.Programs) -> sandbox.Ended:
        def restrict() -> None:
            # The guest may be somebody else's, and gem5 writes whatever file a guest's `writefile` names.
            landlock.restrict([Path("/")], [folder, Path(os.devnull)])

        # Its Python would take bytecode for current by the second and the size of a machine file.
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
        other = self._program.elf is not None
        return sandbox.attend(command, environment, restrict=restrict if other else None, programs=programs)

    def _tell(self, error: str) -> None:
        """What gem5 leaves out of a preset, once."""
        for line in error.splitlines():
            if "warn:" in line and "cannot express" in line and line not in self._told:
                self._told.add(line)
                say(line, file=sys.stderr)
