"""A machine as a request means it, made once.

Within `resolving` (a command, a call of the Python API) every part that asks for the same variant is given the same
`Machine`, in a pool's threads by `of_request`. A preset's file is executed for the first variant and for a `Template`,
of which further ones are made; a user's file for each variant, as it was when it was first read. Outside of it each
`resolve` executes the file as it is: a notebook's user may have edited it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from breakeven import m5
from breakeven.errors import UserError
from breakeven.files.importing import reading_once

if TYPE_CHECKING:
    from breakeven.config.overrides import Target
    from breakeven.config.simobject import SimObject
    from breakeven.machine.template import Template
    from breakeven.points.machine_spec import MachineSpec

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Machine:
    """One variant: a preset or a machine file with its settings."""

    spec: MachineSpec
    #: makes or has the tree (`root`)
    _tree: Callable[[], SimObject] | None = field(repr=False)
    #: docs/description.md; not to be changed
    description: dict[str, Any] = field(repr=False)
    #: the canonical description, as the engine takes it
    text: str = field(repr=False)
    #: what the settings have set
    targets: list[Target] = field(default_factory=list, repr=False)

    @cached_property
    def root(self) -> SimObject:
        """The tree that the machine's file makes; not to be changed."""
        assert self._tree is not None
        return self._tree()

    def has(self, *classes: str) -> bool:
        """Whether one of its objects is of one of these classes."""
        return any({*item["bases"], item["type"]} & {*classes} for item in self.description["objects"])

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


class _Request:
    """What was made for the request that is being answered."""

    def __init__(self, many: bool) -> None:
        self.machines: dict[MachineSpec, Machine] = {}
        #: more variants of a preset are to come than the first
        self._many = many
        #: the presets of which a variant was asked for
        self._asked: set[str] = set()
        self._templates: dict[str, Template] = {}

    def variant(self, spec: MachineSpec) -> Machine | None:
        """A further variant of a preset, made without executing its file; None where that cannot be."""
        from breakeven.machine.presets import is_file_name, load_machine, one_at_a_time

        if not spec.settings or is_file_name(spec.name):
            return None
        if spec.name not in self._asked and not self._many:
            self._asked.add(spec.name)
            return None
        # One point on one machine needs no template, and `run` no further module.
        from breakeven.machine.template import Template

        with one_at_a_time:
            try:
                if spec.name not in self._templates:
                    self._templates[spec.name] = Template(spec.name)
                made = self._templates[spec.name].variant(spec.settings)
            except Exception:
                return None  # the file is executed, and what is wrong is told of it
        machine = Machine(spec, lambda: load_machine(spec.name, spec.settings), *made)
        machine.__dict__["_checked"] = None  # by the template
        return machine


#: None: no request is being answered
_of_request: ContextVar[_Request | None] = ContextVar("what was made for the request", default=None)


@contextmanager
def resolving(many: bool = False) -> Iterator[None]:
    """A request: within it each variant is made once. Of requests within one another the outermost counts. `many`:
    variants of a preset will follow one another."""
    if _of_request.get() is not None:
        yield
        return
    token = _of_request.set(_Request(many))
    try:
        with reading_once():
            yield
    finally:
        _of_request.reset(token)


def of_request(function: Callable[..., _Answer], *arguments: Any) -> Callable[[], _Answer]:
    """`function` with `arguments` for another thread, to which it takes the request: a pool gives its threads none."""
    return partial(copy_context().run, function, *arguments)


def resolve(spec: MachineSpec, unread: bool = False) -> Machine:
    """The machine that `spec` names; raises what its file or its settings make wrong.

    `unread`: settings that no rule of the engine reads are no mistake, as a real gem5 may read them.
    """
    request = _of_request.get()
    machine = request.machines.get(spec) if request else None
    if machine is None and request and not unread:
        machine = request.variant(spec)
    if machine is None:
        from breakeven.machine.presets import described_machine

        root, description, targets = described_machine(spec.name, spec.settings)
        machine = Machine(spec, lambda: root, description, m5.canonical(description), targets)
    if request is not None:
        request.machines[spec] = machine
    if not unread:
        machine.check_settings()
    return machine


def forget(spec: MachineSpec) -> None:
    """Within a request that goes on for long: the next `resolve` makes this variant anew."""
    request = _of_request.get()
    if request is not None:
        request.machines.pop(spec, None)
