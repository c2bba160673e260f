"""The two tiers of tests: what `scripts/test` runs, and what only `scripts/test --all` runs (the mark `long`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def long_after(count: int, cases: Iterable[Any]) -> list[Any]:
    """The cases of a parametrized test; those after the first `count` are long."""
    return [case if i < count else pytest.param(case, marks=pytest.mark.long) for i, case in enumerate(cases)]
