"""A view in a real notebook: Jupyter's kernel runs it, chromium moves its sliders, and a saved notebook keeps it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.long]

pytest.importorskip("breakeven._engine", reason="the engine is not built")
pytest.importorskip("ipykernel", reason="no notebook kernel: scripts/setup installs it")
nbclient = pytest.importorskip("nbclient", reason="no nbclient: scripts/setup installs it")
nbformat = pytest.importorskip("nbformat")

CELLS = (
    "import breakeven, json\n"
    "view = breakeven.explore('rv-byte', 'rv-copy-user-2021', src=3, largest=64, store='store.sqlite')\n"
    "view",
    "print(json.dumps([view.verdicts, view.break_even['threshold'], view.link]))",
    "moved = breakeven.explore('rv-byte', 'rv-copy-user-2021', src=3, largest=64, store='store.sqlite',\n"
    "                          settings={'cpu.executeBranchDelay': 6})\n"
    "print(json.dumps(moved.verdicts))",
)

Execute = Callable[[int], dict[str, Any]]


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[tuple[Execute, Callable[[], None], Any]]:
    """Runs a cell in the kernel and gives its output; ends the kernel; the notebook."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    client = nbclient.NotebookClient(notebook, timeout=100, resources={"metadata": {"path": str(tmp_path)}})
    # A thread of its own: playwright has a loop in this one.
    with ThreadPoolExecutor(1) as alone:
        running = client.setup_kernel()
        alone.submit(running.__enter__).result(100)
        ended: list[bool] = []

        def end() -> None:
            if not ended:
                ended.append(True)
                alone.submit(running.__exit__, None, None, None).result(60)

        def execute(at: int) -> dict[str, Any]:
            cell = alone.submit(client.execute_cell, notebook.cells[at], at).result(100)
            return cell["outputs"][-1]

        try:
            yield execute, end, notebook
        finally:
            end()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """Serves a folder, as a notebook's own server does."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=tmp_path))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()


def test_a_kernel_runs_the_view_and_a_saved_notebook_keeps_it(browser, kernel, site: str, tmp_path: Path) -> None:
    execute, end, notebook = kernel
    shown = execute(0)["data"]
    assert "text/html" in shown and shown["text/plain"].startswith("View(")
    verdicts, stays, link = json.loads(execute(1)["text"])
    assert stays and verdicts[0].startswith("rv-byte leads to ") and "rv-copy-user-2021 from " in verdicts[0]
    assert link.startswith("#m=u74&r=rv-byte,rv-copy-user-2021")
    (moved,) = json.loads(execute(2)["text"])
    assert moved != verdicts[0]
    (tmp_path / "cell.html").write_text(f"<!DOCTYPE html><body>{shown['text/html']}</body>")
    tab = browser.new_page()
    try:
        tab.goto(f"{site}/cell.html")
        live = tab.frame_locator("iframe >> nth=0")
        live.locator(".said", has_text=f"{verdicts[0]}.").wait_for()
        slider = live.locator('#controls input[type="range"][data-path="cpu.executeBranchDelay"]')
        # Places are counted from 0, cycles of this delay from 1: the fifth place is 6.
        slider.evaluate("(node) => { node.value = '5'; node.dispatchEvent(new Event('input', { bubbles: true })); }")
        # What the page says of the moved slider is what the kernel says of the same setting.
        live.locator(".said", has_text=f"{moved}.").wait_for()
        end()
        # Saved, read again without its kernel: the snapshot, with what the cell had.
        nbformat.write(notebook, tmp_path / "saved.ipynb")
        kept = nbformat.read(tmp_path / "saved.ipynb", as_version=4)["cells"][0]["outputs"][-1]["data"]["text/html"]
        (tmp_path / "saved.html").write_text(f"<!DOCTYPE html><body>{kept}</body>")
        tab.goto(f"{site}/saved.html")
        saved = tab.frame_locator("iframe >> nth=1")
        saved.locator(".said", has_text=f"{verdicts[0]}.").wait_for()
        assert tab.locator("iframe >> nth=0").is_hidden()
        saved.locator("[role=tab]", has_text="code").click()
        saved.locator(".listing", has_text="lbu").first.wait_for()
    finally:
        tab.close()
