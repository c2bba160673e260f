"""The command line's verbs as Python functions: `run`, `sweep`, `compare`, `find`, `surface`, `sensitivity`, `tune`,
`explain`, `explore`, `report`, `add`, `remove`, `routines`, `machines`.

Everything is also reached as ``breakeven.run(...)`` and so on. Sizes, offsets and swept values are numbers, lists,
ranges or the command line's texts (``"64..1448:8"``). Results are data frames or objects that show themselves in a
notebook. Points go to the store, as from the command line; ``store=False`` keeps none.

>>> import breakeven
>>> point = breakeven.run("rv-word", 64, machine="u74")
>>> point.ok, point.cycles_median > 0
(True, True)
>>> table = breakeven.sweep(["rv-word", "rv-byte"], sizes=[64, 128], machines="u74")
>>> list(table.columns[:4]), len(table)
(['routine', 'machine', 'size', 'src_offset'], 4)
"""

from __future__ import annotations

from breakeven.api.exploring import explore
from breakeven.api.listing import add, machines, remove, report, routines
from breakeven.api.measuring import compare, explain, find, run, sensitivity, surface, sweep, tune

__all__ = [
    "add", "compare", "explain", "explore", "find", "machines", "remove", "report", "routines", "run", "sensitivity",
    "surface", "sweep", "tune",
]  # fmt: skip
