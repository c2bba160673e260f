"""What gem5 once called otherwise, or had elsewhere: scripts for earlier versions are told what to write now."""

from __future__ import annotations

#: former class -> its name now
CLASSES = {"DDR3_1600_x64": "DDR3_1600_8x8", "LiveProcess": "Process"}
_PREFETCHER = "it is a parameter of the prefetcher now, cache.prefetcher.{name}"
#: class and attribute that it once had -> what stands for it
_ATTRIBUTES = {
    ("BaseCPU", "dtb"): "it is below the MMU now, cpu.mmu.dtb",
    ("BaseCPU", "itb"): "it is below the MMU now, cpu.mmu.itb",
    ("BaseCache", "hit_latency"): "it is tag_latency and data_latency now",
    ("BaseCache", "prefetch_on_access"): _PREFETCHER,
    ("BaseCache", "prefetch_on_pf_hit"): _PREFETCHER,
    ("BranchPredictor", "BTBEntries"): "it is btb.numEntries now, e.g. btb = SimpleBTB(numEntries=4096)",
    ("BranchPredictor", "BTBTagSize"): "it is btb.tagBits now, e.g. btb = SimpleBTB(tagBits=16)",
    ("BranchPredictor", "RASSize"): "it is ras.numEntries now, e.g. ras = ReturnAddrStack(numEntries=16)",
}


def instead(cls: type, name: str) -> str | None:
    """What is written now instead of the attribute `name` of a `cls`; None when no class of it ever had one."""
    for base in cls.__mro__:
        what = _ATTRIBUTES.get((base.__name__, name))
        if what is not None:
            return what.format(name=name)
    return None
