"""Sizes and associativities of two levels."""

from __future__ import annotations


class AbstractTwoLevelCacheHierarchy:
    """Keeps what a hierarchy of two levels is made with."""

    def __init__(
        self, l1i_size: str, l1i_assoc: int, l1d_size: str, l1d_assoc: int, l2_size: str, l2_assoc: int
    ) -> None:
        self._l1i_size, self._l1i_assoc = l1i_size, l1i_assoc
        self._l1d_size, self._l1d_assoc = l1d_size, l1d_assoc
        self._l2_size, self._l2_assoc = l2_size, l2_assoc
