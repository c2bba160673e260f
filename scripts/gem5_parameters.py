#!/usr/bin/env python3
"""What of gem5's classes is modelled: writes docs/gem5-parameters.md and breakeven/config/data/modelled.json.

Nothing here is written down by hand: every class is put into a machine where gem5 would take it, and the engine says
which parameters it looked at (`_engine.parameters_used`) and what it refuses (`_engine.check_description`).
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

REPO = Path(__file__).resolve().parents[1]
PAGE = REPO / "docs" / "gem5-parameters.md"
#: machines to put classes into; between them they have every kind of part
PRESETS = ("o3", "x86_o3", "minor", "x86_minor", "timing", "atomic", "x86_timing", "x86_atomic", "c910")

#: where no preset has anything
DEVICE_ADDRESS = 0x18000000


def _dram() -> Any:
    return _example("DDR3_1600_8x8", range="128MiB")


def _example(name: str, **values: Any) -> Any:
    from breakeven.config.library import get_class

    return get_class(name)(**values)


#: class of a parameter without a default -> an object for it
EXAMPLES = {
    "MinorFU": lambda: _example("MinorDefaultIntFU"),
    "MemInterface": _dram,
    "DRAMInterface": _dram,
    "TimingExpr": lambda: _example("TimingExprLiteral", value=1),
}

Uses = dict[tuple[str, str], bool]


class Verdict(NamedTuple):
    """What became of a class: `kind` is "modelled", "accepted" or "refused"; `why`: the engine's words."""

    kind: str
    why: str = ""


@cache
def machines() -> dict[str, Any]:
    """Name -> a function that makes the Root of a machine."""
    from breakeven.m5.loader import load_module
    from breakeven.machine.presets import find_machine

    found = {name: load_module(find_machine(name))["machine"] for name in PRESETS}
    found["process"] = lambda: _as_process(found["minor"]())
    found["x86 process"] = lambda: _as_process(found["x86_minor"]())
    return found


def _as_process(root: Any) -> Any:
    from breakeven.config.library import get_class

    system = root._children["system"]
    name = "X86EmuLinux" if "X86" in type(system.cpu).__name__ else "RiscvEmuLinux"
    root.full_system = False
    system.workload = get_class(name)()
    system.cpu.workload = get_class("Process")(cmd=["program"])
    return root


def _looked_at(root: Any) -> tuple[Uses, list[str]]:
    """What the engine looked at in the machine below `root`, and its errors; `ConfigError` for no machine at all."""
    from breakeven import _engine
    from breakeven.m5 import canonical, describe

    text = canonical(describe(root))
    uses: Uses = {}
    for _, cls, name, read, _ in _engine.parameters_used(text):
        _merge(uses, {(cls, name): read})
    return uses, list(_engine.check_description(text))


def _places(cls: Any) -> Iterator[tuple[str, Any]]:
    """(machine, function that puts an object of the class into it): parameters that take one, then ports, children."""
    from breakeven.config.params import VectorParamDesc

    tried = set()
    for name, make in machines().items():
        for node in make().descendants():
            for param, desc in type(node)._params.items():
                if not desc.takes_objects or desc.ptype is None or not issubclass(cls, desc.ptype):
                    continue
                # `memories` only lists what is elsewhere.
                if desc.ptype.__name__ in ("SimObject", "System") or param == "memories":
                    continue
                if (type(node), param) in tried:
                    continue
                tried.add((type(node), param))
                path, vector = node.path(), isinstance(desc, VectorParamDesc)

                def put(root: Any, path: str = path, param: str = param, vector: bool = vector) -> None:
                    made = _made(cls, root)
                    setattr(_at(root, path), param, [made] if vector else made)

                yield name, put
        if name in ("minor", "x86_minor"):
            yield name, lambda root: _join(root, cls)


def _at(root: Any, path: str) -> Any:
    return next(node for node in root.descendants() if node.path() == path)


def _made(cls: Any, root: Any) -> Any:
    """An object of the class, with a value for every parameter that has no default."""
    from breakeven.config.params import ENUMS, MISSING, SCALARS

    system = root._children["system"]
    made = cls()
    for name, desc in cls._params.items():
        if cls._class_value(name) is not MISSING:
            continue
        if name == "pio_addr":
            made.pio_addr = DEVICE_ADDRESS
        elif desc.type_name in SCALARS and desc.type_name != "AddrRange":
            setattr(made, name, ast.literal_eval(SCALARS[desc.type_name][1]))
        elif desc.type_name in ENUMS:
            setattr(made, name, ENUMS[desc.type_name][0])
        elif name == "clk_domain":
            made.clk_domain = system.clk_domain
        elif desc.type_name in EXAMPLES:
            setattr(made, name, EXAMPLES[desc.type_name]())
    if "range" in cls._params:
        made.range = system.mem_ranges[0]
    return made


def _join(root: Any, cls: Any) -> None:
    """An object of the class as a child of the system, joined with the memory bus if it has ports for that."""
    system = root._children["system"]
    names = [base.__name__ for base in cls.__mro__]
    made = _made(cls, root)
    if "BaseCPU" in names or "System" in names or "Root" in names:
        raise ValueError("a machine has one")
    if "BaseXBar" in names:
        for side in ("cpu_side_ports", "mem_side_ports"):
            for peer in list(getattr(system.membus, side).peers):
                peer.peers.clear()
                peer.connect(getattr(made, side))
        system.membus = made
        return
    system.added = made
    if "pio" in cls._ports:
        made.pio = system.membus.mem_side_ports
    elif {"cpu_side", "mem_side"} <= set(cls._ports):
        made.cpu_side = system.membus.mem_side_ports
        made.mem_side = system.membus.cpu_side_ports
    elif {"cpu_side_port", "mem_side_port"} <= set(cls._ports):
        made.cpu_side_port = system.membus.mem_side_ports
        made.mem_side_port = system.membus.cpu_side_ports
    elif "port" in cls._ports:
        made.port = (
            system.membus.mem_side_ports if cls._ports["port"].role == "response" else system.membus.cpu_side_ports
        )


