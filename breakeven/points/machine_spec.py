"""What names a machine: a preset or a file, and the parameters that differ from it."""

from __future__ import annotations

from dataclasses import dataclass

#: what a machine is called that is the host's own processor
HOST = "native"


@dataclass(frozen=True, slots=True)
class MachineSpec:
    """A preset's name or a machine file, and the parameters that differ from it (``path=value``, applied in order)."""

    name: str
    settings: tuple[str, ...] = ()

    def with_settings(self, *more: str) -> MachineSpec:
        return MachineSpec(self.name, self.settings + more)

    def __str__(self) -> str:
        return " ".join([self.name, *self.settings])
