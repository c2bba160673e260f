"""Imports matplotlib so that no `matplotlibrc` is read, neither the current folder's nor the user's: with it, another
figure would be drawn, a program run, or nothing (a pipe never ends). To be imported before matplotlib."""

from __future__ import annotations

import os
import sys


def _import_matplotlib() -> None:
    # It looks in the current folder first, then where the variable says.
    name = "MATPLOTLIBRC"
    before, here = os.environ.get(name), os.open(".", os.O_PATH | os.O_CLOEXEC)
    os.environ[name] = os.devnull
    os.chdir("/")
    try:
        import matplotlib  # noqa: F401
    finally:
        os.fchdir(here)
        os.close(here)
        del os.environ[name]
        if before is not None:
            os.environ[name] = before


if "matplotlib" not in sys.modules:
    _import_matplotlib()
