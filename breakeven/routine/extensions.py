"""Which instruction set extensions a routine uses: from the instructions that run when it is called.

What its code holds but never executes does not count: a library's functions are often a table of variants.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from breakeven.errors import UserError
from breakeven.files.binaries import load_engine

if TYPE_CHECKING:
    from breakeven.points import Point
    from breakeven.routine.code import Code

#: of the sample's points those at which misaligned accesses are looked for: each is at other offsets
_MISALIGNED_SIZES = range(9, 136, 7)
#: every processor with x86-64 has them
_BASE = {"cmov", "mmx"}
#: (`FrontEnd::upper_vector_state`)
DIRTY = (
    "leaves the upper halves of ymm registers in use: SSE code that follows becomes slow on hardware: end it with "
    "vzeroupper"
)

MISALIGNED = (
    "issues misaligned accesses: up to 28 times slower on machines that trap on them, as u74 does (--needs misaligned "
    "declares it)"
)


class Used(NamedTuple):
    """What the calls of a routine have used."""

    #: names as a machine's parameter `enable_...` has them (``avx2``, ``Zbb``)
    extensions: tuple[str, ...]
    #: calls that returned, and with something in the upper halves of ymm registers
    returns: int
    dirty: int
    #: some of its loads or stores lie across two words (RISC-V)
    misaligned: bool = False


def used_by(isa: str, elf: bytes, name: str, kind: str) -> Used:
    """Runs a routine of the guest `elf` at a few hundred points and looks at the instructions that ran."""
    from breakeven.machine.resolve import resolve
    from breakeven.points import RESULT_BYTES, pack, points_file
    from breakeven.routine.code import Code
    from breakeven.routine.contract import NO_RETURN, checking_machine, most_instructions, sample_points
    from breakeven.routine.time_limit import run_guest

    engine = load_engine()
    code = Code(elf)
    machine, points = resolve(checking_machine(isa)).text, sample_points(name, kind)
    guest = engine.Machine(machine, elf, readfile=points_file(pack(points)))
    guest.cover(*code.routines)
    cause = run_guest(guest, most_instructions(points))
    if cause == NO_RETURN:
        done = len(guest.outputs().get("results.bin", b"")) // RESULT_BYTES
        raise UserError(f"{name} does not return at one of the sizes from {points[done].size} on")
    if "results.bin" not in guest.outputs():
        raise UserError(f"{name}: the guest ended ({cause}) without results")
    executed, returns, dirty = guest.coverage()
    misaligned = isa == "riscv" and _is_misaligned(elf, points, guest.outputs()["results.bin"])
    return Used(tuple(_extensions(isa, code, executed)), returns, dirty, misaligned)


def _is_misaligned(elf: bytes, points: list[Point], results: bytes) -> bool:
    """Whether a machine that traps on misaligned accesses runs more instructions than one that does not, whose
    `results` these are: small points suffice."""
    from breakeven.machine.resolve import resolve
    from breakeven.points import pack, points_file, unpack_results
    from breakeven.routine.contract import most_instructions, trapping_machine
    from breakeven.routine.time_limit import run_guest

    plain = unpack_results(results)
    some = [index for index, point in enumerate(points[: len(plain)]) if point.size in _MISALIGNED_SIZES]
    chunk = [points[index] for index in some]
    text = resolve(trapping_machine()).text
    guest = load_engine().Machine(text, elf, readfile=points_file(pack(chunk)))
    run_guest(guest, 100 * most_instructions(chunk))
    trapping = unpack_results(guest.outputs().get("results.bin", b""))
    return any(one.instructions > plain[index].instructions for index, one in zip(some, trapping, strict=False))


def holds(isa: str, elf: bytes, extension: str) -> bool:
    """Whether an instruction among the routines of the guest `elf` needs an extension, executed or not."""
    from breakeven.routine.code import Code

    code = Code(elf)
    first, end = code.routines
    listing = load_engine().instructions(code.at(first, end - first), isa, first, end - first)
    return any(extension in needs for _, _, _, needs, *_ in listing)


def _extensions(isa: str, code: Code, executed: Iterable[int]) -> list[str]:

    decode, found = load_engine().instructions, set()
    for at in executed:
        for _, _, _, needs, *_ in decode(code.at(at, 16), isa, at, 1):
            found.update(needs)
    return sorted(found - _BASE)


#: a machine's parameter where its name is not the extension's
_PARAMETERS = {"V": "rvv"}


#: switches that a description leaves out while they are off, and the objects that have them
_OFF_WHILE_LEFT_OUT = {("X86ISA", "enable_avx512")}


def is_off(item: dict[str, Any], parameter: str) -> bool:
    """Whether an object of a description has this switch, and it is off."""
    return item["params"].get(parameter, (item["type"], parameter) not in _OFF_WHILE_LEFT_OUT) is False


def lacking(description: dict[str, Any], extensions: Iterable[str]) -> list[tuple[str, str]]:
    """The extensions that a described machine does not have, each with the setting that gives it."""
    found = []
    for extension in extensions:
        parameter = f"enable_{_PARAMETERS.get(extension, extension)}"
        for item in description["objects"]:
            if is_off(item, parameter):
                found.append((extension, f"{item['path'].removeprefix('system.')}.{parameter}=true"))
    return found


def missing_extension_of(description: dict[str, Any], extensions: Iterable[str]) -> str:
    """What a described machine lacks of `extensions`, in words (`Routine.missing_extension`); empty: nothing."""
    for extension, setting in lacking(description, extensions):
        return f"needs {extension}, which this machine lacks: add --set {setting}"
    return ""
