"""Ports and their connections: ``cache.cpu_side = cpu.dcache_port``, in either direction.

A `Port` is declared in a class; a `PortRef` is that port of one object. A vector port grows by an element with every
connection made to it.
"""

from __future__ import annotations

from typing import Any

from breakeven.config.errors import PortError


class Port:
    """A port as a class declares it: its role, and whether it is a vector."""

    role = ""
    peer_role = ""
    vector = False

    def __init__(self, desc: str = "") -> None:
        self.desc = desc
        self.name = ""


class RequestPort(Port):
    role, peer_role = "request", "response"


class ResponsePort(Port):
    role, peer_role = "response", "request"


class VectorRequestPort(RequestPort):
    vector = True


class VectorResponsePort(ResponsePort):
    vector = True


class IntSourcePin(Port):
    role, peer_role = "interrupt source", "interrupt sink"


class IntSinkPin(Port):
    role, peer_role = "interrupt sink", "interrupt source"


class VectorIntSourcePin(IntSourcePin):
    vector = True


class VectorIntSinkPin(IntSinkPin):
    vector = True


class ResetRequestPort(Port):
    role, peer_role = "reset request", "reset response"


class ResetResponsePort(Port):
    role, peer_role = "reset response", "reset request"


#: gem5's former names
MasterPort, SlavePort = RequestPort, ResponsePort
VectorMasterPort, VectorSlavePort = VectorRequestPort, VectorResponsePort

KINDS: dict[str, type[Port]] = {
    kind.__name__: kind
    for kind in (
        RequestPort, ResponsePort, VectorRequestPort, VectorResponsePort, IntSourcePin, IntSinkPin,
        VectorIntSourcePin, VectorIntSinkPin, ResetRequestPort, ResetResponsePort,
    )
}  # fmt: skip


class PortRef:
    """One port of one object (or, while a class body runs, of one class), and whom it is joined to."""

    __slots__ = ("owner", "peers", "port")

    def __init__(self, owner: Any, port: Port) -> None:
        self.owner = owner
        self.port = port
        self.peers: list[PortRef] = []

    def __str__(self) -> str:
        owner = self.owner
        path = owner.__name__ if isinstance(owner, type) else owner.path()
        return f"{path}.{self.port.name}"

    __repr__ = __str__

    def __len__(self) -> int:
        return len(self.peers)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: int) -> PortRef:
        # An element of a vector port is joined through the vector: elements are numbered as they are connected.
        if not self.port.vector and index != 0:
            raise IndexError(f"{self} is not a vector of ports")
        return self

    def connect(self, other: Any) -> None:
        """Join with `other`; raises `PortError` at the caller's line when the two do not fit."""
        if isinstance(other, (list, tuple)):
            if not self.port.vector:
                raise PortError(f"{self} is one port and takes one peer, not {len(other)}")
            for peer in other:
                self.connect(peer)
            return
        if not isinstance(other, PortRef):
            hint = "; name the port of it" if hasattr(other, "_children") else ""
            raise PortError(f"{self} is a port and can be joined with another port, not with {other!r}{hint}")
        if other.port.role != self.port.peer_role:
            raise PortError(
                f"cannot join {self} with {other}: {self.port.role} ports go with {self.port.peer_role} ports, "
                f"and {other.port.name} is a {other.port.role} port"
            )
        for end, peer in ((self, other), (other, self)):
            if not end.port.vector and end.peers:
                raise PortError(f"{end} is already joined with {end.peers[0]}; it cannot be joined with {peer} too")
        self.peers.append(other)
        other.peers.append(self)
