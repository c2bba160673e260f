"""Sequences on the command line: their names where a routine's stand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from breakeven import api
from breakeven.errors import UserError
from breakeven.points import sequence as sq
from tests.cli.conftest import _engine_is_built

pytestmark = pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")

COPY_SUM = "copy+checksum:rv-copy-user-2021,csum-generic-c"


def test_a_sequence_is_compared_with_what_copies_and_sums(in_process) -> None:
    with pytest.raises(UserError, match="csum-generic-c is a checksum routine: compare routines that do the same job"):
        api.compare(COPY_SUM, "csum-generic-c", sizes="64", store=False)
    status, out, error = in_process("compare", COPY_SUM, "rv-copy-csum", "-m", "atomic", "--sizes", "64..128:8")
    assert status == 0 and COPY_SUM in out and "rv-copy-csum leads" in out, error


def test_no_dispatcher_calls_a_sequence(in_process) -> None:
    status, _, error = in_process("tune", "--candidates", f"{COPY_SUM},rv-copy-csum", "-m", "u74", "--sizes", "64")
    assert status == 1 and "is a sequence, which no dispatcher calls" in error


def test_tables_and_the_store_have_the_name_as_it_was_written(in_process, tmp_path: Path) -> None:
    table, kept, asked = tmp_path / "s.csv", tmp_path / "kept.csv", tmp_path / "s.toml"
    asked.write_text(f'routines = ["{COPY_SUM}", "rv-copy-csum"]\nsizes = "8,16"\nmachines = "atomic"\n')
    store = ("--store", tmp_path / "s.db")
    for counted in ("4 simulated", "4 from the store"):
        status, out, error = in_process("sweep", "-f", asked, "-o", table, *store)
        assert status == 0, error
        assert counted.split()[0] in out
    assert table.read_text().count(f'"{COPY_SUM}",atomic,') == 2
    sq._known.clear()  # as in another process
    status, _, error = in_process("store", "export", kept, *store)
    assert status == 0 and kept.read_text().count(f'"{COPY_SUM}",atomic,') == 2, error
    status, out, _ = in_process("run", COPY_SUM, "-m", "atomic", "-n", 8, "--json", *store)
    assert json.loads(out)["routine"] == COPY_SUM
    (row,) = api.explain(COPY_SUM, machine="u74", size=64).values()
    assert row.result.point.routine == COPY_SUM


@pytest.mark.slow
def test_the_explorer_shows_the_code_of_both(in_process, tmp_path: Path) -> None:
    page = tmp_path / "e.html"
    status, _, error = in_process(
        "explore", COPY_SUM, "rv-copy-csum", "-m", "atomic", "-n", "1..64", "-o", page, "--no-store"
    )
    assert status == 0, error
    assert COPY_SUM in page.read_text()
