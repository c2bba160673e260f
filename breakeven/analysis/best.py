"""The fastest routine of a kind, by machine, offsets and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import isinf
from typing import TYPE_CHECKING, Any

from breakeven.analysis.crossings import TIE, leaders_of
from breakeven.analysis.trust import trust_line
from breakeven.output.html import escape, table, wrong
from breakeven.points.engine import Engine, SweepProgress
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.measurements import Tally, measured_again
from breakeven.points.result import UNEXPECTED_TRAP
from breakeven.points.table import failures
from breakeven.routine.checks import ISA_NAMES, isa_of_machine
from breakeven.sweeps.run import run_sweep
from breakeven.sweeps.spec import SweepSpec

if TYPE_CHECKING:
    import pandas as pd

#: machines that a line of trust is said of
_TRUSTED = 3
#: the trap of an instruction that there is not
_ILLEGAL = {"riscv": 2, "x86": 6}


@dataclass(frozen=True, slots=True)
class Cell:
    """Who is fastest at one size."""

    size: int
    #: those within 1 % of the fastest, the fastest first; none: every point failed
    fastest: tuple[str, ...]
    #: the time of the next one over that of the fastest; 1: a tie
    lead: float
    #: cycles per call of the fastest
    cycles: float | None

    def text(self, whole: bool) -> str:
        """For a table. Not `whole`: of a tie of more than two the first and how many, as a screen is narrow."""
        if not self.fastest:
            return "-"
        if len(self.fastest) == 1:
            # Alone it leads nobody.
            return self.fastest[0] + ("" if isinf(self.lead) or self.lead == 1 else f" {self.lead:.2f}x")
        others = len(self.fastest) - 1
        names = list(self.fastest) if whole or others == 1 else [self.fastest[0], f"{others} more"]
        return " = ".join(names)


@dataclass(frozen=True, slots=True)
class Row:
    """Who is fastest on a machine at a pair of offsets."""

    machine: str
    isa: str
    src: int
    dst: int
    #: how many routines were tried
    routines: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Best:
    """The fastest routine of a kind: a row for each machine and pair of offsets, a cell for each size."""

    kind: str
    sizes: list[int]
    cache: str
    measure: str
    rows: list[Row]
    table: pd.DataFrame
    #: what is mixed; the sizes are then working sets. Empty: none
    mix: str = ""
    #: routines with an instruction that a machine lacks: machine -> names
    left_out: dict[str, list[str]] = field(default_factory=dict)
    #: what went wrong, point by point; such points win nothing
    failures: list[str] = field(default_factory=list)
    #: simulations: two of a point that is measured again, those of left-out routines, none of what a store has; None:
    #: not counted
    simulated: int | None = None

    def conditions(self) -> str:
        """What all rows have in common."""
        return f"{self.kind}, {self.cache}, {self.measure}" if not self.mix else f"{self.kind}, a mix of {self.mix}"

    def trust(self) -> list[str]:
        """How near each machine is to silicon, a line each; none of many machines."""
        machines = list(dict.fromkeys(row.machine for row in self.rows))
        if len(machines) > _TRUSTED:
            return []
        fastest = list(dict.fromkeys(name for row in self.rows for cell in row.cells for name in cell.fastest))
        specs = [MachineSpec(name, tuple(settings)) for name, *settings in map(str.split, machines)]
        return [f"{spec.name}: {trust_line(spec, fastest)}" for spec in specs]

    def left_out_words(self) -> str:
        """Which routines were left out where; empty: none."""
        machines: dict[str, list[str]] = {}
        for machine, names in self.left_out.items():
            for name in names:
                machines.setdefault(name, []).append(machine)
        each = "; ".join(f"{name} on {', '.join(where)}" for name, where in machines.items())
        return each and f"left out, as the machine lacks an instruction of it: {each}"

    def tables(self, whole: bool = True) -> list[tuple[str, list[str], list[tuple[str, ...]]]]:
        """A table for each instruction set: title, heads, rows (`Cell.text`)."""
        found = []
        for isa in dict.fromkeys(row.isa for row in self.rows):
            rows = [
                (row.machine, f"{row.src}", f"{row.dst}", *(cell.text(whole) for cell in row.cells))
                for row in self.rows
                if row.isa == isa
            ]
            same = {row[2] for row in rows} == {"0"}
            drop = (1, 2) if self.mix else (2,) if same else ()
            heads = ["machine", "src+", "dst+", *(f"{size} B" for size in self.sizes)]
            keep = [i for i in range(len(heads)) if i not in drop]
            title = f"{ISA_NAMES.get(isa, isa)}: the fastest of {self.conditions()}; its lead over the next, = a tie"
            found.append((title, [heads[i] for i in keep], [tuple(row[i] for i in keep) for row in rows]))
        return found

    def as_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "kind": self.kind, "sizes": self.sizes, "cache": self.cache, "measure": self.measure, "mix": self.mix,
            "rows": [asdict(row) for row in self.rows], "left_out": self.left_out,
            "points": len(self.table), "simulated": self.simulated,
            "measured_again": measured_again(self.table), "not_converged": Tally().add(self.table).not_converged,
            "ok": not self.failures, "first_failure": self.failures[0] if self.failures else None,
        }  # fmt: skip

    def __repr__(self) -> str:
        machines = list(dict.fromkeys(row.machine for row in self.rows))
        return f"Best({self.conditions()}; {len(machines)} machines, {len(self.sizes)} sizes)"

    def _repr_html_(self) -> str:
        return best_page(self)


def best(
    kind: str, specs: Sequence[SweepSpec], engine: Engine, threads: int = 0, progress: SweepProgress | None = None
) -> Best:
    """Runs `specs`, a sweep of a machine's routines each, and finds the fastest at each size."""
    import pandas as pd

    total, done, tables, rows = sum(spec.count() for spec in specs), 0, [], []
    left_out: dict[str, list[str]] = {}
    for spec in specs:
        told = None if progress is None else _behind(progress, done, total)
        found = run_sweep(spec, engine, threads, told, one_job=True)
        if lacking := _lacking(spec, found):
            left_out[str(spec.machines[0])] = lacking
            found = found[~found["routine"].isin(lacking)]
        rows += _rows(spec, found)
        tables.append(found)
        done += spec.count()
    table, first = pd.concat(tables, ignore_index=True), specs[0]
    return Best(
        kind,
        list(first.sizes),
        first.cache_states[0],
        first.measures[0],
        rows,
        table,
        str(first.mix) if first.mix else "",
        left_out,
        failures(table),
    )


