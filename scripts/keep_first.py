"""Keeps a blind study's verdicts of its first run (docs/studies.md): python scripts/keep_first.py STUDY."""

import sys
from pathlib import Path

from breakeven.studies.blind import keep_first

ROOT = Path(__file__).resolve().parent.parent

if __name__ == "__main__":
    (study,) = sys.argv[1:]
    print(keep_first(study, ROOT / "results" / study, ROOT / "configs/studies"))
