"""The launcher's options, as a script sees them (``m5.options``)."""

from __future__ import annotations


class Options:
    """The launcher's options, under gem5's names (``m5.options``); a name without a meaning here is not kept."""

    def __init__(self) -> None:
        self.outdir = "m5out"
        self.stats_file = "stats.txt"
        self.dump_config = "config.ini"
        self.json_config = "config.json"
        self.debug_flags: list[str] = []
        self.debug_file = "cout"
        self.debug_start = 0
        self.debug_end = 0
        self.path: list[str] = []
        self.quiet = 0
        self.verbose = 0
        self.redirect_stdout = False
        self.redirect_stderr = False
        self.silent_redirect = False
        self.stdout_file = "simout.txt"
        self.stderr_file = "simerr.txt"
        self.listener_mode = "off"
        #: ours: the one directory whose files a process may read, and whether it may write there
        self.allow_dir: str | None = None
        self.allow_writes = False
        #: ours: the instruction set that the build stands for (`breakeven.config.gem5_build`)
        self.isa: str | None = None
