"""Functional units of out-of-order cores, as a table: a line a unit, with what it does and in how many cycles.

fuPool = pool(
    unit("Port0", sourced(1, "skylake/port_map"), {"IntAlu": 1, "float adds": 4}, dividers(integer=25)),
    unit("Port6", sourced(1, "skylake/port_map"), {"IntAlu": 1}),
)
"""

from types import new_class

from m5 import objects
from m5.objects import FUDesc, FUPool, IprPort, OpDesc, PredALU

from machines.families.board import SiliconCache
from machines.provenance import assumed, assumed_unless_marked

#: what a table calls several of gem5's classes of operations at once
GROUPS = {
    "vector logic": ("SimdAlu", "SimdCmp", "SimdMisc", "SimdAdd", "SimdAddAcc"),
    "vector products": ("SimdMult", "SimdMultAcc"),
    "reductions": ("SimdReduceAlu", "SimdReduceAdd"),
    "shuffles": ("SimdExt", "SimdFloatExt"),
    "float adds": ("FloatAdd", "FloatCmp", "SimdFloatAdd", "SimdFloatCmp", "SimdFloatAlu"),
    "float products": ("FloatMult", "SimdFloatMult", "FloatMultAcc", "SimdFloatMultAcc"),
    "single float products": ("FloatMult", "SimdFloatMult"),
    "fused float products": ("FloatMultAcc", "SimdFloatMultAcc"),
    "float rest": ("FloatMisc", "SimdFloatMisc"),
    "conversions": ("FloatCvt", "SimdCvt", "SimdFloatCvt"),
    "loads": ("MemRead", "FloatMemRead"),
    "stores": ("MemWrite", "FloatMemWrite"),
    "vector loads": (
        *("SimdUnitStrideLoad", "SimdUnitStrideMaskLoad", "SimdStridedLoad", "SimdIndexedLoad"),
        *("SimdUnitStrideFaultOnlyFirstLoad", "SimdWholeRegisterLoad"),
    ),
    "vector stores": (
        *("SimdUnitStrideStore", "SimdUnitStrideMaskStore", "SimdStridedStore", "SimdIndexedStore"),
        "SimdWholeRegisterStore",
    ),
}
#: of a unit's latency that no row of uarch.csv gives
NO_ROW = "no source: a usual latency of such operations on such cores"


#: units that no table names
OTHERS = (PredALU, IprPort)


class InstructionCache(SiliconCache):
    tag_latency = data_latency = assumed(1, "fetch is pipelined on the hardware")
    mshrs = assumed(2, "a line and the next one")
    is_read_only = assumed(True, "instruction side")


def ops(latencies):
    """Operations from the latencies of classes or `GROUPS`. One without a mark is gem5's 1, or assumed: no row has
    it."""
    return [
        OpDesc(opClass=name, opLat=latency if latency == 1 else assumed_unless_marked(latency, NO_ROW))
        for group, latency in latencies.items()
        for name in GROUPS.get(group, (group,))
    ]


def dividers(integer=None, divide=None, root=None, because="dividers are not pipelined"):
    """Operations that no other follows before they are done; cycles of a division, of one of floats, and of a square
    root."""
    classes = {"IntDiv": integer, "FloatDiv": divide, "SimdFloatDiv": divide, "FloatSqrt": root, "SimdFloatSqrt": root}
    taken = {name: cycles for name, cycles in classes.items() if cycles is not None}
    one_at_a_time = assumed(False, because)
    return [OpDesc(opClass=name, opLat=cycles, pipelined=one_at_a_time) for name, cycles in taken.items()]


def unit(name, count, *operations, base=FUDesc):
    """`count` units: a class of this name, which paths show. `operations`: dictionaries of latencies, and `dividers`;
    none: those of `base`."""

    def body(values):
        values["count"] = count
        if operations:
            values["opList"] = [op for some in operations for op in (ops(some) if isinstance(some, dict) else some)]

    return new_class(name, (base,), exec_body=body)


def pool(*units):
    """All units of a core; of two that could take an operation, the first that is free."""
    return FUPool(FUList=[made() for made in (*units, *OTHERS)])


def queues(*kinds):
    """Issue queues with units of their own. `kinds`: of each, the entries of a queue, and the units of each queue. The
    last one takes `OTHERS` too."""
    made = [(entries, units) for entries, each in kinds for units in each]
    made[-1] = (made[-1][0], (*made[-1][1], *OTHERS))
    return [
        objects.IQUnit(numEntries=entries, fuPool=FUPool(FUList=[unit() for unit in units])) for entries, units in made
    ]
