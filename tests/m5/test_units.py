"""Unit strings: gem5's rules."""

from __future__ import annotations

import pytest

from breakeven.config import units
from breakeven.config.params import NULL, Param, VectorParam
from breakeven.config.values import AddrRange, Clock, Frequency, Latency


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("32KiB", 32768),
        ("32kB", 32768),
        ("2MB", 2 << 20),
        ("1GiB", 1 << 30),
        ("64B", 64),
        ("64", 64),
        ("0x40", 64),
        ("0x10kB", 16384),
    ],
)
def test_sizes_are_powers_of_two(text: str, size: int) -> None:
    assert units.memory_size(text) == size


def test_bandwidth_is_binary_and_other_units_are_decimal() -> None:
    assert units.memory_bandwidth("12.8GB/s") == 12.8 * 2**30
    assert units.hertz("3GHz") == 3e9
    assert units.ticks(units.seconds("2GHz")) == 500
    assert units.ticks(units.seconds("13.75ns")) == 13750
    assert units.ticks(units.seconds("3GHz")) == 333
    assert units.ticks(units.seconds("250t")) == 250
    assert units.voltage("0.5V") == 0.5
    assert units.current("55mA") == pytest.approx(0.055)
    assert units.temperature("25C") == pytest.approx(298.15)


@pytest.mark.parametrize(
    ("parse", "text", "says"),
    [
        (units.memory_size, "32KB", "small k"),
        (units.memory_size, "0.5KiB", "size in bytes"),
        (units.memory_size, "", "size in bytes"),
        (units.seconds, "5", "'1ns'"),
        (units.seconds, "-1ns", "negative"),
        (units.seconds, "0Hz", "must run"),
        (units.seconds, "1e999s", "finite"),
        (units.hertz, "fast", "'100MHz'"),
        (units.boolean, "maybe", "neither"),
        (units.integer, "1.5", "whole"),
        (units.temperature, "-400C", "absolute zero"),
        (units.memory_bandwidth, "10", "GiB/s"),
    ],
)
def test_nonsense_is_refused_with_the_fix(parse: object, text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse(text)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("kind", "value", "result"),
    [
        ("Int", -3, -3),
        ("Unsigned", "7", 7),
        ("Cycles", 2.0, 2),
        ("Bool", "no", False),
        ("Bool", 1, True),
        ("Percent", 100, 100),
        ("MemorySize", 4096, 4096),
        ("Addr", "2GiB", 2 << 30),
        ("String", "x", "x"),
        ("String", 3, "3"),
        ("Float", "0.5", 0.5),
        ("Voltage", "1V", 1.0),
        ("MemoryMode", "timing", "timing"),
        ("OpClass", "IntAlu", "IntAlu"),
        ("MemoryBandwidth", "1GiB/s", float(1 << 30)),
        ("Frequency", "0Hz", 0.0),
    ],
)
def test_values_convert(kind: str, value: object, result: object) -> None:
    assert getattr(Param, kind)("what").convert(value) == result


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("Unsigned", -1),
        ("Unsigned", 1 << 32),
        ("Int", 1.5),
        ("Int", None),
        ("UInt8", 256),
        ("Cycles", "two"),
        ("Bool", 2.5),
        ("Percent", 101),
        ("Latency", 5),
        ("Clock", "0s"),
        ("Clock", "9THz"),
        ("MemoryMode", "fast"),
        ("String", None),
        ("Float", "inf"),
        ("AddrRange", "x"),
        ("Voltage", "-1V"),
        ("Addr", -1),
        ("MemorySize", "-1kB"),
        ("Latency", float("nan")),
        ("Latency", 1e-9),
    ],
)
def test_bad_values_do_not(kind: str, value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        getattr(Param, kind)("what").convert(value)


def test_vectors_take_a_list_or_one_value() -> None:
    assert VectorParam.Clock("what").convert("1GHz") == [Clock("1ns")]
    assert VectorParam.Unsigned("what").convert((1, "2")) == [1, 2]
    assert VectorParam.MinorFU("what").convert(NULL) == []


def test_quantities_keep_their_unit() -> None:
    assert type(Latency("1ns") * 2) is Latency
    assert (Latency("1ns") * 2).ticks == 2000
    assert Latency("4ns") / Latency("2ns") == 2.0
    assert Clock("2GHz").frequency == pytest.approx(2e9)
    assert Frequency("1GHz").period.ticks == 1000


def test_address_ranges_have_gem5s_spellings() -> None:
    whole = AddrRange(0x1000, 0x2000)
    assert whole == AddrRange(0x1000, size="4KiB") == AddrRange(start=0x1000, end=0x2000) == AddrRange("0x1000:0x2000")
    assert AddrRange("1KiB") == AddrRange(0, 1024)
    assert whole.size() == 4096


@pytest.mark.parametrize(
    "make",
    [
        lambda: AddrRange(0x2000, 0x1000),
        lambda: AddrRange(start=0),
        lambda: AddrRange(1, 2, 3),
        lambda: AddrRange(0, size=1 << 65),
        lambda: AddrRange(0, size=64, intlvBits=2),
        lambda: AddrRange(0, length=64),
    ],
)
def test_bad_address_ranges_are_refused(make: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        make()  # type: ignore[operator]
