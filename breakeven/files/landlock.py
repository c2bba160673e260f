"""Landlock (Linux 5.13 and later): a thread, and what it starts from then on, reaches the files that it is left alone.

A few calls of the kernel's own, which no C library wraps. Where the kernel has no Landlock nothing is restricted
(`version`), and whoever starts a program rests on its other rules.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from functools import cache
from pathlib import Path

# the same numbers on x86-64 and RISC-V
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH, _PR_SET_NO_NEW_PRIVS = 1, 1, 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
#: what there was to restrict in the first version: the bits below REFER
_FIRST = _REFER - 1
#: rights that a file has as well as a folder
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
#: binding and connecting TCP sockets; abstract sockets and signals that leave the sandbox
_NETWORK, _SCOPES = 3, 3


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def version() -> int:
    """Of the kernel's Landlock; 0: it has none."""
    found: int = _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    return max(0, found)


def _rights(known: int) -> int:
    """Every right that this version can take away."""
    return _FIRST | (known >= 2) * _REFER | (known >= 3) * _TRUNCATE | (known >= 5) * _IOCTL_DEV


def restrict(reads: Iterable[Path], writes: Iterable[Path]) -> None:
    """Leaves this thread what lies below `reads`, to read and to execute, and below `writes`. Raises `OSError`.

    It reaches no TCP port and sends no signal outside, where the kernel can tell. Paths that do not exist are none.
    """
    known = version()
    if not known:
        return
    handled = _rights(known)
    attributes = struct.pack("<QQQ", handled, _NETWORK, _SCOPES)[: 8 if known < 4 else 16 if known < 6 else 24]
    ruleset = _checked(_libc().syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0))
    try:
        for path in reads:
            _leave(ruleset, path, _EXECUTE | _READ_FILE | _READ_DIR)
        for path in writes:
            _leave(ruleset, path, handled & ~_IOCTL_DEV)
        _checked(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(_libc().syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)


def _leave(ruleset: int, path: Path, rights: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        allowed = rights if path.is_dir() else rights & _OF_FILES
        rule = struct.pack("<Qi", allowed, beneath)
        _checked(_libc().syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0))
    finally:
        os.close(beneath)


def _checked(result: int) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
