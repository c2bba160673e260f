"""What there is: `routines` and `machines`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from breakeven.cli import completion
from breakeven.cli.app import app, machines_app
from breakeven.cli.options import GuestOption, JsonOption, MachineOption, NoStoreOption, SetOption, StoreOption
from breakeven.errors import UserError, near, say
from breakeven.files.data import DataNotFound
from breakeven.machine.resolve import resolve
from breakeven.sweeps.request import machine_spec


@app.command("routines")
def routines_(
    name: Annotated[
        str, typer.Argument(help="Of this one all that is known, with its code.", autocompletion=completion.routines)
    ] = "",
    machine: Annotated[
        str,
        typer.Option(
            "--machine", "-m", help="Whose instruction set, and what it lacks.", autocompletion=completion.machines
        ),
    ] = "u74",
    kind: Annotated[
        str, typer.Option(help="Only copy, checksum, user-copy, copy-checksum, set, move, clear, crc32c, ...")
    ] = "",
    guest: GuestOption = None,
    json: JsonOption = False,
) -> int:
    """The routines there are, with what they do; `routines NAME` shows one with its source and listing."""
    from breakeven.output.console import print_json, print_table
    from breakeven.routine.build import KINDS
    from breakeven.routine.checks import other_checksums
    from breakeven.routine.guest import guest_routines
    from breakeven.routine.page import Text, texts

    if kind and kind not in (known := [*KINDS, *sorted(other_checksums())]):
        raise UserError(f"unknown kind {kind!r}: one of {', '.join(known)}")
    if name:
        return _one_routine(name, machine, guest, json)
    isa, found = guest_routines(machine_spec(machine, []), guest)
    found = [routine for routine in found if kind in ("", routine.kind)]
    said = texts(isa)
    lines = {r.name: f"added from {r.origin}" if r.origin else said.get(r.name, Text()).line for r in found}
    if json:
        rows = [
            {
                "name": r.name, "kind": r.kind, "flags": r.flags, "notes": r.notes,
                "missing_extension": r.missing_extension,
                "origin": r.origin, "description": lines[r.name],
            }
            for r in found
        ]  # fmt: skip
        print_json({"isa": isa, "routines": rows})
    else:
        rows = [(r.name, r.kind, f"{lines[r.name]}{_marks(r.missing_extension, r.notes)}") for r in found]
        print_table(("routine", "kind", "what it is"), rows)
    return 0


def _marks(missing: str, notes: str) -> str:
    """What a row adds in brackets: that the machine lacks something, else what the routine needs."""
    marks = f"NOT HERE: it {missing.split(',')[0]}" if missing else notes
    return f" ({marks})" if marks else ""


def _one_routine(name: str, machine: str, guest: Path | None, json: bool) -> int:
    """`routines NAME`: of the machine's instruction set, else of the other."""
    from breakeven.output.console import print_json, print_pairs
    from breakeven.routine.guest import guest_routines
    from breakeven.routine.page import page
    from breakeven.routine.registry import user_file_by_routine

    spec = machine_spec(machine, [])
    isa, found = guest_routines(spec, guest)
    known = {routine.name: routine for routine in found}
    if name not in known and guest is None:
        for other in ("u74", "x86_o3"):
            isa, found = guest_routines(machine_spec(other, []), guest)
            if name in {routine.name for routine in found}:
                spec, known = machine_spec(other, []), {routine.name: routine for routine in found}
                break
    if name not in known:
        from breakeven.routine.checks import unknown_routine

        raise UserError(unknown_routine(name, known, spec))
    routine, own = known[name], user_file_by_routine(isa).get(name) if guest is None else None
    known_of = page(isa, name, own.guest if own else guest)
    if json:
        print_json({
            "name": name, "isa": isa, "kind": routine.kind, "flags": routine.flags, "notes": routine.notes,
            "missing_extension": routine.missing_extension, "origin": routine.origin,
            "description": known_of["text"], "file": known_of["file"],
            "published": known_of["published"], "extensions": list(own.extensions) if own else None,
            "listing": [{"address": at, "instruction": text} for at, text in known_of["listing"]],
        })  # fmt: skip
        return 0
    say(f"{name}: {known_of['text'] or 'a routine of your own'}")
    pairs = [
        ("kind", f"{routine.kind}, {isa}"), ("notes", routine.notes),
        (f"on {spec}", routine.missing_extension and f"it {routine.missing_extension}"),
        ("uses", ", ".join(own.extensions) if own else ""), ("file", routine.origin or known_of["file"]),
        *(("published", each) for each in known_of["published"]),
    ]  # fmt: skip
    print_pairs([pair for pair in pairs if pair[1]])
    print()
    for at, text in known_of["listing"]:
        say(f"  {at:#x}  {text}")
    return 0


