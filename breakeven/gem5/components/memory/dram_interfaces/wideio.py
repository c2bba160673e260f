"""WIDEIO interfaces."""

from breakeven.m5.objects import WideIO_200_1x128

__all__ = ["WideIO_200_1x128"]
