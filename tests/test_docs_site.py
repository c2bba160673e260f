"""The web site of the documents. Built only where its builder is installed (`scripts/docs --site` installs it)."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

REPO = Path(__file__).resolve().parent.parent
sys.path.append(str(REPO / "scripts"))
import docs_site  # noqa: E402

import docs  # noqa: E402


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


@pytest.mark.browser
@pytest.mark.long
def test_the_built_site(browser) -> None:
    """Every link of it leads somewhere, it loads nothing from a network, and its search works from a file."""
    from playwright.sync_api import expect

    if not (docs_site.VENV / "lock").exists():
        pytest.skip("the site's builder is not installed: scripts/docs --site")
    first = docs_site.build()
    assert list(docs_site.faults(first.parent)) == []
    page = browser.new_page()
    page.goto(first.as_uri())
    # Buttons and results are inside shadow trees, which locators look into.
    page.locator("button:has-text('Search')").first.click()
    page.locator("input:not([type=checkbox]):not([type=radio])").first.fill("misaligned")
    expect(page.get_by_text(re.compile(r"^\s*[1-9]\d* results")).first).to_be_visible()
