"""A preset's tree, executed and described once: a variant of it changes a few values, and is described in those alone.

The file is not executed again, and the other objects' descriptions are not made again: a variant takes a tenth of the
time. Where other values are taken from a changed one (a proxy), their objects are described anew, too. For settings of
objects, and all that is refused, the file is executed as before. The text is the same to the byte
(`tests/cli/test_resolved.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from breakeven.config.describe import FORMAT, Describer, canonical
from breakeven.config.overrides import Target, apply_override, located_parameter
from breakeven.config.params import MISSING
from breakeven.machine.presets import check_read, load_machine

if TYPE_CHECKING:
    from breakeven.config.simobject import SimObject


class NotSimple(Exception):
    """The settings change more than single values."""


class Variant(NamedTuple):
    """What a variant's machine is made of."""

    description: dict[str, Any]
    text: str
    targets: list[Target]


class Template:
    """The tree of one preset."""

    def __init__(self, name: str) -> None:
        self._root = load_machine(name)
        self._describer = Describer(self._root)
        self._objects = self._describer.whole()["objects"]
        self._texts = [canonical(each) for each in self._objects]
        self._places = {id(each): place for place, each in enumerate(self._describer.objects)}

    def variant(self, settings: Sequence[str]) -> Variant:
        """The machine with these settings, which rules read. Raises `NotSimple`, and what is wrong with a setting."""
        with self._changed(settings) as (targets, owners):
            objects, texts = list(self._objects), list(self._texts)
            for owner in {id(owner): owner for owner in owners}.values():
                place = self._places[id(owner)]
                objects[place] = self._describer.described(owner)
                texts[place] = canonical(objects[place])
            if self._describer.errors:
                self._describer.errors.clear()
                raise NotSimple
            description = {"format": FORMAT, "objects": objects}
            text = f'{{"format":{json.dumps(FORMAT)},"objects":[{",".join(texts)}]}}'
            check_read(self._root, description, targets, text)
        return Variant(description, text, targets)

    @contextmanager
    def _changed(self, settings: Sequence[str]) -> Iterator[tuple[list[Target], list[SimObject]]]:
        """The tree with these settings, for a while; the objects whose values they change."""
        before: list[tuple[SimObject, str, Any, Any]] = []
        try:
            targets, owners = [], []
            for text in settings:
                owner, name = self._simple(text)
                before.append((owner, name, owner._values.get(name, MISSING), owner._provenance.get(name, MISSING)))
                targets.append(apply_override(self._root, text))
                owners += self._describer.resolver.forget(owner, name)
            yield targets, owners
        finally:
            for owner, name, value, provenance in reversed(before):
                for kept, old in ((owner._values, value), (owner._provenance, provenance)):
                    if old is MISSING:
                        kept.pop(name, None)
                    else:
                        kept[name] = old
                self._describer.resolver.forget(owner, name)

    def _simple(self, text: str) -> tuple[SimObject, str]:
        """The object and the parameter of a setting that changes nothing else."""
        owner, name = located_parameter(self._root, text.partition("=")[0].strip())
        desc = type(owner)._params.get(name)
        if (
            desc is None or desc.takes_objects or owner is self._root or id(owner) not in self._places
            or name in owner._children
        ):  # fmt: skip
            raise NotSimple
        return owner, name
