"""What a probe is: a body of instructions minus a baseline body, or a pointer chase; and how bodies are written."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

#: around each body: the fences and counter readings that the harness has around a call (workloads/x86/call.S)
START = "mfence\nlfence\nrdtsc\nshl rdx, 32\nlea r13, [rax+rdx]\nmfence\nlfence"
STOP = "mfence\nlfence\nrdtsc"

_labels = itertools.count(100)


@dataclass(frozen=True)
class Body:
    """Instructions that are measured as a whole."""

    code: str
    #: runs once, before the body is measured for the first time
    prepare: str = ""
    #: whether chance decides a measurement's length, so that the mean of many is taken in the model, too
    random: bool = False
    #: the extension that /proc/cpuinfo must name
    extension: str = ""


EMPTY = Body("")


@dataclass(frozen=True)
class Probe:
    """Cycles of `code` beyond those of `baseline`, divided by `parts`.

    rdi and rsi point to two buffers 128 MiB apart; r13, r15 and rsp are the harness's. If `baseline` is the same code
    with `parts` fewer instructions, the probe gives cycles per instruction, and the fences cancel.
    """

    name: str
    code: str
    baseline: str = ""
    parts: int = 1
    #: these three as in `Body`
    prepare: str = ""
    random: bool = False
    extension: str = ""

    @property
    def bodies(self) -> tuple[Body, Body]:
        """The code and its baseline."""
        body, baseline = (Body(code, self.prepare, self.random, self.extension) for code in (self.code, self.baseline))
        return body, baseline


@dataclass(frozen=True)
class PointerChase:
    """Cycles from a load to the load that its data addresses, in random order through lines of one cache level."""

    name: str
    #: from 1 on; 0: the memory
    level: int


def repeated(line: str, count: int, stride: int = 8) -> str:
    """`line` `count` times; `{at}` in it grows by `stride` bytes."""
    return "\n".join(line.format(at=stride * i) for i in range(count))


def round_robin(lines: Iterable[str], count: int) -> str:
    """`count` instructions: the lines in turn, over and over."""
    return "\n".join(itertools.islice(itertools.cycle(lines), count))


def loop(code: str, iterations: int) -> str:
    """`code` in a loop that r9 counts."""
    label = next(_labels)
    return f"xor eax, eax\nxor ecx, ecx\nxor edx, edx\nmov r9d, {iterations}\n{label}:\n{code}\ndec r9d\njnz {label}b"


def new_labels(count: int) -> list[int]:
    """Numeric labels that no other body uses."""
    return list(itertools.islice(_labels, count))


def jumps(count: int) -> str:
    """Taken jumps, each to the next 16-byte boundary."""
    return "\n".join(f"jmp {n}f\n.balign 16\n{n}:" for n in new_labels(count))


def per_instruction(name: str, line: str, count: int = 128, stride: int = 8, extension: str = "") -> Probe:
    """Cycles per `line`: the difference between 2 * `count` and `count` of them."""
    code, baseline = repeated(line, 2 * count, stride), repeated(line, count, stride)
    return Probe(name, code, baseline, count, extension=extension)


def _call(code: str) -> str:
    """A direct call of a function that contains `code`."""
    function, after = new_labels(2)
    return f"call {function}f\njmp {after}f\n.balign 64\n{function}:\n{code}\nret\n.balign 64\n{after}:"


_EMPTY_CALL = _call("")


def in_call(name: str, code: str, parts: int = 1, extension: str = "") -> Probe:
    """Cycles of a call of `code` between the fences beyond those of an empty call, as the harness counts a routine."""
    return Probe(name, _call(code), _EMPTY_CALL, parts, extension=extension)
