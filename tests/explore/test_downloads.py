"""What the pages give out as files, in Debian's chromium: SVG, PNG and CSV of the explorer's page and of a report's."""

from __future__ import annotations

import csv
import io
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from tests.explore.test_browser import COPY, command_of, compared, downloaded, own_page, page

pytestmark = [pytest.mark.browser, pytest.mark.long]

__all__ = ["own_page", "page"]  # fixtures
SVG = "{http://www.w3.org/2000/svg}"


def colours_of(png: bytes) -> tuple[tuple[int, int], int]:
    """Width and height, and how many different colours."""
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(png)).convert("RGB")
    return image.size, len(image.getcolors(1 << 24))


def test_a_picture_as_svg_stands_alone_and_shows_what_the_page_shows(page, tmp_path: Path) -> None:
    file = downloaded(page, "SVG", tmp_path)
    assert file.name == "u74-rv-byte-rv-copy-user-2021.svg"
    text = file.read_text()
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg" and int(float(root.get("height"))) > 300
    curves = {node.get("data-name"): node.get("d") for node in root.iter(f"{SVG}path") if node.get("class") == "curve"}
    assert curves == {
        name: page.get_attribute(f"path.curve[data-name={name}]", "d") for name in ("rv-byte", "rv-copy-user-2021")
    }
    words = [node.text for node in root.iter(f"{SVG}text")]
    said = page.locator(".said").text_content()
    assert {"rv-byte", "rv-copy-user-2021", "size (bytes)", "cycles per call"} <= set(words)
    assert said.rstrip(".") in words and "u74, src+3, dst+0, warm, latency" in words
    # Colours as numbers, nothing from elsewhere: another program draws it.
    assert "var(" not in text and not re.search(r'(href|src)="', text)


def test_a_picture_as_png_is_drawn(page, tmp_path: Path) -> None:
    file = downloaded(page, "PNG", tmp_path)
    assert file.name == "u74-rv-byte-rv-copy-user-2021.png"
    root = ElementTree.fromstring(downloaded(page, "SVG", tmp_path).read_text())
    (width, height), colours = colours_of(file.read_bytes())
    # Two pixels a unit of the same picture; a blank one has one colour.
    assert (width, height) == (2 * int(float(root.get("width"))), 2 * int(float(root.get("height")))) and colours > 50


def test_numbers_as_csv_are_those_of_the_command_line(page, tmp_path: Path) -> None:
    file = downloaded(page, "CSV", tmp_path)
    assert file.name == "u74-rv-byte-rv-copy-user-2021.csv"
    rows = list(csv.DictReader(file.read_text().splitlines()))
    found = compared(command_of(page))
    assert [int(row["size"]) for row in rows] == found["x"]
    for name, cycles in found["cycles"].items():
        assert [float(row[f"{name} cycles"]) for row in rows] == cycles


def test_a_report_gives_out_the_same_three(browser, tmp_path: Path) -> None:
    from breakeven.web.page import page as report
    from breakeven.web.sources import Part

    sizes = (8, 16, 32, 64)
    rows = [
        {"routine": name, "size": size, "cycles_median": by * size}
        for name, by in (("a", 2), ("b", 3))
        for size in sizes
    ]
    single = [{"routine": name, "size": 8, "cycles_median": cycles} for name, cycles in (("a", 70), ("b", 35))]
    parts = [Part("curves", "", pd.DataFrame(rows), ""), Part("one", "", pd.DataFrame(single), "")]
    (tmp_path / "report.html").write_text(report("t", parts, "breakeven report"))
    tab = browser.new_page()
    tab.goto((tmp_path / "report.html").as_uri())
    # On paper every part is open and drawn; on the screen it is as before.
    figures = "document.querySelectorAll('details.part[open] .figure svg').length"
    tab.evaluate(f"addEventListener('beforeprint', () => {{ window.printed = {figures}; }})")
    assert tab.evaluate(figures) == 1 and tab.pdf().startswith(b"%PDF") and tab.evaluate("window.printed") == 2
    tab.wait_for_selector("details.part:not([open])", state="attached")
    tab.click("summary:text-is('one')")
    for i, name in enumerate(("curves", "one")):
        place, files = tab.locator("details.part").nth(i), {}
        for kind in ("SVG", "PNG", "CSV"):
            with tab.expect_download() as got:
                place.locator(f"button:text-is('{kind}')").click()
            assert got.value.suggested_filename == f"{name}.{kind.lower()}"
            files[kind] = Path(got.value.path()).read_bytes()
        words = [node.text for node in ElementTree.fromstring(files["SVG"]).iter(f"{SVG}text")]
        assert {"a", "b"} <= set(words) and colours_of(files["PNG"])[1] > 20
        assert len(files["CSV"].decode().splitlines()) == 1 + (len(rows) if name == "curves" else len(single))
    # One size, one condition: a bar for each routine instead of curves.
    bars = place.locator("g.bar rect")
    assert bars.count() == 2
    first, second = (float(bars.nth(i).get_attribute("width")) for i in (0, 1))
    assert first == pytest.approx(2 * second)
    tab.context.close()


@pytest.mark.skipif(shutil.which("riscv64-unknown-elf-gcc") is None, reason="no compiler for RISC-V: scripts/setup")
def test_a_pasted_routine_is_checked_and_drawn(own_page) -> None:
    page = own_page
    page.click("button:has-text('your own')")
    page.fill("#own input[aria-label='file name']", "pasted.S")
    page.fill("#own textarea", COPY.replace("mine", "pasted"))
    page.click("#own button:has-text('build and draw')")
    page.wait_for_selector("#own-said:has-text('verified at')")
    page.click("#own button:text-is('close')")
    page.wait_for_selector("path.curve[data-name=pasted]", state="attached")
    assert "pasted" in command_of(page)
