"""The documents' generated parts, links and web site.

A page is written by hand except for its blocks, and for the reference pages, which are generated whole:

    <!-- generated: NAME -->
    ...
    <!-- end -->

Every number in them comes from a file of this repository, so that no two pages can disagree.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPO), str(REPO / "scripts")]
DOCS = REPO / "docs"
BLOCK = re.compile(r"(<!-- generated: ([\w-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
#: what `--measure` can measure again, and how
MEASURES = {
    "agreement": ["scripts/gem5_agreement.py"],
    "parameters": ["scripts/gem5_parameters.py"],
}


def pages() -> list[Path]:
    """Every page: the documents, the reports, and what stands at the top."""
    found = [*REPO.glob("*.md"), *DOCS.rglob("*.md"), *REPO.glob("results/**/*.md")]
    return sorted(found)


def with_blocks(text: str) -> str:
    """A page's text with its blocks as they should be."""
    from doc_blocks import BLOCKS

    def block(match: re.Match[str]) -> str:
        if match[2] not in BLOCKS:
            raise SystemExit(f"docs: there is no generated block {match[2]!r}: one of {', '.join(BLOCKS)}")
        return f"{match[1]}\n{BLOCKS[match[2]]().strip()}\n\n{match[4]}"

    return BLOCK.sub(block, text)


def stale() -> dict[Path, str]:
    """Pages that are not what they should be -> what they should be."""
    import cli_reference

    from tests.probes import document

    whole = {cli_reference.PAGE: cli_reference.reference, document.PAGE: document.page}
    wanted = {page: with_blocks(page.read_text(encoding="utf-8")) for page in pages() if page not in whole}
    wanted |= {page: write() for page, write in whole.items()}
    return {page: text for page, text in wanted.items() if page.read_text(encoding="utf-8") != text}


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """The fragments that a page's headings have."""
    found: dict[str, int] = {}
    for heading in re.findall(r"^#+ (.*)$", without_code(text), re.MULTILINE):
        shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-")
        found[slug] = found.get(slug, -1) + 1
    return {name if not i else f"{name}-{i}" for name, last in found.items() for i in range(last + 1)}


@cache
def _anchors_of(page: Path) -> set[str]:
    return anchors(page.read_text(encoding="utf-8"))


def broken_links(page: Path) -> Iterator[str]:
    """Links of a page that lead to no file or no heading."""
    text = re.sub(r"`[^`\n]*`", "", without_code(page.read_text(encoding="utf-8")))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        target, _, fragment = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        file = (page.parent / target).resolve() if target else page
        missing = not file.exists() or (fragment and file.suffix == ".md" and fragment not in _anchors_of(file))
        if missing:
            yield link


def _say(lines: Iterable[str]) -> int:
    count = 0
    for count, line in enumerate(lines, 1):  # noqa: B007
        print(f"docs: {line}", file=sys.stderr)
    return count


def check() -> int:
    """The number of things that are wrong, each of which is told."""
    wrong = [f"{page.relative_to(REPO)} is stale: run scripts/docs --update" for page in stale()]
    wrong += [f"{page.relative_to(REPO)}: {link} leads nowhere" for page in pages() for link in broken_links(page)]
    return _say(wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write generated blocks and pages again")
    parser.add_argument("--check", action="store_true", help="say what is stale, and which links lead nowhere")
    parser.add_argument("--measure", choices=MEASURES, action="append", default=[], help="measure its data again first")
    parser.add_argument("--site", action="store_true", help="build the web site in build/site")
    options = parser.parse_args()
    if not (options.update or options.check or options.measure or options.site):
        parser.print_help()
        return 2
    from tests.probes.comparison import RowError

    try:
        return run(options)
    except RowError as error:
        return _say([str(error)])


def run(options: argparse.Namespace) -> int:
    for name in options.measure:
        subprocess.run([sys.executable, *MEASURES[name]], cwd=REPO, check=True)
    if options.update or options.measure:
        for page, text in stale().items():
            page.write_text(text, encoding="utf-8")
            print(f"wrote {page.relative_to(REPO)}", file=sys.stderr)
    if options.site:
        from docs_site import build

        print(build())
    return 1 if options.check and check() else 0


if __name__ == "__main__":
    sys.exit(main())
