"""The machines that come with breakeven: a preset a module, and what presets share.

A machine file and a gem5 script import from here by one name: ``from machines.u74 import U74Board``.
"""
