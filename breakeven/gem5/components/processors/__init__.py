"""Processors and their cores."""
