"""LPDDR2 interfaces."""

from breakeven.m5.objects import LPDDR2_S4_1066_1x32

__all__ = ["LPDDR2_S4_1066_1x32"]
