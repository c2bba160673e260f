"""The `breakeven` command.

A single run must not feel the weight of what a sweep needs: commands import what they use when they run, and typer's
rich formatting is off (rich is loaded only to draw a table or a progress bar).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from breakeven.errors import UserError


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
#: what the engine takes
MAX_U64 = (1 << 64) - 1

MachineOption = Annotated[str, typer.Option("--machine", "-m", help="Preset (see `machines`) or a machine .py file.")]
MachinesOption = Annotated[list[str], typer.Option("--machine", "-m", help="Preset or .py file; may be repeated.")]
SetOption = Annotated[
    list[str], typer.Option("--set", metavar="PATH=VALUE", help="Override a machine parameter; may be repeated.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
GuestOption = Annotated[Path | None, typer.Option("--guest", metavar="ELF", help="A guest of your own.")]
ThreadsOption = Annotated[int, typer.Option("--threads", "-j", min=0, max=1024, help="Host threads; 0: one a core.")]
MaxInstsOption = Annotated[int, typer.Option(min=0, max=MAX_U64, help="Stop after this many instructions; 0: 10^12.")]
MaxCyclesOption = Annotated[int, typer.Option(min=0, max=MAX_U64, help="Stop after this many cycles; 0: 10^13.")]
InitParamOption = Annotated[int, typer.Option(min=0, max=MAX_U64, help="What the guest's initparam returns.")]
SizesOption = Annotated[str, typer.Option("--sizes", "-n", help="64,1448  64..1448  64..1448:8  1..64K*2 (mixed).")]
StateOption = Annotated[str, typer.Option("--cache", help="warm, src-cold, dst-cold, cold.")]
MeasureOption = Annotated[str, typer.Option("--measure", help="latency, throughput, interleaved.")]
RepetitionsOption = Annotated[int, typer.Option("--repetitions", help="Measurements per point.")]
WarmupOption = Annotated[int, typer.Option("--warmup", help="Unmeasured calls before the first measurement.")]
CallsOption = Annotated[int, typer.Option("--calls", help="Calls per measurement (throughput, interleaved).")]
HugeOption = Annotated[bool, typer.Option("--huge-pages", help="2 MiB pages for the buffers instead of 4 KiB.")]
Size2Option = Annotated[str, typer.Option("--size2", help="Second size (interleaved).")]
Src2Option = Annotated[int, typer.Option("--src2", help="Second source offset (interleaved).")]
Dst2Option = Annotated[int, typer.Option("--dst2", help="Second destination offset (interleaved).")]
SeedOption = Annotated[int, typer.Option("--seed", help="Seed of the buffers' contents.")]
SweepOption = Annotated[
    list[str], typer.Option("--sweep", metavar="PATH=A:B:STEP|V,V,...", help="Sweep a machine parameter.")
]


def _machine(name: str, settings: list[str]) -> Any:
    from breakeven.runner import MachineSpec

    return MachineSpec(name, tuple(settings))


@app.command("exec", short_help="Run any bare-metal ELF; exits with its exit code.")
def exec_(
    elf: Annotated[Path, typer.Argument(help="A bare-metal ELF.")],
    machine: MachineOption = "minor",
    settings: SetOption = [],  # noqa: B006
    stats: Annotated[Path | None, typer.Option(help="Write gem5's stats.txt here.")] = None,
    max_insts: Annotated[
        int, typer.Option(min=0, max=MAX_U64, help="Stop after this many instructions; 0: 10^12.")
    ] = 0,
    max_cycles: Annotated[int, typer.Option(min=0, max=MAX_U64, help="Stop after this many cycles; 0: 10^13.")] = 0,
    readfile: Annotated[Path | None, typer.Option(help="What the guest's readfile pseudo-op reads.")] = None,
    init_param: Annotated[
        int, typer.Option(min=0, max=MAX_U64, help="What the guest's initparam pseudo-op returns.")
    ] = 0,
    json: JsonOption = False,
) -> int:
    """Run any bare-metal ELF: prints its console and exits with its exit code (124: a limit was reached)."""
    from breakeven.paths import check_target
    from breakeven.runner import describe, load_engine, read_file

    if stats:
        check_target(stats)
    program = read_file(elf, "program")
    data = read_file(readfile, "readfile") if readfile else b""
    engine = load_engine()
    text = describe(_machine(machine, settings))[1]
    guest = engine.Machine(text, program, readfile=data, init_param=init_param)
    while True:
        end = guest.run(max_insts=max_insts, max_cycles=max_cycles)
        if end["cause"] not in ("workbegin", "workend"):
            break
    if stats:
        # gem5 dumps at its exit too: a guest need not ask for statistics.
        guest.dump_stats()
        try:
            stats.write_text(guest.stats_txt())
        except OSError as error:
            raise UserError(f"cannot write {str(stats)!r}: {(error.strerror or str(error)).lower()}") from None
    console, status = guest.console(), _exit_status(end)
    if json:
        from breakeven.console import print_json

        print_json({
            "cause": end["cause"], "code": end["code"], "exit_status": status, "instructions": end["insts"],
            "cycles": end["cycles"], "ticks": end["ticks"], "host_seconds": end["host_seconds"],
            "console": console.decode(errors="replace"), "detail": end["detail"],
        })  # fmt: skip
        return status
    sys.stdout.buffer.write(console)
    sys.stdout.buffer.flush()
    rate = end["insts"] / end["host_seconds"] / 1e6 if end["host_seconds"] > 0 else 0.0
    per = end["cycles"] / end["insts"] if end["insts"] else 0.0
    print(
        f"breakeven: {end['cause']}, code {end['code']}: {end['insts']} instructions, {end['cycles']} cycles "
        f"({per:.2f} a instruction), {end['host_seconds']:.2f} s ({rate:.1f} million instructions a second)",
        file=sys.stderr,
    )
    if end["detail"]:
        print(end["detail"], file=sys.stderr)
    return status


def _exit_status(end: dict[str, Any]) -> int:
    """The guest's exit code as a process has it; limits and failures of the run have codes of their own."""
    if "exit" in end["cause"] or "fail" in end["cause"]:
        # Only the low byte reaches the shell; a failure must not become 0 there.
        return end["code"] & 0xFF or int(end["code"] != 0)
    return EXIT_LIMIT if "limit" in end["cause"] or "max" in end["cause"] else EXIT_WRONG


