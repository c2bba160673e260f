"""Machines: presets and users' files, resolved to a description; their pages, parameters and sources."""
