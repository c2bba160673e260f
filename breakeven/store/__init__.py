"""The store: every simulated point, kept with everything that produced it, so that none is simulated twice."""

from __future__ import annotations

from breakeven.store.database import ENVIRONMENT, OFF, NotWritable, Store, default_path

__all__ = ["ENVIRONMENT", "OFF", "NotWritable", "Store", "default_path"]