@app.command(short_help="Run one point: cycles, bytes a cycle, instructions.")
def run(
    routine: Annotated[str, typer.Argument(help="See `routines`.")],
    size: Annotated[str, typer.Option("--size", "-n", help="Bytes (1448, 64K, 2MiB).")],
    machine: MachineOption = "u74",
    src: Annotated[int, typer.Option("--src", "-s", help="Source offset from a page boundary.")] = 0,
    dst: Annotated[int, typer.Option("--dst", "-d", help="Destination offset from a page boundary.")] = 0,
    cache: StateOption = "warm",
    measure: MeasureOption = "latency",
    repetitions: RepetitionsOption = 3,
    warmup: WarmupOption = 2,
    calls: CallsOption = 16,
    size2: Size2Option = "0",
    src2: Src2Option = 0,
    dst2: Dst2Option = 0,
    seed: SeedOption = 1,
    fault_at: Annotated[int | None, typer.Option(help="User copies: byte whose page is unmapped.")] = None,
    fault_side: Annotated[str, typer.Option(help="src or dst: the side of --fault-at.")] = "src",
    huge_pages: HugeOption = False,
    settings: SetOption = [],  # noqa: B006
    guest: GuestOption = None,
    json: JsonOption = False,
) -> int:
    """Run one point: cycles, bytes a cycle, instructions, and whether the output was right."""
    from breakeven import points as pt
    from breakeven.ranges import parse_number
    from breakeven.runner import EmbeddedEngine, run_points

    kind = pt.index_of(pt.MEASURES, measure, "measure")
    point = pt.Point(
        routine=routine, size=parse_number(size, "size"), src_offset=src, dst_offset=dst, seed=seed,
        cache_state=pt.index_of(pt.CACHE_STATES, cache, "cache state"), measure=kind, repetitions=repetitions,
        warmup=warmup, calls=calls if kind else 1, size2=parse_number(size2, "size2"), src_offset2=src2,
        dst_offset2=dst2, fault_at=_fault(fault_at, fault_side), flags=pt.FLAG_HUGE_PAGES if huge_pages else 0,
    )  # fmt: skip
    point.validate()
    session = EmbeddedEngine(guest).open(_machine(machine, settings))
    result = run_points(session, [point])[0]
    _print_point(session, point, result, json)
    if not result.ok:
        notes = next((r.notes for r in session.routines() if r.name == routine), "")
        why = f" ({routine} {notes})" if notes and result.status == pt.UNEXPECTED_TRAP else ""
        if result.status == pt.OUT_OF_RANGE and point.fault_at != pt.NO_FAULT:
            why = f" ({routine} is no user copy: it cannot take --fault-at inside the copy)"
        what = "WRONG OUTPUT" if result.status in pt.WRONG else "NO RESULT"
        print(f"breakeven: {what}: {result.problem}{why}", file=sys.stderr)
    return 0 if result.ok else EXIT_WRONG


