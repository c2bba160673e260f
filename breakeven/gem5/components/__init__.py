"""Boards, processors, cache hierarchies and memories to put together."""
