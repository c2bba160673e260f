"""The package ``machines`` (configs/machines), for presets and scripts that import it, and only while they run.

A package or module of that name beside the script wins, as it would in Python.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from breakeven.files.data import find_data

NAME = "machines"


def folder() -> Path:
    """Where the package lies, in a checkout or in the wheel."""
    return find_data("configs", NAME)


def module_of(path: Path) -> str | None:
    """The name of the package's module at `path`; None for a file elsewhere."""
    return f"{NAME}.{path.stem}" if path.parent == folder() else None


class _Finder:
    def __init__(self, beside: Path | None) -> None:
        self._beside = beside

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != NAME:
            return None
        if self._beside is not None:
            own = PathFinder.find_spec(fullname, [str(self._beside)])
            # A mere folder has no loader, and is no package that somebody wrote.
            if own is not None and own.loader is not None:
                return own
        place = folder()
        return spec_from_file_location(NAME, place / "__init__.py", submodule_search_locations=[str(place)])


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
