"""What a script leaves in its output folder: statistics as they are dumped, and the guest's files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from breakeven.errors import UserError
from breakeven.files.writing import replacing, write_text
from breakeven.m5.gem5stats import tree


class Outputs:
    """The files of one run in `folder`. `stats_file`: gem5's ``--stats-file``."""

    def __init__(self, folder: Path, stats_file: str) -> None:
        self._folder = folder
        #: files of the guest's that have been written, by name
        self._written: dict[str, bytes] = {}
        self._refused: set[str] = set()
        self._texts: list[Path] = []
        self._jsons: list[Path] = []
        self.add_file(stats_file)

    def add_file(self, name: str) -> None:
        """One more file for statistics: a name or ``text://``: gem5's text; ``json://``: the last dump as JSON."""
        kind, separator, path = name.partition("://")
        if not separator:
            kind, path = "text", name
        path = path.partition("?")[0]
        if kind not in ("text", "json"):
            raise UserError(f"statistics as {kind!r} ({name!r}) are not supported: give a file, or json://FILE")
        target = self._folder / path
        (self._texts if kind == "text" else self._jsons).append(target)
        try:
            target.write_bytes(b"")
        except OSError as error:
            raise unwritable(error, target) from None

    def append_stats(self, machine: Any) -> None:
        """Write the dumps since the last call; a script may read the file between two of them."""
        text = machine.take_stats_txt()
        if not text:
            return
        for path in self._texts:
            try:
                with open(path, "a") as file:
                    file.write(text)
            except OSError as error:
                raise unwritable(error, path) from None
        if self._jsons:
            for path in self._jsons:
                write_text(path, json.dumps(tree(machine.stats()), indent=4))

    def write_files(self, machine: Any, own: Iterable[str]) -> None:
        """The files that the guest wrote so far, where they have changed.

        None takes the place of a link, or of a file of the simulator's: statistics, and what is called as in `own`.
        """
        taken = {self._folder / name for name in own} | {*self._texts, *self._jsons}
        # What a block holds is written whole before the disk is waited for: once for all of them.
        with ExitStack() as block:
            for name, content in sorted(machine.outputs().items()):
                # A guest names its files; only the last part of a name reaches the host.
                path = self._folder / Path(name).name
                if path in taken or path.is_symlink():
                    if name not in self._refused:
                        what = "a file of the simulator's" if path in taken else "a symbolic link"
                        print(f"warn: the guest's file {name!r} is not kept: that is {what}", file=sys.stderr)
                    self._refused.add(name)
                elif self._written.get(name) != content:
                    block.enter_context(replacing(path)).write_bytes(content)
                    self._written[name] = content


def compress(target: Path) -> None:
    """Make `target` (``FILE.gz``) of the file ``FILE`` beside it."""
    import gzip
    import shutil

    plain = target.with_suffix("")
    with (
        replacing(target) as beside,
        open(plain, "rb") as source,
        open(beside, "wb") as raw,
        gzip.GzipFile(plain.name, "wb", fileobj=raw) as sink,
    ):
        shutil.copyfileobj(source, sink)
    plain.unlink()


def unwritable(error: OSError, outdir: Path) -> UserError:
    return UserError(f"cannot write to {str(outdir)!r}: {(error.strerror or str(error)).lower()}")
