"""Mistakes are errors at the line that makes them, with the near names."""

import m5
from m5.objects import *


def refused(what):
    try:
        what()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
    else:
        print("accepted!")


system = System()
refused(lambda: Cache(sise="1KiB"))
refused(lambda: setattr(system, "mem_mod", "timing"))
refused(lambda: Cache(size="1KB"))
refused(lambda: Cache(assoc=2.5))
refused(lambda: setattr(system, "mem_mode", "timeing"))
refused(lambda: setattr(RiscvMinorCPU(), "icache_port", Cache().mem_side))
refused(lambda: m5.objects.RiscvO3CPU2)
refused(lambda: setattr(system, "workload", RiscvBareMetal))
refused(lambda: m5.simulate())
refused(lambda: m5.instantiate())
refused(lambda: m5.switchCpus(system, []))
refused(lambda: m5.checkpoint("here"))
