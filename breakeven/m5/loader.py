"""Runs gem5 scripts and presets: puts ``m5`` where they import it from, and only while they run."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from breakeven.errors import UserError, near
from breakeven.files.importing import importable, read_source
from breakeven.files.places import resolved
from breakeven.files.reading import read_bounded
from breakeven.m5 import finder, machines_package

if TYPE_CHECKING:
    from breakeven.m5.options import Options


@contextmanager
def as_m5(folder: Path | None = None) -> Iterator[None]:
    """`m5` is breakeven's while this runs; the presets and modules beside the script (in `folder`) can be imported."""
    with importable(folder), machines_package.importable(folder), finder.visible():
        yield


def _execute(path: Path, name: str) -> dict[str, Any]:
    module = ModuleType(name)
    module.__file__ = str(path)
    code = _ours(path, name) or _compiled(path)
    exec(code, module.__dict__)  # a script is code that the user asked us to run
    return module.__dict__


def _ours(path: Path, name: str) -> CodeType | None:
    """The code of a preset of ours; None for a file of the user's."""
    return machines_package.ByContent(name, str(path)).get_code(name) if machines_package.module_of(path) else None


def _compiled(path: Path) -> CodeType:
    try:
        source = read_source(str(path))
    except OSError as error:
        raise UserError(f"cannot read {str(path)!r}: {(error.strerror or str(error)).lower()}") from None
    if b"\0" in source:
        # Python's own error would not say which file.
        raise SyntaxError("the file has NUL bytes: it is no Python source", (str(path), 1, 1, None))
    return compile(source, str(path), "exec")


def load_module(path: Path) -> dict[str, Any]:
    """The names that the preset at `path` defines; its neighbours can be imported from it."""
    path = resolved(path)
    name = machines_package.module_of(path)
    # A preset's folder is a package: only its own modules are beside it.
    with as_m5(None if name else path.parent), naming_near_classes():
        return _execute(path, name or path.stem)


def _of_m5_objects(name: str) -> str:
    from breakeven.config.former import CLASSES
    from breakeven.config.library import names

    if name in names():
        return ": it is a class of m5.objects, which this script does not import"
    former = CLASSES.get(name)
    hint = f"; it is now called {former!r}" if former else near(name, names())
    return f", and m5.objects has no class of that name{hint}"


@contextmanager
def naming_near_classes() -> Iterator[None]:
    """``from m5.objects import Cahce`` fails with the near names; Python keeps what `m5.objects` says to itself."""
    try:
        yield
    except NameError as error:
        # Scripts take all classes with a star: a class that is not there is a name that is not defined.
        if error.name and error.name[0].isupper() and error.args:
            error.args = (f"{error.args[0]}{_of_m5_objects(error.name)}",)
        raise
    except ImportError as error:
        found = re.match(r"cannot import name '(\w+)' from 'breakeven\.m5\.objects'", str(error))
        if found:
            from breakeven.config.library import names

            error.msg = f"m5.objects has no class {found[1]!r}{near(found[1], names())}"
        raise


def run_script(
    path: str | Path, argv: Sequence[str] = (), *, outdir: str | Path | None = None, options: Options | None = None
) -> dict[str, Any]:
    """Run a gem5 script with the arguments `argv`, as ``gem5 SCRIPT ARGS`` does; returns the script's names.

    With `outdir`, the configuration, the guest's files and ``stats.txt`` are left there; without, nothing is written.
    """
    from breakeven.config import current
    from breakeven.config import gem5_build as build
    from breakeven.m5 import script, simulate

    given, path = str(path), resolved(Path(path))
    # A script that asks for argv[0] gets what the user wrote, as from gem5.
    arguments, sys.argv = sys.argv, [given, *argv]
    session = simulate.Session(None if outdir is None else Path(outdir), options)
    outer = current.use(session)
    outer_build = build.use(build.Build(session.options.isa, tuple(argv)))
    script.options.__dict__.update(vars(session.options))
    try:
        with as_m5(path.parent), naming_near_classes():
            return _execute_main(path)
    finally:
        sys.argv = arguments
        current.use(outer)
        build.use(outer_build)
        session.finish()


def _execute_main(path: Path) -> dict[str, Any]:
    # gem5 runs its script as __m5_main__; scripts that ask for __main__ mean the same.
    name = "__m5_main__" if b"__m5_main__" in read_bounded(path) else "__main__"
    return _execute(path, name)
