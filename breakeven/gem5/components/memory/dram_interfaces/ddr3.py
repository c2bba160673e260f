"""DDR3 interfaces."""

from breakeven.m5.objects import DDR3_1600_8x8, DDR3_2133_8x8

__all__ = ["DDR3_1600_8x8", "DDR3_2133_8x8"]
