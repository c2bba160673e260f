"""Writes results/native/PRESET: the simulated preset that fits this host's processor beside the processor itself.

`python scripts/native.py [PRESET]`; another host gives other numbers. Its five routines are x86-64's: on a RISC-V host
compare one's own choice with `breakeven compare A B -m host --engine embedded,native`. `--probes` writes the probes and
the causes alone anew. On any host, by the native numbers that are kept: `--leads PRESET` writes the sentences on who
leads, `--simulated PRESET` the whole page, when the preset has changed.
results/native/README.md names what there is of every host.
"""

from __future__ import annotations

import argparse
import csv
import platform
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from breakeven.analysis.across_engines import LONG, NO_SMAP, EngineComparison, compare_engines
from breakeven.analysis.crossings import leads
from breakeven.analysis.verdict import describe_leads
from breakeven.cli.engines import plot_engines
from breakeven.engines.open import open_named
from breakeven.m5 import machine_hash
from breakeven.machine.host import Fit, cpu_info, fit_for, host_fit
from breakeven.machine.presets import describe_machine
from breakeven.points.machine_spec import MachineSpec
from breakeven.sweeps.spec import SweepSpec

sys.path.insert(0, str(Path(__file__).resolve().parent))
from native_probes import bodies, on_preset  # noqa: E402
from native_probes import table as table_of_probes  # noqa: E402

RESULTS = Path(__file__).resolve().parent.parent / "results" / "native"
COPIES = ["x64-copy-unrolled", "x64-copy-erms", "x64-copy-string"]
CHECKSUMS = ["x64-csum-herbert", "x64-csum-goldstein"]
OFFSETS = (0, 3)
LEADS = "## Where each sees the lead change"
SIZES = sorted(
    {0, 1, 2, 4, 8, 12, 1448, 16384, *range(16, 128, 16)}
    | {1 << k for k in range(7, 14)}
    | {3 << k for k in range(6, 13)}
)


def host_line(fit: Fit, info: dict[str, str]) -> str:
    exact = "of this core" if fit.exact else f"the nearest there is: the core is {fit.core}"
    host = f"{info.get('model name')}, family {info.get('cpu family')}, model {info.get('model')} ({fit.core})"
    return f"Host: {host}. Preset: `{fit.preset}`, {exact}."


def machine_rows(preset: str) -> list[str]:
    digest = machine_hash(describe_machine(preset, [NO_SMAP]))[:16]
    return ["| machine | description |", "|---|---|", f"| {preset} {NO_SMAP} | `{digest}` |"]


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join('---' if i == 0 else '---:' for i in range(len(heads)))}|"]
    return [*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows), ""]


def share(value: float | None, sign: bool = True) -> str:
    return "-" if value is None or value != value else f"{value:+.1%}" if sign else f"{value:.1%}"


def run(preset: str, offset: int, names: list[str], engines: list[str], *settings: str) -> EngineComparison:
    spec = SweepSpec(names, [MachineSpec(preset, settings)], SIZES, [offset], [offset])
    opened = lambda name: open_named(name, None, None, False)  # noqa: E731
    return compare_engines(spec, engines, opened)


def groups() -> list[tuple[int, str, list[str]]]:
    """Of the page's figures: the offset, what the routines do, and their names."""
    return [(offset, kind, names) for offset in OFFSETS
            for kind, names in (("copies", COPIES), ("checksums", CHECKSUMS))]  # fmt: skip


