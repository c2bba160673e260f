"""Functional units of in-order cores (gem5's Minor), as a table: a line a unit."""

from types import new_class

from m5.objects import (
    MinorDefaultFloatSimdFU,
    MinorDefaultMemFU,
    MinorDefaultMiscFU,
    MinorDefaultPredFU,
    MinorFUPool,
    MinorFUTiming,
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


def op_classes(*names):
    """The set of operations that a functional unit does."""
    return MinorOpClassSet(opClasses=[MinorOpClass(opClass=name) for name in names])


def sources(cycles, result=0):
    """Each source may come so many cycles after issue (all further ones as the last), the result after the end."""
    return [MinorFUTiming(description="sources", srcRegsRelativeLats=cycles, extraAssumedLat=result)]


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


#: vector loads and stores share one unit, which moves a datapath's width a cycle
VECTOR_MEM = unit("C908VectorMemFU", MinorDefaultMemFU, *VECTOR_MEMORY, opLat=assumed(2, "as the scalar unit's"))
