"""DRAM interfaces under the standard library's module names."""
