"""The explorer's page without a server, from Python and from the command line."""

from __future__ import annotations

import dataclasses
import re
import sys
import urllib.request
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import breakeven
from breakeven.cli import load
from breakeven.errors import UserError
from breakeven.explorer import notebook
from tests.page_data import data_of

pytestmark = pytest.mark.slow

pytest.importorskip("breakeven._engine", reason="the engine is not built")


def test_a_view_says_what_compare_says_and_saves_itself(tmp_path: Path) -> None:
    changed = {"cpu.executeBranchDelay": 6}
    view = breakeven.explore("rv-byte", "rv-copy-user-2021", settings=changed, src=3, largest=64, store=False)
    sizes = [size for line in view.saved["curves"] for size, _ in line.get("points", [])]
    found = breakeven.compare("rv-byte", "rv-copy-user-2021", sizes=sizes, settings=changed, src=3, store=False)
    assert (
        view.break_even == dataclasses.asdict(found.leads.choice)
        and found.leads.edges[0][1] - found.leads.edges[0][0] == 1
    )
    assert view.verdicts == found.as_dict()["said"]
    assert "--set cpu.executeBranchDelay=6 --src 3" in view.command and "set=cpu.executeBranchDelay=6" in view.link
    text = view.save(tmp_path / "page.html").read_text()
    data = data_of(text)
    assert data["live"] is False and "token" not in data and len(text) < 300_000
    assert {"describe", "curves", "commands", "code", "account", "pipeline", "map"} == data["saved"].keys()
    # Accounts and cycles by instruction are of every size that is drawn.
    for kind in ("account", "code"):
        assert {line["size"] for line in view.saved[kind] if "size" in line} == set(sizes)
    assert {line["size"] for line in view.saved["pipeline"]} >= {min(sizes), max(sizes)}
    shown = view._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts') and "&lt;!DOCTYPE html&gt;" in shown


def test_in_a_kernel_a_view_is_its_live_page_and_its_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=True)))
    view = breakeven.explore("rv-byte", "rv-word", largest=16, store=tmp_path / "store.sqlite")
    shown = view._repr_html_()
    running = notebook.running(view.state, *view.where)
    try:
        address = unescape(re.findall(r'data-address="([^"]*)"', shown)[0])
        assert address == running.address(view.state) and "srcdoc=" in shown
        with urllib.request.urlopen(address) as answer:
            assert data_of(answer.read().decode())["live"] is True
    finally:
        running.close()
    with pytest.raises(OSError):
        urllib.request.urlopen(address)


def test_the_command_writes_a_page_and_serves_nothing(tmp_path: Path) -> None:
    def run(*words: object) -> str:
        done = CliRunner().invoke(load("explore"), ["explore", *map(str, words), "--no-store"], standalone_mode=False)
        if done.exception:
            raise done.exception
        return done.stdout

    out = tmp_path / "page.html"
    said = run("rv-byte", "rv-word", "-n", "1..16", "-o", out)
    assert said == f"{breakeven.explore('rv-byte', 'rv-word', largest=16, store=False).verdicts[0]}\npage: {out}\n"
    before = out.read_bytes()
    run("rv-byte", "rv-word", "-n", "1..16", "-o", out)
    assert out.read_bytes() == before, "a page of the same results is the same bytes"
    with pytest.raises(UserError, match="there is no routine 'rv-wird'"):
        run("rv-wird", "rv-word", "-o", out)
    assert out.read_bytes() == before
