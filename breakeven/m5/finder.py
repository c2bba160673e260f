"""Finds ``m5`` and ``gem5`` for a script that imports them, and nothing before or after it.

``m5.x`` is `breakeven.m5.x` or `breakeven.config.x` (or a small module that `breakeven.m5.script` makes), ``gem5.x`` is
`breakeven.gem5.x`: one module under two names, loaded when the script first imports it. ``common.SimpleOpts``, which
gem5's tutorial takes from gem5's own ``configs/``, is found here only when the script's path has none.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

#: below ``m5``: modules that are files of ours
_FILES = {
    "SimObject": "config.simobject", "event": "m5.event", "objects": "m5.objects", "params": "config.params",
    "ports": "config.ports", "proxy": "config.proxy", "stats": "m5.stats", "stats.gem5stats": "m5.gem5stats",
    "provenance": "config.provenance", "util": "m5.util", "util.convert": "m5.convert",
}  # fmt: skip
#: ... and those that `script` makes
_MADE = frozenset(("ticks", "defines", "options", "core", "debug", "trace", "internal", "internal.params"))
_OURS = ("m5", "gem5")


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] in _OURS


def _source(name: str) -> str | None:
    """The module of breakeven that a script sees as `name`; empty: one that `script` makes; None: there is none."""
    top, _, rest = name.partition(".")
    if top == "gem5":
        return f"breakeven.{name}"
    if not rest:
        return "breakeven.m5.script"
    first, _, below = rest.partition(".")
    if rest in _MADE:
        return ""
    if first == "objects" and below.isidentifier():
        # gem5 has a module for each of its files of classes; all of them are in m5.objects.
        return "breakeven.m5.objects"
    return f"breakeven.{_FILES[rest]}" if rest in _FILES else None


def _there(source: str) -> bool:
    try:
        return find_spec(source) is not None
    except ModuleNotFoundError:
        return False  # nor is what it would be in


class _Alias:
    """Loads a module of breakeven under the script's name for it."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if self._source:
            module = import_module(self._source)
        else:
            module = import_module("breakeven.m5.script")
            for step in spec.name.split(".")[1:]:
                module = getattr(module, step)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has put the alias's spec on the module, which is not a second module.
        module.__spec__ = self._spec


def _spec(name: str, source: str) -> ModuleSpec:
    # A loader and a finder need no base class, and importlib.abc takes as long to load as a short script.
    loader: Any = _Alias(source)
    return ModuleSpec(name, loader, is_package=True)


def _absent(fullname: str) -> ModuleSpec:
    """The stand-in for a part of gem5's standard library that is not here."""
    from breakeven.m5.absent import reason

    why = reason(fullname)
    if why is None:
        what = f"no module {fullname!r} here; docs/gem5.md lists the parts of gem5's standard library that there are"
        raise ModuleNotFoundError(what, name=fullname)
    loader: Any = _StandIn(why)
    return ModuleSpec(fullname, loader, is_package=True)


class _StandIn:
    """Loads a module whose names say why they are not here."""

    def __init__(self, why: str) -> None:
        self._why = why

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        from breakeven.m5.absent import stand_in

        return stand_in(spec.name, self._why)

    def exec_module(self, module: ModuleType) -> None:
        """It is whole as it was made."""


class _Finder:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not _is_ours(fullname):
            return None
        source = _source(fullname)
        if source is None:
            return None
        if source.startswith("breakeven.gem5") and not _there(source):
            return _absent(fullname)
        return _spec(fullname, source)


class _Fallback:
    """What gem5's tutorial takes from gem5's ``configs/common``, when that is not there."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "common":
            return ModuleSpec(fullname, None, is_package=True)
        if fullname == "common.SimpleOpts":
            return _spec(fullname, "breakeven.m5.simple_opts")
        if fullname.startswith("common.") and not path:
            # `path` is empty where `common` is ours.
            what = f"{fullname} is of gem5's configs/, which breakeven has not: name its folder with -p"
            raise ImportError(what, name=fullname)
        return None


@contextmanager
def visible() -> Iterator[None]:
    """A script that runs in this context can import ``m5`` and ``gem5``; afterwards nobody can."""
    # Copies: another thread may import meanwhile.
    before = {name: module for name, module in sys.modules.copy().items() if _is_ours(name)}
    for name in before:
        del sys.modules[name]
    had_common = "common" in sys.modules
    finder: Any = _Finder()
    fallback: Any = _Fallback()
    sys.meta_path.insert(0, finder)
    sys.meta_path.append(fallback)
    try:
        yield
    finally:
        sys.meta_path[:] = [each for each in sys.meta_path if each is not finder and each is not fallback]
        gone = _OURS if had_common else (*_OURS, "common")
        for name in [name for name in sys.modules.copy() if name.partition(".")[0] in gone]:
            del sys.modules[name]
        # Arguments that a script declared are its own.
        sys.modules.pop("breakeven.m5.simple_opts", None)
        sys.modules.update(before)
