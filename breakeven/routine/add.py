"""`add`: a user's file, or a function of compiled code, becomes routines, or a precise statement of why not."""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from breakeven.errors import UserError
from breakeven.files.binaries import guest_elf, load_engine
from breakeven.files.sandbox import terminable
from breakeven.routine.build import KINDS, NEEDS, SHIPPED, Build, build, check_name, is_shared, register_needs
from breakeven.routine.checks import other_checksums
from breakeven.routine.contract import ENDLESS, INVALID_OPCODE, check_contract
from breakeven.routine.cures import why_endless
from breakeven.routine.extensions import DIRTY, MISALIGNED, holds, used_by
from breakeven.routine.object_files import Library
from breakeven.routine.recipe import Recipe, load_recipe
from breakeven.routine.registry import (
    GUEST,
    NATIVE,
    OBJECTS,
    UserRoutineFile,
    folder_of,
    user_file_by_routine,
    write_entry,
)
from breakeven.routine.sources import SOURCES
from breakeven.routine.time_limit import within

#: how long all of it may take: a routine takes seconds
SECONDS = 3600
#: how a folder begins in which something is added
_NEW = ".new-"
#: an ELF's machine number
_MACHINES = {243: "riscv", 62: "x86"}


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` has done."""

    #: the user's file, built
    file: UserRoutineFile
    #: points at which each routine was verified
    points: int
    host_seconds: float
    #: what is to be known of the code, a sentence each
    notes: tuple[str, ...] = ()


def add(what: Build, isa: str) -> Added:
    """Builds a file, checks its routines against the contract, and keeps them; raises `UserError`, keeping nothing.

    `isa`: may be empty for compiled code, which says its own.
    """
    start = time.perf_counter()
    isa = _check_arguments(what, isa)
    recipe = load_recipe(isa)
    if recipe is None:
        raise UserError("adding a routine needs breakeven's checkout with its guests built (scripts/setup)")
    kept = folder_of(isa)
    with within(SECONDS), terminable(), _work_folder(kept) as work:
        built = build(recipe, what, work / "build")
        names = built.names
        _check_names(isa, names, what)
        try:
            what, points, state = _check_with_state(recipe, what, built.function, work / "build")
        except UserError as error:
            if built.calls_itself and ENDLESS.search(str(error)):
                raise UserError(f"{error}: {why_endless(what.symbol or names[0])}") from None
            raise
        notes, extensions = _look_at_code(recipe, what, built.function, work / "build")
        fresh = work / "kept"
        fresh.mkdir()
        if not what.exists:
            shutil.copy(what.source, fresh / what.source.name)
        if what.reference and what.reference.name != what.source.name:
            shutil.copy(what.reference, fresh / what.reference.name)
        (work / "build" / "guest").rename(fresh / GUEST)
        (work / "build" / "routines").rename(fresh / OBJECTS)
        if (native := work / "build" / "native").is_file():
            native.rename(fresh / NATIVE)
        own = UserRoutineFile(
            isa, tuple(names), str(what.source.resolve()), recipe.harness, kept / names[0], what.symbol,
            _options(what), extensions,
        )  # fmt: skip
        write_entry(own, fresh)
        _put(own, fresh)
    return Added(own, points, time.perf_counter() - start, (*built.notes, *state, *notes))


@contextmanager
def _work_folder(kept: Path) -> Iterator[Path]:
    """A folder below `kept` while something is added. Those that a killed process has left are removed."""
    try:
        kept.mkdir(parents=True, exist_ok=True)
        with _locked(kept):
            for left in kept.glob(f"{_NEW}*"):
                with suppress(OSError), _locked(left, wait=False):
                    shutil.rmtree(left, ignore_errors=True)
            work = Path(tempfile.mkdtemp(prefix=_NEW, dir=kept))
            held = os.open(work, os.O_RDONLY)
            fcntl.flock(held, fcntl.LOCK_EX)
    except OSError as error:
        raise UserError(f"cannot write below {str(kept)!r}: {(error.strerror or str(error)).lower()}") from None
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        os.close(held)


@contextmanager
def _locked(folder: Path, wait: bool = True) -> Iterator[None]:
    """Holds a lock on a folder, which ends with the process; raises `OSError` where it is not to be waited for."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(held)


def _options(what: Build) -> str:
    """What else to give to `add` to get the same again."""
    words = [str(path.resolve()) for path in what.more]
    words += ["--kind", what.kind] if what.kind != "copy" else []
    words += ["--reference", str(what.reference.resolve())] if what.reference else []
    words += ["--symbol", what.symbol] if what.symbol else []
    words += ["--name", what.name] if what.name else []
    for name, value in what.defines.items():
        words += ["--define", f"{name}={value:#x}"]
    return shlex.join(words)


def _look_at_code(recipe: Recipe, what: Build, function: str, built: Path) -> tuple[list[str], tuple[str, ...]]:
    """What is to be told of the instructions that run, and the extensions among them.

    An extension that nobody has declared is declared here, where the registration is ours.
    """

    elf, notes, found = (built / "check").read_bytes(), [], set(what.needs)
    extensions: set[str] = set()
    for row in load_engine().routines(elf):
        used = used_by(recipe.isa, elf, row["name"], row["kind"])
        extensions.update(used.extensions)
        if used.dirty:
            notes.append(f"{row['name']} {DIRTY}")
        if used.misaligned and not row["flags"] & NEEDS["riscv"]["misaligned"][0]:
            notes.append(f"{row['name']} {MISALIGNED}")
        needs = {name for name in NEEDS[recipe.isa] if name in {each.lower() for each in used.extensions}}
        missing = sorted(name for name in needs if not row["flags"] & NEEDS[recipe.isa][name][0])
        if missing and function:
            notes.append(f"{row['name']} uses {', '.join(missing)}: registered so (--needs {','.join(missing)})")
            found.update(missing)
        elif missing:
            flags = " | ".join(f"NEEDS_{name.upper()}" for name in missing)
            notes.append(f"{row['name']} uses {', '.join(missing)} and does not declare it: add {flags} to its ROUTINE")
    if found - set(what.needs):
        register_needs(recipe, replace(what, needs=tuple(sorted(found))), function, built)
    return notes, tuple(sorted(extensions))


def _check_arguments(what: Build, isa: str) -> str:
    """The instruction set; raises `UserError` for what cannot be meant."""
    if isa and isa not in NEEDS:
        raise UserError(f"unknown instruction set {isa!r}: one of {', '.join(NEEDS)}")
    _check_kind(what)
    if what.name:
        check_name(what.name)
    for path in filter(None, (what.source, *what.more, what.reference)):
        if not path.is_file():
            raise UserError(f"there is no file {str(path)!r}")
        if not str(path.resolve()).isprintable():
            raise UserError(f"{str(path.resolve())!r}: a path with such characters goes through no compiler: rename it")
    for path in what.more:
        if path.suffix in SOURCES and what.exists:
            raise UserError(f"{path} is source, and {what.source} is not: compile it, and name the object")
    found = _isa_of(what)
    if isa and found and isa != found:
        raise UserError(f"{what.source} is for {found}, not for {isa}")
    isa = isa or found
    if not isa:
        raise UserError("add needs --isa riscv or --isa x86 for a file that it compiles")
    for need in what.needs:
        if need not in NEEDS[isa]:
            raise UserError(f"unknown need {need!r} on {isa}: one of {', '.join(NEEDS[isa])}")
    return isa


def _check_kind(what: Build) -> None:
    """Raises `UserError` for a kind that nothing says the meaning of."""
    if what.reference and what.kind != "checksum":
        raise UserError(f"--reference is of a checksum, and the kind is {what.kind}: give --kind checksum")
    if what.reference and what.reference.suffix not in SOURCES:
        raise UserError(f"{str(what.reference)!r} is no source: --reference names a {_listed(SOURCES)} file")
    if what.kind in KINDS or what.kind in SHIPPED:
        return
    if what.kind in other_checksums():
        raise UserError(f"{what.kind} is a checksum of yours: give --kind checksum and its --reference again")
    raise UserError(f"unknown kind {what.kind!r}: one of {', '.join((*KINDS, *SHIPPED))}")


def _isa_of(what: Build) -> str:
    """The instruction set of compiled code; empty: it is source. Raises `UserError` when it is neither."""
    if not what.exists:
        return ""
    if what.flags:
        raise UserError(f"{what.source} is compiled already: --flags is for {_listed(SOURCES)} files")
    with what.source.open("rb") as file:
        head = file.read(64)
    if head.startswith(b"!<"):
        if found := Library([what.source]).isa:
            return found
        raise UserError(f"{what.source} has no index of what it defines, or defines nothing: run `ranlib` on it")
    if not head.startswith(b"\x7fELF"):
        kinds = f"a {_listed(SOURCES)} file, an object (.o), an archive (.a) or a shared library (.so)"
        raise UserError(f"{what.source} is no code that can be added: {kinds}")
    if is_shared(head) and what.more:
        raise UserError(f"{what.source} is a shared library: it is taken whole, without other files")
    machine = int.from_bytes(head[18:20], "little")
    if machine not in _MACHINES:
        raise UserError(f"{what.source} is for another processor (ELF machine {machine}): riscv64 or x86-64")
    return _MACHINES[machine]


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _check_names(isa: str, names: list[str], what: Build) -> None:

    if len(names) != len(set(names)):
        raise UserError(f"{what.source} registers a name twice: {', '.join(names)}")
    ours = {row["name"] for row in load_engine().routines(guest_elf(isa))}
    others = user_file_by_routine(isa)
    for name in names:
        check_name(name)
        if name in ours:
            raise UserError(f"{name} is a routine of breakeven's: give yours another name (--name)")
        if name in others and others[name].routines != tuple(names) and others[name].routines[0] != names[0]:
            raise UserError(f"{name} was added from {others[name].source}: remove it first, or give another name")


def _check_with_state(recipe: Recipe, what: Build, function: str, built: Path) -> tuple[Build, int, list[str]]:
    """The points at which the routines are right, with `what` as it is registered then, and what is to be told.

    The guest switches AVX-512's state on for a routine that declares it, so one that does not traps: where the
    registration is ours, it is declared and checked again.
    """
    try:
        return what, _check(recipe.isa, built), []
    except UserError as error:
        elf = (built / "check").read_bytes()
        rows = load_engine().routines(elf)
        silent = [row["name"] for row in rows if not row["flags"] & NEEDS["x86"]["avx512"][0]]
        if recipe.isa != "x86" or not silent or INVALID_OPCODE not in str(error) or not holds("x86", elf, "avx512"):
            raise
        if not function:
            name = next((name for name in silent if str(error).startswith(f"{name} ")), silent[0])
            fix = "add NEEDS_AVX512 to its ROUTINE"
            raise UserError(f"{name} uses avx512 and does not declare it: {fix}") from None
    what = replace(what, needs=(*what.needs, "avx512"))
    register_needs(recipe, what, function, built)
    return what, _check("x86", built), [f"{what.routine} uses avx512: registered so (--needs avx512)"]


def _check(isa: str, built: Path) -> int:

    elf = (built / "check").read_bytes()
    return sum(check_contract(isa, elf, row["name"], row["kind"]) for row in load_engine().routines(elf))


def _put(own: UserRoutineFile, fresh: Path) -> None:
    """`fresh` takes the place of what was added before under this name."""
    old = fresh.parent / "old"
    if own.folder.exists():
        own.folder.rename(old)
    fresh.rename(own.folder)
