"""Hierarchies of classic caches."""
