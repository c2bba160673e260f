"""Errors that a user can act on: one sentence that names the thing and the fix, shown without a traceback."""

from __future__ import annotations


class UserError(Exception):
    """What the user asked for cannot be done; the message is one sentence for stderr."""
