"""Tests simulate: what an earlier run has stored must not answer for the engine under test, and no routine that the
user has added is there."""

import os

os.environ["BREAKEVEN_STORE"] = "off"
os.environ["BREAKEVEN_HOME"] = os.devnull
