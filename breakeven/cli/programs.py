"""Programs and scripts of the user's own: `exec` and `gem5`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from breakeven.cli.app import EXIT_INTERRUPTED, EXIT_LIMIT, EXIT_WRONG, app
from breakeven.cli.debug import (
    DEBUG_LIMIT,
    DebugEndOption,
    DebugFileOption,
    DebugFlagsOption,
    DebugLimitOption,
    DebugStartOption,
    parse_trace_options,
)
from breakeven.cli.options import JsonOption, MachineOption, SetOption, number
from breakeven.errors import UserError, say
from breakeven.m5.command_line import OPTIONS
from breakeven.machine.resolve import resolve
from breakeven.sweeps.request import machine_spec

#: how the engine calls the end by `--max-seconds`
TIME_LIMIT = "host time limit reached"
#: bytes of standard input that a program is given
MOST_INPUT = 256 << 20


@app.command("exec", short_help="Run any bare-metal ELF or static Linux program; exits with its exit code.")
def exec_(
    elf: Annotated[Path, typer.Argument(help="A bare-metal ELF; with --linux a static Linux program.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="With --linux: the program's arguments (behind -- if they start with one)."),
    ] = None,
    linux: Annotated[
        bool, typer.Option("--linux", help="The ELF is a static Linux program: its system calls are emulated.")
    ] = False,
    directory: Annotated[
        Path | None, typer.Option("--dir", help="The one directory that the program may use; none: no files.")
    ] = None,
    writable: Annotated[bool, typer.Option("--writable", help="The program may write in --dir.")] = False,
    max_files: Annotated[
        int, typer.Option(parser=number(0), help="Files, folders and links that the program may make in --dir.")
    ] = 10_000,
    environment: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="NAME=VALUE", help="One variable of the program's environment (repeatable)."),
    ] = None,
    start_time: Annotated[
        str,
        typer.Option(
            help="The program's clock at the start: a date (2026-11-22, 2026-11-22T20:00:00Z), seconds since 1970, now."
        ),
    ] = "1000000000",
    join_output: Annotated[
        bool, typer.Option("--join-output", help="The program's standard error goes to standard output, too.")
    ] = False,
    machine: MachineOption = "minor",
    settings: SetOption = [],  # noqa: B006
    stats: Annotated[Path | None, typer.Option(help="Write gem5's stats.txt here.")] = None,
    max_insts: Annotated[int, typer.Option(parser=number(0), help="Stop after this many instructions; 0: 10^12.")] = 0,
    max_cycles: Annotated[int, typer.Option(parser=number(0), help="Stop after this many cycles; 0: 10^13.")] = 0,
    max_seconds: Annotated[
        float, typer.Option(min=0, help="Stop after this many seconds of this computer's clock; 0: never.")
    ] = 0,
    readfile: Annotated[Path | None, typer.Option(help="What the guest's readfile pseudo-op reads.")] = None,
    init_param: Annotated[
        int, typer.Option(parser=number(0), help="What the guest's initparam pseudo-op returns.")
    ] = 0,
    debug_flags: DebugFlagsOption = "",
    debug_file: DebugFileOption = None,
    debug_start: DebugStartOption = 0,
    debug_end: DebugEndOption = 0,
    debug_limit: DebugLimitOption = DEBUG_LIMIT,
    json: JsonOption = False,
) -> int:
    """Run any bare-metal ELF, or a static Linux program: prints what it prints and exits with its exit code (124: a
    limit was reached)."""
    from breakeven.cli.guest_output import Kept, PassedOn, as_text
    from breakeven.files.binaries import load_engine
    from breakeven.files.reading import read_file
    from breakeven.files.writing import Held

    theirs = directory if writable else None
    held = Held(stats, theirs) if stats else None
    trace = parse_trace_options(debug_flags, debug_file, debug_limit)
    traced = Held(trace.file, theirs).opened() if trace and theirs else trace.file if trace else None
    program = read_file(elf, "program")
    data = read_file(readfile, "readfile") if readfile else b""
    engine = load_engine()
    resolved = resolve(machine_spec(machine, settings))
    text = resolved.text
    given: dict[str, Any] = {}
    if linux:
        start = _seconds(start_time)
        words = [str(elf), *(arguments or [])]
        text, given = _process(resolved.description, words, directory, writable, environment or [])
        given.update(max_files=max_files, start_time=start)
    elif arguments or directory or writable or environment:
        raise UserError(
            "a bare-metal ELF takes no arguments, no directory and no environment; run a Linux program with --linux"
        )
    both = bytearray()
    until = monotonic() + max_seconds if max_seconds else None
    out: Any = Kept(both) if json else PassedOn("stdout", until)
    err: Any = out if join_output else Kept(both) if json else PassedOn("stderr", until)
    guest = engine.Machine(text, program, readfile=data, init_param=init_param, stdout=out, stderr=err, **given)
    if trace:
        guest.trace(traced, debug_start, debug_end, trace.limit)
    try:
        end = _run(guest, max_insts, max_cycles, max_seconds)
    finally:
        for warning in guest.warnings():
            say(f"breakeven: {warning}", file=sys.stderr)
    if trace:
        trace.warn_if_truncated(guest.end_trace())
    if held:
        # gem5 dumps at its exit too: a guest need not ask for statistics.
        guest.dump_stats()
        held.write(guest.stats_txt())
    status = _exit_status(end)
    if json:
        from breakeven.output.console import print_json

        print_json({
            "cause": end["cause"], "code": end["code"], "exit_status": status, "instructions": end["insts"],
            "cycles": end["cycles"], "ticks": end["ticks"], "host_seconds": end["host_seconds"],
            "console": as_text(both), "stdout": out.text(), "stderr": "" if err is out else err.text(),
            "detail": end["detail"],
        })  # fmt: skip
        return status
    rate = end["insts"] / end["host_seconds"] / 1e6 if end["host_seconds"] > 0 else 0.0
    ipc = end["insts"] / end["cycles"] if end["cycles"] else 0.0
    say(
        f"breakeven: {end['cause']}, code {end['code']}: {end['insts']} instructions, {end['cycles']} cycles "
        f"(IPC {ipc:.2f}), {end['host_seconds']:.2f} s ({rate:.1f} million instructions a second)",
        file=sys.stderr,
    )
    if end["detail"]:
        say(end["detail"], file=sys.stderr)
    return status


def _run(guest: Any, max_insts: int, max_cycles: int, max_seconds: float) -> dict[str, Any]:
    """The guest's end; Ctrl-C is one, too: what there is by then is worth telling."""
    start = monotonic()
    try:
        while True:
            left = max_seconds - (monotonic() - start)
            end: dict[str, Any] = guest.run(
                max_insts=max_insts, max_cycles=max_cycles, max_seconds=max(left, 1e-9) if max_seconds else 0.0
            )
            if end["cause"] in ("workbegin", "workend"):
                # Work items may follow one another so closely that no run lasts until its limit is looked at.
                if not max_seconds or left > 0:
                    continue
                end |= {"cause": TIME_LIMIT, "code": 0}
            return {**end, "host_seconds": monotonic() - start}
    except KeyboardInterrupt:
        insts, cycles, ticks = guest.progress()
        return {
            "cause": "interrupted", "code": EXIT_INTERRUPTED, "insts": insts, "cycles": cycles, "ticks": ticks,
            "host_seconds": monotonic() - start, "detail": "",
        }  # fmt: skip


