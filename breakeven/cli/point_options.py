"""The options that describe a point, for every command that runs one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from breakeven.cli.bundles import Command, option_group
from breakeven.cli.options import (
    CallsOption,
    Dst2Option,
    HugeOption,
    MeasureOption,
    ParameterOption,
    RepetitionsOption,
    SeedOption,
    Size2Option,
    Src2Option,
    StateOption,
    StreamOption,
    TotalOption,
    WarmupOption,
)
from breakeven.errors import UserError
from breakeven.sweeps.request import TOTAL


class PointMaker:
    """A point that lacks its routine."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options

    @property
    def by_rule(self) -> bool:
        """Whether nobody asked for a number of measurements."""
        return self.options["repetitions"] is None

    def __call__(self, routine: str) -> Any:
        """The point of a routine; raises `UserError` when it cannot be one."""
        return _made(routine, self.options)


def _measuring(
    cache: StateOption = "warm",
    measure: MeasureOption = "latency",
    repetitions: RepetitionsOption = None,
    warmup: WarmupOption = 2,
    calls: CallsOption = 16,
    stream: StreamOption = "",
    total: TotalOption = TOTAL,
    size2: Size2Option = "0",
    src2: Src2Option = 0,
    dst2: Dst2Option = 0,
    seed: SeedOption = 1,
    routine_parameter: ParameterOption = 0,
    huge_pages: HugeOption = False,
) -> dict[str, Any]:
    """How points are measured, as `sweep_spec` takes it."""
    return {
        "cache": cache, "measure": measure, "repetitions": repetitions, "warmup": warmup, "calls": calls,
        "stream": stream, "total": total, "size2": size2, "src_offset2": src2, "dst_offset2": dst2, "seed": seed,
        "routine_parameter": routine_parameter, "huge_pages": huge_pages,
    }  # fmt: skip


#: gives a command those options in place of its parameter `measuring`
measuring_option_group = option_group("measuring", _measuring)


@measuring_option_group
def _point(
    *,
    size: Annotated[str, typer.Option("--size", "-n", help="Bytes (1448, 64K, 2MiB).")],
    src: Annotated[int, typer.Option("--src", "-s", help="Source offset from a page boundary.")] = 0,
    dst: Annotated[int, typer.Option("--dst", "-d", help="Destination offset from a page boundary.")] = 0,
    measuring: dict[str, Any],
    fault_at: Annotated[int | None, typer.Option(help="User copies: byte whose page is unmapped.")] = None,
    fault_side: Annotated[str, typer.Option(help="src or dst: the side of --fault-at.")] = "src",
) -> PointMaker:
    fault = {"fault_at": fault_at, "fault_side": fault_side}
    return PointMaker({"size": size, "src": src, "dst": dst, **measuring, **fault})


def _made(routine: str, options: dict[str, Any]) -> Any:
    from breakeven import points as pt
    from breakeven.points.ranges import parse_number

    o = dict(options)
    kind = pt.index_of(pt.MEASURES, o["measure"], "measure")
    length = parse_number(o["size"], "size")
    calls = pt.stream_calls(parse_number(o["total"], "total"), length) if kind == pt.STREAM else o["calls"]
    point = pt.Point(
        routine=routine, size=length, src_offset=o["src"], dst_offset=o["dst"], seed=o["seed"],
        cache_state=pt.index_of(pt.CACHE_STATES, o["cache"], "cache state"), measure=kind,
        repetitions=o["repetitions"], warmup=o["warmup"], calls=calls if kind else 1,
        size2=parse_number(o["size2"], "size2"), src_offset2=o["src_offset2"], dst_offset2=o["dst_offset2"],
        fault_at=_fault(o["fault_at"], o["fault_side"]), parameter=o["routine_parameter"],
        flags=pt.stream_flags(o["stream"]) | (pt.FLAG_HUGE_PAGES if o["huge_pages"] else 0),
    )  # fmt: skip
    point.validate()
    return point


def _fault(index: int | None, side: str) -> int:
    from breakeven import points as pt

    if side not in ("src", "dst"):
        raise UserError(f"unknown side {side!r} of --fault-at: src or dst")
    if index is None:
        return pt.NO_FAULT
    if not 0 <= index <= pt.MAX_SIZE:
        raise UserError(f"fault_at {index} is out of range: 0 to the size")
    return index | (pt.FAULT_IN_DESTINATION if side == "dst" else 0)


def point_option_group(size_required: bool = True) -> Callable[[Command], Command]:
    """Gives a command the options of a point in place of its parameter `point`, which becomes a `PointMaker`."""
    return option_group("point", _point, **({} if size_required else {"size": ""}))
