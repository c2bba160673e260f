"""Probe programs: what a hardware preset does, in the terms in which hardware is measured (rows of uarch.csv)."""
