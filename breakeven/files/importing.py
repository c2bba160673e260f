"""A user's file may import the modules that lie beside it, while it runs and no longer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def importable(folder: Path | None) -> Iterator[None]:
    """Modules in `folder` can be imported while this runs; afterwards another folder may use the same names."""
    known = set(sys.modules)
    if folder is not None:
        sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if folder is not None:
            if str(folder) in sys.path:
                sys.path.remove(str(folder))
            for name in set(sys.modules) - known:
                file = getattr(sys.modules[name], "__file__", None)
                if file is not None and Path(file).parent == folder:
                    del sys.modules[name]
