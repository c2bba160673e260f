"""The command that runs a study's grid again: what a report prints for a reader to paste."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from breakeven.points import FLAG_HUGE_PAGES, STREAM_FLAGS
from breakeven.points.ranges import ranges_text
from breakeven.sweeps.spec import SweepSpec

#: option of `sweep` -> field of `SweepSpec`, where it is a number and its default says nothing
_NUMBERS = {
    "--warmup": "warmup", "--calls": "calls", "--size2": "size2", "--src2": "src_offset2", "--dst2": "dst_offset2",
    "--seed": "seed", "--parameter": "routine_parameter", "--distance": "distance",
}  # fmt: skip


def sweep_command(spec: SweepSpec) -> str:
    """``breakeven sweep ...`` with every point of `spec`. Where its pairs of offsets are no product, the command has
    the product: more points, the same numbers."""
    words = ["breakeven", "sweep", *spec.routines]
    for machine in spec.machines:
        words += ["-m", machine.name]
    settings = spec.machines[0].settings
    if any(machine.settings != settings for machine in spec.machines):
        raise ValueError("one command has one set of settings")
    for setting in settings:
        words += ["--set", setting]
    for path, values in spec.parameters.items():
        words += ["--sweep", f"{path}={_values(values)}"]
    words += ["-n", ranges_text(spec.sizes)]
    pairs = spec.pairs()
    for option, offsets in (("-s", {src for src, _ in pairs}), ("-d", {dst for _, dst in pairs})):
        words += [option, ranges_text(offsets)] if offsets != {0} else []
    if list(spec.cache_states) != ["warm"]:
        words += ["--cache", ",".join(spec.cache_states)]
    if list(spec.measures) not in (["latency"], ["mix"]):
        words += ["--measure", ",".join(spec.measures)]
    return shlex.join([*words, *_how(spec)])


def search_command(spec: SweepSpec) -> str:
    """The command of a search: `find` along a parameter, `surface` for the break-even size over one or two; where a
    parameter's values are no equal steps, the sweep that has them all."""
    first, second = spec.routines
    words = shlex.split(sweep_command(spec))
    given = words[2 + len(spec.routines) :]
    if len(spec.sizes) > 1:
        return shlex.join(["breakeven", "surface", first, second, *given])
    ((path, values),) = spec.parameters.items()
    steps = _values(values)
    if ":" not in steps:
        return shlex.join(words)
    at = given.index("--sweep")
    along = ["--along", f"{path}={steps}"]
    return shlex.join(["breakeven", "find", first, second, *given[:at], *along, *given[at + 2 :]])


def _how(spec: SweepSpec) -> list[str]:
    """The options that say how points are measured."""
    words = []
    kinds = [name for name, flag in STREAM_FLAGS.items() if spec.flags & flag]
    if kinds:
        words += ["--stream", ",".join(kinds)]
    if "stream" in spec.measures:
        words += ["--total", str(spec.total)]
    if spec.mix:
        words += ["--mix", spec.mix.text, "--align", str(spec.mix.align)]
    # Always said: a command without a number measures again what has not converged, a study does not.
    words += ["--repetitions", str(spec.repetitions_of(spec.measures[0]))]
    for option, name in _NUMBERS.items():
        value = getattr(spec, name)
        if value != SweepSpec.__dataclass_fields__[name].default:
            words += [option, str(value)]
    return [*words, *(["--huge-pages"] if spec.flags & FLAG_HUGE_PAGES else [])]


def _values(values: Sequence[str]) -> str:
    """A parameter's values: equal steps of whole numbers as ``first:last:step``."""
    if len(values) > 2 and all(value.isdecimal() for value in values):
        numbers = [int(value) for value in values]
        step = numbers[1] - numbers[0]
        if step > 0 and numbers == list(range(numbers[0], numbers[-1] + 1, step)):
            return f"{numbers[0]}:{numbers[-1]}:{step}"
    return ",".join(values)
