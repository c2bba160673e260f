"""Two pipeline traces side by side: `gem5-diff`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from breakeven.cli.app import app
from breakeven.cli.options import JsonOption, number
from breakeven.errors import printable, say


@app.command("gem5-diff", short_help="Two O3PipeView traces: where their ticks part, what costs more.")
def gem5_diff(
    first: Annotated[Path, typer.Argument(help="A trace, e.g. gem5's; FILE.gz is compressed.")],
    second: Annotated[Path, typer.Argument(help="Another of the same program, e.g. ours.")],
    most: Annotated[int, typer.Option("--most", parser=number(1), help="Micro-ops that are read.")] = 1_000_000,
    top: Annotated[int, typer.Option("--top", parser=number(1), help="Addresses that are listed.")] = 10,
    as_json: JsonOption = False,
) -> None:
    """Compares two O3PipeView traces of one program, e.g. gem5's and ours, micro-op by micro-op.

    What retired counts, in program order. Ticks are counted from the first micro-op that both traces have.
    """
    from breakeven.analysis.trace_diff import compare, read

    found = compare(read(first, most), read(second, most))
    if as_json:
        print(json.dumps(_as_json(found, top)))
        return
    say(f"{found.compared} micro-ops in common, from micro-op {found.begins[0]} and {found.begins[1]} on")
    if found.first is None:
        print("no tick differs")
    else:
        say(f"first difference: {found.first.differs} of micro-op {found.first.index}")
        _print_pair(found.first)
    if found.parts is not None:
        say(f"other instructions from micro-op {found.parts.index} on")
        _print_pair(found.parts)
    if found.gaps:
        say(f"\n{'address':>18}  {'times':>7}  {'ticks longer in the second':>26}  instruction")
    for address, text, times, ticks in found.gaps[:top]:
        say(f"{address:#18x}  {times:7}  {ticks:+26}  {printable(text)}")


def _print_pair(pair: Any) -> None:
    from breakeven.analysis.trace_diff import STAGES

    say(f"  {'':6}" + "".join(f"{stage:>10}" for stage in STAGES))
    for name, record, ticks in zip(("first", "second"), pair.records, pair.ticks, strict=True):
        cells = "".join(f"{'-' if tick is None else tick:>10}" for tick in ticks)
        say(f"  {name:6}{cells}  {record.address:#x} {printable(record.text)}")


def _as_json(found: Any, top: int) -> dict[str, Any]:
    from breakeven.analysis.trace_diff import STAGES

    def one(pair: Any) -> Any:
        if pair is None:
            return None
        rows = [
            {"address": record.address, "text": record.text, "ticks": dict(zip(STAGES, ticks, strict=True))}
            for record, ticks in zip(pair.records, pair.ticks, strict=True)
        ]
        return {"index": pair.index, "stage": pair.differs, "first": rows[0], "second": rows[1]}

    names = ("address", "text", "times", "ticks")
    return {
        "compared": found.compared, "begins": found.begins, "first": one(found.first), "parts": one(found.parts),
        "longer": [dict(zip(names, row, strict=True)) for row in found.gaps[:top]],
    }  # fmt: skip
