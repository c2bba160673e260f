"""The options that describe a point, for every command that runs one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from breakeven.cli.bundles import Command, option_group
from breakeven.cli.options import (
    NUMBER,
    AlignOption,
    CallsOption,
    DistanceOption,
    Dst2Option,
    DstOption,
    HugeOption,
    MeasureOption,
    MixOption,
    ParameterOption,
    RepetitionsOption,
    SeedOption,
    Size2Option,
    Src2Option,
    SrcOption,
    StateOption,
    StreamOption,
    TotalOption,
    WarmupOption,
)
from breakeven.errors import UserError
from breakeven.sweeps.request import TOTAL


def _measuring(
    cache: StateOption = "warm",
    measure: MeasureOption = "latency",
    repetitions: RepetitionsOption = None,
    warmup: WarmupOption = 2,
    calls: CallsOption = None,
    mix: MixOption = None,
    align: AlignOption = 0,
    stream: StreamOption = "",
    total: TotalOption = TOTAL,
    size2: Size2Option = "0",
    src2: Src2Option = 0,
    dst2: Dst2Option = 0,
    seed: SeedOption = 1,
    routine_parameter: ParameterOption = 0,
    distance: DistanceOption = "0",
    huge_pages: HugeOption = False,
) -> dict[str, Any]:
    """How points are measured, as the Python API takes it."""
    if mix == "":
        raise UserError('--mix "" names no mix: give sizes (1..256), spec2017 or a file')
    return {
        "cache": cache, "measure": measure, "repetitions": repetitions, "warmup": warmup, "calls": calls,
        "mix": mix or "", "align": align,
        "stream": stream, "total": total, "size2": size2, "src_offset2": src2, "dst_offset2": dst2, "seed": seed,
        "routine_parameter": routine_parameter, "distance": distance, "huge_pages": huge_pages,
    }  # fmt: skip


#: gives a command those options in place of its parameter `measuring`
measuring_option_group = option_group("measuring", _measuring)


@measuring_option_group
def _point(
    *,
    size: Annotated[str, typer.Option("--size", "-n", help="Bytes (1448, 64K, 2MiB).")],
    src: SrcOption = 0,
    dst: DstOption = 0,
    measuring: dict[str, Any],
    fault_at: Annotated[
        int | None, typer.Option(parser=NUMBER, help="User copies: byte whose page is unmapped.")
    ] = None,
    fault_side: Annotated[str, typer.Option(help="src or dst: the side of --fault-at.")] = "src",
) -> dict[str, Any]:
    """Where a point copies and how it is measured, as `breakeven.run` takes it."""
    return {"size": size, "src": src, "dst": dst, **measuring, "fault_at": fault_at, "fault_side": fault_side}


def point_option_group(size_required: bool = True) -> Callable[[Command], Command]:
    """Gives a command the options of a point in place of its parameter `point`, which becomes their values."""
    return option_group("point", _point, **({} if size_required else {"size": ""}))
