"""``m5.stats.gem5stats``: statistics as a tree of groups, as ``Simulator.get_stats()`` gives it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from breakeven.config.current import current

Row = tuple[str, float, str, str]


def tree(rows: Iterable[Row]) -> dict[str, Any]:
    """Groups by the dots of the names; ``name::part`` is an element of the vector ``name``."""
    root: dict[str, Any] = {"type": "SimStat"}
    for name, value, unit, description in rows:
        path, _, part = name.partition("::")
        *groups, leaf = path.split(".")
        node = root
        for group in groups:
            node = node.setdefault(group, {"type": "Group"})
        number = int(value) if value.is_integer() else value
        fields = {"unit": unit, "description": description, "datatype": "f64"}
        if part:
            vector = node.setdefault(leaf, {"type": "Vector", "value": {}, **fields})
            vector["value"][part] = number
        else:
            node[leaf] = {"type": "Scalar", "value": number, **fields}
    return root


class SimStat:
    """The statistics of one moment."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def to_json(self) -> dict[str, Any]:
        return self._values

    def dump(self, file: Any, **settings: Any) -> None:
        json.dump(self._values, file, **settings)

    def dumps(self, **settings: Any) -> str:
        return json.dumps(self._values, **settings)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._values:
            raise AttributeError(name)
        return self._values[name]


def get_simstat(root: Any = None, prepare_stats: bool = True) -> SimStat:
    """The statistics now, since the last reset."""
    machine = current().machine
    if machine is None:
        raise RuntimeError("there are no statistics before m5.instantiate()")
    return SimStat(tree(machine.stats()))
