"""Where the cycles of a point or a program went: `explain`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from breakeven.cli import completion
from breakeven.cli.app import app
from breakeven.cli.options import GuestOption, JsonOption, MachineOption, SetOption
from breakeven.cli.point import exit_status_of, where
from breakeven.cli.point_options import PointMaker, point_option_group
from breakeven.engines.open import open_engine
from breakeven.errors import UserError
from breakeven.sweeps.request import machine_spec

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
    point: PointMaker,
    machine: MachineOption = "u74",
    settings: SetOption = [],  # noqa: B006
    guest: GuestOption = None,
    json: JsonOption = False,
) -> int:
    """Where the cycles of a point went: a top-down account of the measured calls, adding up to 100 %.

    Several routines are set side by side. An ELF is run as `exec` does; its account is of the last dump of statistics,
    or of the whole run.
    """
    spec = machine_spec(machine, settings)
    if len(routines) == 1 and Path(routines[0]).is_file():
        return _program(Path(routines[0]), spec, json)
    if len(routines) == 1 and (Path(routines[0]).suffix or Path(routines[0]).parent != Path()):
        raise UserError(f"there is no file '{routines[0]}' (and no routine of that name: see `breakeven routines`)")
    if not point.options["size"]:
        raise UserError("explain ROUTINE needs --size")
    points = [point(name) for name in dict.fromkeys(routines)]
    return _points(points, point.by_rule, spec, guest, json)


def _points(points: list[Any], by_rule: bool, spec: Any, guest: Path | None, json: bool) -> int:
    from breakeven import points as pt
    from breakeven.analysis.topdown import account_of, as_dict
    from breakeven.output.console import print_json
    from breakeven.points.converged import measured
    from breakeven.points.measurements import Tally

    with open_engine(guest, None, no_store=True) as engine:
        session = engine.open(spec)
    rows, accounts, status, tally = [], [], 0, Tally()
    for point in points:
        found = measured(session, point, by_rule)
        result = found.result
        status = status or exit_status_of(session, point, result)
        if not result.ok:
            continue
        account = account_of(found.stats, str(spec))
        tally.count(result.repetitions, result.converged)
        accounts.append((point.routine, account))
        rows.append(
            {**pt.as_dict(point), "repetitions": result.repetitions, "cycles_median": result.cycles_median,
             "overhead": result.overhead, "converged": result.converged, **as_dict(account)}
        )  # fmt: skip
    if json:
        print_json({"machine": str(spec), "machine_hash": session.machine_hash, "points": rows})
    elif accounts:
        print(f"{spec}: {where(points[0])}")
        print(f"  one measurement, with the empty call around it ({rows[0]['overhead']} cycles)")
        _print(accounts)
    tally.say()
    return status


def _program(elf: Path, spec: Any, json: bool) -> int:
    from breakeven.analysis.topdown import account_of, as_dict
    from breakeven.files.binaries import load_engine
    from breakeven.files.reading import read_file
    from breakeven.machine.resolve import resolve
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
    print(f"{elf.name} on {spec}: {region} ({end['cause']})")
    _print([(elf.name, account)])
    return 0


def _print(accounts: Sequence[tuple[str, Any]]) -> None:
    """One account with bars, or several side by side."""
    from breakeven.analysis.topdown import side_by_side
    from breakeven.output.console import print_table

    for name, account in accounts:
        per = account.instructions / account.cycles if account.cycles else 0.0
        label = f"{name}: " if len(accounts) > 1 else ""
        print(f"  {label}{account.cycles} cycles, {account.instructions} instructions ({per:.2f} a cycle)")
    single = len(accounts) == 1
    rows = []
    for title, lines in side_by_side([account for _, account in accounts]):
        row = ["  " * bool(title.reason) + title.label]
        for line in lines:
            row += [f"{line.cycles:.1f}", f"{line.percent:.1f}"] if line else ["", ""]
        if single:
            row.append("" if title.reason else "#" * round(title.percent * _BAR / 100))
        rows.append(row)
    rows.append(["all", *(text for _, account in accounts for text in (f"{account.cycles:.1f}", "100.0"))])
    names = [""] if single else [f"{name} " for name, _ in accounts]
    columns = ["where", *(text for name in names for text in (f"{name}cycles", "%")), *[""] * single]
    rows[-1] += [""] * single
    print_table(columns, rows, right=range(1, 1 + 2 * len(accounts)))
