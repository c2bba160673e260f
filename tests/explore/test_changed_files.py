"""The explorer's simulator beside files that change: a machine's, a module's beside it, a guest's."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from breakeven.explorer.simulate import Simulator
from breakeven.files.binaries import guest_elf
from breakeven.machine.resolve import resolving
from breakeven.routine.registry import UserRoutineFile, write_entry

pytest.importorskip("breakeven._engine")


def test_an_edited_file_is_another_machine_whatever_its_time(tmp_path: Path) -> None:
    """The machine's file, and a module beside it: what is kept of the machine before does not answer."""
    file, part = tmp_path / "mine.py", tmp_path / "part.py"
    file.write_text(
        "from machines import atomic\nfrom part import CLOCK\nMORE = 0\n"
        "def machine(**options):\n"
        "    root = atomic.machine(**options)\n    root.system.clk_domain.clock = CLOCK\n"
        "    root.system.cpu.width = 1 + MORE\n    return root\n"
    )

    def write(path: Path, text: str) -> None:
        path.write_text(text)
        os.utime(path, (1_700_000_000, 1_700_000_000))

    def asked() -> tuple[str, list]:
        simulator.points(str(file), (), ["rv-word"], [(8, 0, 0)], "warm", "latency")
        return simulator.describe(str(file), ())["hash"], list(simulator._known)

    write(part, 'CLOCK = "1GHz"\n')
    write(file, file.read_text())
    with resolving(many=True), closing(Simulator(None, no_store=True)) as simulator:
        first, _ = asked()
        kept = simulator.variant(str(file), ())
        assert asked()[0] == first and simulator.variant(str(file), ()) is kept
        write(part, 'CLOCK = "2GHz"\n')
        second, known = asked()
        assert second != first and known == [(str(file), ())] and simulator.variant(str(file), ()) is not kept
        write(file, file.read_text().replace("MORE = 0", "MORE = 1"))
        third, _ = asked()
        assert third not in (first, second)
        write(file, file.read_text().replace("MORE = 1", "MORE = 0"))
        assert asked()[0] == second


def test_another_guest_leaves_nothing_of_the_one_before(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("BREAKEVEN_HOME", str(tmp_path))
    folder = tmp_path / "routines" / "riscv" / "mine"
    folder.mkdir(parents=True)
    write_entry(UserRoutineFile("riscv", ("mine",), "mine.S", "", folder), folder)
    guest = folder / "guest.elf"
    with resolving(many=True), closing(Simulator(None, no_store=True)) as simulator:
        kept = None
        for content in (b"1", b"2"):
            guest.write_bytes(guest_elf("riscv") + content)
            os.utime(guest, (1_700_000_000, 1_700_000_000))
            simulator.points("atomic", (), ["rv-word"], [(8, 0, 0)], "warm", "latency")
            variant = simulator.variant("atomic", ())
            assert variant is not kept and simulator.variant("atomic", ()) is variant
            kept = variant
