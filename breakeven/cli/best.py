"""One table: which routine of a kind is fastest, by machine and size."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from breakeven.cli.app import app
from breakeven.cli.options import (
    GuestOption,
    JsonOption,
    MachinesOption,
    NoStoreOption,
    NoTrustOption,
    SetOption,
    StoreOption,
    ThreadsOption,
    kept_in,
)
from breakeven.cli.point_options import measuring_option_group
from breakeven.errors import UserError


@app.command("best", short_help="The fastest routine of a kind, by machine and size: one table.")
@measuring_option_group
def best_(
    *,
    kind: Annotated[
        str, typer.Argument(help="copy, user-copy, checksum, copy-checksum, set, move, clear, crc32c, ...")
    ],
    machine: MachinesOption = ["u74"],  # noqa: B006
    sizes: Annotated[str, typer.Option("--sizes", "-n", help="Sizes in bytes.")] = "8,16,32,64,100,256,512,1448",
    src: Annotated[
        str | None, typer.Option("--src", "-s", help="Source offsets: a row each (0,3; a mix has none).")
    ] = None,
    dst: Annotated[
        str | None, typer.Option("--dst", "-d", help="Destination offsets: a row each (0; of set and clear 0,3).")
    ] = None,
    measuring: dict[str, Any],
    settings: SetOption = [],  # noqa: B006
    markdown: Annotated[bool, typer.Option("--markdown", help="Tables as GitHub's markdown.")] = False,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="The tables as a page, too.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Every point: .csv, .json, .parquet.")] = None,
    threads: ThreadsOption = 0,
    guest: GuestOption = None,
    store: StoreOption = None,
    no_store: NoStoreOption = False,
    no_trust: NoTrustOption = False,
    json: JsonOption = False,
) -> int:
    """Show which routine of a kind is fastest at each size, machine by machine, and its lead over the next.

    -m all: every preset of a processor. What a machine's instruction set or extensions do not run is left out.
    """
    from breakeven import api
    from breakeven.cli.summaries import say_how_long
    from breakeven.files.writing import check_target, write_text
    from breakeven.output.console import progress_bar
    from breakeven.points.table import check_output, write_table

    if "," in measuring["cache"] or "," in measuring["measure"]:
        raise UserError("best looks at one cache state and one measure at a time")
    if html:
        check_target(html)
    if out:
        check_output(out)
    started = time.perf_counter()
    with progress_bar(not json, "best") as progress:
        found = api.best(
            kind, machines=machine, sizes=sizes, src=src, dst=dst, settings=settings, threads=threads, guest=guest,
            store=kept_in(store, no_store), progress=progress, before=None if json else say_how_long, **measuring,
        )  # fmt: skip
    if out:
        write_table(found.table, out)
    if html:
        write_text(html, _page(found))
    return best_done(found, html, out, time.perf_counter() - started, json, markdown, trust=not no_trust)


def _page(found: Any) -> str:
    from breakeven.analysis.best import best_document
    from breakeven.web.document import HERE, document

    return document(
        f"breakeven: the fastest {found.kind}", best_document(found, f"breakeven {shlex.join(sys.argv[1:])}"), {},
        [HERE / "page.css"], [],
    )  # fmt: skip


def best_done(
    found: Any, html: Path | None, out: Path | None, seconds: float, json: bool, markdown: bool, trust: bool = True
) -> int:
    """The tables (or JSON); the exit status. `trust`: with a line of trust for each machine, if they are few."""
    from breakeven.cli.summaries import print_failures
    from breakeven.output.console import Table, fitted, print_json, print_parts
    from breakeven.points.measurements import Tally, again_words

    files = {"html": str(html) if html else None, "file": str(out) if out else None}
    if json:
        print_json({**found.as_dict(), **files, "host_seconds": round(seconds, 3)})
    else:
        print_failures(found.failures, len(found.table))
        parts: list[Any] = []
        for title, heads, rows in found.tables(markdown):
            whole = Table(heads, rows, title, [i for i, head in enumerate(heads) if head.endswith("+")])
            if sys.stdout.isatty() and not markdown:  # a tie's names one below the other
                rows = [tuple(cell.replace(" = ", "\n= ") for cell in row) for row in rows]
                whole = whole._replace(rows=rows)
            parts += [whole] if markdown else fitted(whole, len(heads) - len(found.sizes))
        parts += [words] if (words := found.left_out_words()) else []
        parts += [again] if (again := again_words(found.table)) else []
        simulated = len(found.table) if found.simulated is None else found.simulated
        parts.append(f"{len(found.table)} points in {seconds:.1f} s; {simulated} simulations now")
        parts += found.trust() if trust else []
        parts += [f"{what}: {path}" for what, path in files.items() if path]
        print_parts(parts, markdown)
    print_failures(found.failures, len(found.table))
    Tally().add(found.table).say()
    return 1 if found.failures else 0
