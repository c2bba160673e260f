"""What can go wrong in a configuration, and how it is said."""

from __future__ import annotations

from collections.abc import Iterable

from breakeven.errors import near


class ConfigError(Exception):
    """A configuration that cannot be a machine: every error found, each with its dotted path and the fix."""

    def __init__(self, errors: list[str]) -> None:
        self.errors = errors
        count = len(errors)
        head = "the configuration has an error" if count == 1 else f"the configuration has {count} errors"
        super().__init__(f"{head}: {errors[0]}" if count == 1 else "\n  ".join([f"{head}:", *errors]))


class OverrideError(ValueError):
    """A ``path=value`` that does not fit the machine it is applied to."""


class PortError(TypeError):
    """Two ports that cannot be joined."""


def unimplemented(obj: object, method: str) -> NotImplementedError:
    """For a method that subclasses of the standard library's abstract classes define."""
    return NotImplementedError(f"{type(obj).__name__} must define {method}(), which its base class leaves to it")


class UnknownName(AttributeError):
    """A parameter, child or class that is not there. The near names are looked up only when somebody reads the message:
    scripts ask ``hasattr`` often."""

    def __init__(self, text: str, name: str, known: Iterable[str]) -> None:
        super().__init__(text)
        self.name = name
        self._known = known

    def __str__(self) -> str:
        return str(self.args[0]) + near(self.name or "", self._known)