def write_points(found: dict[tuple[int, str], Any], folder: Path) -> None:
    with (folder / "points.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["routine", "offset", "size", "embedded", "native", "half_iqr", "error"])
        for (offset, _), both in found.items():
            for row in both.errors().itertuples():
                error = "" if row.error != row.error else f"{row.error:.4f}"
                out.writerow([row.routine, offset, row.size, row.embedded, row.native, row.half_iqr, error])


def summary(found: dict[tuple[int, str], Any]) -> list[str]:
    rows = []
    for (offset, _), both in found.items():
        for row in both.summary()[:-1]:
            worst = f"{share(row['long_worst'])} at {row['long_worst_size']} B" if row["long_points"] else "-"
            rows.append((row["routine"], offset, row["points"], share(row["median"], False), row["long_points"],
                         share(row["long_median"], False), share(row["long_bias"]), worst))  # fmt: skip
    heads = ("routine", "offset", "points", "median error", f"from {LONG} cycles", "median error", "signed", "worst")
    return table(heads, rows)


def kept_points(folder: Path) -> dict[tuple[int, str, int], tuple[float, float]]:
    """(offset, routine, size) -> the native cycles and half their interquartile range."""
    with (folder / "points.csv").open(newline="") as file:
        return {
            (int(row["offset"]), row["routine"], int(row["size"])): (float(row["native"]), float(row["half_iqr"]))
            for row in csv.DictReader(file)
        }


def beside_kept(preset: str, offset: int, names: list[str], host: str, folder: Path) -> EngineComparison:
    """The preset beside the native points of `folder`."""
    both, kept = run(preset, offset, names, ["embedded"], NO_SMAP), kept_points(folder)
    simulated = both.found["embedded"]
    points = {name: [kept[offset, name, int(x)] for x in simulated.x] for name in simulated.curves}
    native = replace(
        simulated,
        curves={name: [cycles for cycles, _ in curve] for name, curve in points.items()},
        half_iqrs={name: [half for _, half in curve] for name, curve in points.items()},
    )
    halves = {
        (name, int(x)): half for name, curve in points.items() for x, (_, half) in zip(native.x, curve, strict=True)
    }
    return EngineComparison({**both.found, "native": native}, {**both.on, "native": host}, halves)


def write_index() -> None:
    """What there is, from each host's page: its preset, its processor, the errors."""
    rows = []
    for page in sorted(RESULTS.glob("*/README.md")):
        text = page.read_text()
        host = next(line for line in text.splitlines() if line.startswith("Host: ")).removeprefix("Host: ")
        said = next(line for line in text.splitlines() if line.startswith("Median absolute error"))
        mixes = f", [mixes]({page.parent.name}/mixes.md)" if (page.parent / "mixes.md").is_file() else ""
        rows.append((f"[{page.parent.name}]({page.parent.name}/README.md){mixes}", host.partition(". Preset")[0], said))
    lines = ["# native: simulated presets beside the processors that they stand for", "",
             "Written by `python scripts/native.py`, a page for each kind of host that it has run on.", "",
             "| preset | host | errors |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]  # fmt: skip
    (RESULTS / "README.md").write_text("\n".join(lines) + "\n")


def probes(fit: Fit) -> list[str]:
    """Where the two differ, by short bodies; needs gcc."""
    if shutil.which("gcc") is None:
        return []
    by = "[native_probes.py](../../../scripts/native_probes.py)"
    about = f"Bodies in the place of the call, between the same fences, measured by {by}:"
    return ["## Probes", "", about, "", *table_of_probes(fit.preset), ""]


def probes_beside_kept(preset: str, text: str, folder: Path) -> str:
    """A page's last two sections: the preset's column of the probes anew, the causes as `folder` has them."""
    heading, last = "## Probes", text.partition("## Probes")[2].partition("## Causes")[0]
    # Only those that the host has measured.
    hosts = dict(re.findall(r"^\| (.+) \| (\d+) \| \d+ \|$", last, re.MULTILINE))
    named = {name: body for name, body in bodies().items() if name in hosts}
    for name, model in zip(named, on_preset(preset, list(named.values())), strict=True):
        row = f"| {name} | {hosts[name]} | "
        last = re.sub(rf"^{re.escape(row)}.*$", f"{row}{model:.0f} |", last, flags=re.MULTILINE)
    return f"{heading}{last}{causes(folder)}"


def overall(found: dict[tuple[int, str], Any]) -> str:
    import pandas as pd

    errors = pd.concat([both.errors() for both in found.values()])
    long = errors[errors["native"] >= LONG]
    short = errors[errors["native"] < LONG]
    median, of_long = (share(each["error"].abs().median(), False) for each in (errors, long))
    apart = (short["embedded"] - short["native"]).abs().median()
    return (
        f"Median absolute error over all {len(errors)} points: {median}; over the {len(long)} of {LONG} cycles and "
        f"more: {of_long}. Median difference of the others: {apart:.0f} cycles."
    )


def crossings(folder: Path) -> list[str]:
    """Where the lead changes, by the points kept in `folder`."""
    curves: dict[tuple[str, str, str], dict[int, float]] = {}
    with (folder / "points.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            for engine in ("embedded", "native"):
                curves.setdefault((engine, row["offset"], row["routine"]), {})[int(row["size"])] = float(row[engine])
    rows = []
    for offset in map(str, OFFSETS):
        for old, *others in (COPIES, CHECKSUMS):
            for new in others:
                said = []
                for engine in ("embedded", "native"):
                    one, other = (curves[engine, offset, name] for name in (old, new))
                    both = {old: list(one.values()), new: [other[size] for size in one]}
                    said.append(describe_leads(leads(list(one), both)))
                rows.append((f"{new} over {old}", offset, *said))
    return table(("pair", "offset", "simulated", "native"), rows)


def probes_and_causes(fit: Fit, folder: Path) -> str:
    """The last two sections of the page."""
    return "\n".join([*probes(fit), causes(folder)]).rstrip("\n") + "\n"


def causes(folder: Path) -> str:
    return (folder / "causes.md").read_text() if (folder / "causes.md").is_file() else ""


def write_leads(page: Path) -> None:
    """The section on the lead anew, in the page that is there."""
    before, _, rest = page.read_text().partition(LEADS)
    after = rest[rest.index("![") :]
    page.write_text("\n".join([f"{before}{LEADS}", "", *crossings(page.parent), after]))


def asked(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/native.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("preset", nargs="?", metavar="PRESET", help="in place of the one that fits this host")
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--probes", action="store_true", help="write the probes and the causes alone anew")
    one.add_argument("--leads", nargs="+", metavar="PRESET", help="by the kept numbers: the sentences on who leads")
    one.add_argument("--simulated", nargs="+", metavar="PRESET", help="by the kept numbers: the whole page")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> None:
    wanted = asked(arguments)
    for name in wanted.leads or ():
        write_leads(RESULTS / name / "README.md")
    for name in wanted.simulated or ():
        simulate_again(name)
    if not wanted.leads and not wanted.simulated:
        beside_this_host(wanted.preset, wanted.probes)


def beside_this_host(preset: str | None, probes_alone: bool) -> None:
    info = cpu_info()
    fit = host_fit()
    if platform.machine() != "x86_64":
        sys.exit("the routines of this page are x86-64's: breakeven compare A B -m host --engine embedded,native")
    if preset:
        named = fit_for(info)
        fit = Fit(preset, named.core if named else "unknown", bool(named and named.preset == preset))
    if fit is None:
        sys.exit("no preset fits this host's processor: name one")
    folder = RESULTS / fit.preset
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "README.md"
    if probes_alone:
        if not page.is_file():
            sys.exit(f"there is no {page} to write the probes into: run it without --probes")
        page.write_text(page.read_text().partition("## Probes")[0] + probes_and_causes(fit, folder))
        return
    found = {(offset, kind): run(fit.preset, offset, names, ["embedded", "native"])
             for offset, kind, names in groups()}  # fmt: skip
    write_page(fit.preset, host_line(fit, info), found, probes_and_causes(fit, folder))


def simulate_again(preset: str) -> None:
    folder = RESULTS / preset
    page = folder / "README.md"
    if not page.is_file():
        sys.exit(f"there are no native numbers of {preset} in {RESULTS}: run it on such a host, without --simulated")
    text = page.read_text()
    line = next(line for line in text.splitlines() if line.startswith("Host: "))
    host = line.removeprefix("Host: ").partition(". Preset")[0]
    found = {(offset, kind): beside_kept(preset, offset, names, host, folder) for offset, kind, names in groups()}
    write_page(preset, line, found, probes_beside_kept(preset, text, folder))


def write_page(preset: str, host: str, found: dict[tuple[int, str], Any], last: str) -> None:
    """`host`: the page's line on it; `last`: its last two sections."""
    folder = RESULTS / preset
    write_points(found, folder)
    for (offset, kind), both in found.items():
        plot_engines(both, folder / f"{kind}-{offset}.png")
    half_iqr = max(value for both in found.values() for value in both.half_iqrs.values())
    lines = [
        "# native: a simulated preset beside the host's own processor",
        "",
        "Written by `python scripts/native.py`: five routines at sizes from 0 to 16384, source and destination at "
        "offset 0 or 3 of a page, warm, one call at a time, both engines with the same harness "
        "([how](../../../docs/native.md)).",
        "",
        host, "", *machine_rows(preset), "",
        overall(found),
        f"Half the interquartile range of a native point's rounds is {half_iqr:.0f} cycles at most. "
        "Every point: [points.csv](points.csv).",
        "", "## Errors", "", *summary(found),
        "An error is (simulated - native) / native.", "",
        LEADS, "", *crossings(folder),
        "![copies at offset 0](copies-0.png)", "", "![copies at offset 3](copies-3.png)", "",
        "![checksums at offset 0](checksums-0.png)", "", "![checksums at offset 3](checksums-3.png)", "",
        last,
    ]  # fmt: skip
    (folder / "README.md").write_text("\n".join(lines))
    write_index()
    print(overall(found))


if __name__ == "__main__":
    main(sys.argv[1:])
