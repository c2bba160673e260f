"""Where breakeven's own data lies: one answer for a source checkout and for an installed wheel.

A checkout keeps its configurations in ``configs/`` and builds the guests' ELFs into ``build/guests/``; the wheel
carries both under ``breakeven/_data/``. The checkout wins, so that an edit there takes effect at once.
"""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
_CHECKOUT = PACKAGE.parent

#: kind -> (folder in a checkout, folder in the wheel, what to do when neither is there)
_KINDS: dict[str, tuple[Path, Path, str]] = {
    "configs": (
        _CHECKOUT / "configs",
        PACKAGE / "_data" / "configs",
        "reinstall breakeven, or run from a complete checkout",
    ),
    "native": (
        _CHECKOUT / "results" / "native",
        PACKAGE / "_data" / "native",
        "`scripts/native.py` measures a host",
    ),
    "guests": (
        _CHECKOUT / "build" / "guests",
        PACKAGE / "_data" / "guests",
        "build them with `scons guests`",
    ),
}


class DataNotFound(FileNotFoundError):
    """Data that breakeven needs is neither in the checkout nor in the wheel."""


def in_checkout() -> bool:
    """Whether this package runs from a source checkout (its configurations can be edited in place)."""
    return (_CHECKOUT / "configs" / "machines").is_dir() and (_CHECKOUT / "Cargo.toml").is_file()


def checkout() -> Path:
    """The root of the source checkout that this package runs from (see `in_checkout`)."""
    return _CHECKOUT


def find_data(kind: str, name: str | None = None) -> Path:
    """The folder of `kind`, or the file or folder `name` in it.

    ``"configs"``; ``"guests"``; ``"native"``: what was measured on hosts.

    Raises `DataNotFound` with the places looked at and the fix.
    """
    if kind not in _KINDS:
        raise ValueError(f"no data of kind {kind!r}; there are: {', '.join(sorted(_KINDS))}")
    checkout, wheel, fix = _KINDS[kind]
    # A folder called configs/ beside site-packages is not ours: the checkout counts only when it is one.
    candidates = [checkout, wheel] if (_CHECKOUT / "Cargo.toml").is_file() else [wheel]
    wanted = [folder / name if name else folder for folder in candidates]
    for path in wanted:
        if path.exists():
            return path
    looked = " or ".join(str(path) for path in wanted)
    raise DataNotFound(f"no {name or kind} at {looked}: {fix}")
