"""Where the cycles of a point or a program went: `explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from breakeven.cli import completion
from breakeven.cli.app import app
from breakeven.cli.options import GuestOption, JsonOption, MachineOption, SetOption
from breakeven.cli.point import exit_status_of, where
from breakeven.cli.point_options import point_option_group
from breakeven.errors import UserError, say
from breakeven.machine.resolve import resolve
from breakeven.sweeps.request import machine_spec

if TYPE_CHECKING:
    from breakeven.analysis.ports import Pressure
    from breakeven.analysis.topdown import Account

#: characters of a bar that stands for everything
_BAR = 36


@app.command(short_help="Where the cycles of a point (or of a program) went, adding up to 100 %.")
@point_option_group(size_required=False)
def explain(
    routines: Annotated[
        list[str],
        typer.Argument(
            metavar="ROUTINE...|ELF",
            help="Routines (see `routines`), side by side; or an ELF.",
            autocompletion=completion.routines,
        ),
    ],
    point: dict[str, Any],
    machine: MachineOption = "u74",
    settings: SetOption = [],  # noqa: B006
    ports: Annotated[
        bool, typer.Option("--ports", help="Also which functional units each instruction takes, and what binds.")
    ] = False,
    guest: GuestOption = None,
    json: JsonOption = False,
) -> int:
    """Where the cycles of a point went: a top-down account of the measured calls, adding up to 100 %.

    Several routines are set side by side; without --size where the lead changes. An ELF is run as `exec` does; its
    account is of the last dump of statistics, or of the whole run.
    """
    if len(routines) == 1 and _is_program(routines[0]):
        if ports:
            raise UserError("--ports is of routines: give their names in place of an ELF")
        return _program(Path(routines[0]), machine_spec(machine, settings), json)
    if len(routines) == 1 and (Path(routines[0]).suffix or Path(routines[0]).parent != Path()):
        raise UserError(f"there is no file '{routines[0]}' (and no routine of that name: see `breakeven routines`)")
    if not point["size"] and len(set(routines)) < 2:
        raise UserError("explain ROUTINE needs --size")
    from breakeven import api

    accounts = api.explain(
        *routines, machine=machine, settings=settings, guest=guest, check=False, ports=ports, **point
    )
    return _explained(accounts, json)


def _is_program(name: str) -> bool:
    """Whether a name is that of an ELF: a routine's name is the routine's, whatever lies in the folder."""
    if not Path(name).is_file():
        return False
    from breakeven.routine.checks import jobs_of

    return bool(Path(name).suffix) or Path(name).name != name or not jobs_of([name])


def _explained(accounts: Mapping[str, Account], json: bool) -> int:
    from breakeven import points as pt
    from breakeven.analysis.ports import as_dict as ports_dict
    from breakeven.analysis.topdown import as_dict
    from breakeven.output.console import print_json
    from breakeven.points.measurements import Tally

    status, tally = 0, Tally()
    for account in accounts.values():
        status = exit_status_of(account.result) or status
    right = {name: account for name, account in accounts.items() if account.result.ok}
    for account in right.values():
        tally.count(account.result.repetitions, account.result.converged)
    one = next(iter(accounts.values())).result
    if json:
        rows = [
            {**pt.as_dict(found.result.point), "cycles_median": found.result.cycles_median,
             "overhead": found.result.overhead, "converged": found.result.converged, **as_dict(found),
             **({"ports": ports_dict(found.ports)} if found.ports else {})}
            for found in right.values()
        ]  # fmt: skip
        print_json({"machine": one.machine, "machine_hash": one.machine_hash, "points": rows})
    elif right:
        say(f"{one.machine}: {where(one.point)}")
        first = next(iter(right.values())).result
        say(f"  one measurement, {_without(first)}")
        _print(list(right.items()))
        for account in right.values():
            if account.ports:
                _print_ports(account.ports)
    tally.say()
    return status


def _without(result: Any) -> str:
    """What the account holds of the measurement."""
    from breakeven.points import MEASURES, SLOPES

    if MEASURES[result.point.measure] in SLOPES:
        return f"what {result.point.calls} calls more take in a row"
    return f"without the empty call around it ({result.overhead} cycles)"


def _program(elf: Path, spec: Any, json: bool) -> int:
    from breakeven.analysis.topdown import account_of, as_dict
    from breakeven.files.binaries import load_engine
    from breakeven.files.reading import read_file
    from breakeven.output.console import print_json

    guest = load_engine().Machine(resolve(spec).text, read_file(elf, "program"))
    guest.keep_account()
    while (end := guest.run())["cause"] in ("workbegin", "workend"):
        pass
    dumps = guest.dumps()
    account = account_of(dumps[-1] if dumps else guest.stats(), str(spec))
    if json:
        print_json({"machine": str(spec), "program": elf.name, "cause": end["cause"], "dumps": len(dumps),
                    **as_dict(account)})  # fmt: skip
        return 0
    region = f"dump {len(dumps)} of its statistics" if dumps else "from reset to the end"
    say(f"{elf.name} on {spec}: {region} ({end['cause']})")
    _print([(elf.name, account)])
    return 0


def _print(accounts: Sequence[tuple[str, Any]]) -> None:
    """One account with bars, or several side by side."""
    from breakeven.analysis.topdown import side_by_side
    from breakeven.output.console import print_table

    for name, account in accounts:
        ipc = account.instructions / account.cycles if account.cycles else 0.0
        label = f"{name}: " if len(accounts) > 1 else ""
        say(f"  {label}{account.cycles} cycles, {account.instructions} instructions (IPC {ipc:.2f})")
    single = len(accounts) == 1
    rows = []
    for title, lines in side_by_side([account for _, account in accounts]):
        row = ["  " * bool(title.reason) + title.label]
        for line in lines:
            row += [f"{line.cycles:.1f}", f"{line.percent:.1f}"] if line else ["", ""]
        if single:
            row.append("" if title.reason else "#" * max(0, round(title.percent * _BAR / 100)))
        rows.append(row)
    rows.append(["all", *(text for _, account in accounts for text in (f"{account.cycles:.1f}", "100.0"))])
    names = [""] if single else [f"{name} " for name, _ in accounts]
    columns = ["where", *(text for name in names for text in (f"{name}cycles", "%")), *[""] * single]
    rows[-1] += [""] * single
    print_table(columns, rows, right=range(1, 1 + 2 * len(accounts)))


def _print_ports(found: Pressure) -> None:
    """A line an instruction, a column a kind of unit: micro-ops a call."""
    from breakeven.output.console import print_table

    say(f"\n{found.routine}: micro-ops of a call by functional unit; held: cycles that retirement waited for it")
    names = [unit.name for unit in found.units]
    head = [unit.name if unit.count == 1 else f"{unit.count} {unit.name}" for unit in found.units]
    rows = [
        ["", "all of a call", *(f"{unit.micro_ops:.1f}" for unit in found.units), f"{found.cycles:.1f}"],
        ["", "of its cycles", *(f"{unit.share:.0%}" for unit in found.units), ""],
    ]
    for one in found.instructions:
        used = [f"{one.micro_ops[name]:.1f}" if name in one.micro_ops else "" for name in names]
        rows.append([f"{one.times:.4g}", one.text, *used, f"{one.held:.1f}" if one.held >= 0.05 else ""])
    print_table(["times", "instruction", *head, "held"], rows, right=[0, *range(2, len(head) + 3)])
    say(found.bound)