def _behind(progress: SweepProgress, before: int, total: int) -> SweepProgress:
    return lambda done, _, label: progress(before + done, total, label)


def _lacking(spec: SweepSpec, table: pd.DataFrame) -> list[str]:
    """The routines that run into an instruction that the machine lacks, at every point."""
    isa = isa_of_machine(spec.machines[0])
    trapped = (table["status"] == UNEXPECTED_TRAP) & (table["detail"] == _ILLEGAL.get(isa, -1))
    every = trapped.groupby(table["routine"]).all()
    return [str(name) for name in every[every].index]


def _rows(spec: SweepSpec, table: pd.DataFrame) -> list[Row]:
    machine = spec.machines[0]
    table = table.assign(cycles=lambda rows: rows["cycles_median"] / rows["calls"])
    isa, found = isa_of_machine(machine), []
    for (src, dst), group in table.groupby(["src_offset", "dst_offset"], sort=True):
        cells = []
        for size, points in group.groupby("size", sort=True):
            good = points[points["ok"]]
            times = dict(sorted(zip(good["routine"], map(float, good["cycles"]), strict=True), key=lambda p: p[1]))
            names, lead = leaders_of(times, TIE) if times else ((), 1.0)
            cells.append(Cell(int(size), names, lead, min(times.values(), default=None)))
        found.append(Row(str(machine), isa, int(src), int(dst), len(spec.routines), tuple(cells)))
    return found


def best_page(found: Best) -> str:
    """The tables as HTML, for a notebook."""
    parts = [table(heads, rows, title) for title, heads, rows in found.tables()]
    said = f"<p>{escape(found.left_out_words())}</p>" if found.left_out else ""
    return wrong(found.failures) + "\n".join(parts) + said


def best_document(found: Best, command: str) -> str:
    """The tables as a page of their own; a name is never broken over two lines, of a tie each has its own."""
    parts = [f"<h1>the fastest {escape(found.kind)} by machine and size</h1>", wrong(found.failures)]
    for title, heads, rows in found.tables():
        head = "".join(f"<th>{escape(name)}</th>" for name in heads)
        lines = ["".join(f"<td>{escape(cell).replace(' = ', '<br>= ')}</td>" for cell in row) for row in rows]
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        parts.append(f"<h2>{escape(title)}</h2>\n<div class='rows whole' style='white-space: nowrap'><table>")
        parts.append(f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>")
    parts += [f"<p>{escape(found.left_out_words())}</p>"] if found.left_out else []
    return "\n".join([*parts, f'<p class="count">Made by <code>{escape(command)}</code></p>\n'])
