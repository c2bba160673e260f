"""Machine presets: what there is, and a machine from a preset's name or from a file of the user's.

A preset is a Python file in gem5's language that defines ``NAME``, ``DESCRIPTION``, ``ISA`` and ``machine(**options)``,
which returns the Root of a tree. Ours lie in ``configs/machines/``.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from breakeven.errors import near
from breakeven.files.data import find_data

if TYPE_CHECKING:
    from breakeven.config.overrides import Target
    from breakeven.config.simobject import SimObject


#: a machine's file imports its neighbours by a path that is the whole process's, and classes are made when first named
one_at_a_time = threading.RLock()

#: stands for every preset of a processor
ALL = "all"
#: models of no processor: gem5's own cores, and two generic ones
MODELS = {
    *("o3_small", "o3_large"),
    *(f"{isa}{core}" for isa in ("", "x86_") for core in ("atomic", "timing", "minor", "o3")),
}


class MachineError(ValueError):
    """A machine that is not there or is not a machine."""


class Preset(NamedTuple):
    name: str
    description: str
    isa: str
    path: Path


def _facts(path: Path) -> dict[str, str]:
    """The string constants of a preset's file, read without running it."""
    import ast

    facts: dict[str, str] = {}
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError as error:
        raise MachineError(f"{path}: line {error.lineno}: {error.msg}") from None
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                value = ast.literal_eval(node.value)
            except ValueError:
                continue
            if isinstance(value, str):
                facts[node.targets[0].id] = value
    return facts


def preset_at(path: Path) -> Preset | None:
    """The preset that the file at `path` defines; None when it defines none (a helper module)."""
    facts = _facts(path)
    if not {"NAME", "DESCRIPTION", "ISA"} <= facts.keys():
        return None
    return Preset(facts["NAME"], facts["DESCRIPTION"], facts["ISA"], path)


def list_presets() -> list[Preset]:
    """Every preset that comes with breakeven, by name."""
    found = (preset_at(path) for path in sorted(find_data("configs", "machines").glob("*.py")))
    return sorted(preset for preset in found if preset is not None)


def machine_names(texts: Iterable[str]) -> list[str]:
    """The machines that the texts of ``-m`` name, each once: one, several with commas, ``all`` for every preset of a
    processor."""
    found: list[str] = []
    for text in texts:
        for name in [text] if is_file_name(text) else filter(None, text.split(",")):
            processors = [preset.name for preset in list_presets() if preset.name not in MODELS] if name == ALL else []
            found += processors or [name]
    if not found:
        raise MachineError("name a machine: -m u74, -m u74,c906 or -m all")
    return list(dict.fromkeys(found))


def is_file_name(name_or_path: str) -> bool:
    """Whether a machine is named by a file, which is run to build it, and not by a preset's name."""
    return name_or_path.endswith(".py") or "/" in name_or_path


def find_machine(name_or_path: str) -> Path:
    """The file of a preset, or the user's own file."""
    if is_file_name(name_or_path):
        path = Path(name_or_path)
        if not path.is_file():
            raise MachineError(f"there is no machine file {name_or_path!r}")
        return path
    folder = find_data("configs", "machines")
    path = folder / f"{name_or_path}.py"
    if name_or_path.isidentifier() and path.is_file():
        return path
    names = [preset.name for preset in list_presets()]
    hint = near(name_or_path, names, all_of="there are")
    raise MachineError(f"there is no machine {name_or_path!r}{hint}; or give the path of a .py file")


def _shown(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in options.items())


def load_machine(name_or_path: str, overrides: Iterable[str] = (), **options: Any) -> SimObject:
    """The Root of a machine: a preset by name or a file by path, with ``path=value`` overrides applied in order."""
    with one_at_a_time:
        return _loaded(name_or_path, overrides, **options)[0]


def _loaded(name_or_path: str, overrides: Iterable[str], **options: Any) -> tuple[SimObject, list[Target]]:
    """The Root of a machine, and what the overrides have set."""
    from breakeven.config.overrides import apply_override
    from breakeven.config.simobject import SimObject
    from breakeven.m5.loader import load_module

    path = find_machine(name_or_path)
    try:
        build = load_module(path).get("machine")
        if not callable(build):
            raise MachineError(f"{path} defines no machine(): it must define a function that returns the Root")
        root = build(**options)
    except SystemExit as error:
        raise MachineError(f"{path} called sys.exit({error.code!r}): a machine file only returns a machine") from None
    except TypeError as error:
        # Nothing below this frame: the call itself does not fit.
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            raise MachineError(f"{path}: {error}: breakeven calls it as machine({_shown(options)})") from None
        raise
    if not isinstance(root, SimObject):
        raise MachineError(f"machine() in {path} returned {root!r}, not the Root of a tree")
    return root, [apply_override(root, override) for override in overrides]


def describe_machine(name_or_path: str, overrides: Iterable[str] = (), **options: Any) -> dict[str, Any]:
    """The description of a machine, as the engine takes it (`breakeven.m5.canonical` makes its text).

    Raises `OverrideError` for an override of a parameter that nothing reads on this machine.
    """
    root, description, targets = described_machine(name_or_path, overrides, **options)
    check_read(root, description, targets)
    return description


def described_machine(
    name_or_path: str, overrides: Iterable[str] = (), **options: Any
) -> tuple[SimObject, dict[str, Any], list[Target]]:
    """The Root of a machine, its description and what the overrides have set, of one execution of its file."""
    from breakeven.config.describe import describe

    with one_at_a_time:
        root, targets = _loaded(name_or_path, overrides, **options)
        return root, describe(root), targets


def check_read(root: SimObject, description: dict[str, Any], targets: list[Target], text: str = "") -> None:
    """Raises `OverrideError` for an override that no rule of the engine reads on this machine. `text`: the canonical
    description, where it is known."""
    if targets:
        from breakeven.machine.parameters import check_overrides

        check_overrides(root, description, targets, text)


def stored_form(description: dict[str, Any]) -> str:
    """A description as the tests keep it: one object a line, so that a change shows as a line."""
    lines = ",\n".join(json.dumps(entry, sort_keys=True) for entry in description["objects"])
    return f'{{"format": {description["format"]}, "objects": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    import sys

    sys.stdout.write(stored_form(describe_machine(sys.argv[1], sys.argv[2:])))
