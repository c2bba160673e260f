"""A machine as a request means it, made once: the preset's file is executed once per variant and request.

Within `resolving` (a command, a call of the Python API) every part that asks for the same variant is given the same
`Machine`. Outside of it each `resolve` executes the file: a notebook's user may have edited it since.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from breakeven import m5
from breakeven.errors import UserError

if TYPE_CHECKING:
    from breakeven.config.overrides import Target
    from breakeven.config.simobject import SimObject
    from breakeven.points.machine_spec import MachineSpec


@dataclass(frozen=True)
class Machine:
    """One variant: a preset or a machine file with its settings."""

    spec: MachineSpec
    #: the tree that the machine's file has made; not to be changed
    root: SimObject = field(repr=False)
    #: docs/description.md; not to be changed
    description: dict[str, Any] = field(repr=False)
    #: the canonical description, as the engine takes it
    text: str = field(repr=False)
    #: what the settings have set
    targets: list[Target] = field(default_factory=list, repr=False)

    def check_settings(self) -> None:
        """Raises `OverrideError` for a setting that no rule of the engine reads on this machine."""
        _ = self._checked

    @cached_property
    def _checked(self) -> None:
        from breakeven.machine.presets import check_read, one_at_a_time

        with one_at_a_time:
            check_read(self.root, self.description, self.targets)

    @cached_property
    def hash(self) -> str:
        """SHA-256 of the canonical description, as `breakeven.m5.machine_hash`."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @cached_property
    def isa(self) -> str:
        """``riscv`` or ``x86``. Raises `UserError` for a machine without such a CPU."""
        for item in self.description["objects"]:
            if "BaseCPU" in item["bases"]:
                names = [item["type"], *item["bases"]]
                for isa, prefix in (("riscv", "Riscv"), ("x86", "X86")):
                    if any(name.startswith(prefix) for name in names):
                        return isa
        raise UserError("the machine has no CPU of a known instruction set (a Riscv or X86 CPU)")


#: the machines of the request that is being answered; None: of no request
_of_request: ContextVar[dict[MachineSpec, Machine] | None] = ContextVar("machines of the request", default=None)


@contextmanager
def resolving() -> Iterator[None]:
    """A request: within it each variant is made once. Of requests within one another the outermost counts."""
    if _of_request.get() is not None:
        yield
        return
    token = _of_request.set({})
    try:
        yield
    finally:
        _of_request.reset(token)


def resolve(spec: MachineSpec, unread: bool = False) -> Machine:
    """The machine that `spec` names; raises what its file or its settings make wrong.

    `unread`: settings that no rule of the engine reads are no mistake, as a real gem5 may read them.
    """
    made = _of_request.get()
    if made is not None and spec in made:
        machine = made[spec]
    else:
        from breakeven.machine.presets import described_machine

        root, description, targets = described_machine(spec.name, spec.settings)
        machine = Machine(spec, root, description, m5.canonical(description), targets)
        if made is not None:
            made[spec] = machine
    if not unread:
        machine.check_settings()
    return machine


def forget(spec: MachineSpec) -> None:
    """Within a request that goes on for long: the next `resolve` makes this variant anew."""
    made = _of_request.get()
    if made is not None:
        made.pop(spec, None)
