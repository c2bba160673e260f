"""HBM interfaces."""

from breakeven.m5.objects import HBM_1000_4H_1x64, HBM_1000_4H_1x128, HBM_2000_4H_1x64

__all__ = ["HBM_1000_4H_1x64", "HBM_1000_4H_1x128", "HBM_2000_4H_1x64"]
