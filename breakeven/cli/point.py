"""One point: `run`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from breakeven.cli import completion
from breakeven.cli.app import EXIT_WRONG, app
from breakeven.cli.debug import (
    DEBUG_LIMIT,
    DebugFileOption,
    DebugFlagsOption,
    DebugLimitOption,
    parse_trace_options,
)
from breakeven.cli.engines import EngineOption, TrustNativeOption
from breakeven.cli.options import (
    GuestOption,
    JsonOption,
    MachineOption,
    NoStoreOption,
    SetOption,
    StoreOption,
    kept_in,
)
from breakeven.cli.point_options import point_option_group
from breakeven.errors import say

if TYPE_CHECKING:
    from breakeven.points.engine import PointResult


@app.command(short_help="Run one point: cycles, bytes/cycle, instructions.")
@point_option_group()
def run(
    routine: Annotated[str, typer.Argument(help="See `routines`.", autocompletion=completion.routines)],
    point: dict[str, Any],
    machine: MachineOption = "u74",
    settings: SetOption = [],  # noqa: B006
    engine_name: EngineOption = "embedded",
    trust_native: TrustNativeOption = False,
    guest: GuestOption = None,
    store: StoreOption = None,
    no_store: NoStoreOption = False,
    debug_flags: DebugFlagsOption = "",
    debug_file: DebugFileOption = None,
    debug_limit: DebugLimitOption = DEBUG_LIMIT,
    json: JsonOption = False,
) -> int:
    """Run one point: cycles, bytes/cycle, instructions, and whether the output was verified."""
    from breakeven import api
    from breakeven import points as pt
    from breakeven.points.measurements import Tally

    trace = parse_trace_options(debug_flags, debug_file, debug_limit)
    traced = {"trace": trace.file, "trace_limit": trace.limit} if trace else {}
    result = api.run(
        routine, machine=machine, settings=settings, engine=engine_name, guest=guest, store=kept_in(store, no_store),
        trust_native=trust_native, **traced, **point,
    )  # fmt: skip
    if trace:
        trace.warn_if_truncated(result.traced)
    if json or result.ok or result.status in pt.WRONG:
        _print_point(result, json)
    tally = Tally()
    tally.count(result.repetitions, result.converged)
    tally.say()
    return exit_status_of(result)


def exit_status_of(result: PointResult) -> int:
    """The exit status for a result; loud when it is not right."""
    from breakeven import points as pt

    point = result.point
    if not result.ok:
        why = f" ({point.routine} {result.notes})" if result.notes and result.status == pt.UNEXPECTED_TRAP else ""
        if result.status == pt.OUT_OF_RANGE and point.parameter:
            why = f" ({point.routine} takes no --parameter)"
        elif result.status == pt.OUT_OF_RANGE and point.flags & pt.STREAM_FLAGS["reader"]:
            why = f" ({point.routine} writes nothing that a reader could read)"
        elif result.status == pt.OUT_OF_RANGE and point.distance:
            why = f" ({point.routine} is no copy or move of the guest's: it takes no --distance)"
        elif result.status == pt.OUT_OF_RANGE and point.fault_at != pt.NO_FAULT:
            why = f" ({point.routine} is no user copy: it cannot take --fault-at inside the copy)"
        what = "WRONG OUTPUT" if result.status in pt.WRONG else "NO RESULT"
        say(f"breakeven: {what}: {result.problem}{why}", file=sys.stderr)
    return 0 if result.ok else EXIT_WRONG


def where(point: Any) -> str:
    """A point without its routine, in words."""
    from breakeven import points as pt

    state, measure = pt.CACHE_STATES[point.cache_state], pt.MEASURES[point.measure]
    if point.measure == pt.MIX:
        return f"a mix of {point.calls} calls in {point.size} B"
    to = f"dst = src{point.distance:+}" if point.distance else f"dst+{point.dst_offset}"
    return f"{point.size} B, src+{point.src_offset}, {to}, {state}, {measure}"


def _measured_as(result: PointResult) -> str:
    """What the cycles of a point's measure are of."""
    from breakeven import points as pt

    calls, measure = result.point.calls, pt.MEASURES[result.point.measure]
    if measure in pt.SLOPES:
        return f"what {calls} calls more take in a row"
    if measure == "stream":
        return "all calls of a stream, less an empty one"
    if measure == "mix":
        reader = ", and of reading what each wrote" if result.point.flags & pt.STREAM_FLAGS["reader"] else ""
        return f"all calls in a row{reader}; nothing repeats, so that no predictor learns them by heart"
    return "one call between fences, less an empty one; what overlaps the fences does not count"


def _bytes_of(point: Any) -> float:
    """Bytes that the calls of a point move."""
    from breakeven import points as pt
    from breakeven.points.record import list_named

    if point.measure == pt.MIX:
        return list_named(point.mix).total
    # The interleaved measure alternates its two sizes: on average a call moves half of both.
    size = (point.size + point.size2) / 2 if point.measure == 2 else point.size
    return float(size * point.calls)


def _print_point(result: PointResult, json: bool) -> None:
    from breakeven import points as pt
    from breakeven.output.console import print_json, print_pairs
    from breakeven.points.machine_spec import HOST

    point = result.point
    total = _bytes_of(point)
    rate = total / result.cycles_median if result.cycles_median else 0.0
    if json:
        print_json({
            "machine": result.machine, "machine_hash": result.machine_hash, **pt.as_dict(point),
            "cycles": result.cycles_median, "cycles_min": result.cycles_min, "cycles_median": result.cycles_median,
            "cycles_total": result.cycles_total, "bytes_per_cycle": rate, "instructions": result.instructions,
            "overhead": result.overhead,
            "converged": result.converged, "ret": result.ret, "ok": result.ok,
            "problem": result.problem,
        })  # fmt: skip
        return
    say(f"{point.routine} on {result.machine}: {where(point)}")
    known = {True: "converged; ", False: "not converged; ", None: ""}[result.converged]
    measured = f"(median of {point.repetitions}; {known}least {result.cycles_min})" if point.repetitions > 1 else ""
    calls = f" for {point.calls} calls" if point.calls > 1 else ""
    calls += f", {result.cycles_median / point.calls:.1f} a call" if point.measure == pt.MIX else ""
    counted = result.machine.split(" ")[0] != HOST
    # A call may take no time beside an empty one: fences hide some cycles.
    timed = result.cycles_median > 0
    per = f"  (IPC {result.instructions / result.cycles_median:.2f})" if timed else ""
    rows = [
        ("cycles", f"{result.cycles_median}{calls}  {measured}"),
        ("measure", _measured_as(result)),
        ("bytes/cycle", f"{rate:.3f}" if timed else "-"),
        ("instructions", f"{result.instructions}{per}" if counted else "not counted"),
        ("output", result.problem or "verified"),
    ]
    if point.fault_at != pt.NO_FAULT:
        rows.append(("not copied", f"{result.ret} B"))
    print_pairs(rows)
