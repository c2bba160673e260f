"""One point: `run`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from breakeven.cli.app import EXIT_WRONG, app
from breakeven.cli.options import (
    CallsOption,
    Dst2Option,
    GuestOption,
    HugeOption,
    JsonOption,
    MachineOption,
    MeasureOption,
    NoStoreOption,
    RepetitionsOption,
    SeedOption,
    SetOption,
    Size2Option,
    Src2Option,
    StateOption,
    StoreOption,
    WarmupOption,
    machine_spec,
    open_engine,
)  # fmt: skip
from breakeven.errors import UserError


@app.command(short_help="Run one point: cycles, bytes a cycle, instructions.")
def run(
    routine: Annotated[str, typer.Argument(help="See `routines`.")],
    size: Annotated[str, typer.Option("--size", "-n", help="Bytes (1448, 64K, 2MiB).")],
    machine: MachineOption = "u74",
    src: Annotated[int, typer.Option("--src", "-s", help="Source offset from a page boundary.")] = 0,
    dst: Annotated[int, typer.Option("--dst", "-d", help="Destination offset from a page boundary.")] = 0,
    cache: StateOption = "warm",
    measure: MeasureOption = "latency",
    repetitions: RepetitionsOption = 3,
    warmup: WarmupOption = 2,
    calls: CallsOption = 16,
    size2: Size2Option = "0",
    src2: Src2Option = 0,
    dst2: Dst2Option = 0,
    seed: SeedOption = 1,
    fault_at: Annotated[int | None, typer.Option(help="User copies: byte whose page is unmapped.")] = None,
    fault_side: Annotated[str, typer.Option(help="src or dst: the side of --fault-at.")] = "src",
    huge_pages: HugeOption = False,
    settings: SetOption = [],  # noqa: B006
    guest: GuestOption = None,
    store: StoreOption = None,
    no_store: NoStoreOption = False,
    json: JsonOption = False,
) -> int:
    """Run one point: cycles, bytes a cycle, instructions, and whether the output was right."""
    from breakeven import points as pt
    from breakeven.ranges import parse_number
    from breakeven.runner import run_points

    kind = pt.index_of(pt.MEASURES, measure, "measure")
    point = pt.Point(
        routine=routine, size=parse_number(size, "size"), src_offset=src, dst_offset=dst, seed=seed,
        cache_state=pt.index_of(pt.CACHE_STATES, cache, "cache state"), measure=kind, repetitions=repetitions,
        warmup=warmup, calls=calls if kind else 1, size2=parse_number(size2, "size2"), src_offset2=src2,
        dst_offset2=dst2, fault_at=_fault(fault_at, fault_side), flags=pt.FLAG_HUGE_PAGES if huge_pages else 0,
    )  # fmt: skip
    point.validate()
    with open_engine(guest, store, no_store) as engine:
        session = engine.open(machine_spec(machine, settings))
        result = run_points(session, [point])[0]
    _print_point(session, point, result, json)
    if not result.ok:
        notes = next((r.notes for r in session.routines() if r.name == routine), "")
        why = f" ({routine} {notes})" if notes and result.status == pt.UNEXPECTED_TRAP else ""
        if result.status == pt.OUT_OF_RANGE and point.fault_at != pt.NO_FAULT:
            why = f" ({routine} is no user copy: it cannot take --fault-at inside the copy)"
        what = "WRONG OUTPUT" if result.status in pt.WRONG else "NO RESULT"
        print(f"breakeven: {what}: {result.problem}{why}", file=sys.stderr)
    return 0 if result.ok else EXIT_WRONG


def _fault(index: int | None, side: str) -> int:
    from breakeven import points as pt

    if side not in ("src", "dst"):
        raise UserError(f"unknown side {side!r} of --fault-at: src or dst")
    if index is None:
        return pt.NO_FAULT
    if not 0 <= index <= pt.MAX_SIZE:
        raise UserError(f"fault_at {index} is out of range: 0 to the size")
    return index | (pt.FAULT_IN_DESTINATION if side == "dst" else 0)


def _print_point(session: Any, point: Any, result: Any, json: bool) -> None:
    from breakeven import points as pt
    from breakeven.console import print_json, print_pairs

    moved = point.size + (point.size2 if point.measure == 2 else 0)
    # The interleaved measure alternates its two sizes: on average a call moves half of both.
    total = point.size * point.calls if point.measure != 2 else moved * point.calls / 2
    rate = total / result.cycles_median if result.cycles_median else 0.0
    if json:
        print_json({
            "machine": str(session.machine), "machine_hash": session.machine_hash, **pt.as_dict(point),
            "cycles": result.cycles_median, "cycles_min": result.cycles_min, "cycles_median": result.cycles_median,
            "cycles_total": result.cycles_total, "bytes_per_cycle": rate, "instructions": result.instructions,
            "overhead": result.overhead, "ret": result.ret, "ok": result.ok, "problem": result.problem,
        })  # fmt: skip
        return
    state, measure = pt.CACHE_STATES[point.cache_state], pt.MEASURES[point.measure]
    print(
        f"{point.routine} on {session.machine}: {point.size} B, src+{point.src_offset}, dst+{point.dst_offset}, "
        f"{state}, {measure}"
    )
    spread = f"(median of {point.repetitions}; least {result.cycles_min})" if point.repetitions > 1 else ""
    calls = f" for {point.calls} calls" if point.calls > 1 else ""
    per = result.instructions / result.cycles_median if result.cycles_median else 0.0
    rows = [
        ("cycles", f"{result.cycles_median}{calls}  {spread}"),
        ("bytes a cycle", f"{rate:.3f}"),
        ("instructions", f"{result.instructions}  ({per:.2f} a cycle)"),
        ("output", result.problem or "right"),
    ]
    if point.fault_at != pt.NO_FAULT:
        rows.append(("not copied", f"{result.ret} B"))
    print_pairs(rows)
