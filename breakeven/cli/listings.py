"""What there is: `routines` and `machines`."""

from __future__ import annotations

from typing import Annotated

import typer

from breakeven.cli.app import app, machines_app
from breakeven.cli.options import GuestOption, JsonOption, MachineOption, SetOption, machine_spec


@app.command("routines")
def routines_(
    machine: Annotated[str, typer.Option("--machine", "-m", help="Whose instruction set.")] = "u74",
    guest: GuestOption = None,
    json: JsonOption = False,
) -> int:
    """The routines there are."""
    from breakeven.console import print_json, print_table
    from breakeven.runner import guest_routines

    isa, found = guest_routines(machine_spec(machine, []), guest)
    if json:
        rows = [{"name": r.name, "kind": r.kind, "flags": r.flags, "notes": r.notes, "origin": r.origin} for r in found]
        print_json({"isa": isa, "routines": rows})
    else:
        rows = [
            (r.name, r.kind, ", ".join(filter(None, (r.notes, r.origin and f"added from {r.origin}")))) for r in found
        ]
        print_table(("routine", "kind", "notes"), rows)
    return 0


@machines_app.callback()
def machines(context: typer.Context, json: JsonOption = False) -> int | None:
    """The machines there are; `machines show NAME` prints one."""
    if context.invoked_subcommand is not None:
        return None
    from breakeven.console import print_json, print_table
    from breakeven.machines import list_presets

    presets = list_presets()
    if json:
        rows = [{"name": p.name, "isa": p.isa, "description": p.description, "path": str(p.path)} for p in presets]
        print_json({"machines": rows})
    else:
        print_table(("machine", "isa", "what it is"), [(p.name, p.isa, p.description) for p in presets])
    return 0


@machines_app.command("show")
def machines_show(
    name: Annotated[str, typer.Argument(help="Preset or a machine .py file.")],
    settings: SetOption = [],  # noqa: B006
    json: JsonOption = False,
) -> int:
    """One machine on one page (with --json: its whole description)."""
    from breakeven.console import print_json, print_pairs
    from breakeven.m5 import machine_hash
    from breakeven.machine_page import print_page
    from breakeven.machine_parameters import parameters
    from breakeven.machine_sources import Sources
    from breakeven.machines import describe_machine, find_machine, load_machine, preset_at

    spec = machine_spec(name, settings)
    description = describe_machine(spec.name, spec.settings)
    path = find_machine(spec.name)
    sources = Sources(load_machine(spec.name, spec.settings), path, spec.settings)
    if json:
        listed = [each._asdict() for each in parameters(description, sources)]
        shown = {"machine": name, "machine_hash": machine_hash(description), "parameters": listed}
        print_json({**shown, "description": description})
        return 0
    preset = preset_at(path)
    print(f"{name}: {preset.description if preset else 'a machine of your own'}")
    print_pairs([("file", str(path)), ("hash", machine_hash(description))])
    print_page(description, sources)
    return 0


@machines_app.command("params")
def machines_params(
    pattern: Annotated[str, typer.Argument(help="Words of a path, value, unit or source; all must be there.")],
    machine: MachineOption = "u74",
    settings: SetOption = [],  # noqa: B006
    json: JsonOption = False,
) -> int:
    """The parameters of a machine that match: value, unit, range and where the value comes from, one a line."""
    from breakeven.console import print_json, print_table
    from breakeven.errors import UserError
    from breakeven.machine_page import legend
    from breakeven.machine_parameters import matching, parameters
    from breakeven.machine_sources import Sources
    from breakeven.machines import describe_machine, find_machine, load_machine

    spec = machine_spec(machine, settings)
    description = describe_machine(spec.name, spec.settings)
    sources = Sources(load_machine(spec.name, spec.settings), find_machine(spec.name), spec.settings)
    known = parameters(description, sources)
    found = matching(known, pattern)
    if json:
        print_json({"machine": str(spec), "parameters": [each._asdict() for each in found]})
        return 0
    if not found:
        from breakeven.m5.errors import near

        hint = near(pattern, {each.path.rpartition(".")[2] for each in known})
        raise UserError(f"no parameter of {spec} has {pattern!r}{hint or '; see `breakeven machines show`'}")
    rows = [(e.path, e.value, e.unit, _cut(e.takes), f"{e.mark} {e.source}".strip()) for e in found]
    print_table(("parameter", "value", "unit", "takes", "source"), rows)
    print(f"marks: {legend()}")
    return 0


@machines_app.command("diff")
def machines_diff(
    a: Annotated[str, typer.Argument(metavar="A", help="Preset or a machine .py file.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another, or the same with --set.")],
    settings: SetOption = [],  # noqa: B006
    json: JsonOption = False,
) -> int:
    """What differs between two machines, parameter by parameter; --set changes B."""
    from breakeven.console import print_json
    from breakeven.machine_diff import differences
    from breakeven.machines import describe_machine

    found = differences(describe_machine(a), describe_machine(b, settings))
    if json:
        print_json({"a": a, "b": " ".join([b, *settings]), "differences": [one._asdict() for one in found]})
    elif found:
        rows = [("", a, " ".join([b, *settings])), *((one.path, _cut(one.a), _cut(one.b)) for one in found)]
        wide = [max(len(row[column]) for row in rows) for column in range(2)]
        for path, left, right in rows:
            print(f"{path:<{wide[0]}}  {left:<{wide[1]}}  {right}")
    else:
        print(f"{a} and {b} are the same machine")
    return 0


def _cut(text: str) -> str:
    """A list of operations, short enough for a row; --json has it whole."""
    return text if len(text) <= 30 else f"{text[:27]}..."
