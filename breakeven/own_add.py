"""`add`: a user's file becomes routines like all others, or a precise statement of why not."""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from breakeven.contract import check_contract
from breakeven.errors import UserError
from breakeven.own import GUEST, NATIVE, OBJECTS, OwnFile, folder_of, own_by_routine, write_entry
from breakeven.own_build import KINDS, NEEDS, Build, build, load_recipe

SUFFIXES = (".S", ".c")


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` has done."""

    own: OwnFile
    #: points at which each routine was right
    points: int
    host_seconds: float


def add(what: Build, isa: str) -> Added:
    """Builds a file, checks its routines against the contract, and keeps them; raises `UserError`, keeping nothing."""
    start = time.perf_counter()
    _check_arguments(what, isa)
    recipe = load_recipe(isa)
    if recipe is None:
        raise UserError("adding a routine needs breakeven's checkout with its guests built (scripts/setup)")
    kept = folder_of(isa)
    try:
        kept.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".new-", dir=kept))
    except OSError as error:
        raise UserError(f"cannot write below {str(kept)!r}: {(error.strerror or str(error)).lower()}") from None
    try:
        names = build(recipe, what, work / "build")
        _check_names(isa, names, what)
        points = _check(isa, work / "build")
        fresh = work / "kept"
        fresh.mkdir()
        shutil.copy(what.source, fresh / what.source.name)
        (work / "build" / "guest").rename(fresh / GUEST)
        (work / "build" / "routines").rename(fresh / OBJECTS)
        if (native := work / "build" / "native").is_file():
            native.rename(fresh / NATIVE)
        own = OwnFile(isa, tuple(names), str(what.source.resolve()), recipe.harness, kept / names[0])
        write_entry(own, fresh)
        _put(own, fresh)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return Added(own, points, time.perf_counter() - start)


def _check_arguments(what: Build, isa: str) -> None:
    if isa not in NEEDS:
        raise UserError(f"unknown instruction set {isa!r}: one of {', '.join(NEEDS)}")
    if what.kind not in KINDS:
        raise UserError(f"unknown kind {what.kind!r}: one of {', '.join(KINDS)}")
    for need in what.needs:
        if need not in NEEDS[isa]:
            raise UserError(f"unknown need {need!r} on {isa}: one of {', '.join(NEEDS[isa])}")
    if not what.source.is_file():
        raise UserError(f"there is no file {str(what.source)!r}")
    if what.source.suffix not in SUFFIXES:
        raise UserError(f"{what.source}: the name must end in {' or '.join(SUFFIXES)}")


def _check_names(isa: str, names: list[str], what: Build) -> None:
    from breakeven.runner import guest_elf, load_engine

    if len(names) != len(set(names)):
        raise UserError(f"{what.source} registers a name twice: {', '.join(names)}")
    ours = {row["name"] for row in load_engine().routines(guest_elf(isa))}
    others = own_by_routine(isa)
    for name in names:
        if name in ours:
            raise UserError(f"{name} is a routine of breakeven's: give yours another name (--name)")
        if name in others and others[name].routines != tuple(names) and others[name].routines[0] != names[0]:
            raise UserError(f"{name} was added from {others[name].source}: remove it first, or give another name")


def _check(isa: str, built: Path) -> int:
    from breakeven.runner import load_engine

    elf = (built / "check").read_bytes()
    return sum(check_contract(isa, elf, row["name"], row["kind"]) for row in load_engine().routines(elf))


def _put(own: OwnFile, fresh: Path) -> None:
    """`fresh` takes the place of what was added before under this name."""
    old = fresh.parent / "old"
    if own.folder.exists():
        own.folder.rename(old)
    fresh.rename(own.folder)
