"""Tuning: from a distribution of sizes to a dispatcher between routines, measured."""
