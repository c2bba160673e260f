"""Why a routine cannot be run or compared: it is another instruction set's, there is none, or it does another job."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from breakeven.errors import UserError, near
from breakeven.files.binaries import guest_elf, load_engine
from breakeven.files.data import DataNotFound
from breakeven.machine.resolve import resolve
from breakeven.points import routines_of
from breakeven.points.engine import Routine, Session
from breakeven.points.machine_spec import HOST, MachineSpec

if TYPE_CHECKING:
    from breakeven.points.engine import Routine
    from breakeven.points.machine_spec import MachineSpec


ISA_NAMES = {"riscv": "RISC-V", "x86": "x86-64"}
#: a machine to name where one of that instruction set is needed
EXAMPLES = {"riscv": "u74", "x86": "skylake"}
#: kinds of routines that do the same job
_JOBS = {"user-copy": "copy", "move": "copy", "clear": "set"}
#: what copies in a sequence
_COPIES = ("copy", "user-copy", "move")
#: the kind of a sequence
_SEQUENCE = "copy-checksum"


def isa_of_machine(machine: MachineSpec) -> str:
    """The instruction set of a machine ("riscv", "x86"); of a preset's file without running it."""
    import platform

    from breakeven.machine.presets import find_machine, preset_at

    if _is_host(machine):
        return {"riscv64": "riscv", "x86_64": "x86"}.get(platform.machine(), "")
    preset = preset_at(find_machine(machine.name))
    return preset.isa if preset is not None else resolve(machine, unread=True).isa


def unknown_routine(name: str, known: Iterable[str], machine: MachineSpec) -> str:
    """One sentence on a routine that there is not on `machine`, and what to do."""
    isa = isa_of_machine(machine)
    other = next((each for each in ISA_NAMES if each != isa), "")
    if name not in _routines_of(other):
        return f"there is no routine {name!r}{near(name, known, all_of='there are')}"
    if _is_host(machine):
        ours = ISA_NAMES.get(isa, "another processor")
        return f"there is no routine {name!r} here: it is {ISA_NAMES[other]}'s, and this host is {ours}"
    kind = f"{'an' if other == 'x86' else 'a'} {ISA_NAMES[other]} routine"
    return f"{name} is {kind}; {machine.name} is {ISA_NAMES.get(isa, isa)}: give -m {EXAMPLES[other]}"


def _is_host(machine: MachineSpec) -> bool:
    """Whether this is the host's own processor, which an engine may also call by its model's name."""
    from breakeven.machine.presets import MachineError, find_machine

    try:
        return machine.name == HOST or not find_machine(machine.name)
    except MachineError:
        return True


def _routines_of(isa: str) -> set[str]:
    """The routines of breakeven's guest for `isa`, and the user's."""
    from breakeven.routine.registry import user_files

    try:
        found = {row["name"] for row in load_engine().routines(guest_elf(isa))}
    except (DataNotFound, UserError):
        return set()
    return found.union(*(own.routines for own in user_files(isa)))


def other_checksums() -> set[str]:
    """The checksums other than the Internet's that some routine computes: each is a kind."""
    from breakeven.routine.build import KINDS
    from breakeven.routine.registry import user_files

    found: set[str] = set()
    for isa in ISA_NAMES:
        with suppress(DataNotFound, UserError):
            programs = [guest_elf(isa), *(own.guest.read_bytes() for own in user_files(isa))]
            found.update(row["kind"] for program in programs for row in load_engine().routines(program))
    return found - set(KINDS)


def know_routines() -> None:
    """Makes known what every routine is called, so that sequences of a store can be told by their names."""
    from breakeven.points.sequence import know

    for isa in ISA_NAMES:
        know(_routines_of(isa))


def check_one_isa(words: Sequence[str], machines: Sequence[MachineSpec]) -> None:
    """Raises `UserError` when `words`, which stand for all routines of a kind, are asked of two instruction sets."""
    by_isa: dict[str, str] = {}
    for machine in machines:
        by_isa.setdefault(isa_of_machine(machine), machine.name)
    if len(by_isa) > 1:
        each = " and ".join(f"{name} is {ISA_NAMES.get(isa, isa)}" for isa, name in by_isa.items())
        raise UserError(f"{', '.join(words)}: {each}, which have no routine in common: sweep one of them at a time")


def jobs_of(names: Collection[str]) -> dict[str, str]:
    """The job of each of the routines that is breakeven's own or the user's: those of one job can be compared."""
    from breakeven.routine.registry import user_files

    found: dict[str, str] = {name: _SEQUENCE for name in names if ":" in name}
    for isa in ISA_NAMES:
        try:
            programs = [guest_elf(isa), *(own.guest.read_bytes() for own in user_files(isa))]
        except (DataNotFound, UserError):
            continue
        rows = [row for program in programs for row in load_engine().routines(program)]
        found |= {row["name"]: _JOBS.get(row["kind"], row["kind"]) for row in rows if row["name"] in names}
    return found


def check_one_job(known: Iterable[Routine], names: Sequence[str]) -> None:
    """Raises `UserError` when the routines `names` do different jobs, so that none of them can win."""
    kinds = {routine.name: routine.kind for routine in known if routine.name in names}
    kinds |= {name: _SEQUENCE for name in names if ":" in name}
    first: dict[str, str] = {}
    for name in names:
        kind = kinds.get(name, "")
        first.setdefault(_JOBS.get(kind, kind), name)
    if len(first) > 1:
        each = ", ".join(f"{name} is a {kinds.get(name, '')} routine" for name in first.values())
        raise UserError(f"{each}: compare routines that do the same job (see `breakeven routines`)")


def check_known(known: list[Routine], names: Sequence[str], machine: MachineSpec) -> None:
    """Raises `UserError` for a routine that is not known (with near matches) or that `machine` cannot run."""
    by_name = {routine.name: routine for routine in known}
    for name in names:
        for each in routines_of(name):
            within = "" if each == name else f"{name}: "
            if each not in by_name:
                if within and (each == "all" or each in {routine.kind for routine in known}):
                    raise UserError(f"{within}{each} stands for several routines: name one (see `breakeven routines`)")
                raise UserError(within + unknown_routine(each, by_name, machine))
            if by_name[each].missing_extension:
                raise UserError(f"{within}{each} on {machine}: it {by_name[each].missing_extension}")
        if ":" in name:
            _check_sequence(name, by_name)


def _check_sequence(name: str, by_name: dict[str, Routine]) -> None:
    """Raises `UserError` where two routines make no sequence `name`."""
    from breakeven.points.sequence import sequence_of

    sequence = sequence_of(name)
    copy, checksum = by_name[sequence.copy], by_name[sequence.checksum]
    for routine, kinds, what in (
        (copy, _COPIES, "copies"),
        (checksum, ("checksum",), "computes the Internet checksum"),
    ):
        if routine.kind not in kinds:
            other = " or ".join(kinds)
            raise UserError(f"{name}: {routine.name} is a {routine.kind} routine: name one there that {what} ({other})")
    if copy.origin != checksum.origin:
        theirs = [f"{routine.name} is in {routine.origin or 'breakeven itself'}" for routine in (copy, checksum)]
        raise UserError(f"{name}: {' and '.join(theirs)}: a sequence needs both in one guest: add a file that has both")


def check_routines(session: Session, names: Sequence[str], one_job: bool = False) -> None:
    """Raises `UserError` for a routine that the guest does not hold (with near matches) or the machine cannot run;
    with `one_job`, which a comparison asks for, also for routines of different kinds."""
    known = session.routines()
    check_known(known, names, session.machine)
    if one_job:
        check_one_job(known, names)
