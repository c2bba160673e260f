"""Tests simulate: what an earlier run has stored must not answer for the engine under test."""

import os

os.environ["BREAKEVEN_STORE"] = "off"
