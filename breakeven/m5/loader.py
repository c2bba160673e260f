"""Runs gem5 scripts and presets: puts ``m5`` where they import it from, and only while they run."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from breakeven.neighbours import importable
from breakeven.paths import read_bounded

#: what a script may import below ``m5``
_SOURCES = {name: f"breakeven.m5.{name}" for name in ("objects", "params", "proxy", "util", "stats", "ports")}
_SUBMODULES = (*_SOURCES, "ticks", "defines", "options", "SimObject", "event")


def _modules() -> dict[str, ModuleType]:
    package = import_module("breakeven.m5.script")
    modules: dict[str, ModuleType] = {"m5": package}
    for name in _SUBMODULES:
        source = _SOURCES.get(name)
        modules[f"m5.{name}"] = import_module(source) if source else getattr(package, name)
    return modules


@contextmanager
def as_m5(folder: Path | None = None) -> Iterator[None]:
    """`m5` is breakeven's while this runs; modules beside the script (in `folder`) can be imported."""
    before = {name: module for name, module in sys.modules.items() if name == "m5" or name.startswith("m5.")}
    with importable(folder):
        for name in before:
            del sys.modules[name]
        sys.modules.update(_modules())
        try:
            yield
        finally:
            for name in [name for name in sys.modules if name == "m5" or name.startswith("m5.")]:
                del sys.modules[name]
            sys.modules.update(before)


def _execute(path: Path, name: str) -> dict[str, Any]:
    try:
        source = read_bounded(path)
    except OSError as error:
        raise FileNotFoundError(f"cannot read {path}: {error.strerror}") from None
    if b"\0" in source:
        # Python's own error would not say which file.
        raise SyntaxError("the file has NUL bytes: it is no Python source", (str(path), 1, 1, None))
    module = ModuleType(name)
    module.__file__ = str(path)
    code = compile(source, str(path), "exec")
    exec(code, module.__dict__)  # a script is code that the user asked us to run
    return module.__dict__


def load_module(path: Path) -> dict[str, Any]:
    """The names that the preset at `path` defines; its neighbours can be imported from it."""
    path = path.resolve()
    with as_m5(path.parent):
        return _execute(path, path.stem)


def run_script(path: str | Path, argv: Sequence[str] = (), *, outdir: str | Path | None = None) -> dict[str, Any]:
    """Run a gem5 script with the arguments `argv`, as ``gem5 SCRIPT ARGS`` does; returns the script's names.

    With `outdir`, the guest's files and ``stats.txt`` are left there; without, nothing is written.
    """
    from breakeven.m5 import simulate

    path = Path(path).resolve()
    arguments, sys.argv = sys.argv, [str(path), *argv]
    session = simulate.Session(None if outdir is None else Path(outdir))
    outer = simulate.use(session)
    try:
        with as_m5(path.parent):
            return _execute_main(path)
    finally:
        sys.argv = arguments
        simulate.use(outer)
        session.finish()


def _execute_main(path: Path) -> dict[str, Any]:
    # gem5 runs its script as __m5_main__; scripts that ask for __main__ mean the same.
    name = "__m5_main__" if b"__m5_main__" in read_bounded(path) else "__main__"
    return _execute(path, name)
