"""Sweeps: what to run, read from texts or a file, and the run to a tidy table."""
