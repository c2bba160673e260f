"""The command itself: its groups and exit statuses. Commands are in the files beside this one."""

from __future__ import annotations

from typing import Annotated, Any

import typer
import typer.core

from breakeven.errors import UserError, say
from breakeven.machine.resolve import resolving


class Interrupted(Exception):
    """Ctrl-C; typer would turn a KeyboardInterrupt into an exit status and say nothing."""


class _Commands(typer.core.TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        try:
            with resolving():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted from None


class _Command(typer.core.TyperCommand):
    """A command that refuses an option of one value given twice: the last one would count and the others not."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for option in self.params:
            single = option.param_type_name == "option" and not (option.multiple or option.is_flag or option.count)
            if single and given.count(option) > 1:
                raise UserError(_given_twice(ctx.info_name or "", option.opts[0]))
        return super().parse_args(ctx, args)


def _given_twice(command: str, option: str) -> str:
    several = {"--machine": "; `compare`, `best` and `sweep` take several", "--sizes": ": 8,64,256..512 is one list"}
    return f"{command} takes one {option}, and it is given more than once{several.get(option, '')}"


class _App(typer.Typer):
    def command(self, *args: Any, **options: Any) -> Any:
        return super().command(*args, **{"cls": _Command, **options})


app = _App(
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Which memory-copy or checksum routine wins, from which size and alignment on, and on which hardware.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        import breakeven

        say(f"breakeven {breakeven.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    pass


machines_app = _App(
    rich_markup_mode=None, help="The machines there are; `machines show NAME` prints one.", invoke_without_command=True
)
app.add_typer(machines_app, name="machines")

#: exit status when a limit ended a run, as timeout(1) has it
EXIT_LIMIT = 124
EXIT_WRONG = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
