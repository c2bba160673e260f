"""Routines of the user's own: where they are kept, and which there are.

`breakeven add` builds each file into a guest of its own, below ``$BREAKEVEN_HOME/routines/<isa>/<folder>/`` (else
``$XDG_DATA_HOME/breakeven``, else ``~/.local/share/breakeven``): ``guest.elf``, the source as it was, for a
host of that instruction set a program for the native engine, and ``routine.json``. A guest of its own leaves every
other guest, and with it every stored point, as it is.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from breakeven.errors import UserError, near
from breakeven.files import places

ENVIRONMENT = "BREAKEVEN_HOME"
GUEST = "guest.elf"
#: the earlier name, `native`, was of programs that cannot be confined (`breakeven.engines.native`)
NATIVE = "native.elf"
#: the objects that the guest was linked from, below a folder of this name (`breakeven.routine.build`)
OBJECTS = "routines"
_ENTRY = "routine.json"
#: of `routine.json`; another number is another layout
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class UserRoutineFile:
    """One file of the user's, built."""

    isa: str
    #: what it registers
    routines: tuple[str, ...]
    #: where the file was when it was added
    source: str
    #: hash of the harness that it is linked with
    harness: str
    folder: Path
    #: of a function that was taken from compiled code: its symbol, and what was given to `add` besides
    symbol: str = ""
    options: str = ""
    #: the extensions that its code uses (`breakeven.routine.extensions`)
    extensions: tuple[str, ...] = ()

    @property
    def guest(self) -> Path:
        """The guest that holds its routines and no others."""
        return self.folder / GUEST

    @property
    def objects(self) -> list[Path]:
        """What to link for its routines."""
        return sorted((self.folder / OBJECTS).glob("*.o"))

    @property
    def native(self) -> Path | None:
        """The program that runs its routines on this host, if it could be built."""
        path = self.folder / NATIVE
        return path if path.is_file() else None


def home() -> Path:
    """The user's folder; it need not exist."""
    return places.named_by(ENVIRONMENT) or places.data()


def folder_of(isa: str) -> Path:
    """Where the files of an instruction set are kept."""
    return home() / "routines" / isa


def write_entry(own: UserRoutineFile, folder: Path) -> None:
    """Makes `folder` an entry of the list."""
    row = {key: value for key, value in asdict(own).items() if key != "folder"}
    (folder / _ENTRY).write_text(json.dumps({"format": _FORMAT, **row}, indent=1) + "\n")


def _read(path: Path) -> UserRoutineFile | None:
    try:
        row = json.loads(path.read_text())
        if row.pop("format") != _FORMAT:
            return None
        lists = {key: tuple(row[key]) for key in ("routines", "extensions") if key in row}
        return UserRoutineFile(**{**row, **lists}, folder=path.parent)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def user_files(isa: str) -> list[UserRoutineFile]:
    """The user's files of an instruction set, by folder."""
    folder = folder_of(isa)
    if not folder.is_dir():
        return []
    entries = sorted(folder.glob(f"*/{_ENTRY}"))
    found = (_read(entry) for entry in entries if not entry.parent.name.startswith("."))
    return [own for own in found if own is not None and own.guest.is_file()]


def user_file_by_routine(isa: str) -> dict[str, UserRoutineFile]:
    """The user's routines of an instruction set and the file of each."""
    return {name: own for own in user_files(isa) for name in own.routines}


def check_harness(own: UserRoutineFile) -> None:
    """Raises `UserError` when the harness has changed since `own` was built: its numbers would not compare."""
    from breakeven.routine.recipe import load_recipe

    recipe = load_recipe(own.isa)
    if recipe is not None and recipe.harness != own.harness:
        from breakeven.output.shell import quoted  # most runs do without

        again = " ".join(filter(None, ["breakeven add", quoted(own.source), f"--isa {own.isa}", own.options]))
        raise UserError(f"{own.routines[0]} was added to another version of breakeven: add it again ({again})")


def remove(name: str, isa: str = "") -> list[UserRoutineFile]:
    """Removes the files that define a routine `name`, of one instruction set or (none given) of any; raises `UserError`
    when none does."""
    import shutil

    isas = [isa] if isa else [path.name for path in sorted((home() / "routines").glob("*"))]
    known = [own for each in isas for own in user_files(each)]
    found = [own for own in known if name in own.routines]
    if not found:
        names = [each for own in known for each in own.routines]
        hint = near(name, names, all_of="there are") if names else ": there is none of your own"
        raise UserError(f"you have added no routine {name!r}{f' for {isa}' if isa else ''}{hint}")
    for own in found:
        shutil.rmtree(own.folder)
    return found