def _fault(index: int | None, side: str) -> int:
    from breakeven import points as pt

    if side not in ("src", "dst"):
        raise UserError(f"unknown side {side!r} of --fault-at: src or dst")
    if index is None:
        return pt.NO_FAULT
    if not 0 <= index <= pt.MAX_SIZE:
        raise UserError(f"fault_at {index} is out of range: 0 to the size")
    return index | (pt.FAULT_IN_DESTINATION if side == "dst" else 0)


def _print_point(session: Any, point: Any, result: Any, json: bool) -> None:
    from breakeven import points as pt
    from breakeven.console import print_json, print_pairs

    moved = point.size + (point.size2 if point.measure == 2 else 0)
    # The interleaved measure alternates its two sizes: on average a call moves half of both.
    total = point.size * point.calls if point.measure != 2 else moved * point.calls / 2
    rate = total / result.cycles_median if result.cycles_median else 0.0
    if json:
        print_json({
            "machine": str(session.machine), "machine_hash": session.machine_hash, **pt.as_dict(point),
            "cycles": result.cycles_median, "cycles_min": result.cycles_min, "cycles_median": result.cycles_median,
            "cycles_total": result.cycles_total, "bytes_per_cycle": rate, "instructions": result.instructions,
            "overhead": result.overhead, "ret": result.ret, "ok": result.ok, "problem": result.problem,
        })  # fmt: skip
        return
    state, measure = pt.CACHE_STATES[point.cache_state], pt.MEASURES[point.measure]
    print(
        f"{point.routine} on {session.machine}: {point.size} B, src+{point.src_offset}, dst+{point.dst_offset}, "
        f"{state}, {measure}"
    )
    spread = f"(median of {point.repetitions}; least {result.cycles_min})" if point.repetitions > 1 else ""
    calls = f" for {point.calls} calls" if point.calls > 1 else ""
    per = result.instructions / result.cycles_median if result.cycles_median else 0.0
    rows = [
        ("cycles", f"{result.cycles_median}{calls}  {spread}"),
        ("bytes a cycle", f"{rate:.3f}"),
        ("instructions", f"{result.instructions}  ({per:.2f} a cycle)"),
        ("output", result.problem or "right"),
    ]
    if point.fault_at != pt.NO_FAULT:
        rows.append(("not copied", f"{result.ret} B"))
    print_pairs(rows)


def _spec(routines: list[str], machines: list[str], settings: list[str], guest: Path | None, **axes: Any) -> Any:
    """A sweep from the command line's texts."""
    from breakeven import points as pt
    from breakeven.ranges import parse_integers, parse_number, parse_sweep
    from breakeven.sweep import SweepSpec

    parameters: dict[str, list[str]] = {}
    for text in axes.pop("sweep"):
        path, values = parse_sweep(text)
        if path in parameters:
            raise UserError(f"--sweep names {path} twice")
        parameters[path] = values
    spec = SweepSpec(
        routines=_routines(routines, machines, settings, guest),
        machines=[_machine(name, settings) for name in dict.fromkeys(machines)],
        sizes=parse_integers(axes.pop("sizes"), "size", 0, pt.MAX_SIZE),
        src_offsets=parse_integers(axes.pop("src"), "src offset", 0, pt.MAX_OFFSET),
        dst_offsets=parse_integers(axes.pop("dst"), "dst offset", 0, pt.MAX_OFFSET),
        cache_states=list(dict.fromkeys(axes.pop("cache").split(","))),
        measures=list(dict.fromkeys(axes.pop("measure").split(","))),
        parameters=parameters,
        size2=parse_number(axes.pop("size2"), "size2"),
        flags=pt.FLAG_HUGE_PAGES if axes.pop("huge_pages") else 0,
        **axes,
    )
    spec.validate()
    return spec


