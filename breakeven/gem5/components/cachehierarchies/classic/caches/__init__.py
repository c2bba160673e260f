"""Caches with the standard library's defaults."""
