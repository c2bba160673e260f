"""`compare` with several engines: tables, a plot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from breakeven.errors import say, shown_path

EngineOption = Annotated[
    str,
    typer.Option(
        "--engine",
        help="embedded (the simulator), detailed (the same, set-up and verification cycle by cycle, too), native (this "
        "host), gem5 (a real one, $GEM5).",
    ),
]
EnginesOption = Annotated[
    str, typer.Option("--engine", help="embedded, detailed, native (this host), gem5; several: embedded,native.")
]
TrustNativeOption = Annotated[
    bool, typer.Option("--trust-native", help="With --engine native: the code of routines that you have added may run.")
]


#: rows of a routine's table: enough to see the shape, few enough for a screen
_ROWS = 12


def engines_done(found: Any, plot: Path | None, out: Path | None, json: bool) -> int:
    """Several engines' comparison as tables (or JSON); the exit status."""
    from breakeven.cli import summaries
    from breakeven.output.console import print_json
    from breakeven.points.measurements import Tally

    bad = [failure for one in found.found.values() for failure in one.failures]
    total = sum(len(one.table) for one in found.found.values())
    if json:
        print_json({**found.as_dict(), "plot": str(plot) if plot else None, "file": str(out) if out else None})
    else:
        _print(found)
        for what, path in (("plot", plot), ("results", out)):
            if path:
                say(f"{what}: {shown_path(path)}")
    summaries.print_failures(bad, total)
    tally = Tally()
    for one in found.found.values():
        tally.add(one.table)
    tally.say()
    return 1 if bad else 0


def _print(found: Any) -> None:
    from breakeven.analysis.verdict import NARROWER, describe_leads

    names = list(found.found)
    first = found.found[names[0]]
    say(f"{first.conditions().split(', ', 1)[1]}; cycles/call")
    for name in names:
        say(f"  {name}: {found.on[name]}")
    if len(names) > 1:
        _print_errors(found, names)
    for name in names:
        one = found.found[name]
        say(f"{name}: {describe_leads(one.leads, NARROWER) if one.leads else one.sentences()[0]}")


def _print_errors(found: Any, names: list[str]) -> None:
    from breakeven.analysis.across_engines import LONG
    from breakeven.output.console import print_table

    judged, by = names[:2]
    for routine, group in found.errors().groupby("routine", sort=False):
        step = max(1, len(group) // _ROWS)
        rows = [
            (f"{row['size']}", f"{row[judged]:.0f}", f"{row[by]:.0f}", _half_iqr(row["half_iqr"]), _share(row["error"]))
            for _, row in group.iloc[::step].iterrows()
        ]
        print_table(("size", judged, by, "IQR/2", "error"), rows, routine, right=range(5))
    rows = [
        (
            row["routine"] or "all", str(row["points"]), _share(row["median"], sign=False), str(row["long_points"]),
            _share(row["long_median"], sign=False), _share(row["long_bias"]),
            f"{_share(row['long_worst'])} at {row['long_worst_size']} B" if row["long_points"] else "-",
        )
        for row in found.summary()
    ]  # fmt: skip
    heads = ("routine", "points", "median |error|", f"from {LONG} cycles", "median |error|", "median error", "worst")
    print_table(heads, rows, f"{judged} against {by}", right=range(1, 7))


def _share(value: float, sign: bool = True) -> str:
    return "-" if value != value else f"{value:+.1%}" if sign else f"{value:.1%}"


def _half_iqr(value: float | None) -> str:
    return "" if value is None or value != value else f"±{value:.1f}"


def plot_engines(found: Any, path: Path) -> None:
    """Every engine's curves in one figure."""
    from breakeven.output import plots
    from breakeven.points.measurements import again_words

    x = next(iter(found.found.values())).x
    curves = {f"{routine}, {name}": c for name, one in found.found.items() for routine, c in one.curves.items()}
    wide = max(x) / max(min(x), 1) >= 256
    words = "; ".join(f"{name}: {on}" for name, on in found.on.items())
    if again := again_words(*(one.table for one in found.found.values())):
        words = f"{words}. {again}"
    plots.lines(path, x, curves, title="the same routines by several engines", caption=f"{words}.", log_x=wide,
                log_y=wide)  # fmt: skip