def survey() -> tuple[dict[str, Verdict], Uses]:
    """Every class that is not abstract with its verdict, and all uses of parameters seen on the way."""
    from breakeven.config.library import all_classes

    uses: Uses = {}
    present: set[str] = set()
    for make in machines().values():
        root = make()
        _merge(uses, _looked_at(root)[0])
        present |= {cls.__name__ for node in root.descendants() for cls in type(node).__mro__[:1]}
    verdicts = {}
    for name, cls in all_classes():
        if not cls.__dict__["abstract"]:
            verdicts[name] = _verdict(name, cls, uses)
    return verdicts, uses


def _merge(uses: Uses, more: Uses) -> None:
    for key, read in more.items():
        uses[key] = uses.get(key, False) or read


def _verdict(name: str, cls: Any, uses: Uses) -> Verdict:
    from breakeven.config.errors import ConfigError

    if any(used == name for used, _ in uses):
        return Verdict("modelled")
    makers, why, refusal, accepted = machines(), "", "", False
    for machine, put in _places(cls):
        root = makers[machine]()
        try:
            put(root)
            seen, errors = _looked_at(root)
        except (ConfigError, TypeError, ValueError, AttributeError, StopIteration) as error:
            why = why or str(error)
            continue
        if not errors:
            _merge(uses, seen)
            if any(used == name for used, _ in seen):
                return Verdict("modelled")
            accepted = True
        else:
            refusal = refusal or next((error for error in errors if name in error), errors[0])
    if accepted and not refusal:
        return Verdict("accepted")
    return Verdict("refused", refusal or why)


def table(verdicts: dict[str, Verdict], uses: Uses) -> dict[str, dict[str, list[str]]]:
    """Class -> parameters that are read and those of which one value is, for what a machine can have."""
    found = {}
    for name, verdict in sorted(verdicts.items()):
        if verdict.kind != "refused":
            read = sorted(param for (cls, param), any_value in uses.items() if cls == name and param and any_value)
            checked = sorted(
                param for (cls, param), any_value in uses.items() if cls == name and param and not any_value
            )
            found[name] = {"read": read, "checked": checked}
    return found


def as_json(rows: dict[str, dict[str, list[str]]]) -> str:
    """The data file: a class a line."""
    lines = [f"{json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in rows.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def page(verdicts: dict[str, Verdict], rows: dict[str, dict[str, list[str]]]) -> str:
    """The document: classes that are alike in one row."""
    from breakeven.config.library import get_class
    from breakeven.config.modelled import OWN

    alike: dict[tuple[str, ...], list[str]] = {}
    for name, row in rows.items():
        cls = get_class(name)
        own = {param for base in cls.__mro__ for param in OWN.get(base.__name__, ())}
        read = sorted({*row["read"], *(own & set(cls._params))})
        rest = sorted(set(cls._params) - {*read, *row["checked"]} - set(COMMON))
        key = (
            verdicts[name].kind,
            *(" ".join(f"`{param}`" for param in each) for each in (read, row["checked"], rest)),
        )
        alike.setdefault(key, []).append(name)
    kinds = [verdict.kind for verdict in verdicts.values()]
    counts = {kind: kinds.count(kind) for kind in ("modelled", "accepted", "refused")}
    lines = [HEAD.format(**counts, common=", ".join(f"`{name}`" for name in COMMON))]
    lines += [
        "| class | modelled | one value modelled, others refused | accepted, changes nothing |",
        "|---|---|---|---|",
    ]
    rest = []
    for (kind, read, checked, unread), names in sorted(alike.items(), key=lambda item: item[1][0]):
        if kind == "accepted":
            rest += names
            continue
        lines.append(f"| {', '.join(names)} | {read} | {checked} | {unread} |")
    lines += ["", "## Accepted", "", "May be in a machine and change nothing:", "", ", ".join(sorted(rest)) + "."]
    lines += ["", "## Refused", "", "A machine with one of these is refused by name:", ""]
    lines += [", ".join(name for name, verdict in sorted(verdicts.items()) if verdict.kind == "refused") + "."]
    return "\n".join(lines) + "\n"


#: parameters of every class that stand for what is not simulated: queues of events, power
COMMON = ("eventq_index", "power_model", "power_state")
HEAD = """# gem5's classes and parameters here

Written by `scripts/gem5_parameters.py`, which puts every class into a machine and asks the engine what it looked at.
Of the classes that are not abstract, {modelled} are modelled, {accepted} are accepted without an effect and {refused}
are refused.

A script may set every parameter below. One of the last column that is set to something else than gem5's default is
named once when the machine is made (`warn: Cache.warmup_percentage is set and changes nothing here: it is not
modelled`). All classes have {common}, which change nothing. What is breakeven's own is in
[description.md](description.md#objects-that-are-ours).
"""


def generate() -> dict[Path, str]:
    """File -> what it should hold."""
    from breakeven.config.modelled import FILE

    verdicts, uses = survey()
    rows = table(verdicts, uses)
    return {FILE: as_json(rows), PAGE: page(verdicts, rows)}


def main() -> None:
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args()
    for path, text in generate().items():
        path.write_text(text)
        print(f"wrote {path}", file=sys.stderr)


if __name__ == "__main__":
    main()
