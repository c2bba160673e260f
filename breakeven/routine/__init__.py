"""Routines: which there are, how a user's own is built and checked."""
