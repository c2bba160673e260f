"""Options that go together, written once: a command names the bundle as one parameter, typer sees its options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

Command = Callable[..., Any]


def option_group(parameter: str, options_of: Callable[..., Any], **defaults: Any) -> Callable[[Command], Command]:
    """Gives a command the options of `options_of`, a function, in place of its own parameter `parameter`.

    The command gets there what `options_of` returns for the values given. `defaults` replace those of the options.
    """
    template = inspect.signature(options_of).parameters
    options = [p.replace(kind=p.KEYWORD_ONLY, default=defaults.get(name, p.default)) for name, p in template.items()]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def bundled(**given: Any) -> Any:
            chosen = {name: given.pop(name) for name in template}
            return command(**{parameter: options_of(**chosen)}, **given)

        parameters: list[inspect.Parameter] = []
        for own in inspect.signature(command).parameters.values():
            parameters += options if own.name == parameter else [own.replace(kind=own.KEYWORD_ONLY)]
        # What typer reads; its types are those of the modules that they were written in.
        hints = {**_hints(options_of), **_hints(command)}
        bundled.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [p.replace(annotation=hints[p.name]) for p in parameters]
        )
        bundled.__annotations__ = {p.name: hints[p.name] for p in parameters}
        return bundled

    return decorate


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    return get_type_hints(function, include_extras=True)
