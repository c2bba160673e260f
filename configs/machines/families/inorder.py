"""In-order cores (gem5's Minor): functional units as a table, a line a unit; first-level caches."""

from types import new_class

from m5.objects import (
    Cache,
    MinorDefaultFloatSimdFU,
    MinorDefaultMiscFU,
    MinorDefaultPredFU,
    MinorFUPool,
    MinorOpClass,
    MinorOpClassSet,
)

from machines.provenance import assumed

# gem5's own units, for a pool
FLOAT, PREDICATES, MISC = MinorDefaultFloatSimdFU, MinorDefaultPredFU, MinorDefaultMiscFU
#: of an integer unit whose sources may come 2 cycles before their due time: dependent operations issue back to back
FORWARDING = "gem5's three-cycle unit with forwarding, a latency of one cycle"

VECTOR_MEMORY = (
    *("SimdUnitStrideLoad", "SimdUnitStrideStore", "SimdUnitStrideMaskLoad", "SimdUnitStrideMaskStore"),
    *("SimdStridedLoad", "SimdStridedStore", "SimdIndexedLoad", "SimdIndexedStore"),
    *("SimdUnitStrideFaultOnlyFirstLoad", "SimdWholeRegisterLoad", "SimdWholeRegisterStore"),
)


class DataCache(Cache):
    response_latency = assumed(1, "as tag_latency")
    tgts_per_mshr = assumed(4, "enough for one core")


class InstructionCache(DataCache):
    tag_latency = data_latency = assumed(1, "a line every cycle keeps two instructions a cycle coming")
    mshrs = assumed(1, "one line fetch at a time")
    is_read_only = assumed(True, "instruction side")


def op_classes(*names):
    """The set of operations that a functional unit does."""
    return MinorOpClassSet(opClasses=[MinorOpClass(opClass=name) for name in names])


def unit(name, base, *classes, **values):
    """A unit: a class of this name, which paths show. `classes` of operations; none: those of `base`."""

    def body(found):
        if classes:
            found["opClasses"] = op_classes(*classes)
        for parameter, value in values.items():
            found[parameter] = value

    return new_class(name, (base,), exec_body=body)


def pool(*units):
    """All units of a core; of two that could take an operation, the first that is free."""
    return MinorFUPool(funcUnits=[made() for made in units])
