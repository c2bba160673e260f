"""What an object that is not ours must be before a tool sees it: no code for a plugin, no huge section, plain names.

A name that is pasted anywhere (C, assembly, an option) is one that `plain_name` gives; `with_plain_names` gives an
object the same names, so that both meet.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from hashlib import sha256

from breakeven.errors import UserError

#: bytes that a guest has for everything: nothing larger can be taken; SHF_ALLOC or SHF_EXECINSTR
GUEST_BYTES, _LOADED = 4 << 20, 2 | 4
#: sections that compilers leave for link-time optimization: a linker's plugin would run what they ask for
_FOR_PLUGINS = re.compile(r"\.gnu\.(offload_|debug)?lto_.*|\.llvm\.?(lto|bc|bitcode|cmd).*")
#: a name that is text anywhere, and its characters at most
_PLAIN, _LONGEST = re.compile(r"[.$-]*[A-Za-z0-9_][A-Za-z0-9_.$-]*"), 1000

_SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
#: of a symbol: name and type
_SYMBOL, _SYMBOL_BYTES = struct.Struct("<IB"), 24
_SYMTAB, _NOBITS, _STT_FILE = 2, 8, 4


def is_plain(name: str) -> bool:
    """Whether a name can be pasted as it is."""
    return len(name) <= _LONGEST and _PLAIN.fullmatch(name) is not None


def plain_name(name: str) -> str:
    """The name, or one in its place that can be pasted."""
    return name if is_plain(name) else f"odd_{sha256(name.encode(errors='replace')).hexdigest()[:20]}"


def check_sections(sections: Iterable[tuple[str, int, int, int, int, int]], where: str) -> int:
    """How many bytes of a guest the sections (rows of `elf_contents`) take; raises `UserError` for one that no tool may
    see."""
    total = 0
    for name, kind, flags, _, _, size in sections:
        if _FOR_PLUGINS.fullmatch(name):
            raise UserError(f"{where} holds code for link-time optimization ({name[:40]}): compile it without -flto")
        total += size if flags & _LOADED or kind == _NOBITS else 0
        if total > GUEST_BYTES:
            raise UserError(f"{where}: its section {name[:40]!r} has {size} bytes, and a guest 4 MiB for everything")
    return total


def with_plain_names(data: bytes, where: str) -> bytes:
    """The object `data` with plain names for its symbols; raises `UserError` where its tables do not hold together."""
    try:
        return _renamed(data)
    except (struct.error, IndexError, ValueError):
        raise UserError(f"{where}: its table of symbols is damaged") from None


def _renamed(data: bytes) -> bytes:
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    if size != _SECTION_HEADER.size:
        raise ValueError
    # With more sections than the field holds their number is the first one's size.
    count = count or _SECTION_HEADER.unpack_from(data, table)[5]
    if table + count * size > len(data):
        raise ValueError
    headers = [_SECTION_HEADER.unpack_from(data, table + i * size) for i in range(count)]
    out = bytearray(data)
    tables = [header for header in headers if header[1] == _SYMTAB]
    if len(tables) > 1:  # linkers ignore the others, and nobody has looked at the names there
        raise ValueError
    for _, _, _, _, offset, length, names, *_ in tables:
        _, _, _, _, strings_at, strings_size, *_ = headers[names]
        strings = data[strings_at : strings_at + strings_size]
        added = bytearray()
        for at in range(offset, offset + length - _SYMBOL_BYTES + 1, _SYMBOL_BYTES):
            name_at, info = _SYMBOL.unpack_from(data, at)
            if info & 15 == _STT_FILE or not name_at:
                continue
            name = strings[name_at : strings.index(0, name_at)].decode(errors="replace")
            if name and not is_plain(name):
                struct.pack_into("<I", out, at, len(strings) + len(added))
                added += plain_name(name).encode() + b"\0"
        if added:
            header = table + names * size
            struct.pack_into("<QQ", out, header + 24, len(out), len(strings) + len(added))
            out += strings + added
    return bytes(out)