def _routines(names: list[str], machines: list[str], settings: list[str], guest: Path | None) -> list[str]:
    """The routines named; ``all``, ``copy``, ``checksum`` and ``user-copy`` stand for those of a kind."""
    if not set(names) & {"all", "copy", "checksum", "user-copy"}:
        return list(dict.fromkeys(names))
    from breakeven.runner import guest_routines

    known = guest_routines(_machine(machines[0], settings), guest)[1]
    lacking = {r.name for name in machines for r in guest_routines(_machine(name, settings), guest)[1] if r.lacks}
    found: list[str] = []
    for name in names:
        kinds = {"all": ("copy", "user-copy", "checksum"), "copy": ("copy", "user-copy")}.get(name, (name,))
        found += (
            [r.name for r in known if r.kind in kinds] if name in ("all", "copy", "checksum", "user-copy") else [name]
        )
    left_out = sorted(lacking.intersection(found) - set(names))
    if left_out:
        # A kind is whatever runs there; a routine that is named is not left out but refused.
        print(f"breakeven: left out, as a machine lacks what they need: {', '.join(left_out)}", file=sys.stderr)
    return [name for name in dict.fromkeys(found) if name not in left_out]


@app.command(short_help="Run a grid of points into a results file.")
def sweep(
    routines: Annotated[list[str], typer.Argument(help="Routines, or all, copy, user-copy, checksum.")],
    sizes: SizesOption,
    machine: MachinesOption = ["u74"],  # noqa: B006
    src: Annotated[str, typer.Option("--src", "-s", help="Source offsets, e.g. 0..7.")] = "0",
    dst: Annotated[str, typer.Option("--dst", "-d", help="Destination offsets, e.g. 0..7.")] = "0",
    cache: StateOption = "warm",
    measure: MeasureOption = "latency",
    parameter: SweepOption = [],  # noqa: B006
    settings: SetOption = [],  # noqa: B006
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Results: .csv, .json or .parquet.")] = None,
    repetitions: RepetitionsOption = 3,
    warmup: WarmupOption = 2,
    calls: CallsOption = 16,
    size2: Size2Option = "0",
    src2: Src2Option = 0,
    dst2: Dst2Option = 0,
    seed: SeedOption = 1,
    huge_pages: HugeOption = False,
    threads: ThreadsOption = 0,
    guest: GuestOption = None,
    json: JsonOption = False,
) -> int:
    """Run routines x machines x sizes x offsets x cache states x measures x parameters into a results file.

    Without --out the table goes to sweep.csv (with --json: into the object).
    """
    import time

    from breakeven import report_cli
    from breakeven.console import progress_bar
    from breakeven.runner import EmbeddedEngine
    from breakeven.sweep import check_output, run_sweep, write_table

    spec = _spec(
        routines, machine, settings, guest, sizes=sizes, src=src, dst=dst, cache=cache, measure=measure,
        sweep=parameter, repetitions=repetitions, warmup=warmup, calls=calls, size2=size2, src_offset2=src2,
        dst_offset2=dst2, seed=seed, huge_pages=huge_pages,
    )  # fmt: skip
    path = out or (None if json else Path("sweep.csv"))
    if path:
        check_output(path)
    start = time.perf_counter()
    with progress_bar(not json, "sweep") as progress:
        table = run_sweep(spec, EmbeddedEngine(guest), threads, progress)
    seconds = time.perf_counter() - start
    if path:
        write_table(table, path)
    return report_cli.sweep_done(spec, table, path, seconds, json)


