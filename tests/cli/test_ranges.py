"""The language of sizes and parameter values."""

import pytest

from breakeven.errors import UserError
from breakeven.points.ranges import parse_integers, parse_number, parse_sweep, quantities


@pytest.mark.parametrize(
    ("text", "value"), [("1448", 1448), ("64K", 65536), ("64KiB", 65536), ("2M", 1 << 21), ("0x40", 64), ("8b", 8)]
)
def test_numbers(text, value):
    assert parse_number(text, "size") == value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("5", [5]),
        ("9,1,5,5", [1, 5, 9]),
        ("3..6", [3, 4, 5, 6]),
        ("64..100:8", [64, 72, 80, 88, 96]),
        ("1..64*2", [1, 2, 4, 8, 16, 32, 64]),
        ("0..4*2", [0, 1, 2, 4]),
        ("1..8*1.5", [1, 2, 3, 5, 8]),
        ("1..3,1K..4K*2", [1, 2, 3, 1024, 2048, 4096]),
    ],
)
def test_lists(text, values):
    assert parse_integers(text, "size", 0, 1 << 24) == values


@pytest.mark.parametrize(
    "text",
    ["", "x", "1..", "..5", "5..1", "1..5:0", "1..5:x", "1..5*1", "1..5*x", "-1", "1..99999999", "1,,2", "9" * 5000],
)
def test_bad_lists_name_the_option(text):
    with pytest.raises(UserError, match="size"):
        parse_integers(text, "size", 0, 1 << 24)


def test_sweeps():
    assert parse_sweep("a.b=0:40:20") == ("a.b", ["0", "20", "40"])
    assert parse_sweep("a=1:3") == ("a", ["1", "2", "3"])
    assert parse_sweep("a=32K:128KiB:32kB") == ("a", ["32768", "65536", "98304", "131072"])
    assert parse_sweep("a=LRURP(),b:c") == ("a", ["LRURP()", "b:c"])
    assert parse_sweep("a=0:1:0.25") == ("a", ["0", "0.25", "0.5", "0.75", "1"])
    assert parse_sweep("a.size=32KiB, 64KiB,32KiB") == ("a.size", ["32KiB", "64KiB"])
    assert parse_sweep("a=1..8*2") == ("a", ["1", "2", "4", "8"])
    assert parse_sweep("a=50ns:0.2us:50ns") == ("a", ["50ns", "100ns", "150ns", "200ns"])
    assert parse_sweep("a=1GHz:2GHz:500MHz") == ("a", ["1GHz", "1.5GHz", "2GHz"])
    assert parse_sweep("a=1GiB/s:2GiB/s:512MiB/s") == ("a", ["1GiB/s", "1.5GiB/s", "2GiB/s"])


def test_values_along_an_axis():
    assert quantities(["1", "2.5", "-3"]) == ([1, 2.5, -3], "")
    assert quantities(["16K", "32KiB", "65536"]) == ([16384, 32768, 65536], "B")
    assert quantities(["50ns", "0.2us", "1ms"]) == ([50, 200, 1e6], "ns")
    assert quantities(["900MHz", "2GHz"]) == ([900, 2000], "MHz")
    for texts in (["1ns", "1GHz"], ["true", "false"], ["1ns", "2"]):
        with pytest.raises(ValueError):
            quantities(texts)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a=",
        "=1",
        "a=1:0:1",
        "a=0:1:0",
        "a=0:1:-1",
        "a=1,,2",
        "a=1.2.3:4:1",
        "a=0:1e9:1",
        "a=0:99999999:1",
        "a=0:1e999:1",
        "a=1GHz:2ns:1GHz",
        "a=1GHz:2GHz",
        "a=1nsns:2ns:1ns",
    ],
)
def test_bad_sweeps(text):
    with pytest.raises(UserError, match="--sweep"):
        parse_sweep(text)
