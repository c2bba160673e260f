"""The package ``machines`` (configs/machines), for presets and scripts that import it, and only while they run.

A package or module of that name beside the script wins, as it would in Python.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from breakeven.files.data import find_data

NAME = "machines"
#: of bytecode that holds a hash of its source (PEP 552): its flags, and the bytes before the code
_CHECKED, _HEAD = b"\3\0\0\0", 16


def folder() -> Path:
    """Where the package lies, in a checkout or in the wheel."""
    return find_data("configs", NAME)


def module_of(path: Path) -> str | None:
    """The name of the package's module at `path`; None for a file elsewhere."""
    return f"{NAME}.{path.stem}" if path.parent == folder() else None


class ByContent(SourceFileLoader):
    """Takes the bytecode of a preset, or of a module of theirs, that the build has left if it is of this very source:
    other bytecode goes by the second and the size of a source."""

    def get_code(self, fullname: str) -> CodeType:
        source, bytecode = self.get_data(self.path), b""
        with suppress(OSError):
            bytecode = self.get_data(cache_from_source(self.path))
        if bytecode[:_HEAD] == MAGIC_NUMBER + _CHECKED + source_hash(source):
            code: CodeType = marshal.loads(bytecode[_HEAD:])
        else:
            code = self.source_to_code(source, self.path)
        return code


class _Finder:
    def __init__(self, beside: Path | None) -> None:
        self._beside = beside

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is not None and fullname.startswith(f"{NAME}.") and Path(*path).is_relative_to(folder()):
            return FileFinder(*path, (ByContent, SOURCE_SUFFIXES)).find_spec(fullname)
        if fullname != NAME:
            return None
        if self._beside is not None:
            own = PathFinder.find_spec(fullname, [str(self._beside)])
            # A mere folder has no loader, and is no package that somebody wrote.
            if own is not None and own.loader is not None:
                return own
        place = folder()
        init = str(place / "__init__.py")
        return spec_from_file_location(
            NAME, init, loader=ByContent(NAME, init), submodule_search_locations=[str(place)]
        )


def _is_ours(name: str, module: ModuleType, place: str) -> bool:
    # Asked of every module that there is: no paths, no look at the disk.
    file = getattr(module, "__file__", None)
    return name.partition(".")[0] == NAME or (file is not None and file.rpartition("/")[0] == place)


@contextmanager
def importable(beside: Path | None) -> Iterator[None]:
    """``machines`` can be imported while this runs, by a file in the folder `beside`; then it is forgotten, so that
    the next file meets the presets as they are by then."""
    before = {name: module for name, module in sys.modules.copy().items() if name.partition(".")[0] == NAME}
    for name in before:
        del sys.modules[name]
    finder: Any = _Finder(beside)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path[:] = [each for each in sys.meta_path if each is not finder]
        place = str(folder())
        for name in [name for name, module in sys.modules.copy().items() if _is_ours(name, module, place)]:
            del sys.modules[name]
        sys.modules.update(before)
