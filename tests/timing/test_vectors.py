"""What vector instructions cost, in exact cycles: two programs or two machines that differ in one thing."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import pytest

from breakeven.machine.presets import describe_machine
from tests import asm
from tests.cli.conftest import _engine_is_built

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built"),
]

MARCH = "rv64gcv"
#: One unit of each kind where the default has several: what it carries is what a program waits for.
ONE_UNIT = ["cpu.fuPool.FUList5.count=1", "cpu.fuPool.FUList8.count=1"]


def machine(core: str, *settings: str, **isa: Any) -> dict[str, Any]:
    description = describe_machine(core, [*(ONE_UNIT if core == "o3" else []), *settings])
    object_of(description, "system.cpu.isa")["params"].update({"vlen": 256, **isa})
    return description


def object_of(description: dict[str, Any], path: str) -> dict[str, Any]:
    return next(o for o in description["objects"] if o["path"] == path)


def with_vector_costs(description: dict[str, Any], **costs: Any) -> dict[str, Any]:
    """The machine with a `MisalignedAccess` for its vector accesses."""
    scalar = object_of(description, "system.cpu.misaligned")
    own = {**scalar, "path": "system.cpu.vector_misaligned", "params": {**scalar["params"], **costs}}
    description["objects"].append(own)
    object_of(description, "system.cpu")["params"]["vector_misaligned"] = {"ref": own["path"]}
    return description


@cache
def built(source: str) -> bytes:
    return asm.build(source, MARCH)


def cycles_each(
    description: dict[str, Any], line: str, setting: str = "e64, m1", *, offset: int = 0, vl: int = 0
) -> float:
    """Cycles of `line`: 64 of them against 32, in code that is warm. a0 points to zeros, `offset` behind the begin of a
    page; without `vl` all elements take part.
    """

    def total(n: int) -> float:
        body = "\n".join([line] * n)
        source = f"""
        li t0, 0x600
        csrs mstatus, t0
        li t2, {vl}
        vsetvli t1, {"t2" if vl else "x0"}, {setting}, ta, ma
        la a3, zeros
        li s1, 2
        li t2, {offset}
        add a2, a3, t2
        1:
        {asm.BEGIN} mv a0, a2
        {body}
        fence
        {asm.END} addi s1, s1, -1
        bnez s1, 1b
        {asm.EXIT}
        .balign 4096
        zeros: .zero 8192
        """
        return asm.measure(description, built(source))[1]

    return (total(64) - total(32)) / 32


#: but for a cycle or two of 32 repetitions, where a fetch falls otherwise
EXACT = partial(pytest.approx, abs=2 / 32)
#: a dependent instruction, one that is not, a load, an access of four elements
CHAIN, APART = "vadd.vv v8, v8, v16", "vadd.vv v8, v24, v16"
LOAD, STRIDED = "vle64.v v8, (a0)", "vlse64.v v8, (a0), x0"


@pytest.mark.parametrize(
    ("setting", "register", "none", "narrow", "beat"),
    [
        # The unit of Minor hands a result on after 4 cycles. A group of one register: by half a register a cycle the
        # second half is a cycle later, and nobody waits for it where beats chain.
        ("e64, m1", 4, 4, 5, 4),
        # Two: without chaining the first waits for the second.
        ("e64, m2", 4, 5, 5, 4),
        # Eight are eight beats, half registers sixteen: more than the latency. Without chaining 7 cycles come on top.
        ("e64, m8", 8, 11, 16, 16),
    ],
)
def test_a_dependent_begins_when_what_it_waits_for_is_there(
    setting: str, register: int, none: int, narrow: int, beat: int
) -> None:
    machines = [
        machine("minor"),
        machine("minor", vector_chaining="none"),
        machine("minor", dlen=128),
        machine("minor", dlen=128, vector_chaining="beat"),
    ]
    assert [cycles_each(each, CHAIN, setting) for each in machines] == [register, none, narrow, beat]


@pytest.mark.parametrize("core", ["minor", "o3"])
def test_start_up_and_slow_elements_hold_the_unit(core: str) -> None:
    def more(line: str, setting: str = "e64, m1", **isa: int) -> float:
        return cycles_each(machine(core, **isa), line, setting) - cycles_each(machine(core), line, setting)

    assert more(APART, vector_startup_cycles=2) == 2
    assert more(APART, "e64, m4", vector_startup_cycles=2) == 2
    assert more(LOAD, vector_memory_startup_cycles=3) == 3
    assert more(STRIDED, strided_element_cycles=2) == EXACT(4)
    assert more(APART, vector_memory_startup_cycles=3) == more(LOAD, vector_startup_cycles=2) == 0


#: accesses by element, and the parameter that says what each costs
ELEMENTS = [
    ("vlse64.v v8, (a0), x0", "strided_element_cycles"),
    ("vsse64.v v8, (a0), x0", "strided_element_cycles"),
    ("vluxei64.v v8, (a0), v24", "indexed_element_cycles"),
    ("vsoxei64.v v8, (a0), v24", "indexed_element_cycles"),
    # A segment access with a stride or with indices is a segment access.
    ("vlseg2e64.v v8, (a0)", "segment_element_cycles"),
    ("vsseg2e64.v v8, (a0)", "segment_element_cycles"),
    ("vlsseg2e64.v v8, (a0), x0", "segment_element_cycles"),
    ("vsuxseg2ei64.v v8, (a0), v24", "segment_element_cycles"),
]


def in_order(**isa: Any) -> dict[str, Any]:
    """The X60, whose vector unit is what bounds it: gem5's Minor takes three cycles from a load to the next."""
    description = describe_machine("x60", [])
    object_of(description, "system.cpu.isa")["params"].update(isa)
    return description


