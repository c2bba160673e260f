"""Memories. The makers of single channels can be imported from here, as in gem5."""

from breakeven.gem5.components.memory.single_channel import (
    SingleChannelDDR3_1600,
    SingleChannelDDR3_2133,
    SingleChannelDDR4_2400,
    SingleChannelHBM,
    SingleChannelLPDDR3_1600,
)
from breakeven.m5.absent import CHANNELS, absent_names

__all__ = [
    "SingleChannelDDR3_1600",
    "SingleChannelDDR3_2133",
    "SingleChannelDDR4_2400",
    "SingleChannelHBM",
    "SingleChannelLPDDR3_1600",
]

__getattr__ = absent_names(
    "gem5.components.memory",
    dict.fromkeys(
        ("DualChannelDDR3_1600", "DualChannelDDR3_2133", "DualChannelDDR4_2400", "DualChannelLPDDR3_1600", "HBM2Stack"),
        CHANNELS,
    ),
)