@app.command(short_help="Who wins where: a table, a plot, the break-even sizes.")
def compare(
    routines: Annotated[list[str], typer.Argument(help="Two or more routines; the first is the one to beat.")],
    machine: MachineOption = "u74",
    sizes: SizesOption = "1..256,265..2048:9",
    src: Annotated[int, typer.Option("--src", "-s", help="Source offset.")] = 0,
    dst: Annotated[int, typer.Option("--dst", "-d", help="Destination offset.")] = 0,
    cache: StateOption = "warm",
    measure: MeasureOption = "latency",
    parameter: SweepOption = [],  # noqa: B006
    settings: SetOption = [],  # noqa: B006
    plot: Annotated[Path | None, typer.Option(help="Plot file, .png or .svg (default compare-MACHINE.png).")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Results too: .csv, .json, .parquet.")] = None,
    repetitions: RepetitionsOption = 3,
    warmup: WarmupOption = 2,
    calls: CallsOption = 16,
    size2: Size2Option = "0",
    src2: Src2Option = 0,
    dst2: Dst2Option = 0,
    seed: SeedOption = 1,
    huge_pages: HugeOption = False,
    threads: ThreadsOption = 0,
    guest: GuestOption = None,
    json: JsonOption = False,
) -> int:
    """Compare routines on a machine: a table, a plot and the sizes where the lead changes.

    With --sweep the comparison runs along that parameter, at the one size given.
    """
    from breakeven import compare as comparing
    from breakeven import report_cli
    from breakeven.console import progress_bar
    from breakeven.runner import EmbeddedEngine
    from breakeven.sweep import check_output, write_table

    if "," in cache or "," in measure:
        raise UserError("compare looks at one cache state and one measure at a time")
    spec = _spec(
        routines, [machine], settings, guest, sizes=sizes, src=str(src), dst=str(dst), cache=cache, measure=measure,
        sweep=parameter, repetitions=repetitions, warmup=warmup, calls=calls, size2=size2, src_offset2=src2,
        dst_offset2=dst2, seed=seed, huge_pages=huge_pages,
    )  # fmt: skip
    if out:
        check_output(out)
    if plot:
        report_cli.check_plot(plot)
    with progress_bar(not json, "compare") as progress:
        found = comparing.compare(spec, EmbeddedEngine(guest), threads, progress)
    if out:
        write_table(found.table, out)
    # With --json a plot is drawn only when a file was named: a script may not want one left behind.
    target = plot or (None if json else comparing.default_plot(found))
    if target:
        report_cli.plot_comparison(found, target)
    return report_cli.comparison_done(found, target, out, json)


@app.command("routines")
def routines_(
    machine: Annotated[str, typer.Option("--machine", "-m", help="Whose instruction set.")] = "u74",
    guest: GuestOption = None,
    json: JsonOption = False,
) -> int:
    """The routines there are."""
    from breakeven.console import print_json, print_table
    from breakeven.runner import guest_routines

    isa, found = guest_routines(_machine(machine, []), guest)
    if json:
        rows = [{"name": r.name, "kind": r.kind, "flags": r.flags, "notes": r.notes} for r in found]
        print_json({"isa": isa, "routines": rows})
    else:
        print_table(("routine", "kind", "notes"), [(r.name, r.kind, r.notes) for r in found])
    return 0


@machines_app.callback()
def machines(context: typer.Context, json: JsonOption = False) -> int | None:
    """The machines there are; `machines show NAME` prints one."""
    if context.invoked_subcommand is not None:
        return None
    from breakeven.console import print_json, print_table
    from breakeven.machines import list_presets

    presets = list_presets()
    if json:
        rows = [{"name": p.name, "isa": p.isa, "description": p.description, "path": str(p.path)} for p in presets]
        print_json({"machines": rows})
    else:
        print_table(("machine", "isa", "what it is"), [(p.name, p.isa, p.description) for p in presets])
    return 0


@machines_app.command("show")
def machines_show(
    name: Annotated[str, typer.Argument(help="Preset or a machine .py file.")],
    settings: SetOption = [],  # noqa: B006
    json: JsonOption = False,
) -> int:
    """One machine on one page (with --json: its whole description)."""
    from breakeven.console import print_json, print_pairs
    from breakeven.m5 import machine_hash
    from breakeven.machine_page import Page
    from breakeven.machines import find_machine, preset_at
    from breakeven.runner import describe

    description, _ = describe(_machine(name, settings))
    if json:
        print_json({"machine": name, "machine_hash": machine_hash(description), "description": description})
        return 0
    path = find_machine(name)
    preset = preset_at(path)
    print(f"{name}: {preset.description if preset else 'a machine of your own'}")
    print_pairs([("file", str(path)), ("hash", machine_hash(description))])
    for heading, rows in Page(description).sections():
        print(f"\n{heading}")
        print_pairs(rows)
    return 0


@app.command(short_help="Run studies of published claims; writes results/STUDY/.")
def reproduce(
    studies: Annotated[list[str] | None, typer.Argument(help="Studies (default: all), or study .py files.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the reports.")] = Path("results"),
    threads: ThreadsOption = 0,
    json: JsonOption = False,
) -> int:
    """Run studies of published claims: tables, figures and a report in results/STUDY/."""
    from breakeven import report_cli
    from breakeven.console import progress_bar
    from breakeven.report import write_report
    from breakeven.runner import EmbeddedEngine
    from breakeven.study import find_studies, run_study

    done = []
    for study in find_studies(studies or []):
        with progress_bar(not json, study.name) as progress:
            outcome = run_study(study, EmbeddedEngine(), threads, progress)
        done.append((outcome, write_report(outcome, out / study.name)))
    return report_cli.studies_done(done, json)


@app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def gem5(
    context: typer.Context,
    script: Annotated[Path, typer.Argument(help="A gem5 Python script; what follows goes to it.")],
    outdir: Annotated[Path, typer.Option("--outdir", help="Where stats.txt and the guest's files go.")] = Path("m5out"),
) -> int:
    """Run a gem5 configuration script in the embedded engine."""
    from breakeven.m5.loader import run_script
    from breakeven.runner import read_file

    read_file(script, "script")
    run_script(script, context.args, outdir=outdir)
    return 0


def _message(error: BaseException) -> str | None:
    """The sentence for an error that is the user's to fix; None for one that is ours."""
    from breakeven.paths import DataNotFound

    if isinstance(error, (UserError, DataNotFound)):
        return str(error)
    if hasattr(error, "format_message"):  # typer's usage errors, whichever click they come from
        return error.format_message()
    if isinstance(error, MemoryError):
        return "out of memory: take fewer points or a smaller machine"
    from breakeven.m5.errors import ConfigError, OverrideError
    from breakeven.machines import MachineError

    if isinstance(error, (ConfigError, OverrideError, MachineError)):
        return str(error)
    if type(error).__name__ == "EngineError":
        return str(error)
    text = _script_message(error)
    if text is None and isinstance(error, OSError) and error.filename is None:
        # Everything with a name has been caught where it was opened: what is left is our own output.
        _drop_stdout()
        text = f"cannot write the output: {(error.strerror or str(error)).lower()}"
    return text


def _script_message(error: BaseException) -> str | None:
    """An error raised by a machine file or a gem5 script: what it says and the line where it was written."""
    import traceback

    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}: {error.msg}" if error.filename else error.msg
    written = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_script(frame.filename)]
    if written:
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return f"{written[-1].filename}, line {written[-1].lineno}: {text}"
    if isinstance(error, RecursionError):
        return "the machine's objects are nested too deeply"
    return None


