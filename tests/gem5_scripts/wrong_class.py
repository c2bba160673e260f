"""A class that there is not."""

from m5.objects import RiscvMinerCPU