def _seconds(time: str) -> int:
    """Seconds since 1970 of `--start-time`."""
    if time == "now":
        return int(datetime.now(UTC).timestamp())
    try:
        if time.isdecimal():
            seconds = int(time)
        else:
            date = datetime.fromisoformat(time)
            seconds = int((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        seconds = -1
    if not 0 <= seconds < 1 << 40:
        raise UserError(
            f"--start-time {time!r} is no time from 1970 on: give a date such as 2026-11-22T20:00:00Z, seconds, or now"
        )
    return seconds


def _process(
    description: dict[str, Any], command: list[str], directory: Path | None, writable: bool, variables: list[str]
) -> tuple[str, dict[str, Any]]:
    """The description's text with a process, and what the engine gives it of this host."""
    from breakeven import m5
    from breakeven.machine.process import emulated

    environment = {"PATH": "/usr/bin:/bin", "LANG": "C"}
    for variable in variables:
        name, equals, value = variable.partition("=")
        if not name or not equals:
            raise UserError(f"--env {variable!r} is not NAME=VALUE")
        environment[name] = value
    # A terminal's input cannot be had before the run.
    stdin = b"" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.buffer.read(MOST_INPUT + 1)
    if len(stdin) > MOST_INPUT:
        raise UserError(f"standard input has more than the {MOST_INPUT >> 20} MiB that a program is given: use a file")
    text = m5.canonical(emulated(description, command, environment))
    return text, {"stdin": stdin, "directory": str(directory) if directory else None, "writable": writable}


def _exit_status(end: dict[str, Any]) -> int:
    """The guest's exit code as a process has it; limits and failures of the run have codes of their own."""
    if end["cause"] == "interrupted":
        return EXIT_INTERRUPTED
    if "exit" in end["cause"] or "fail" in end["cause"] or "signal" in end["cause"]:
        # Only the low byte reaches the shell; a failure must not become 0 there.
        return end["code"] & 0xFF or int(end["code"] != 0)
    return EXIT_LIMIT if "limit" in end["cause"] or "max" in end["cause"] else EXIT_WRONG


class _Launcher(TyperCommand):
    """`breakeven gem5`: the launcher reads its own command line; here stands what the help and the documents need."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for option in OPTIONS:
            names = [f"--{option.long}", *([f"-{option.short}"] if option.short else [])]
            self.params.append(TyperOption(param_decls=names, is_flag=not option.value, help=option.help))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.args = args
        return []


@app.command(cls=_Launcher, add_help_option=False)
def gem5(context: typer.Context) -> int:
    """Run a gem5 configuration script in the embedded engine."""
    from breakeven.m5.launcher import main

    return main(context.args)
