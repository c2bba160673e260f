"""Writes docs/cli-reference.md from the commands: `python scripts/cli_reference.py`; a test holds it current."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cli-reference.md"
HEAD = """# Command reference

Every command with its arguments and options, written by `python scripts/cli_reference.py` from the commands themselves.
What they are for, with examples: [cli.md](cli.md).
"""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _default(param: Any) -> str:
    """What stands where nothing is given; empty where that is nothing."""
    value = param.default
    if value is None and isinstance(getattr(param, "show_default", None), str):
        value = param.show_default
    if callable(value) or param.required or value is None or value is False or type(value).__name__ == "Sentinel":
        return ""
    if isinstance(value, (list, tuple)):
        value = " ".join(map(str, value))
    return f"`{value}`" if str(value) else ""


def _value(param: Any, context: Any) -> str:
    """The name of an option's value; empty for a flag."""
    if getattr(param, "is_flag", False):
        return ""
    names = {"str": "TEXT", "int": "N", "int range": "N", "path": "FILE"}
    shown = param.make_metavar(context).strip("<>").removesuffix("...")
    return f" {names.get(shown, shown)}{'...' if param.multiple else ''}"


def _rows(command: Any, context: Any) -> list[tuple[str, str, str]]:
    rows = []
    for param in command.params:
        if getattr(param, "hidden", False) or param.name == "help":
            continue
        if param.param_type_name == "argument":
            name = f"`{param.make_metavar(context)}`"
        else:
            name = f"`{', '.join([*param.opts, *param.secondary_opts])}{_value(param, context)}`"
        rows.append((_cell(name), _default(param), _cell(param.help or "")))
    return rows


def _section(path: str, command: Any) -> list[str]:
    import typer

    context = typer.Context(command, info_name=path)
    lines = [f"## {path}", "", " ".join((command.help or "").split()), ""]
    rows = _rows(command, context)
    if rows:
        lines += ["| | default | |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows), ""]
    for name, inner in sorted(getattr(command, "commands", {}).items()):
        lines += _section(f"{path} {name}", inner)
    return lines


def reference() -> str:
    """The page's text."""
    import typer

    from breakeven.cli import load

    group = typer.main.get_command(load())
    lines = [HEAD]
    for name, command in sorted(group.commands.items()):
        lines += _section(name, command)
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
