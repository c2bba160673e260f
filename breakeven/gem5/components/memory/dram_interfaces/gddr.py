"""GDDR interfaces."""

from breakeven.m5.objects import GDDR5_4000_2x32

__all__ = ["GDDR5_4000_2x32"]
