"""The web site of the documents: their Markdown, staged as in the repository, built by Zensical into build/site.

Zensical has an environment of its own (build/site-venv, versions in docs/requirements.lock): set-up stays quick.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import venv
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import docs

BUILD = docs.REPO / "build"
STAGE = BUILD / "site-stage"
SITE = BUILD / "site"
VENV = BUILD / "site-venv"
LOCK = docs.DOCS / "requirements.lock"
#: what Zensical's pages load from a network, to search where there is no server; ours does that from the site itself
SHIM = re.compile(r'(<script src=")https?://[^"]*iframe-worker/shim"')
LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")


def zensical() -> Path:
    """The builder, installed if it is not yet there."""
    program, stamp = VENV / "bin" / "zensical", VENV / "lock"
    if not program.exists() or not stamp.exists() or stamp.read_bytes() != LOCK.read_bytes():
        venv.create(VENV, with_pip=True, clear=True)
        pip = [str(VENV / "bin" / "pip"), "--quiet", "--disable-pip-version-check", "install", "--require-hashes"]
        subprocess.run([*pip, "-r", str(LOCK)], check=True)
        stamp.write_bytes(LOCK.read_bytes())
    return program


def staged_name(page: Path) -> Path:
    """Where a page is staged: a folder's README is its index."""
    relative = page.relative_to(docs.REPO)
    return relative.with_name("index.md") if relative.name == "README.md" else relative


def stage() -> None:
    """Copies the pages, and every file of the repository that one of them links to."""
    shutil.rmtree(STAGE, ignore_errors=True)
    pages = set(docs.pages())

    def staged(page: Path, text: str) -> str:
        def link(match: re.Match[str]) -> str:
            target = match[2]
            if "://" in target:
                return match[0]
            file = (page.parent / target).resolve()
            if file.is_dir() and (file / "README.md") in pages:
                file /= "README.md"
                target = target.rstrip("/") + "/README.md"
            if file in pages:
                return match[1] + re.sub(r"README\.md$", "index.md", target) + match[3]
            if file.is_file():
                # What is no page is a file to look at or to take.
                shown = file.with_name(file.name + ".txt") if file.suffix in ("", ".py", ".c", ".h", ".rs") else file
                copy = STAGE / "pages" / shown.relative_to(docs.REPO)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
                return match[1] + target + shown.name.removeprefix(file.name) + match[3]
            return match[0]

        return LINK.sub(link, text)

    for page in pages:
        copy = STAGE / "pages" / staged_name(page)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(staged(page, page.read_text(encoding="utf-8")), encoding="utf-8")
    shutil.copyfile(docs.DOCS / "zensical.toml", STAGE / "zensical.toml")


def build() -> Path:
    """Builds the site; gives its first page."""
    stage()
    subprocess.run([str(zensical()), "build", "--clean"], cwd=STAGE, check=True)
    for file in (STAGE / "site").rglob("*.html"):
        up = "../" * (len(file.relative_to(STAGE / "site").parts) - 1)
        text = file.read_text(encoding="utf-8")
        file.write_text(SHIM.sub(rf'\1{up}assets/offline-worker.js"', text), encoding="utf-8")
    shutil.copy(docs.DOCS / "offline-worker.js", STAGE / "site" / "assets")
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.move(STAGE / "site", SITE)
    return SITE / "index.html"


class _Page(HTMLParser):
    """The identifiers of a page, its links, and what it loads."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("id"):
            self.ids.add(values["id"] or "")
        if tag == "a" and values.get("href"):
            self.links.append(values["href"] or "")
        loaded = values.get("src") or (values.get("href") if tag == "link" else None)
        if loaded:
            self.loaded.append(loaded)


def faults(site: Path = SITE) -> Iterator[str]:
    """Links of the built site that lead nowhere, and whatever a page loads from a network."""
    pages = {file.resolve(): _Page(file) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        name = file.relative_to(site.resolve())
        for address in page.loaded:
            if urlsplit(address).netloc:
                yield f"{name} loads {address}"
        if name.name == "404.html":
            continue  # its links begin at the root of a server
        for address in {*page.links, *page.loaded}:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if not target.exists():
                yield f"{name}: {address} leads nowhere"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                yield f"{name}: {address}: no such heading"
