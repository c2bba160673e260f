"""What the shell completes as values: machines and routines (`breakeven --install-completion`)."""

from __future__ import annotations


def machines(incomplete: str) -> list[str]:
    """Presets that begin so."""
    from breakeven.files.data import find_data

    names = (path.stem for path in find_data("configs", "machines").glob("*.py"))
    return sorted(name for name in names if name.startswith(incomplete) and not name.startswith("_"))


def routines(incomplete: str) -> list[str]:
    """Routines of any instruction set that begin so, the user's among them; no guest is opened."""
    from breakeven.routine.page import texts
    from breakeven.routine.registry import user_file_by_routine

    names = {name for isa in ("riscv", "x86") for name in (*texts(isa), *user_file_by_routine(isa))}
    return sorted(name for name in names if name.startswith(incomplete))
