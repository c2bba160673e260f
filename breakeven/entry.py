"""The ``breakeven`` command's entry: gem5 scripts go straight to their launcher, everything else to `breakeven.cli`.

A short gem5 script is over before the command-line library would be loaded.
"""

from __future__ import annotations

import gc
import os
import signal
import sys

#: new containers between two runs of the garbage collector; with Python's own 700 it runs a hundred times for imports
_COLLECT_AFTER = 50_000
#: status of a command that Ctrl-C has ended
_INTERRUPTED = 130


def main() -> None:
    """Run the command line and end the process with its status."""
    gc.set_threshold(_COLLECT_AFTER)
    _keep_standard_streams()
    try:
        command()
    except KeyboardInterrupt:
        # Before a command could take care of it.
        print("breakeven: interrupted", file=sys.stderr)
        sys.exit(_INTERRUPTED)
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            # Nothing is left to unwind: a second Ctrl-C would only raise in what the interpreter does at its end.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        raise
    finally:
        # The interpreter collects once more as it ends, over every module, for memory that is free at once anyway.
        gc.freeze()


def _keep_standard_streams() -> None:
    """An output that the caller has closed (`>&-`) fails when written to; no file that is opened takes its place."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            # Of standard error nobody would hear.
            null = os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_WRONLY)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, "w"))


def command() -> None:
    """What `main` does in a process that goes on: ends with `SystemExit`."""
    if sys.argv[1:2] != ["gem5"]:
        from breakeven.cli import main as cli_main

        cli_main()
        return
    try:
        from breakeven.m5.launcher import main as launch

        status = launch(sys.argv[2:])
        sys.stdout.flush()
    except BaseException as error:
        from breakeven.cli import failed

        status = failed(error)
    sys.exit(status)
