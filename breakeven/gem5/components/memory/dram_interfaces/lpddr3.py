"""LPDDR3 interfaces."""

from breakeven.m5.objects import LPDDR3_1600_1x32

__all__ = ["LPDDR3_1600_1x32"]
