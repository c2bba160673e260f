"""Waiting for what a test means instead of for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


def until(question: Callable[[], Answer]) -> Answer:
    """The first answer of `question` that is true. One that never comes is ended by pytest's own limit for a test."""
    while not (answer := question()):
        time.sleep(0.01)
    return answer
