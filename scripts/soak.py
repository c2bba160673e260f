"""Sweeps under everything that befalls a store: `scripts/soak --minutes 60`.

Each round draws one accident at random, lets sweeps of the command line meet it, and then holds what docs/promises.md
promises: the store's rows are whole, no point that was kept is gone, and the sweep run to its end writes the table
that an engine without a store writes, byte for byte. Any breach ends the soak with the seed that draws it again.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from breakeven.store import Store
from breakeven.store.contents import check

#: points of the sweep: sizes 1 to this, each at eight destination offsets
SIZES = 400
#: a sweep of this size takes seconds; one that does not end has hung (s)
HANG_SECONDS = 300
#: what the child runs instead of `python -m breakeven`, with a clock that is ten years off or another engine
_CLOCK = "import time; real = time.time; time.time = lambda: real() + {}; "
_VERSION = (
    "import {module} as e; old = e.load_engine; "
    "new = type('Engine', (), {{'__getattr__': lambda _, n: getattr(old(), n), 'fingerprint': 'another version'}})(); "
    "e.load_engine = lambda: new; "
)
_MAIN = "from breakeven.entry import main; main()"


class Breach(Exception):
    """A promise that does not hold."""


class Soak:
    """The store in `folder` and the sweeps that use it."""

    def __init__(self, folder: Path, draw: random.Random) -> None:
        self.folder, self.draw = folder, draw
        self.store = folder / "points.sqlite"
        self.done: Counter[str] = Counter()
        #: sweeps that have met kill -9
        self.kills = 0
        self.right = self._right()

    def start(
        self, out: str, before: str = "", limit: int | None = None, store: Path | str = ""
    ) -> subprocess.Popen[bytes]:
        """A sweep; `before`: Python that runs first; `limit`: the size (bytes) that its files cannot pass."""
        axes = ["sweep", "rv-word", "-m", "atomic", "-n", f"1..{SIZES}", "--dst", "0..7", "-o", str(self.folder / out)]

        def limited() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit or 0, limit or 0))

        # Python would keep what fits of an import's bytecode.
        python = [sys.executable, "-P", *([] if limit is None else ["-B"])]
        return subprocess.Popen(
            [*python, "-c", before + _MAIN, *axes, "--store", str(store or self.store)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=None if limit is None else limited,
        )

    def _right(self) -> bytes:
        self.ends(self.start("right.csv", store="off"))
        return (self.folder / "right.csv").read_bytes()

    def kept(self) -> int:
        """How many points there are; a breach where a row is damaged."""
        if not self.store.exists():
            return 0
        with Store(self.store) as store:
            if damage := check(store):
                raise Breach(f"the store is damaged: {damage}")
            return int(store.statistics()["points"])

    def finish(self, *running: subprocess.Popen[bytes], out: str = "out{}.csv") -> None:
        """Waits for sweeps that nothing hinders; each writes the right table."""
        for i, process in enumerate(running or [self.start(out.format(0))]):
            _, told = process.communicate(timeout=HANG_SECONDS)
            if process.returncode:
                raise Breach(f"a sweep ended with status {process.returncode}: {told.decode(errors='replace')}")
            if (self.folder / out.format(i)).read_bytes() != self.right:
                raise Breach(f"{out.format(i)} is not the table of an engine without a store")

    def ends(self, process: subprocess.Popen[bytes]) -> None:
        """Waits for a sweep that ends with status 0, or with 1 and one sentence."""
        told = process.communicate(timeout=HANG_SECONDS)[1].decode(errors="replace")
        sentence = told.splitlines()[-1:] and told.splitlines()[-1].startswith("breakeven: ")
        if process.returncode not in (0, 1) or "Traceback" in told or (process.returncode and not sentence):
            raise Breach(f"status {process.returncode}: {told}")


def killed(soak: Soak) -> None:
    """kill -9 at a random instant, of one sweep or of three at once."""
    running = [soak.start(f"out{i}.csv") for i in range(soak.draw.choice([1, 3]))]
    time.sleep(soak.draw.uniform(0.1, 1.5))
    for process in running:
        # One that has ended already was not killed.
        soak.kills += process.poll() is None
        process.send_signal(signal.SIGKILL)
    for process in running:
        process.communicate()


def full(soak: Soak) -> None:
    """A disk with little room left: files that cannot grow."""
    size = soak.store.stat().st_size if soak.store.exists() else 0
    table = soak.folder / "full.csv"
    table.unlink(missing_ok=True)
    soak.ends(soak.start(table.name, limit=size + soak.draw.randrange(1 << 18)))
    if table.exists() and table.read_bytes() != soak.right:
        raise Breach("a full disk left a piece of a table")


def clocks(soak: Soak) -> None:
    """Three sweeps at once whose clocks are ten years apart."""
    years = 10 * 365 * 86400
    soak.finish(*(soak.start(f"out{i}.csv", _CLOCK.format(shift)) for i, shift in enumerate((-years, 0, years))))


def versions(soak: Soak) -> None:
    """Two versions of the engine on one store at once: neither reads the other's points."""
    before = _VERSION.format(module=_engine_module())
    soak.finish(soak.start("out0.csv"), soak.start("out1.csv", before))
    with Store(soak.store) as store:
        if "another version" not in {context.identity.engine for context in store.contexts()}:
            raise Breach("the other version kept nothing")


