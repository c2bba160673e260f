"""The ``breakeven`` command's entry: gem5 scripts go straight to their launcher, everything else to `breakeven.cli`.

A short gem5 script is over before the command-line library would be loaded.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and end the process with its status."""
    try:
        command()
    except KeyboardInterrupt:
        # Before a command could take care of it.
        print("breakeven: interrupted", file=sys.stderr)
        sys.exit(130)


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
