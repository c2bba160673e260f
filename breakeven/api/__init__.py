"""The command line's verbs as Python functions: `run`, `sweep`, `compare`, `best`, `compare_engines`, `find`,
`surface`, `sensitivity`, `tune`, `tune_target`, `explain`, `explore`, `report`, `reproduce`, `add`, `remove`,
`routines`, `machines`; and `load_to_use`. The command line calls them: it parses, calls, prints.

Everything is also reached as ``breakeven.run(...)`` and so on. Sizes, offsets and swept values are numbers, lists,
ranges or the command line's texts (``"64..1448:8"``). Results are data frames or objects that show themselves in a
notebook. Points go to the store, as from the command line; ``store=False`` keeps none. A verb loads what it uses when
it is called.

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
from breakeven.api.listing import add, machines, remove, report, reproduce, routines
from breakeven.api.measuring import best, compare, compare_engines, explain, load_to_use, run, sweep
from breakeven.api.searching import find, sensitivity, surface, tune, tune_target

__all__ = [
    "add", "best", "compare", "compare_engines", "explain", "explore", "find", "load_to_use", "machines", "remove",
    "report", "reproduce", "routines", "run", "sensitivity", "surface", "sweep", "tune", "tune_target",
]  # fmt: skip
