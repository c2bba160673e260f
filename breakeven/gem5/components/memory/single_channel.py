"""One channel of DRAM, by its kind; `size` by default what the devices hold."""

from __future__ import annotations

from breakeven.gem5.components.memory.memory import ChanneledMemory
from breakeven.m5.objects import DDR3_1600_8x8, DDR3_2133_8x8, DDR4_2400_8x8, HBM_1000_4H_1x128, LPDDR3_1600_1x32

_INTERLEAVING = 64


def SingleChannelDDR3_1600(size: str | None = None) -> ChanneledMemory:
    return ChanneledMemory(DDR3_1600_8x8, 1, _INTERLEAVING, size=size)


def SingleChannelDDR3_2133(size: str | None = None) -> ChanneledMemory:
    return ChanneledMemory(DDR3_2133_8x8, 1, _INTERLEAVING, size=size)


def SingleChannelDDR4_2400(size: str | None = None) -> ChanneledMemory:
    return ChanneledMemory(DDR4_2400_8x8, 1, _INTERLEAVING, size=size)


def SingleChannelLPDDR3_1600(size: str | None = None) -> ChanneledMemory:
    return ChanneledMemory(LPDDR3_1600_1x32, 1, _INTERLEAVING, size=size)


def SingleChannelHBM(size: str | None = None) -> ChanneledMemory:
    return ChanneledMemory(HBM_1000_4H_1x128, 1, _INTERLEAVING, size=size or "256MiB")
