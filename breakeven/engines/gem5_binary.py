"""A real gem5 as an engine: the same guest and points under `configs/sweep.py`, in one process of gem5's.

The binary is what ``$GEM5`` names, else ``gem5``, ``gem5.opt`` or ``gem5.fast`` on the path. What gem5 cannot express
of a preset is left out; its warnings say what (`configs/gem5_run.py`). Nothing is kept in the store.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from breakeven.engines.embedded import routines_in
from breakeven.errors import UserError
from breakeven.files.data import find_data
from breakeven.machine.presets import find_machine
from breakeven.machine.resolve import resolve
from breakeven.points import POINT_BYTES, RESULT_BYTES, points_file
from breakeven.points.engine import Engine, Progress, Results, Routine
from breakeven.points.machine_spec import MachineSpec
from breakeven.routine.checks import check_known

ENVIRONMENT = "GEM5"
_NAMES = ("gem5", "gem5.opt", "gem5.fast")
#: lines of gem5's last words that are told
_LAST = 5


def find_gem5() -> str:
    """The binary; raises `UserError` that says how to name one."""
    named = os.environ.get(ENVIRONMENT)
    found = shutil.which(named) if named else next(filter(None, map(shutil.which, _NAMES)), None)
    if found:
        return found
    what = f"{ENVIRONMENT}={named} is no program" if named else f"there is none on the path ({', '.join(_NAMES)})"
    raise UserError(f"--engine gem5 needs a gem5 (v24.0 or later): {what}; set {ENVIRONMENT} to its binary")


class Gem5Session:
    """Points on one machine; each call of `run` is a run of gem5."""

    machine_hash = ""

    def __init__(self, engine: Gem5Engine, machine: MachineSpec) -> None:
        self.machine = machine
        self._engine = engine

    def routines(self) -> list[Routine]:
        return self._engine.routines(self.machine)

    def run(
        self, records: bytes, threads: int = 0, progress: Progress | None = None, on_results: Results | None = None
    ) -> bytes:
        """As a session's, in one thread."""
        count = len(records) // POINT_BYTES
        with tempfile.TemporaryDirectory(prefix="breakeven-") as folder:
            results = self._engine.simulate(self.machine, records, Path(folder))
        if len(results) != count * RESULT_BYTES:
            raise UserError(f"gem5 left {len(results)} bytes of results for {count} points")
        if on_results is not None:
            on_results(b"".join(i.to_bytes(4, "little") for i in range(count)), results)
        if progress is not None:
            progress(count, count)
        return results


class Gem5Engine(Engine):
    """A gem5 on this host. `elf`: a guest other than breakeven's own."""

    def __init__(self, elf: Path | None = None) -> None:
        self.elf = elf
        self._gem5 = find_gem5()

    def check(self, machine: MachineSpec, routines: Sequence[str] = ()) -> None:
        """Only what this process can know: gem5 reads parameters that the embedded engine has no rule for, and judges
        values itself."""
        check_known(self.routines(machine), routines, machine)

    def machine_hash(self, machine: MachineSpec) -> str:
        return resolve(machine, unread=True).hash

    def routines(self, machine: MachineSpec) -> list[Routine]:
        return routines_in(resolve(machine, unread=True), self.elf)

    def open(self, machine: MachineSpec) -> Gem5Session:
        return Gem5Session(self, machine)

    def simulate(self, machine: MachineSpec, records: bytes, folder: Path) -> bytes:
        """The results of packed points, by a run of gem5 in `folder`."""
        points = folder / "asked.bin"
        points.write_bytes(points_file(records))
        script = find_data("configs", "sweep.py")
        command = [self._gem5, "--outdir", str(folder), str(script), str(find_machine(machine.name).resolve())]
        command += ["--points", str(points)]
        command += [word for setting in machine.settings for word in ("--set", setting)]
        command += ["--guest", str(self.elf.resolve())] if self.elf else []
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        results = folder / "results.bin"
        # With a wrong output the script ends with 1; the results say at which point.
        if not results.is_file():
            words = (done.stderr or done.stdout).strip().splitlines()[-_LAST:]
            raise UserError("gem5 gave up: " + ("\n".join(words) or f"it ended with status {done.returncode}"))
        for line in done.stderr.splitlines():
            if line.startswith("warn:") and "cannot express" in line:
                print(line, file=sys.stderr)
        return results.read_bytes()
