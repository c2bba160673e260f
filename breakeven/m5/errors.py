"""What can go wrong in a configuration, and how it is said."""

from __future__ import annotations

from collections.abc import Iterable


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


def near(name: str, known: Iterable[str], *, all_of: str = "") -> str:
    """``; did you mean 'x' or 'y'?`` for the names in `known` close to `name`, or where to look for all of them."""
    from difflib import get_close_matches  # only errors pay for it

    names = sorted(set(known))
    lower = {candidate.lower(): candidate for candidate in names}
    close = [lower[word] for word in get_close_matches(name.lower(), lower, n=3, cutoff=0.6)]
    if not close:
        close = [candidate for candidate in names if len(name) > 2 and name.lower() in candidate.lower()][:3]
    if close:
        return "; did you mean " + " or ".join(repr(candidate) for candidate in close) + "?"
    if all_of and names:
        shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        return f"; {all_of}: {shown}"
    return ""
