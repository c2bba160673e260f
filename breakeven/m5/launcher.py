"""``breakeven gem5 [OPTIONS] SCRIPT [ARGUMENTS]``: gem5's command line.

Nothing is imported before it is needed: a short script is over in the time that a command-line library takes to load.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from getopt import GetoptError, getopt
from pathlib import Path

from breakeven.errors import UserError
from breakeven.m5.command_line import DEBUG_FLAGS, GEM5_VERSION, OPTIONS, flag_called
from breakeven.m5.options import Options

_SHORT = {option.short: option.long for option in OPTIONS if option.short}
USAGE = "usage: breakeven gem5 [options] script.py [script options]"


def help_text() -> str:
    lines = [USAGE, "", "Runs a gem5 configuration script in breakeven's own engine.", ""]
    for option in OPTIONS:
        names = f"-{option.short}, " if option.short else "    "
        names += f"--{option.long}" + (f"={option.value}" if option.value else "")
        lines.append(f"  {names:<34}{option.help}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Run the command line `arguments` (what follows ``breakeven gem5``); the exit status.

    Raises `UserError` for options that cannot be; what the script raises comes through.
    """
    options = Options()
    try:
        given, rest = getopt(
            list(arguments),
            "".join(option.short + (":" if option.value else "") for option in OPTIONS if option.short),
            [option.long + ("=" if option.value else "") for option in OPTIONS],
        )
    except GetoptError as error:
        return _usage(error.msg)
    for name, value in given:
        long = name[2:] if name.startswith("--") else _SHORT[name[1:]]
        if long in _ANSWERS:
            print(_ANSWERS[long]())
            return 0
        _take(options, long, value)
    if options.quiet and options.verbose:
        return _usage("--quiet and --verbose exclude each other")
    if not rest:
        return _usage("there is no script")
    if not os.path.isfile(rest[0]):
        raise UserError(f"there is no script {rest[0]!r}")
    return _run(options, rest)


def _usage(what: str) -> int:
    print(f"breakeven: {what} (breakeven gem5 --help lists what there is)", file=sys.stderr)
    return 2


def _take(options: Options, name: str, value: str) -> None:
    attribute = name.replace("-", "_")
    options.given.add(attribute)
    if name in ("quiet", "verbose"):
        setattr(options, attribute, getattr(options, attribute) + 1)
    elif name in ("redirect-stdout", "redirect-stderr", "silent-redirect", "listener-loopback-only", "allow-writes"):
        setattr(options, attribute, True)
    elif name in ("debug-start", "debug-end"):
        if not value.isdecimal() or int(value) >= 1 << 64:
            raise UserError(f"--{name} takes a tick, a whole number of picoseconds, not {value!r}")
        setattr(options, attribute, int(value))
    elif name == "path":
        options.path += value.split(":")
    elif name == "debug-flags":
        for flag in value.split(","):
            _debug_flag(options, flag)
    elif name == "listener-mode" and value not in ("on", "off", "auto"):
        raise UserError(f"--listener-mode is on, off or auto, not {value!r}")
    elif name == "isa":
        from breakeven.config.gem5_build import PREFIXES

        if value.lower() not in PREFIXES:
            raise UserError(f"--isa is {' or '.join(sorted(PREFIXES))}, not {value!r}")
        options.isa = value.lower()
    elif name == "outdir" and not value:
        raise UserError("--outdir needs the name of a folder")
    else:
        setattr(options, attribute, value)


def _debug_flag(options: Options, text: str) -> None:
    name = text.removeprefix("-")
    if not name:
        return
    flag = flag_called(name)
    if flag is None:
        raise UserError(f"there is no debug flag {name!r}: there is {', '.join(DEBUG_FLAGS)}")
    if text != name:
        options.debug_flags[:] = [other for other in options.debug_flags if other != flag]
    elif flag not in options.debug_flags:
        options.debug_flags.append(flag)


def _run(options: Options, arguments: list[str]) -> int:
    from breakeven.m5.loader import run_script

    options.check_default_places(Path(options.outdir))
    if options.redirect_stdout or options.redirect_stderr:
        _redirect(options)
    if options.verbose:
        # gem5 greets unless told not to; here a script's output stands alone unless told otherwise.
        print(f"breakeven (gem5's language, as of {GEM5_VERSION})")
        import shlex

        print("command line:", shlex.join(["breakeven", "gem5", *sys.argv[2:]]))
        print(flush=True)
    sys.path[0:0] = options.path
    try:
        run_script(arguments[0], arguments[1:], outdir=options.outdir, options=options)
    except SystemExit as end:
        return _status(end)
    finally:
        sys.path[:] = [folder for folder in sys.path if folder not in options.path]
    return 0


def _status(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=sys.stderr)
    return 1


def _redirect(options: Options) -> None:
    """Standard output and error into files of the output folder, as gem5 does it."""
    targets = []
    if options.redirect_stdout:
        targets.append((options.stdout_file, [1] if options.redirect_stderr else [1, 2]))
    if options.redirect_stderr:
        targets.append((options.stderr_file, [2]))
    try:
        os.makedirs(options.outdir, exist_ok=True)
        for name, descriptors in targets:
            path = os.path.join(options.outdir, name)
            if not options.silent_redirect:
                print(f"Redirecting {' and '.join({1: 'stdout', 2: 'stderr'}[each] for each in descriptors)} to {path}")
            sys.stdout.flush()
            sys.stderr.flush()
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            for descriptor in descriptors:
                os.dup2(file, descriptor)
            os.close(file)
    except OSError as error:
        raise UserError(f"cannot write to {options.outdir!r}: {(error.strerror or str(error)).lower()}") from None


def _list_objects() -> str:
    from breakeven.config.library import all_classes
    from breakeven.config.params import MISSING

    lines = ["SimObjects:"]
    for name, cls in all_classes():
        lines.append(f"    {name}")
        for param, desc in sorted(cls._params.items()):
            default = cls._class_value(param)
            lines.append(f"        {param} ({desc.type_text})" + ("" if default is MISSING else f" default: {default}"))
    return "\n".join(lines)


_ANSWERS = {
    "help": help_text,
    "debug-help": lambda: "Debug flags:\n" + "\n".join(f"    {flag}" for flag in DEBUG_FLAGS),
    "build-info": lambda: f"breakeven: gem5's language as of {GEM5_VERSION}; RISC-V and X86; no Ruby, no KVM",
    "list-sim-objects": _list_objects,
}
