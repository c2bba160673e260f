"""The store: every simulated point, kept with everything that produced it, so that none is simulated twice."""

from __future__ import annotations

from breakeven.store.database import OFF, Store, default_path
from breakeven.store.file import ENVIRONMENT, NotWritable

__all__ = ["ENVIRONMENT", "OFF", "NotWritable", "Store", "default_path"]
