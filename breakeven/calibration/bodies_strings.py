"""Probes of REP MOVS and REP STOS: by length, alignment and distance."""

from __future__ import annotations

from collections.abc import Iterator

from breakeven.calibration.probe import Probe, alone

#: bytes of REP MOVSB
LENGTHS = (1, 16, 64, 112, 128, 192, 256, 512, 1024, 2048, 4096)


def moves() -> Iterator[Probe]:
    """REP MOVS."""
    for size in LENGTHS:
        yield alone(f"`rep movsb` of {size} B", f"mov ecx, {size}\nrep movsb")
    for size in (64, 128, 256, 1024, 4096):
        yield alone(f"`rep movsb` of {size} B to an odd place", f"add rdi, 16\nadd rdi, 3\nmov ecx, {size}\nrep movsb")
        yield alone(f"`rep movsb` of {size} B from an odd place", f"add rsi, 3\nmov ecx, {size}\nrep movsb")
        both = f"add rsi, 3\nadd rdi, 3\nmov ecx, {size}\nrep movsb"
        yield alone(f"`rep movsb` of {size} B, both at odd places", both)
    for size in (8, 64, 128, 256, 512, 1024, 4096):
        yield alone(f"`rep movsq` of {size} B", f"mov ecx, {size // 8}\nrep movsq")
    for size in (256, 1024):
        yield alone(f"`rep movsq` of {size} B to an odd place", f"add rdi, 3\nmov ecx, {size // 8}\nrep movsq")
    for size in (64, 256):
        yield alone(f"`rep movsl` of {size} B", f"mov ecx, {size // 4}\nrep movsd")
    for distance in (1, 8, 15, 16, 32, 64):
        near = f"lea r8, [rdi+{distance}]\nmov rdi, r8\nmov ecx, 512\nrep movsb"
        yield alone(f"`rep movsb` of 512 B, {distance} B behind the source in its page", near)
    yield alone("`rep movsb` of 64 B, 3 B behind the source in its page", "add rdi, 3\nmov ecx, 64\nrep movsb")
    yield alone("16 `rep movsb` of nothing", "xor ecx, ecx\nrep movsb\n" * 16)
    yield alone("`rep movsb` of 64 B downwards", "add rdi, 256\nadd rsi, 256\nstd\nmov ecx, 64\nrep movsb\ncld")


def fills() -> Iterator[Probe]:
    """REP STOS."""
    for size in (1, 16, 64, 112, 128, 256, 512, 1024, 4096):
        yield alone(f"`rep stosb` of {size} B", f"xor eax, eax\nmov ecx, {size}\nrep stosb")
    for size in (64, 256, 1024):
        yield alone(
            f"`rep stosb` of {size} B to an odd place", f"add rdi, 19\nxor eax, eax\nmov ecx, {size}\nrep stosb"
        )
    for size in (8, 64, 512, 1024, 4096):
        yield alone(f"`rep stosq` of {size} B", f"xor eax, eax\nmov ecx, {size // 8}\nrep stosq")
