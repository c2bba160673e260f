"""Thresholds to ship: `tune`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from breakeven.cli.app import app
from breakeven.cli.options import (
    JsonOption,
    MachineOption,
    NoStoreOption,
    RepetitionsOption,
    SetOption,
    StoreOption,
    ThreadsOption,
    kept_in,
    number,
)
from breakeven.errors import say, shown_path


@app.command(short_help="The thresholds of a dispatcher: least expected cycles, as a C header.")
def tune(
    kind: Annotated[
        str, typer.Argument(help="copy, user-copy, checksum, set, ...: its best routines, without --candidates.")
    ] = "",
    candidates: Annotated[str, typer.Option("--candidates", help="Routines to choose from (a,b,...).")] = "",
    target: Annotated[
        str, typer.Option("--target", help="A threshold that is shipped (docs/tune.md), on machines a,b,...")
    ] = "",
    machine: MachineOption = "u74",
    settings: SetOption = [],  # noqa: B006
    distribution: Annotated[str, typer.Option(help="uniform, spec2017, or a file (docs/tune.md).")] = "uniform",
    sizes: Annotated[str, typer.Option("--sizes", "-n", help="Sizes of the uniform distribution.")] = "1..1024",
    src: Annotated[str, typer.Option("--src", "-s", help="Source offsets, as likely each.")] = "0..7",
    dst: Annotated[str, typer.Option("--dst", "-d", help="Destination offsets, as likely each.")] = "0",
    branches: Annotated[int, typer.Option(parser=number(0, 16), help="Most tests that the dispatcher may make.")] = 3,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Near the best routine at every size, not the least expected cycles.")
    ] = False,
    cache: Annotated[str, typer.Option(help="Where the buffers lie, as of compare.")] = "warm",
    measure: Annotated[str, typer.Option(help="latency or throughput.")] = "latency",
    repetitions: RepetitionsOption = None,
    points: Annotated[
        int, typer.Option(parser=number(1), help="Most points of the candidates; sizes are thinned out.")
    ] = 1000,
    name: Annotated[str, typer.Option(help="The function in the header (default tuned_KIND).")] = "",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The header (default NAME.h).")] = None,
    threads: ThreadsOption = 0,
    store: StoreOption = None,
    no_store: NoStoreOption = False,
    json: JsonOption = False,
) -> int:
    """Find the dispatch by size and alignment that takes the fewest expected cycles under a distribution of sizes.

    Says what each further branch gains and costs, and writes a C header with the thresholds and the evidence.
    """
    from breakeven import api
    from breakeven.errors import UserError
    from breakeven.files.writing import check_target, write_text
    from breakeven.output.console import progress_bar

    if bool(target) + bool(candidates) + bool(kind) > 1:
        raise UserError("tune takes a kind, --candidates or --target: one of them")
    kind = kind or "copy"
    name = name or ("tuned_copy" if candidates else f"tuned_{kind.replace('-', '_')}")
    if target:
        with progress_bar(not json, "tune") as progress:
            answers = api.tune_target(
                target, machine.split(","), settings=settings, threads=threads, store=kept_in(store, no_store),
                progress=progress,
            )  # fmt: skip
        _print_target(answers, json)
        return 0
    file = out or (None if json else Path(f"{name}.h"))
    if file:
        check_target(file)
    with progress_bar(not json, "tune") as progress:
        answer = api.tune(
            *filter(None, candidates.split(",")), kind=kind, machine=machine, settings=settings,
            distribution=distribution, sizes=sizes, src=src, dst=dst, branches=branches, cache=cache, measure=measure,
            points=points, name=name, everywhere=everywhere, repetitions=repetitions, threads=threads,
            store=kept_in(store, no_store), progress=progress,
        )  # fmt: skip
    if file:
        write_text(file, answer.header)
    _print(answer, file, json)
    answer.tally.say()
    return 0


def _print_target(answers: Any, json: bool) -> None:
    from breakeven.output.console import print_json, print_table

    if json:
        print_json([answer.as_dict() for answer in answers])
        return
    target = answers[0].target
    say(f"{target.name}: {target.what}; today {'never' if target.today is None else f'{target.today} B'}")
    rows = [
        (it.machine, it.way.name, "never" if it.threshold is None else f"{it.threshold} B", f"{it.loss:.1%}",
         f"{it.today_loss:.1%}", f"{it.worst[1]:.0%} at {it.worst[0]} B")
        for it in answers
    ]  # fmt: skip
    heads = ("machine", "way above", "from", "loses", "today's loses", "at worst")
    print_table(heads, rows, "against the best way at each size and offset", right=(2, 3, 4))
    for it in answers:
        say(f"{it.machine}:\n  " + it.line.replace("\n", "\n  "))


def _print(answer: Any, target: Path | None, json: bool) -> None:
    from breakeven.output.console import print_json, print_table
    from breakeven.tuning.plan_search import NEAR
    from breakeven.tuning.plans import threshold_bounds

    found = answer.as_dict()
    bounds = threshold_bounds(answer.tuned.chosen.plan, answer.tuned.costs.sizes)
    if json:
        print_json({**found, "threshold_bounds": bounds, "file": str(target) if target else None})
        return
    tuned, costs = answer.tuned, answer.tuned.costs
    say(f"{answer.question.machine}, {costs.distribution.name}, {len(costs.sizes)} sizes, {len(costs.pairs)} offsets")
    rows = [(f"always {name}", f"{value:.1f}") for name, value in found["expected"].items()]
    rows.append(("always the fastest", f"{found['always_right']:.1f}"))
    print_table(("routine", "expected cycles"), rows, right=range(1, 2))
    first = tuned.tried[0].plan.cycles
    rows = [
        (str(one.plan.branches), one.plan.describe(), f"{first - one.plan.cycles:.1f}",
         f"{one.expected - one.plan.cycles:.1f}", f"{one.expected:.1f}", f"{one.near(costs)}/{len(costs.sizes)}")
        for one in tuned.tried
    ]  # fmt: skip
    heads = ("branches", "dispatch", "gains", "costs", "expected", f"within {NEAR:.0%}")
    print_table(heads, rows, "what branches gain and cost, cycles/call", right=(2, 3, 4, 5))
    say(f"chosen: {found['chosen']}")
    if bounds:
        between = ", ".join(f"{first} (not simulated: {lower + 1} to {first - 1} B)" for lower, first in bounds)
        say(f"thresholds are simulated sizes: {between}; more --points narrow them")
    say(
        f"within {NEAR:.0%} of the best routine at {found['near']} of {len(costs.sizes)} sizes; "
        f"at worst {found['worst']:+.1%} at {found['worst_size']} B "
        f"(dispatch {'' if tuned.dispatched else 'not '}included)"
    )
    if not tuned.dispatched:
        print("what the tests of the dispatch cost is not known: a checkout, which has a compiler, simulates them")
    if target:
        say(f"header: {shown_path(target)}")
