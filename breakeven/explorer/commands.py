"""What makes the same again without a page: the command, a machine file with the settings, a run as a gem5 script."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.explorer.state import State
from breakeven.files.data import find_data
from breakeven.output.shell import quoted, shell_command
from breakeven.points import CACHE_STATES, index_of
from breakeven.points.measurements import AGAIN

if TYPE_CHECKING:
    from breakeven.config.simobject import SimObject

#: the first lines of the machine file
_HEAD = '''"""{name} with {many}: written by `breakeven explore`. Run it with `--machine ./my_cpu.py`."""

{load}

NAME, DESCRIPTION, ISA = "my_cpu", "{name} with {many}", "{isa}"


def machine(**options):
    root = {name}.machine(**options)
'''


def commands(state: State, sizes: Sequence[int], isa: str, root: SimObject) -> dict[str, str]:
    """``command``, ``machine_file`` and ``gem5`` for these sizes. `root`: the machine's tree without the settings."""
    return {
        "command": _compare(state, sizes),
        "machine_file": machine_file(state, isa, root),
        "gem5": _gem5(state, sizes),
    }


def _conditions(state: State) -> list[str]:
    words = [word for text in state.settings for word in ("--set", text)]
    words += ["--src", str(state.src)] if state.src else []
    words += ["--dst", str(state.dst)] if state.dst else []
    words += ["--cache", state.cache] if state.cache != "warm" else []
    return words + (["--measure", state.measure] if state.measure != "latency" else [])


def _compare(state: State, sizes: Sequence[int]) -> str:
    from breakeven.points.ranges import ranges_text

    options = ["-m", state.machine, *_conditions(state), "--sizes", ranges_text(sizes)]
    if len(state.routines) > 1:
        return shell_command("compare", state.routines, options)
    return shell_command("sweep", state.routines, [*options, "--out", "curve.csv"])


def _gem5(state: State, sizes: Sequence[int]) -> str:
    from breakeven.points.ranges import ranges_text

    if state.measure != "latency":
        return f"# configs/sweep.py measures single calls (latency), not {state.measure}"
    script = find_data("configs", "sweep.py")
    here = Path.cwd()
    shown = script.relative_to(here) if script.is_relative_to(here) else script
    words = [str(shown), state.machine, *state.routines, "--sizes", ranges_text(sizes)]
    words += [word for text in state.settings for word in ("--set", text)]
    words += ["--src", str(state.src)] if state.src else []
    words += ["--dst", str(state.dst)] if state.dst else []
    number = index_of(CACHE_STATES, state.cache, "cache state")
    words += ["--state", str(number)] if number else []
    # A script does not measure again what has not converged: all points as often as the page measures those.
    words += ["--reps", str(AGAIN)]
    pasted = " ".join(map(quoted, words))
    return f"breakeven gem5 {pasted}\n# on a real gem5: gem5.opt {pasted}"


def machine_file(state: State, isa: str, root: SimObject) -> str:
    """The text of ``my_cpu.py``: the preset (or file) with the settings, as a machine file of the user's has it."""
    from breakeven.config.overrides import apply_override, located_element
    from breakeven.machine.presets import is_file_name, load_machine

    name = Path(state.machine).stem
    many = f"{len(state.settings)} change{'s' if len(state.settings) != 1 else ''}"
    lines, classes = [], set()
    if any(_makes_objects(root, text) for text in state.settings):
        # Later settings may be of what earlier ones made.
        root = load_machine(state.machine)
    for text in state.settings:
        path, _, value = text.partition("=")
        owner, parameter, index = located_element(root, path.strip())
        place, desc = f"{_attribute(root, owner)}.{parameter}", type(owner)._params[parameter]
        words = [word.strip() for word in value.strip("[] ").split(",")] if desc.vector else [value.strip()]
        literals = [_object(word) if desc.takes_objects else _literal(word) for word in words]
        classes |= {literal.removesuffix("()") for literal in literals if desc.takes_objects}
        literal = f"[{', '.join(literals)}]" if desc.vector and index is None else literals[0]
        if index is not None:
            literal = f"[*{place}[:{index}], {literal}, *{place}[{index + 1}:]]"
        lines.append(f"    {place} = {literal}  # assumed: what if\n")
        if _makes_objects(root, text):
            apply_override(root, text)
    load = f"import {name}" if is_file_name(state.machine) else f"from machines import {name}"
    load += f"\nfrom m5.objects import {', '.join(sorted(classes))}" if classes else ""
    return _HEAD.format(name=name, many=many, isa=isa, load=load) + "".join(lines) + "    return root\n"


def _makes_objects(root: SimObject, text: str) -> bool:
    """Whether a setting is of objects, not of a value."""
    from breakeven.config.overrides import OverrideError, located_parameter

    try:
        owner, name = located_parameter(root, text.partition("=")[0].strip())
    except OverrideError:
        return True  # what an earlier setting makes has it
    desc = type(owner)._params.get(name)
    return desc is None or desc.takes_objects


def _attribute(root: SimObject, node: Any) -> str:
    """The Python expression that reaches `node` from ``root``."""
    steps: list[str] = []
    while node is not root:
        parent = node._parent
        for name, child in parent._children.items():
            members = child if isinstance(child, list) else [child]
            found = [i for i, member in enumerate(members) if member is node]
            if found:
                steps.append(f"{name}[{found[0]}]" if isinstance(child, list) else name)
                break
        node = parent
    return ".".join(["root", *reversed(steps)])


def _object(text: str) -> str:
    name = text.removesuffix("()")
    return "NULL" if name.upper() in ("NULL", "NONE") else f"{name}()"


def _literal(text: str) -> str:
    if text in ("true", "false"):
        return text.capitalize()
    # Whoever has sent a link wrote the text: it becomes no code.
    return text if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) else json.dumps(text, ensure_ascii=False)