def suspended(soak: Soak) -> None:
    """A sweep is stopped in the middle while another goes on, then continued."""
    first = soak.start("out0.csv")
    time.sleep(soak.draw.uniform(0.2, 1.0))
    first.send_signal(signal.SIGSTOP)
    second = soak.start("out1.csv")
    time.sleep(soak.draw.uniform(0.2, 2.0))
    first.send_signal(signal.SIGCONT)
    soak.finish(first, second)


def damaged(soak: Soak) -> None:
    """Random damage in a copy of the store: the right table or a sentence."""
    if not soak.store.exists():
        return
    with Store(soak.store) as store:
        store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(soak.store.read_bytes())
    for _ in range(soak.draw.choice([1, 10, 100])):
        data[soak.draw.randrange(len(data))] ^= 1 << soak.draw.randrange(8)
    bad = soak.folder / "damaged.sqlite"
    for name in soak.folder.glob("damaged.sqlite*"):
        name.unlink()
    bad.write_bytes(data)
    table = soak.folder / "damaged.csv"
    table.unlink(missing_ok=True)
    soak.ends(soak.start(table.name, store=bad))
    if table.exists() and table.read_bytes() != soak.right:
        raise Breach("a damaged store gave an altered value")


ACCIDENTS: dict[str, Callable[[Soak], None]] = {
    accident.__name__: accident for accident in (killed, full, clocks, versions, suspended, damaged)
}


def _engine_module() -> str:
    """The module whose engine decides a point's identity."""
    from breakeven.engines.embedded import EmbeddedEngine

    return EmbeddedEngine.__module__


def round_of(soak: Soak, name: str) -> None:
    """One accident, and what must hold after it."""
    if soak.draw.random() < 0.3:
        # Work to do again: else everything is in the store soon.
        for file in soak.folder.glob("points.sqlite*"):
            file.unlink()
    before = soak.kept()
    ACCIDENTS[name](soak)
    if soak.kept() < before:
        raise Breach(f"{before - soak.kept()} points that were kept are gone")
    if soak.draw.random() < 0.5:
        soak.finish()
    soak.done[name] += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60, help="how long (default 60)")
    parser.add_argument("--kills", type=int, default=0, help="kill -9 alone, until it has met so many sweeps")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="what draws the rounds (default: the time)")
    options = parser.parse_args()
    draw = random.Random(options.seed)
    end = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory(prefix="breakeven-soak-") as folder:
        soak = Soak(Path(folder), draw)
        left = [] if options.kills else list(ACCIDENTS)
        name = "killed"
        try:
            while left or (soak.kills < options.kills if options.kills else time.monotonic() < end):
                # Each accident once, then at random until the time is over.
                if not options.kills:
                    name = left.pop() if left else draw.choice(list(ACCIDENTS))
                round_of(soak, name)
            soak.finish()
        except Breach as breach:
            print(f"soak: seed {options.seed}, after {dict(soak.done)}, {name}: {breach}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            print("soak: interrupted", file=sys.stderr)
    print(f"soak: {sum(soak.done.values())} rounds, {soak.kills} sweeps killed, no breach: {dict(soak.done)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
