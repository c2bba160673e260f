"""The web site of the documents. Built only where its builder is installed (`scripts/docs --site` installs it)."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

REPO = Path(__file__).resolve().parent.parent
sys.path.append(str(REPO / "scripts"))
import docs_site  # noqa: E402

import docs  # noqa: E402

#: types a word into the page's search, as a reader does, and puts the number of results into the title
SEARCH = """<script>setTimeout(() => {
  [...document.querySelectorAll("button")].find((one) => /Search/.test(one.textContent)).click();
  const deeper = (e) => (e.shadowRoot ? [e, ...inside(e.shadowRoot)] : [e]);
  const inside = (root) => [...root.querySelectorAll("*")].flatMap(deeper);
  setTimeout(() => {
    const input = inside(document).find((e) => e.tagName === "INPUT" && !/checkbox|radio/.test(e.type));
    input.value = "misaligned";
    input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    setTimeout(() => {
      const said = inside(document).map((e) => /^\\s*\\d+ results/.exec(e.textContent)).find((found) => found);
      document.title = "found " + said;
    }, 3000);
  }, 1500);
}, 1500)</script>"""


def test_every_page_is_in_the_navigation() -> None:
    named = set(re.findall(r'"([^"]+\.md)"', (docs.DOCS / "zensical.toml").read_text()))
    pages = {str(docs_site.staged_name(page)) for page in docs.pages()}
    assert named <= pages
    assert {page for page in pages if page.startswith("docs/")} <= named


def test_pages_are_staged_with_what_they_link_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs_site, "STAGE", tmp_path)
    docs_site.stage()
    assert "](results/index.md)" in (tmp_path / "pages" / "index.md").read_text()
    assert (tmp_path / "pages" / "results" / "tsukamoto2021" / "what-if.png").is_file()
    missing = [
        f"{page.relative_to(tmp_path)}: {link}"
        for page in (tmp_path / "pages").rglob("*.md")
        for link in docs.broken_links(page)
    ]
    assert missing == []


def test_the_built_site(tmp_path: Path) -> None:
    """Every link of it leads somewhere, it loads nothing from a network, and its search works from a file."""
    if not (docs_site.VENV / "lock").exists():
        pytest.skip("the site's builder is not installed: scripts/docs --site")
    first = docs_site.build()
    assert list(docs_site.faults(first.parent)) == []
    if shutil.which("chromium") is None:
        pytest.skip("no browser")
    page = first.with_name("search-test.html")
    page.write_text(first.read_text().replace("</body>", f"{SEARCH}</body>"))
    try:
        options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
        command = ["chromium", *options, "--virtual-time-budget=20000", "--dump-dom", page.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    finally:
        page.unlink()
    assert re.search(r"<title>found [1-9]\d* results</title>", done.stdout)
