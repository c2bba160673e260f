"""How long a newcomer and a check wait, measured in a fresh clone of HEAD: wall seconds, and processor time.

set-up        `scripts/setup` from nothing (Debian packages and downloads of crates are as this machine has them)
studies       `scripts/reproduce` after it: the five founding studies, with an empty store
quick         `scripts/test --quick` after it
test          `scripts/test` after it
all           `scripts/test --all` after it
test-first    `scripts/test` from nothing, in another clone

    scripts/bench --build [ROW...]      (without rows: all but `all`; half an hour on two cores)
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
ROWS = {
    "set-up": ["scripts/setup"],
    "studies": ["scripts/reproduce"],
    "quick": ["scripts/test", "--quick"],
    "test": ["scripts/test"],
    "all": ["scripts/test", "--all"],
    "test-first": ["scripts/test"],
}
DEFAULT = ("set-up", "studies", "quick", "test", "test-first")


def clone(folder: Path) -> Path:
    subprocess.run(["git", "clone", "--quiet", str(REPO), str(folder)], check=True)
    return folder


def timed(command: list[str], folder: Path) -> tuple[float, float, int]:
    """Wall and processor seconds of a command, and its status."""
    variables = {**os.environ, "BREAKEVEN_STORE": str(folder / "build/bench-store.sqlite")}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with open(folder.with_suffix(".log"), "ab") as log:
        status = subprocess.run(command, cwd=folder, env=variables, stdout=log, stderr=log, stdin=log).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - start, used, status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    chosen = parser.parse_args().rows or DEFAULT
    if unknown := set(chosen) - set(ROWS):
        sys.exit(f"bench: there is no row {sorted(unknown)[0]!r}: {', '.join(ROWS)}")
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        checkout = clone(Path(temporary) / "clone")
        if set(chosen) - {"set-up", "test-first"} and "set-up" not in chosen:
            timed(ROWS["set-up"], checkout)
        print(f"{'':12}{'wall':>8}{'processor':>12}  seconds, {len(os.sched_getaffinity(0))} cores")
        for row in (row for row in ROWS if row in chosen):
            folder = clone(Path(temporary) / "first") if row == "test-first" else checkout
            wall, used, status = timed(ROWS[row], folder)
            print(
                f"{row:12}{wall:8.0f}{used:12.0f}  {'' if status == 0 else f'FAILED ({status})'}".rstrip(), flush=True
            )
            if status:
                failed = 1
                print(folder.with_suffix(".log").read_text(errors="replace")[-2000:], file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main())
