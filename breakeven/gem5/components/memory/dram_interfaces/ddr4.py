"""DDR4 interfaces."""

from breakeven.m5.objects import DDR4_2400_4x16, DDR4_2400_8x8, DDR4_2400_16x4

__all__ = ["DDR4_2400_4x16", "DDR4_2400_8x8", "DDR4_2400_16x4"]
