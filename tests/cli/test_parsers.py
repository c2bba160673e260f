"""Whatever is written where breakeven parses: it is understood, or refused in one sentence of the user's kind.

Sizes and ranges, units, ``--set``, ``--sweep`` and sweep files, with hypothesis. Texts are made of the pieces that the
languages have, so that most of them get past the first character.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from breakeven.config import units
from breakeven.config.errors import OverrideError
from breakeven.config.overrides import apply_override, get_parameter
from breakeven.errors import UserError
from breakeven.machine.presets import load_machine
from breakeven.points.ranges import MAX_VALUES, parse_integers, parse_number, parse_sweep
from breakeven.sweeps.file import read_sweep_file

#: the same examples every time: a failure is a failure of the commit, not of the day
steady = settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
SUFFIX = {"": 1, "K": 1 << 10, "kB": 1 << 10, "KiB": 1 << 10, "M": 1 << 20, "MiB": 1 << 20, "GB": 1 << 30, "G": 1 << 30}
PIECES = ["0", "1", "7", "64", "1448", "99999999999", "-", "+", ".", "..", ",", ":", "*", "=", "[", "]", "x", "e", "K"]
PIECES += ["MiB", "0x", "1e400", "nan", "inf", "\u00b2", "\u0663", "\0", "\ud800", " ", "\n", "_", "%", "'", '"', "#"]
PATHS = ["cpu", "dcache", "size", "l2", "system", "clk_domain", "clock", "funcUnits", "NULL", "RandomRP", "ns", "GHz"]
soup = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
words = st.lists(st.sampled_from([*PIECES, *PATHS]), max_size=9).map("".join)


@steady
@given(st.integers(0, 1 << 20), st.sampled_from(sorted(SUFFIX)))
def test_a_size_is_its_number_times_its_suffix(number: int, suffix: str) -> None:
    assert parse_number(f"{number}{suffix}", "size") == number * SUFFIX[suffix]
    assert parse_integers(f"{number}{suffix}", "size", 0, 1 << 60) == [number * SUFFIX[suffix]]


@steady
@given(st.integers(0, 4000), st.integers(0, 4000), st.integers(1, 50))
def test_a_range_is_python_s_with_its_end(start: int, length: int, step: int) -> None:
    stop = start + length
    found = parse_integers(f"{start}..{stop}:{step}", "size", 0, 1 << 24)
    assert found == list(range(start, stop + 1, step)) and found[0] == start


@steady
@given(st.lists(st.integers(0, 1 << 24), min_size=1, max_size=20))
def test_a_list_is_sorted_without_repetitions(numbers: list[int]) -> None:
    assert parse_integers(",".join(map(str, numbers)), "size", 0, 1 << 24) == sorted(set(numbers))


@steady
@example("1..99999999999*1")
@example("0..1*2")
@given(soup)
def test_sizes_are_understood_or_refused(text: str) -> None:
    try:
        found = parse_integers(text, "size", 0, 1 << 24)
    except UserError as error:
        assert str(error) and "\n" not in str(error).replace(repr(text), "")
    else:
        assert 0 < len(found) <= MAX_VALUES and found == sorted(set(found)) and 0 <= found[0] <= found[-1] <= 1 << 24


@steady
@given(words)
def test_swept_parameters_are_understood_or_refused(text: str) -> None:
    try:
        path, values = parse_sweep(text)
    except UserError as error:
        assert str(error)
    else:
        assert path and values and len(values) <= MAX_VALUES


@steady
@given(st.sampled_from([units.memory_size, units.typed_size, units.memory_bandwidth, units.seconds, units.hertz,
                        units.integer, units.boolean, units.voltage, units.temperature]), soup)  # fmt: skip
def test_units_are_understood_or_a_value_error(parse: Any, text: str) -> None:
    try:
        value = parse(text)
    except ValueError as error:
        assert str(error)
    else:
        assert value == value and abs(value) != float("inf"), f"{text!r} is no finite number"


@steady
@given(st.integers(1, 10**6), st.sampled_from(["ps", "ns", "us", "ms"]))
def test_a_time_and_its_frequency_are_one_duration(number: int, unit: str) -> None:
    duration = units.seconds(f"{number}{unit}")
    assert units.ticks(duration) == number * {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9}[unit]
    assert units.hertz(f"{number}{unit}") == pytest.approx(1 / duration)


@cache
def machine() -> Any:
    return load_machine("u74")


@steady
@given(words)
def test_settings_are_understood_or_refused(text: str) -> None:
    try:
        apply_override(machine()(), text)
    except OverrideError as error:
        assert str(error)


@steady
@given(st.integers(0, 12), st.sampled_from(["K", "KiB", "kB", "KB"]))
def test_a_setting_sets_what_it_says(power: int, suffix: str) -> None:
    root = machine()()
    apply_override(root, f"cpu.dcache.size={1 << power}{suffix}")
    assert get_parameter(root, "system.cpu.dcache.size") == (1 << power) << 10


toml_values = st.recursive(
    st.one_of(st.booleans(), st.integers(-5, 1 << 33), st.floats(allow_nan=False, allow_infinity=False), soup, words),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
KEYS = ["routines", "sizes", "machines", "machine", "src", "dst", "cache", "calls", "seed", "out", "threads", "set"]


def written(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, str):
        escaped = (char if char.isalnum() or char in " ,.:*=-[]" else f"\\U{ord(char):08X}" for char in value)
        return f'"{"".join(escaped)}"'
    return repr(value)


@steady
@given(st.dictionaries(st.sampled_from([*KEYS, "sizzes"]), toml_values, max_size=5), st.booleans())
def test_sweep_files_are_understood_or_refused(tmp_path: Path, content: dict[str, Any], whole: bool) -> None:
    lines = {"routines": ["rv-word"], "sizes": "8..64:8", **content} if whole else content
    path = tmp_path / "sweep.toml"
    path.write_text("".join(f"{key} = {written(value)}\n" for key, value in lines.items()))
    try:
        found = read_sweep_file(path)
    except UserError as error:
        assert str(path) in str(error)
    else:
        assert {"routines", "sizes"} <= set(found)


@steady
@given(st.binary(max_size=60))
def test_any_bytes_as_a_sweep_file_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sweep.toml"
    path.write_bytes(content)
    with pytest.raises(UserError, match="sweep"):
        read_sweep_file(path)
