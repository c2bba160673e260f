"""Starts Python processes of ours (``-I``): the current folder, PYTHONPATH and user site-packages give them nothing.

It takes breakeven from where this file is, and libraries from the interpreter's own folders or from where breakeven was
installed with them (`pip install --user`).
"""

from __future__ import annotations

import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def python_command(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of breakeven's as a program."""
    # What an isolated interpreter is not told by its environment.
    options = [*(["-B"] if sys.dont_write_bytecode else []), *(["-Xutf8"] if sys.flags.utf8_mode else [])]
    return [sys.executable, "-I", *options, __file__, module, *arguments]


def _run(module: str) -> None:
    import runpy
    from importlib.util import module_from_spec, spec_from_file_location

    sys.path.append(str(_PACKAGE.parent))
    spec = spec_from_file_location("breakeven", _PACKAGE / "__init__.py", submodule_search_locations=[str(_PACKAGE)])
    assert spec is not None and spec.loader is not None
    sys.modules["breakeven"] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules["breakeven"])
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    del sys.argv[0]
    _run(sys.argv[0])
