"""What a probe is: a short body of instructions between fences, or a ring of pointers, and the number that it gives."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

#: around each body, as the harness has it around a call (workloads/x86/call.S)
START = "mfence\nlfence\nrdtsc\nshl rdx, 32\nlea r13, [rax+rdx]\nmfence\nlfence"
STOP = "mfence\nlfence\nrdtsc"

_labels = itertools.count(100)


@dataclass(frozen=True)
class Probe:
    """Cycles of `body` beyond those of `beside`, in `each` equal parts.

    In a body rdi and rsi point to two buffers 128 MiB apart; it leaves r13, r15 and rsp alone. Where `beside` is the
    same body with fewer repetitions the number is a pace, which no fence is part of.
    """

    name: str
    body: str
    beside: str = ""
    each: int = 1
    #: runs once, before the body is measured for the first time
    prepare: str = ""
    #: the extension that /proc/cpuinfo must name
    needs: str = ""
    #: whether a measurement depends on chance, so that the mean of many counts
    mean: bool = False

    @property
    def texts(self) -> tuple[Body, ...]:
        """The bodies that are measured."""
        return tuple(Body(text, self.prepare, self.mean, self.needs) for text in (self.body, self.beside))


@dataclass(frozen=True)
class Body:
    """One text to measure."""

    text: str
    prepare: str = ""
    mean: bool = False
    needs: str = ""


EMPTY = Body("")


@dataclass(frozen=True)
class Ring:
    """A ring of pointers through lines of a level, in random order: cycles from a load to the next. `level`: 1, 2, 3;
    0: the memory."""

    name: str
    level: int


def lines(line: str, count: int, step: int = 8) -> str:
    """`line` so often, `{at}` in it `step` bytes further each time."""
    return "\n".join(line.format(at=step * i) for i in range(count))


def in_turn(forms: Iterable[str], count: int) -> str:
    """`count` instructions, the forms one after the other again and again."""
    return "\n".join(itertools.islice(itertools.cycle(forms), count))


def turns(text: str, count: int) -> str:
    """`text` in a loop; r9 counts."""
    label = next(_labels)
    return f"xor eax, eax\nxor ecx, ecx\nxor edx, edx\nmov r9d, {count}\n{label}:\n{text}\ndec r9d\njnz {label}b"


def labels(count: int) -> list[int]:
    """So many numeric labels that nothing else uses."""
    return list(itertools.islice(_labels, count))


def pace(name: str, line: str, count: int = 128, step: int = 8, **more: object) -> Probe:
    """Cycles of `line`: what twice as many take more."""
    return Probe(name, lines(line, 2 * count, step), lines(line, count, step), count, **more)  # type: ignore[arg-type]


def called(text: str) -> str:
    """A call of a function that has `text`: harnesses measure calls, and a return is a load."""
    there, behind = labels(2)
    # A direct one: what predictors make of an indirect call is no part of a probe.
    return f"call {there}f\njmp {behind}f\n.balign 64\n{there}:\n{text}\nret\n.balign 64\n{behind}:"


_EMPTY_CALL = called("")


def alone(name: str, text: str, each: int = 1, **more: object) -> Probe:
    """What `text` takes in a call between the fences, beyond an empty call."""
    return Probe(name, called(text), _EMPTY_CALL, each, **more)  # type: ignore[arg-type]
