"""`best`: the fastest routine of a kind by machine and size; `compare` of several machines."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import breakeven
from breakeven.analysis.best import best, best_document
from breakeven.cli.best import best_done
from breakeven.errors import UserError
from breakeven.machine.presets import MachineError, machine_names
from breakeven.output.console import Table, fitted
from breakeven.points.machine_spec import MachineSpec
from breakeven.sweeps.spec import SweepSpec, seconds_of
from tests.cli.conftest import _engine_is_built

built = pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")
SPEC = SweepSpec(["fast", "slow", "rv-word"], [MachineSpec("u74")], [8, 64, 512], src_offsets=[0, 3])


def times(routine, size, row, machine):
    """`slow` is the fastest of small ones, `fast` of large ones; at 64 they tie. `rv-word` is never."""
    faster = 1 if machine.name == "u74" else 2
    return {"slow": 100 + size, "fast": 132 + size // 2, "rv-word": 9000}[routine] // faster


def test_each_cell_names_the_fastest_and_its_lead(fake) -> None:
    found = best("copy", [SPEC, replace(SPEC, machines=[MachineSpec("c906")])], fake(times))
    assert [(row.machine, row.src, row.routines) for row in found.rows] == [
        ("u74", 0, 3), ("u74", 3, 3), ("c906", 0, 3), ("c906", 3, 3),
    ]  # fmt: skip
    cells = found.rows[0].cells
    assert [(cell.size, cell.fastest) for cell in cells] == [(8, ("slow",)), (64, ("fast", "slow")), (512, ("fast",))]
    assert [round(cell.lead, 3) for cell in cells] == [round(136 / 108, 3), 1.0, round(612 / 388, 3)]
    ((title, heads, rows),) = found.tables()
    assert title.startswith("RISC-V") and heads == ["machine", "src+", "8 B", "64 B", "512 B"]
    assert rows[0] == ("u74", "0", "slow 1.26x", "fast = slow", "fast 1.58x")
    told = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert told["rows"][0]["cells"][1]["fastest"] == ["fast", "slow"]
    assert "slow 1.26x" in found._repr_html_() and "fast<br>= slow" in best_document(found, "breakeven best <copy>")


def test_a_tie_of_many_is_short_on_the_screen_and_whole_elsewhere(fake) -> None:
    found = best("copy", [SPEC], fake(lambda *_: 10))
    assert [found.tables(whole)[0][2][0][2] for whole in (True, False)] == ["fast = slow = rv-word", "fast = 2 more"]


def test_a_wrong_output_wins_nothing_and_is_told(fake) -> None:
    found = best("copy", [SPEC], fake(times, wrong={("slow", 8)}))
    assert found.rows[0].cells[0].fastest == ("fast",) and len(found.failures) == 2


def test_where_every_output_is_wrong_the_cell_is_empty_and_the_others_keep_their_sizes(fake) -> None:
    found = best("copy", [SPEC], fake(times, wrong={(name, 8) for name in SPEC.routines}))
    ((_, heads, rows),) = found.tables()
    assert heads[2:] == ["8 B", "64 B", "512 B"] and rows[0][2:] == ("-", "fast = slow", "fast 1.58x")
    assert json.loads(json.dumps(found.as_dict()))["rows"][0]["cells"][0]["fastest"] == []


def test_what_is_no_kind_is_told_the_kinds() -> None:
    with pytest.raises(UserError, match="there is no kind 'copi' of routine; did you mean 'copy'"):
        breakeven.best("copi")
    with pytest.raises(UserError, match="there is no kind 'all' of routine"):
        breakeven.best("all")


def test_machines_are_named_with_commas_or_all_together() -> None:
    assert machine_names(["u74,c906", "u74", "./a,b.py"]) == ["u74", "c906", "./a,b.py"]
    everyone = machine_names(["all"])
    assert {"u74", "zen5", "katmai"} <= set(everyone) and not {"o3", "x86_minor", "atomic", "o3_small"} & set(everyone)
    with pytest.raises(MachineError, match="name a machine"):
        machine_names([","])


def test_the_default_question_of_every_machine_is_short() -> None:
    """Points and sizes of the default, by the estimate that is told: a minute on two cores."""
    sizes = [8, 16, 32, 64, 100, 256, 512, 1448]
    specs = [replace(SPEC, routines=[f"r{i}" for i in range(29)], sizes=sizes)] * len(machine_names(["all"]))
    assert seconds_of(specs) < 120


def test_a_wide_table_becomes_several_on_a_narrow_terminal(monkeypatch) -> None:
    table = Table(("machine", "a", "b", "c"), [("u74", "x" * 20, "y" * 20, "z" * 20)], "title")
    monkeypatch.setattr("breakeven.output.console.terminal_width", lambda: 60)
    assert [(each.columns, each.title) for each in fitted(table, 1)] == [
        (["machine", "a", "b"], "title"), (["machine", "c"], ""),
    ]  # fmt: skip
    monkeypatch.setattr("breakeven.output.console.terminal_width", lambda: None)
    assert len(fitted(table, 1)) == 1


@built
@pytest.mark.slow
def test_the_command_over_both_instruction_sets(breakeven, tmp_path) -> None:
    asked = ["best", "copy", "-m", "u74,katmai", "-n", "8,64", "--src", "0", "--store", "points.db"]
    done = breakeven(*asked, "--html", "best.html", "-o", "points.csv")
    assert done.returncode == 0, done.stderr
    assert "RISC-V: the fastest of copy" in done.stdout and "x86-64: the fastest of copy" in done.stdout
    # Pentium III has no prefetchw, and u74 no vectors: no word of what they cannot run but this.
    assert "left out, as the machine lacks an instruction of it: i386-mmx-memcpy on katmai" in done.stdout
    assert "WRONG" not in done.stderr and "rvv" not in done.stdout + done.stderr
    page = (tmp_path / "best.html").read_text()
    assert "katmai" in page and "<script src" not in page
    assert (tmp_path / "points.csv").read_text().startswith("routine,")
    again = json.loads(breakeven(*asked, "--json").stdout)
    assert again["simulated"] == 0 and again["ok"] and [row["isa"] for row in again["rows"]] == ["riscv", "x86"]
    compared = json.loads(breakeven("compare", "copy", "-m", "u74", "-n", "8,64", "--json").stdout)
    for i, cell in enumerate(again["rows"][0]["cells"]):
        assert cell["cycles"] == min(curve[i] for curve in compared["cycles"].values())
    assert breakeven(*asked, "--markdown").stdout.startswith("**RISC-V")


@built
@pytest.mark.slow
def test_the_function_says_how_much_it_will_be_before_it_starts() -> None:
    told = []
    found = breakeven.best(
        "checksum", "u74", sizes=[64], src=0, store=False, before=lambda points, seconds: told.append((points, seconds))
    )
    assert told[0][0] == len(found.table) and 0 < told[0][1] < 10


@built
@pytest.mark.slow
def test_compare_has_a_block_for_each_machine(breakeven) -> None:
    pair, on = ["rv-byte", "rv-word", "-n", "8..32:8"], ["-m", "u74,c906", "-m", "c910"]
    done = breakeven("compare", *pair, *on)
    assert done.returncode == 0, done.stderr
    assert [line.split(",")[0] for line in done.stdout.splitlines() if "src+0" in line] == ["u74", "c906", "c910"]
    each = json.loads(breakeven("compare", *pair, *on, "--json").stdout)
    alone = json.loads(breakeven("compare", *pair, "-m", "c906", "--json").stdout)
    assert each["ok"] and {**each["machines"][1], "file": None} == alone


def test_simulations_are_no_share_of_the_points(fake, capsys) -> None:
    """Of a point that is measured again there are two, and of routines that are left out no points."""
    found = replace(best("copy", [replace(SPEC, src_offsets=[0])], fake(times)), simulated=18)
    assert best_done(found, None, None, 0.25, json=False, markdown=False) == 0
    assert "9 points in 0.2 s; 18 simulations now" in capsys.readouterr().out
