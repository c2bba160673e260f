"""The command itself: its groups and exit statuses. Commands are in the files beside this one."""

from __future__ import annotations

from typing import Any

import typer
import typer.core


class Interrupted(Exception):
    """Ctrl-C; typer would turn a KeyboardInterrupt into an exit status and say nothing."""


class _Commands(typer.core.TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Which memory-copy or checksum routine wins, from which size and alignment on, and on which hardware.",
)
machines_app = typer.Typer(
    rich_markup_mode=None, help="The machines there are; `machines show NAME` prints one.", invoke_without_command=True
)
app.add_typer(machines_app, name="machines")

#: exit status when a limit ended a run, as timeout(1) has it
EXIT_LIMIT = 124
EXIT_WRONG = 1
EXIT_USAGE = 2
