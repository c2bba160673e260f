"""The explorer's page by touch, by keys, in two tabs, for eyes that see fewer colours, and when a worker dies."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from tests.explore.conftest import Explorer, Watched
from tests.explore.test_browser import (
    LATE,
    SETTLED,
    command_of,
    compared,
    downloaded,
    expect,
    in_address,
    settled,
)
from tests.waiting import until

pytestmark = pytest.mark.browser

#: the contrast of two colours "rgb(r, g, b)" (WCAG 2.2, relative luminance)
CONTRAST = """([one, other]) => { const light = (text) => { const parts = text.match(/[0-9.]+/g).slice(0, 3).map((n) => n / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)); return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]; };
  const [a, b] = [light(one), light(other)]; return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); }"""  # noqa: E501


def opened(browser, explorer: Explorer, link: str = "", **options):
    tab = browser.new_page(**options)
    tab.goto(explorer.address.partition("#")[0] + link if link else explorer.address)
    settled(tab)
    return tab


@pytest.mark.long
def test_two_tabs_at_once_draw_each_its_own(browser, explorer: Explorer) -> None:
    link = "#m=u74&r=rv-byte,rv-word&most=256&open=core"
    tabs = [opened(browser, explorer, link) for _ in range(2)]
    for i, tab in enumerate(tabs):
        slider = tab.locator("#controls input[type=range][data-path='cpu.executeBranchDelay']").first
        slider.focus()
        tab.evaluate("delete document.documentElement.dataset.measured")
        for _ in range(3 + 2 * i):
            tab.keyboard.press("ArrowRight")
    for i, tab in enumerate(tabs):
        settled(tab)
        assert f"--set cpu.executeBranchDelay={4 + 2 * i} " in command_of(tab)
        assert not tab.locator("#trouble").is_visible()
    first, second = (tab.get_attribute("path.curve[data-name=rv-byte]", "d") for tab in tabs)
    assert first != second
    for tab in tabs:
        tab.context.close()


@pytest.mark.long
def test_a_finger_reads_a_size_opens_a_tab_and_moves_a_slider(browser, explorer: Explorer) -> None:
    tab = opened(browser, explorer, viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True)
    tab.locator("#plot").scroll_into_view_if_needed()
    box = tab.locator("#plot").bounding_box()
    tab.touchscreen.tap(box["x"] + 0.5 * box["width"], box["y"] + 0.4 * box["height"])
    tab.wait_for_selector("#reading b")
    tab.locator("#tab-code").tap()
    tab.wait_for_selector("#view .listing td.text >> text=lbu")
    tab.locator("summary:has-text('Parameters of')").tap()
    tab.locator("summary:has-text('core')").tap()
    slider = tab.locator("#controls input[type=range][data-path='cpu.executeBranchDelay']").first
    slider.scroll_into_view_if_needed()
    tab.evaluate("delete document.documentElement.dataset.measured")
    place = slider.bounding_box()
    tab.touchscreen.tap(place["x"] + 0.5 * place["width"], place["y"] + 0.5 * place["height"])
    expect(tab).to_have_url(re.compile("set=cpu.executeBranchDelay"))
    settled(tab)
    assert "--set cpu.executeBranchDelay=" in command_of(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400
    # What a finger aims at is large enough (WCAG 2.2: 24 pixels).
    for each in ("#tab-why", "#preset", "#tools button:text-is('CSV')", "#theme"):
        size = tab.locator(each).bounding_box()
        assert size["width"] >= 24 and size["height"] >= 24, each
    tab.context.close()


#: what has the keyboard, by its name
FOCUSED = "(e => e.id || e.getAttribute('aria-label') || e.textContent)(document.activeElement)"


@pytest.mark.long
def test_what_is_drawn_late_takes_the_keyboard_from_nothing(browser, explorer: Explorer) -> None:
    tab = browser.new_page()
    tab.add_init_script(f"({LATE})(['about', 'describe'])")
    tab.goto(explorer.address)
    settled(tab)
    assert not tab.locator("#controls").count()
    size = tab.locator("[aria-label=to]")
    size.fill("300")
    tab.evaluate("proceed()")
    tab.wait_for_selector("#controls [data-row]", state="attached")
    tab.locator("#preset option").nth(1).wait_for(state="attached")
    assert tab.evaluate(FOCUSED) == "to" and size.input_value() == "300"
    tab.keyboard.press("Enter")
    in_address(tab, "most=300")
    # A choice draws the question anew, and so does a button the parameters.
    tab.get_by_label("against it", exact=True).focus()
    tab.keyboard.press("ArrowDown")
    expect(tab).not_to_have_url(re.compile("rv-copy-user-2021"))
    assert tab.evaluate(FOCUSED) == "against it"
    tab.locator("#how-many").focus()
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#how-many:text('fewer')")
    assert tab.evaluate(FOCUSED) == "how-many"
    tab.context.close()


def test_keys_alone_reach_everything(browser, explorer: Explorer) -> None:
    tab = opened(browser, explorer)
    # Parameters come behind the first curves.
    tab.wait_for_selector("#controls [data-row]", state="attached")

    def stops(last: str, most: int) -> list[str]:
        seen: list[str] = []
        while last not in seen and len(seen) < most:
            tab.keyboard.press("Tab")
            seen.append(tab.evaluate(FOCUSED))
        assert seen[-1] == last, seen
        return seen

    assert {"preset", "theme", "link", "snapshot"} <= set(stops("search parameters", 30))
    tab.reload()
    settled(tab)
    stops("to the curves", 1)
    tab.keyboard.press("Enter")
    assert tab.evaluate(FOCUSED) == "plot"
    tab.keyboard.press("ArrowRight")
    tab.wait_for_selector("#reading b")
    stops("tab-why", 5)
    tab.keyboard.press("ArrowRight")
    tab.wait_for_selector("#tab-map[aria-selected=true]")
    assert tab.evaluate(FOCUSED) == "tab-map"
    tab.context.close()


@pytest.mark.long
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_curves_differ_without_their_colours_and_stand_out(browser, explorer: Explorer, theme: str) -> None:
    tab = opened(browser, explorer, "#m=u74&r=rv-byte,rv-word,rv-word-noalign,rv-copy-user-2021&most=16")
    tab.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
    paper = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    styles = [
        curve.evaluate("e => [getComputedStyle(e).stroke, e.getAttribute('stroke-dasharray')]")
        for curve in tab.locator("#plot path.curve").all()
    ]
    assert len(styles) == 4 == len({dash for _, dash in styles})
    for stroke, _ in styles:
        assert tab.evaluate(CONTRAST, [stroke, paper]) >= 3, (stroke, paper)
    tab.context.close()


#: what follows the first sizes is held back until `proceed` is called: `instead` takes its place
HELD = """() => { const plain = window.fetch; window.fetch = async (...words) => {
  const answer = await plain(...words);
  if (!window.holding || !words[1].body.includes('"kind":"curves"')) return answer;
  const lines = answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(new TransformStream({
    async transform(text, out) {
      this.rest = (this.rest || "") + text;
      for (let end; (end = this.rest.indexOf("\\n")) >= 0; this.rest = this.rest.slice(end + 1)) {
        out.enqueue(this.rest.slice(0, end + 1));
        if (!window.holding || !this.rest.startsWith('{"points"')) continue;
        const instead = await new Promise((go) => { window.proceed = go; });
        if (instead) { out.enqueue(instead); out.terminate(); return; }
      }
    } }));
  return new Response(lines.pipeThrough(new TextEncoderStream()), { status: answer.status }); }; }"""


def test_first_sizes_are_drawn_before_the_rest_has_come_and_what_fails_behind_them_is_told(
    browser, tmp_path: Path
) -> None:
    running = Explorer(tmp_path, "rv-byte", "rv-copy-user-2021", "--src", "3", "--sizes", "1..256")
    tab = browser.new_page()
    tab.add_init_script(f"({HELD})()")
    try:
        tab.goto(running.address + "&open=core")
        settled(tab)
        slider = tab.locator("#controls [data-group=core] input[type=range][data-path='cpu.executeBranchDelay']")

        def moved(place: int) -> None:
            """The slider is there, eight sizes are drawn, and nothing further has come."""
            tab.evaluate("() => { window.holding = true; delete document.documentElement.dataset.measured; }")
            slider.evaluate("(e, to) => { e.value = to; e.dispatchEvent(new Event('input')); }", place)
            tab.wait_for_selector("#plot circle", state="attached")

        moved(9)
        # Two marks a size, no curve of the machine as it is, and no command yet.
        assert tab.locator("#plot circle").count() == 16 and tab.locator("#plot path.ghost").count() == 0
        assert tab.locator(SETTLED).count() == 0 and tab.locator("#again[data-stale]").count() == 1
        early = list(csv.DictReader(downloaded(tab, "CSV", tmp_path).read_text().splitlines()))
        tab.evaluate("() => { window.holding = false; window.proceed(); }")
        settled(tab)
        assert tab.locator("#plot circle").count() == 0 < tab.locator("#plot rect.mark").count()
        found = compared(command_of(tab))
        assert tab.locator(".said").text_content().startswith(found["said"][0].partition("; sizes between")[0])
        rows = list(csv.DictReader(downloaded(tab, "CSV", tmp_path).read_text().splitlines()))
        for name in ("rv-byte", "rv-copy-user-2021"):
            assert [float(row[f"{name} cycles"]) for row in rows] == found["cycles"][name]
        # The first sizes were of all measurements already.
        assert len(early) == 8 and all(row in rows for row in early)
        moved(5)
        tab.evaluate("""() => { window.holding = false; window.proceed('{"error": "it broke"}\\n'); }""")
        tab.wait_for_selector("#trouble:has-text('it broke')")
        assert tab.locator("#trouble").inner_text() == "it broke" and tab.locator(SETTLED).count() == 0
    finally:
        tab.close()
        running.interrupt()


@pytest.mark.long
def test_a_worker_that_dies_is_told_on_the_page_and_the_next_question_is_answered(browser, watched: Watched) -> None:
    tab = browser.new_page()
    tab.goto(watched.address)
    settled(tab)
    tab.evaluate("delete document.documentElement.dataset.measured")
    # It takes minutes.
    tab.fill("input[aria-label=to]", str(1 << 22))
    tab.keyboard.press("Tab")
    until(lambda: watched.simulates(1 << 22))
    watched.kill()
    expect(tab.locator("#trouble")).to_contain_text("has died (signal 9)")
    tab.fill("input[aria-label=to]", "128")
    tab.keyboard.press("Tab")
    tab.wait_for_selector(SETTLED, state="attached")
    assert not tab.locator("#trouble").is_visible() and "128" in command_of(tab)
