"""What makes the same again without a page: the command, a machine file with the settings, a run as a gem5 script."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from breakeven.explorer.state import State
from breakeven.files.data import find_data
from breakeven.points import CACHE_STATES, index_of

if TYPE_CHECKING:
    from breakeven.config.simobject import SimObject

#: the first lines of the machine file
_HEAD = '''"""{name} with {many}: written by `breakeven explore`. Run it with `--machine ./my_cpu.py`."""

import {name}

NAME, DESCRIPTION, ISA = "my_cpu", "{name} with {many}", "{isa}"


def machine(**options):
    root = {name}.machine(**options)
'''


def commands(state: State, sizes: Sequence[int], isa: str) -> dict[str, str]:
    """``command``, ``machine_file`` and ``gem5`` for these sizes; ``why``: of one size."""
    return {
        "command": _compare(state, sizes),
        "machine_file": machine_file(state, isa),
        "gem5": _gem5(state, sizes),
    }


def _conditions(state: State) -> list[str]:
    words = [word for text in state.settings for word in ("--set", text)]
    words += ["--src", str(state.src)] if state.src else []
    words += ["--dst", str(state.dst)] if state.dst else []
    words += ["--cache", state.cache] if state.cache != "warm" else []
    return words + (["--measure", state.measure] if state.measure != "latency" else [])


def _compare(state: State, sizes: Sequence[int]) -> str:
    from breakeven.web.sources import ranges_text

    if len(state.routines) > 1:
        head = ["breakeven", "compare", *state.routines, "-m", state.machine, *_conditions(state)]
        return shlex.join([*head, "--sizes", ranges_text(sizes)])
    head = ["breakeven", "sweep", *state.routines, "-m", state.machine, *_conditions(state)]
    return shlex.join([*head, "--sizes", ranges_text(sizes), "--out", "curve.csv"])


def _gem5(state: State, sizes: Sequence[int]) -> str:
    from breakeven.web.sources import ranges_text

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
    return f"breakeven gem5 {shlex.join(words)}\n# on a real gem5: gem5.opt {shlex.join(words)}"


def machine_file(state: State, isa: str) -> str:
    """The text of ``my_cpu.py``: the preset (or file) with the settings, as a machine file of the user's has it."""
    from breakeven.config.overrides import apply_override
    from breakeven.machine.presets import load_machine

    name = Path(state.machine).stem
    many = f"{len(state.settings)} change{'s' if len(state.settings) != 1 else ''}"
    root, lines = load_machine(state.machine), []
    for text in state.settings:
        target = apply_override(root, text)
        value = text.partition("=")[2].strip()
        lines.append(f"    {_attribute(root, target.owner)}.{target.name} = {_literal(value)}  # assumed: what if\n")
    return _HEAD.format(name=name, many=many, isa=isa) + "".join(lines) + "    return root\n"


def _attribute(root: SimObject, node: Any) -> str:
    """The Python expression that reaches `node` from ``root``."""
    steps: list[str] = []
    while node is not root:
        parent = node._parent
        for name, child in parent._children.items():
            members = child if isinstance(child, list) else [child]
            found = [i for i, member in enumerate(members) if member is node]
            if found:
                steps.append(f"{name}[{found[0]}]" if len(members) > 1 else name)
                break
        node = parent
    return ".".join(["root", *reversed(steps)])


def _literal(text: str) -> str:
    if text in ("true", "false"):
        return text.capitalize()
    return text if re.fullmatch(r"-?\d+(\.\d+)?", text) else f'"{text}"'
