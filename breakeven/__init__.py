"""Which memory-copy or checksum routine wins, from which size and alignment on, and on which hardware.

``breakeven.run``, ``sweep``, ``compare``, ``best``, ``compare_engines``, ``find``, ``surface``, ``sensitivity``,
``tune``, ``tune_target``, ``explain``, ``explore``, ``report``, ``reproduce``, ``add``, ``remove``, ``routines``,
``machines`` and ``load_to_use`` are functions of `breakeven.api`, which is imported when the first of them is used:
``import breakeven`` itself loads nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from breakeven.api import (
        add,
        best,
        compare,
        compare_engines,
        explain,
        explore,
        find,
        load_to_use,
        machines,
        remove,
        report,
        reproduce,
        routines,
        run,
        sensitivity,
        surface,
        sweep,
        tune,
        tune_target,
    )  # fmt: skip

    __version__: str

__all__ = [
    "add", "best", "compare", "compare_engines", "explain", "explore", "find", "load_to_use", "machines", "remove",
    "report", "reproduce", "routines", "run", "sensitivity", "surface", "sweep", "tune", "tune_target",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in __all__:
        from breakeven import api

        return getattr(api, name)
    if name == "__version__":
        return _version()
    raise AttributeError(f"module 'breakeven' has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})


def _version() -> str:
    """The installed version; ``0+unknown`` in a checkout that was never set up."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("breakeven")
    except PackageNotFoundError:
        return "0+unknown"