def _is_script(filename: str) -> bool:
    """Whether code from this file is a configuration or the user's, not breakeven's or Python's own."""
    path, package = Path(filename).resolve(), Path(__file__).resolve().parent
    if path.suffix != ".py" or path.is_relative_to(package / "_data"):
        return path.suffix == ".py"
    # The command's own entry script has no suffix; libraries lie below the interpreter's prefixes.
    libraries = [Path(prefix).resolve() / "lib" for prefix in {sys.prefix, sys.base_prefix}]
    return not any(path.is_relative_to(folder) for folder in (package, *libraries))


def _check_arguments(arguments: list[str]) -> None:
    """Names and paths go into descriptions, JSON and the engine, all of them text."""
    for argument in arguments:
        if not argument.isascii() and argument != argument.encode(errors="replace").decode():
            raise UserError(f"the argument {argument!r} is not UTF-8 text: rename the file, or give another name")


def main() -> None:
    """Entry point: runs a command; errors become one sentence on stderr and a non-zero exit status."""
    try:
        _check_arguments(sys.argv[1:])
        status = app(standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except (Interrupted, KeyboardInterrupt):
        print("breakeven: interrupted", file=sys.stderr)
        status = 130
    except BrokenPipeError:
        _drop_stdout()
        status = 141
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())  # type: ignore[attr-defined]
            sys.exit(EXIT_USAGE)
        message = _message(error)
        if message is None:
            raise
        print(f"breakeven: {message}", file=sys.stderr)
        status = EXIT_USAGE if hasattr(error, "format_message") else 1
    sys.exit(status if isinstance(status, int) else 0)


def _drop_stdout() -> None:
    """Nobody takes our output any more; the interpreter must not fail again when it flushes."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
