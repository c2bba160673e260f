"""Two O3PipeView traces of one program side by side: where their ticks part, and which instructions take longer in one.

A trace of gem5's `O3CPU` (``--debug-flags=O3PipeView``) or one of breakeven's. What is compared is what retired, in
program order; ticks count from the first micro-op that both have.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from breakeven.errors import UserError
from breakeven.files.reading import lines_of

#: of a record, in its order; a store's last line has the tick at which it was written, too
STAGES = ("fetch", "decode", "rename", "dispatch", "issue", "complete", "retire", "store")
_TAG = "O3PipeView"
#: instructions that must be the same for the traces to be taken for the same place of a program
_WINDOW = 32
#: places that are tried as the beginning
_TRIED = 200
#: characters of an instruction's text that are kept: gem5's have 50
_MOST_TEXT = 200


class Record(NamedTuple):
    """A micro-op that retired; `ticks` are in the order of `STAGES`, 0 where a stage was not reached."""

    number: int
    address: int
    text: str
    ticks: tuple[int, ...]


class Pair(NamedTuple):
    """A micro-op in both traces, with its ticks since the first one that both have."""

    index: int  # type: ignore[assignment]  # a tuple has a method of that name
    records: tuple[Record, Record]
    ticks: tuple[tuple[int | None, ...], tuple[int | None, ...]]

    @property
    def differs(self) -> str | None:
        """The first stage whose tick differs; of stores' writes only those that both traces have count."""
        for stage, a, b in zip(STAGES, *self.ticks, strict=True):
            if a != b and not (stage == "store" and None in (a, b)):
                return stage
        return None


class Comparison(NamedTuple):
    """What two traces have in common."""

    #: micro-ops from which on they are compared, and how many of them both have
    begins: tuple[int, int]
    compared: int
    first: Pair | None
    #: address -> (text, how often, ticks between its retirement and the one before it: the second's minus the first's)
    gaps: list[tuple[int, str, int, int]]
    #: where they go on with different instructions; None: one of them ends
    parts: Pair | None


def read(path: Path, most: int) -> list[Record]:
    """The first `most` retired micro-ops, in program order. Raises `UserError` naming the line that is no record's."""
    try:
        found = list(islice(_records(path), most))
    except ValueError as error:
        raise UserError(f"{path} is no trace that can be read: {error}") from None
    if not found:
        raise UserError(f"{path} has no micro-op that retired: make it with --debug-flags=O3PipeView")
    # A store's record comes when it has been written.
    found.sort()
    return found


def _records(path: Path) -> Iterator[Record]:
    head: list[str] = []
    ticks: list[int] = []
    for number, line in enumerate(lines_of(path), 1):
        # gem5 prints other flags' lines in between; a trace that was cut ends in the middle of a line.
        if not line.startswith(f"{_TAG}:") or not line.endswith("\n"):
            continue
        words = line.rstrip("\n").split(":")
        stage = words[1]
        try:
            if stage == "fetch":
                head, ticks = words, [int(words[2])]
                int(head[3], 16), int(head[5])
                continue
            if not head:
                # The trace began within a record.
                continue
            if STAGES[len(ticks)] != stage:
                raise ValueError
            ticks.append(int(words[2]))
            if stage == "retire":
                ticks.append(int(words[4]))
        except (ValueError, IndexError):
            raise UserError(f"{path}, line {number}: this is no {_TAG} record: {line.strip()[:80]!r}") from None
        if stage == "retire":
            if ticks[-2]:
                yield Record(int(head[5]), int(head[3], 16), ":".join(head[6:])[:_MOST_TEXT].strip(), tuple(ticks))
            head = []


def compare(first: list[Record], second: list[Record]) -> Comparison:
    """Raises `UserError` where the traces have no stretch of instructions in common."""
    begins = _common_place(first, second)
    pairs = zip(first[begins[0] :], second[begins[1] :], strict=False)
    base = (first[begins[0]].ticks[0], second[begins[1]].ticks[0])
    differing = None
    times: Counter[int] = Counter()
    longer: Counter[int] = Counter()
    texts: dict[int, str] = {}
    before: tuple[Record, Record] | None = None
    compared = 0
    for index, (a, b) in enumerate(pairs):
        pair = Pair(index, (a, b), (_since(a, base[0]), _since(b, base[1])))
        if a.address != b.address:
            return Comparison(begins, compared, differing, _ranked(times, longer, texts), pair)
        compared += 1
        if differing is None and pair.differs:
            differing = pair
        if before is not None:
            gap = (b.ticks[6] - before[1].ticks[6]) - (a.ticks[6] - before[0].ticks[6])
            times[a.address] += 1
            longer[a.address] += gap
            texts.setdefault(a.address, a.text)
        before = (a, b)
    return Comparison(begins, compared, differing, _ranked(times, longer, texts), None)


def _since(record: Record, base: int) -> tuple[int | None, ...]:
    return tuple(tick - base if tick else None for tick in record.ticks)


def _ranked(times: Counter[int], longer: Counter[int], texts: dict[int, str]) -> list[tuple[int, str, int, int]]:
    found = [(address, texts[address], times[address], ticks) for address, ticks in longer.items() if ticks]
    return sorted(found, key=lambda row: (-abs(row[3]), row[0]))


def _common_place(first: list[Record], second: list[Record]) -> tuple[int, int]:
    """Where the traces begin to have the same instructions: one of them may begin earlier. Of several places (a loop)
    the one from which on most is common."""
    addresses = [array("Q", (record.address for record in records)) for records in (first, second)]
    window = min(_WINDOW, *map(len, addresses))
    found = []
    for late, early in ((1, 0), (0, 1)):
        start = addresses[late][:window].tobytes()
        for place in islice(_places(addresses[early].tobytes(), start), _TRIED):
            begins = (place, 0) if late else (0, place)
            found.append((_run(addresses[0], addresses[1], begins), begins))
    if not found:
        raise UserError(
            f"the traces have no {window} instructions in a row in common where one of them begins: "
            "begin both at the same place of the same program (--debug-start)"
        )
    return max(found, key=lambda entry: (entry[0], -sum(entry[1])))[1]


def _places(text: bytes, part: bytes) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        if at % 8 == 0:
            yield at // 8
        at = text.find(part, at + 1)


def _run(first: array[int], second: array[int], begins: tuple[int, int]) -> int:
    """Instructions in a row that are the same from there on."""
    most = min(len(first) - begins[0], len(second) - begins[1])
    a, b = first[begins[0] : begins[0] + most], second[begins[1] : begins[1] + most]
    if a == b:
        return most
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if a[:middle] == b[:middle] else (low, middle)
    return low
