"""Where the store and the user's routines lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from breakeven.errors import UserError
from breakeven.routine.registry import home
from breakeven.store.database import default_path

VARIABLES = ("BREAKEVEN_STORE", "BREAKEVEN_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/me")


def places() -> tuple[str, str]:
    return str(default_path()), str(home())


def test_places_are_those_of_the_xdg_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = ("/home/me/.cache/breakeven/points.sqlite", "/home/me/.local/share/breakeven")
    assert places() == usual
    monkeypatch.setenv("XDG_CACHE_HOME", "/tmp/c")
    monkeypatch.setenv("XDG_DATA_HOME", "~/d")
    assert places() == ("/tmp/c/breakeven/points.sqlite", "/home/me/d/breakeven")
    # Neither an empty nor a relative one counts.
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("XDG_DATA_HOME", "here")
    assert places() == usual


def test_breakeven_s_own_variables_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/tmp/c")
    monkeypatch.setenv("BREAKEVEN_STORE", "~/mine.sqlite")
    monkeypatch.setenv("BREAKEVEN_HOME", "relative")
    assert places() == ("/home/me/mine.sqlite", "relative")


def test_without_a_home_folder_the_variable_to_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(self: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", none)
    with pytest.raises(UserError, match="no home folder for '~/.cache': set XDG_CACHE_HOME to a folder"):
        default_path()
