"""The two tiers of tests: what `scripts/test` runs, and what only `scripts/test --all` runs (the mark `long`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def long_after(count: int, cases: Iterable[Any]) -> list[Any]:
    """The cases of a parametrized test; those after the first `count` are long."""
    return [case if i < count else pytest.param(case, marks=pytest.mark.long) for i, case in enumerate(cases)]


def some_or_all(step: int) -> pytest.MarkDecorator:
    """Parametrizes `every`: each `step`th point in `scripts/test`, every one with `--all`."""
    return pytest.mark.parametrize("every", [step, pytest.param(1, marks=pytest.mark.long)])