@machines_app.callback()
def machines(context: typer.Context, json: JsonOption = False) -> int | None:
    """The machines there are; `machines show NAME` prints one."""
    if context.invoked_subcommand is not None:
        return None
    from breakeven.machine.presets import list_presets
    from breakeven.output.console import print_json, print_table

    presets = list_presets()
    if json:
        rows = [{"name": p.name, "isa": p.isa, "description": p.description, "path": str(p.path)} for p in presets]
        print_json({"machines": rows})
    else:
        print_table(("machine", "isa", "what it is"), [(p.name, p.isa, p.description) for p in presets])
    return 0


@machines_app.command("show")
def machines_show(
    name: Annotated[str, typer.Argument(help="Preset or a machine .py file.", autocompletion=completion.machines)],
    settings: SetOption = [],  # noqa: B006
    store: StoreOption = None,
    no_store: NoStoreOption = False,
    json: JsonOption = False,
) -> int:
    """One machine on one page, with the measured load-to-use latency of every level (--json: its whole description)."""
    from breakeven.analysis.load_to_use import load_to_use_of, load_to_use_section
    from breakeven.machine.page import constructor_section, print_page
    from breakeven.machine.parameters import parameters
    from breakeven.machine.presets import find_machine, preset_at
    from breakeven.machine.sources import Sources
    from breakeven.output.console import print_json, print_pairs

    spec = machine_spec(name, settings)
    machine = resolve(spec)
    path = find_machine(spec.name)
    sources = Sources(machine.root, spec.settings)
    measured, why_not = [], ""
    try:
        measured = load_to_use_of(spec, store, no_store)
    except (UserError, DataNotFound) as error:
        # A machine that cannot run, or a checkout without guests, can be looked at all the same.
        why_not = str(error)
    if json:
        listed = [each._asdict() for each in parameters(machine.description, sources)]
        shown = {"machine": name, "machine_hash": machine.hash, "parameters": listed}
        levels = [asdict(each) for each in measured] if not why_not else None
        print_json({**shown, "load_to_use": levels, "description": machine.description})
        return 0
    preset = preset_at(path)
    say(f"{name}: {preset.description if preset else 'a machine of your own'}")
    print_pairs([("file", str(path)), ("hash", machine.hash)])
    before = [load_to_use_section(measured, why_not), *constructor_section(machine.root)]
    print_page(machine.description, sources, *before)
    return 0


@machines_app.command("params")
def machines_params(
    pattern: Annotated[str, typer.Argument(help="Words of a path, value, unit or source; all must be there.")],
    machine: MachineOption = "u74",
    settings: SetOption = [],  # noqa: B006
    json: JsonOption = False,
) -> int:
    """The parameters of a machine that match: value, unit, range and where the value comes from, one a line."""
    from breakeven.machine.page import legend
    from breakeven.machine.parameters import matching, parameters
    from breakeven.machine.sources import Sources
    from breakeven.output.console import print_json, print_table

    spec = machine_spec(machine, settings)
    resolved = resolve(spec)
    sources = Sources(resolved.root, spec.settings)
    known = parameters(resolved.description, sources)
    found = matching(known, pattern)
    if json:
        print_json({"machine": str(spec), "parameters": [each._asdict() for each in found]})
        return 0
    if not found:
        hint = near(pattern, {each.path.rpartition(".")[2] for each in known})
        raise UserError(f"no parameter of {spec} has {pattern!r}{hint or '; see `breakeven machines show`'}")
    rows = [(e.path, e.value, e.unit, _cut(e.takes), f"{e.mark} {e.source}".strip()) for e in found]
    print_table(("parameter", "value", "unit", "takes", "source"), rows)
    say(f"marks: {legend()}")
    return 0


@machines_app.command("diff")
def machines_diff(
    a: Annotated[
        str, typer.Argument(metavar="A", help="Preset or a machine .py file.", autocompletion=completion.machines)
    ],
    b: Annotated[
        str, typer.Argument(metavar="B", help="Another, or the same with --set.", autocompletion=completion.machines)
    ],
    settings: SetOption = [],  # noqa: B006
    json: JsonOption = False,
) -> int:
    """What differs between two machines, parameter by parameter; --set changes B."""
    from breakeven.config.overrides import shown_paths
    from breakeven.machine.diff import differences
    from breakeven.output.console import print_json

    one, other = resolve(machine_spec(a, [])), resolve(machine_spec(b, settings))
    names = (shown_paths(one.root), shown_paths(other.root))
    found = differences(one.description, other.description, names)
    if json:
        print_json({"a": a, "b": " ".join([b, *settings]), "differences": [one._asdict() for one in found]})
    elif found:
        rows = [("", a, " ".join([b, *settings])), *((one.path, _cut(one.a), _cut(one.b)) for one in found)]
        wide = [max(len(row[column]) for row in rows) for column in range(2)]
        for path, left, right in rows:
            say(f"{path:<{wide[0]}}  {left:<{wide[1]}}  {right}")
    else:
        say(f"{a} and {b} are the same machine")
    return 0


def _cut(text: str) -> str:
    """A list of operations, short enough for a row; --json has it whole."""
    return text if len(text) <= 30 else f"{text[:27]}..."