#: but for segment loads in order, which the next test has
BY_ELEMENT = [("o3", *one) for one in ELEMENTS]
BY_ELEMENT += [("minor", *one) for one in ELEMENTS if not one[0].startswith(("vlseg", "vlsseg"))]


@pytest.mark.parametrize(("core", "line", "parameter"), BY_ELEMENT)
def test_each_element_costs_what_its_kind_of_access_says(core: str, line: str, parameter: str) -> None:
    def more(setting: str, **isa: int) -> float:
        changed, plain = (in_order(**isa), in_order()) if core == "minor" else (machine(core, **isa), machine(core))
        return cycles_each(changed, line, setting) - cycles_each(plain, line, setting)

    # Cycles beyond the first of an element (a segment of them): four of a register, eight of two.
    assert more("e64, m1", **{parameter: 2}) == EXACT(4)
    assert more("e64, m2", **{parameter: 2}) == EXACT(8)
    assert more("e64, m2", **{parameter: 4}) == EXACT(24)
    others = {name for _, name in ELEMENTS} - {parameter}
    assert more("e64, m2", **dict.fromkeys(others, 5)) == 0
    # Once an instruction.
    assert [more(f"e64, m{lmul}", vector_memory_startup_cycles=3) for lmul in (1, 2)] == EXACT([3, 3])


def test_minor_writes_a_segment_loads_fields_behind_its_last_segment() -> None:
    # Four segments, and a micro-op a register that writes the fields there once the last segment has come.
    took = [cycles_each(in_order(segment_element_cycles=each), "vlseg2e64.v v8, (a0)") for each in (1, 2, 4)]
    assert took == [6.5, 13, 20]


def test_a_unit_stride_access_takes_a_beat_a_piece_of_the_datapath() -> None:
    for line in ("vle64.v v8, (a0)", "vse64.v v8, (a0)", "vl4re64.v v8, (a0)", "vs4r.v v8, (a0)"):
        for make in (in_order, partial(machine, "o3")):
            took = [cycles_each(make(dlen=dlen), line, "e64, m4") for dlen in (64, 128, 256)]
            assert took == [16, 8, 4]


def test_arithmetic_may_leave_out_what_vl_does_not_reach() -> None:
    # Of eight registers vl fills three.
    cost = [
        cycles_each(machine("minor", short_vector_groups=short), APART, "e64, m8", vl=12) for short in (False, True)
    ]
    assert cost == [8, 3]


@pytest.mark.parametrize("core", ["minor", "o3"])
def test_misaligned_vectors_have_costs_of_their_own(core: str) -> None:
    # Each address is the last load's plus the zero that it brought. Minor issues what uses a load before its value is
    # there (gem5's `extraAssumedLat`): a unit of 6 stages hides the first cycles, so costs are compared from 20 on.
    vector = f"{LOAD}\n vmv.x.s t1, v8\n add a0, a0, t1"
    scalar = "ld t1, 0(a0)\n add a0, a0, t1"
    names = ("granule_cross_load", "line_cross_load", "page_cross_load")
    alike = {"granule": 32} | dict.fromkeys(names, 20)
    own = {"granule": 32} | dict(zip(names, (23, 27, 31), strict=True))

    def scalar_costs(costs: dict[str, int]) -> dict[str, Any]:
        return machine(core, *(f"cpu.misaligned.{name}={value}" for name, value in costs.items()))

    def more(changed: dict[str, Any], base: dict[str, Any], line: str, offsets: tuple[int, ...]) -> list[float]:
        return [cycles_each(changed, line, offset=at) - cycles_each(base, line, offset=at) for at in offsets]

    vectors, scalars = (0, 16, 48, 4080), (0, 28, 60, 4092)
    # Described for vectors alone, for all accesses, for scalar accesses alone.
    only_vectors = [with_vector_costs(machine(core), **costs) for costs in (own, alike)]
    assert more(*only_vectors, vector, vectors) == EXACT([0, 3, 7, 11])
    assert more(*only_vectors, scalar, scalars) == [0, 0, 0, 0]
    shared = [scalar_costs(costs) for costs in (own, alike)]
    assert more(*shared, vector, vectors) == EXACT([0, 3, 7, 11])
    assert more(*shared, scalar, scalars) == EXACT([0, 3, 7, 11])
    only_scalars = [with_vector_costs(scalar_costs(costs), **dict.fromkeys(own, 0)) for costs in (own, alike)]
    assert more(*only_scalars, vector, vectors) == [0, 0, 0, 0]


def test_total_store_ordering_frees_release_fences_and_orders_stores() -> None:
    weak, ordered = machine("o3"), machine("o3", enable_Ztso=True)
    # A release: on weakly ordered memory it waits until the store before it is written.
    release = "sd x0, 0(a0)\n fence rw, w"
    # A fence between a store and a load orders what TSO does not.
    full = "sd x0, 0(a0)\n fence w, r"
    cost = {line: [cycles_each(each, line) for each in (weak, ordered)] for line in (release, full)}
    assert cost[full][0] == cost[full][1] == cost[release][0]
    assert cost[release] == [cost[full][0], 1]
