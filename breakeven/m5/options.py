"""The launcher's options, as a script sees them (``m5.options``)."""

from __future__ import annotations

from pathlib import Path

from breakeven.files.writing import default_place


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
        #: ours: options that were given
        self.given: set[str] = set()

    def check_default_places(self, folder: Path) -> None:
        """Raises `UserError` where a file of the output folder that no option names, or that folder, is a link."""
        names = ("outdir", "stats_file", "dump_config", "json_config", "stdout_file", "stderr_file")
        usual = {name: value for name, value in vars(Options()).items() if name in names and name not in self.given}
        if (own := usual.pop("outdir", None)) and folder == Path(own):
            default_place(own, "--outdir")
        for name, value in usual.items():
            if getattr(self, name) == value:
                default_place(value, f"--{name.replace('_', '-')}", folder)
