"""Workloads under the names that they had before gem5 23.1."""

from breakeven.gem5.resources.resource import WorkloadResource as CustomWorkload
from breakeven.gem5.resources.resource import obtain_resource as Workload

__all__ = ["CustomWorkload", "Workload"]
