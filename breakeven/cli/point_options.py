"""The options that describe a point, for every command that runs one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from breakeven.cli.options import (
    TOTAL,
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


class PointMaker:
    """A point that lacks its routine."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options

    def __call__(self, routine: str) -> Any:
        """The point of a routine; raises `UserError` when it cannot be one."""
        return _point(routine, **self.options)


def _point(
    routine: str,
    /,
    size: Annotated[str, typer.Option("--size", "-n", help="Bytes (1448, 64K, 2MiB).")],
    src: Annotated[int, typer.Option("--src", "-s", help="Source offset from a page boundary.")] = 0,
    dst: Annotated[int, typer.Option("--dst", "-d", help="Destination offset from a page boundary.")] = 0,
    cache: StateOption = "warm",
    measure: MeasureOption = "latency",
    repetitions: RepetitionsOption = 3,
    warmup: WarmupOption = 2,
    calls: CallsOption = 16,
    stream: StreamOption = "",
    total: TotalOption = TOTAL,
    size2: Size2Option = "0",
    src2: Src2Option = 0,
    dst2: Dst2Option = 0,
    seed: SeedOption = 1,
    parameter: ParameterOption = 0,
    fault_at: Annotated[int | None, typer.Option(help="User copies: byte whose page is unmapped.")] = None,
    fault_side: Annotated[str, typer.Option(help="src or dst: the side of --fault-at.")] = "src",
    huge_pages: HugeOption = False,
) -> Any:
    from breakeven import points as pt
    from breakeven.ranges import parse_number

    kind = pt.index_of(pt.MEASURES, measure, "measure")
    length = parse_number(size, "size")
    if kind == pt.STREAM:
        calls = pt.stream_calls(parse_number(total, "total"), length)
    point = pt.Point(
        routine=routine, size=length, src_offset=src, dst_offset=dst, seed=seed,
        cache_state=pt.index_of(pt.CACHE_STATES, cache, "cache state"), measure=kind, repetitions=repetitions,
        warmup=warmup, calls=calls if kind else 1, size2=parse_number(size2, "size2"), src_offset2=src2,
        dst_offset2=dst2, fault_at=_fault(fault_at, fault_side), parameter=parameter,
        flags=pt.stream_flags(stream) | (pt.FLAG_HUGE_PAGES if huge_pages else 0),
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


#: defaults where a command may also do without a point
_OPTIONAL = {"size": ""}


def takes_point(size_required: bool = True) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Gives a command the options of a point in place of its parameter `point`, which becomes a `PointMaker`."""
    options = [p for p in inspect.signature(_point).parameters.values() if p.name != "routine"]
    options = [
        p.replace(kind=p.KEYWORD_ONLY, default=p.default if size_required else _OPTIONAL.get(p.name, p.default))
        for p in options
    ]

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(command)
        def with_point(**given: Any) -> int:
            chosen = {p.name: given.pop(p.name) for p in options}
            return command(point=PointMaker(chosen), **given)

        own = [
            p.replace(kind=p.KEYWORD_ONLY) for p in inspect.signature(command).parameters.values() if p.name != "point"
        ]
        first = [p for p in own if p.name in ("routine", "routines")]
        rest = [p for p in own if p not in first]
        # What typer reads; its types are those of the modules that they were written in.
        parameters = [*first, *options, *rest]
        hints = {**_hints(_point), **_hints(command)}
        with_point.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [p.replace(annotation=hints[p.name]) for p in parameters]
        )
        with_point.__annotations__ = {p.name: hints[p.name] for p in parameters}
        return with_point

    return decorate


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    from typing import get_type_hints

    return get_type_hints(function, include_extras=True)
