"""A script that gives up: its message, and status 1."""

import m5

m5.fatal("no %s here", "luck")
