"""The options of ``breakeven gem5``, under gem5's names. A module of its own: the command's help needs them, and
nothing else of the launcher."""

from __future__ import annotations

from typing import NamedTuple

#: whose language this is
GEM5_VERSION = "24.0.0.1"
DEBUG_FLAGS = ("Exec", "O3PipeView")


def flag_called(name: str) -> str | None:
    """The debug flag called `name`; gem5's ``ExecAll``, all that ``Exec`` prints and more, is ``Exec`` here."""
    name = "Exec" if name == "ExecAll" else name
    return name if name in DEBUG_FLAGS else None


class Option(NamedTuple):
    short: str
    long: str
    #: what the help calls its value; empty: it takes none
    value: str
    help: str


OPTIONS = (
    Option("h", "help", "", "Say this and end."),
    Option("d", "outdir", "DIR", "Where stats.txt, config.ini and the guest's files go (m5out)."),
    Option("q", "quiet", "", "For gem5's sake: nothing is said unless asked for."),
    Option("v", "verbose", "", "Say which simulator runs which command line."),
    Option("r", "redirect-stdout", "", "Standard output (and error, without -e) into a file of the output folder."),
    Option("e", "redirect-stderr", "", "Standard error into a file of the output folder."),
    Option("", "silent-redirect", "", "Do not say that output is redirected."),
    Option("", "stdout-file", "FILE", "The file of -r (simout.txt)."),
    Option("", "stderr-file", "FILE", "The file of -e (simerr.txt)."),
    Option("p", "path", "PATH[:PATH]", "Folders that the script may import from."),
    Option("", "stats-file", "FILE", "Where statistics go (stats.txt); json://FILE: the last dump as JSON."),
    Option("", "dump-config", "FILE", "Where the configuration goes (config.ini); empty: nowhere."),
    Option("", "json-config", "FILE", "The same as JSON (config.json); empty: nowhere."),
    Option("", "debug-flags", "FLAG[,FLAG]", f"What to trace: {', '.join(DEBUG_FLAGS)}."),
    Option(
        "", "debug-file", "FILE", "Where in the output folder the trace goes; FILE.gz: compressed (standard output)."
    ),
    Option("", "debug-start", "TICK", "Trace from this tick on."),
    Option("", "debug-end", "TICK", "... and to this one."),
    Option("", "debug-help", "", "List the trace flags."),
    Option("", "list-sim-objects", "", "List the classes with their parameters and defaults."),
    Option("", "listener-mode", "MODE", "For gem5's sake: nothing listens here."),
    Option("", "listener-loopback-only", "", "For gem5's sake: nothing listens here."),
    Option("", "remote-gdb-port", "PORT", "For gem5's sake: nothing listens here."),
    Option("", "dot-config", "FILE", "For gem5's sake: no picture of the configuration is drawn."),
    Option("", "dot-dvfs-config", "FILE", "The same."),
    Option("B", "build-info", "", "Say which gem5 this speaks like."),
    Option("", "isa", "ISA", "Not gem5's: the build to stand for, x86 or riscv (that of the program given, else x86)."),
    Option("", "allow-dir", "DIR", "Not gem5's: the one folder whose files an emulated process may read."),
    Option("", "allow-writes", "", "Not gem5's: and write."),
)
