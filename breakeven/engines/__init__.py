"""Engines: what runs points. The simulator in this process or on a dask scheduler's workers, a gem5, the host."""
