"""A user's file may import the modules that lie beside it, while it runs and no longer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, ExtensionFileLoader, FileFinder, SourceFileLoader
from pathlib import Path
from types import CodeType

from breakeven.files.data import find_data
from breakeven.files.reading import read_bounded

#: what was read for the request that is being answered, by path; None: there is none
_read: ContextVar[dict[str, bytes] | None] = ContextVar("sources that were read for the request", default=None)


@contextmanager
def reading_once() -> Iterator[None]:
    """Within it a machine's file and the modules beside it stay what they were when they were first read."""
    token = _read.set({})
    try:
        yield
    finally:
        _read.reset(token)


def read_source(path: str) -> bytes:
    """The source at `path`, as `reading_once` has it."""
    known = _read.get()
    if known is None:
        return read_bounded(Path(path))
    return known.get(path) or known.setdefault(path, read_bounded(Path(path)))


def read_again() -> bool:
    """Within a request that goes on for long: whether a source is another one by now; all are then read again."""
    known = _read.get() or {}
    if all(_is_still(Path(path), source) for path, source in known.items()):
        return False
    known.clear()
    return True


def _is_still(path: Path, source: bytes) -> bool:
    try:
        return read_bounded(path) == source
    except OSError:
        return False


class _FromSource(SourceFileLoader):
    """Compiles a module anew: Python takes bytecode for current while the source's second and size stay the same, so
    after a quick edit, or with a clock that jumps, a machine would be built from what a file said before."""

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(read_source(self.path), self.path)
        return code


@contextmanager
def importable(folder: Path | None) -> Iterator[None]:
    """Modules in `folder` can be imported while this runs; afterwards another folder may use the same names."""
    if folder is None:
        yield
        return
    known = set(sys.modules)
    hook = _finding(folder)
    sys.path.insert(0, str(folder))
    sys.path_hooks.insert(0, hook)
    _forget_finders(folder)
    try:
        yield
    finally:
        sys.path_hooks.remove(hook)
        _forget_finders(folder)
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
        for name in set(sys.modules) - known:
            loader = getattr(getattr(sys.modules[name], "__spec__", None), "loader", None)
            file = getattr(sys.modules[name], "__file__", None)
            if isinstance(loader, _FromSource) or (file is not None and Path(file).parent == folder):
                del sys.modules[name]


def _finding(folder: Path) -> Callable[[str], FileFinder]:
    """Finds modules in `folder` and in packages below it. The presets, and what lies there and is on Python's path (a
    virtual environment), are not the user's."""
    others = [find_data("configs", "machines"), *(Path(path) for path in sys.path if Path(path) != folder)]
    others = [other for other in others if other.is_relative_to(folder)]

    def hook(path: str) -> FileFinder:
        place = Path(path)
        theirs = place.is_relative_to(folder) and not any(place.is_relative_to(other) for other in others)
        if not theirs or not place.is_dir():
            raise ImportError(path)
        return FileFinder(path, (ExtensionFileLoader, EXTENSION_SUFFIXES), (_FromSource, SOURCE_SUFFIXES))

    return hook


def _forget_finders(folder: Path) -> None:
    """Python keeps what finds modules in a folder, by its path."""
    for path in list(sys.path_importer_cache):
        if Path(path).is_relative_to(folder):
            del sys.path_importer_cache[path]
