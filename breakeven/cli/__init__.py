"""The `breakeven` command.

A single run must not feel the weight of what a sweep needs: a command line loads the file of its own command only
(`load`), commands import what they use when they run, and typer's rich formatting is off (rich is loaded only to draw
a table or a progress bar).
"""

from __future__ import annotations

import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

from breakeven.cli.app import EXIT_USAGE, Interrupted, app
from breakeven.errors import UserError, say

#: set: an error of breakeven's own shows where it came from
TRACEBACK = "BREAKEVEN_TRACEBACK"
#: characters of a sentence: a name of any length may be part of it
MOST_SAID = 1500
#: the files beside this one that have commands, in the order of the help, and their commands
FILES = {
    "point": {"run"}, "explain": {"explain"}, "explore": {"explore"}, "listings": {"machines", "routines"},
    "add": {"add"}, "programs": {"exec", "gem5"}, "report": {"report"}, "search": {"find", "surface"},
    "sensitivity": {"sensitivity"}, "store": {"store"},
    "studies": {"reproduce"}, "best": {"best"}, "calibrate": {"calibrate"},
    "sweeps": {"compare", "sweep"}, "trace_diff": {"gem5-diff"}, "tune": {"tune"},
}  # fmt: skip


def load(command: str = "") -> Any:
    """The typer application with `command`; with all of them for anything else, as help needs them."""
    having = [file for file, commands in FILES.items() if command in commands]
    for file in having or FILES:
        import_module(f"breakeven.cli.{file}")
    return app


def _message(error: BaseException) -> str | None:
    """The sentence for an error that is the user's to fix; None for one that is ours."""
    from breakeven.files.data import DataNotFound

    if isinstance(error, (UserError, DataNotFound)):
        return str(error)
    if hasattr(error, "format_message"):  # typer's usage errors, whichever click they come from
        return error.format_message()
    if isinstance(error, MemoryError):
        return "out of memory: take fewer points or a smaller machine"
    from breakeven.config.errors import ConfigError, OverrideError
    from breakeven.machine.presets import MachineError

    if isinstance(error, (ConfigError, OverrideError, MachineError)):
        return str(error)
    if type(error).__name__ == "EngineError":
        return str(error)
    text = _script_message(error)
    if text is None and isinstance(error, OSError):
        reason = (error.strerror or str(error)).lower()
        if error.filename is not None:
            return f"cannot use {_shortened(str(error.filename))!r}: {reason}"
        # What has no name is our own output.
        _drop_stdout()
        text = f"cannot write the output: {reason}"
    return text


def _shortened(name: str, most: int = 100) -> str:
    """A name as a sentence can hold it."""
    return name if len(name) <= most else f"{name[: most - 3]}..."


def _fault(error: BaseException) -> str:
    """The sentence for an error of breakeven's own: what, where, and how to tell more of it."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}, line {last.lineno}"
    what = _shortened(" ".join(_words(error).split()), 200)
    return (
        f"a fault of breakeven's own, {type(error).__name__} in {where}: {what}: "
        f"run it again with {TRACEBACK}=1 and report what that prints"
    )


def _words(error: BaseException) -> str:
    """What an error says; nothing where a script's own error cannot be written as text."""
    try:
        return str(error)
    except Exception:
        return ""


def _script_message(error: BaseException) -> str | None:
    """An error raised by a machine file or a gem5 script: what it says and the line where it was written."""
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}: {error.msg}" if error.filename else error.msg
    written = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_script(frame.filename)]
    if written:
        words = _words(error)
        text = f"{type(error).__name__}: {words}" if words else type(error).__name__
        return f"{written[-1].filename}, line {written[-1].lineno}: {text}"
    if isinstance(error, RecursionError):
        return "the machine's objects are nested too deeply"
    return None


def _is_script(filename: str) -> bool:
    """Whether code from this file is a configuration or the user's, not breakeven's or Python's own."""
    path, package = Path(filename).resolve(), Path(__file__).resolve().parents[1]
    if path.suffix != ".py" or path.is_relative_to(package / "_data"):
        return path.suffix == ".py"
    # The command's own entry script has no suffix; libraries lie below the interpreter's prefixes.
    libraries = [Path(prefix).resolve() / "lib" for prefix in {sys.prefix, sys.base_prefix}]
    return not any(path.is_relative_to(folder) for folder in (package, *libraries))


def _check_arguments(arguments: list[str]) -> None:
    """Names and paths go into descriptions, JSON and the engine, all of them text."""
    for argument in arguments:
        if not argument.isascii() and argument != argument.encode(errors="replace").decode():
            raise UserError(f"the argument {argument!r} is not UTF-8 text: rename the file, or give another name")


def main() -> None:
    """Entry point: runs a command; errors become one sentence on stderr and a non-zero exit status."""
    try:
        _check_arguments(sys.argv[1:])
        status = load(*sys.argv[1:2])(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BaseException as error:
        status = failed(error)
    sys.exit(status if isinstance(status, int) else 0)


def failed(error: BaseException) -> int:
    """Say on stderr what went wrong, in one sentence; the exit status. A fault of ours is raised under `TRACEBACK`."""
    if isinstance(error, (Interrupted, KeyboardInterrupt)):
        print("breakeven: interrupted", file=sys.stderr)
        return 130
    if isinstance(error, BrokenPipeError):
        _drop_stdout()
        return 141
    if isinstance(error, (SystemExit, GeneratorExit)):
        raise error
    if type(error).__name__ == "NoArgsIsHelpError":
        say(error.format_message())  # type: ignore[attr-defined]
        return EXIT_USAGE
    message = _message(error)
    if message is None:
        if os.environ.get(TRACEBACK):
            raise error
        message = _fault(error)
    if len(message) > MOST_SAID:
        message = f"{message[: MOST_SAID - 200]} ... {message[-200:]}"
    say(f"breakeven: {message}", file=sys.stderr)
    return EXIT_USAGE if hasattr(error, "format_message") else 1


def _drop_stdout() -> None:
    """Nobody takes our output any more; the interpreter must not fail again when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
