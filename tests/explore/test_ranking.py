"""The explorer's ranking of what moves the break-even, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.explore.conftest import Explorer
from tests.explore.test_browser import settled

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api", reason="no playwright: scripts/setup installs it").expect

#: the parameters that are ranked here: of all of them it would take a minute
RANKED = ("cpu.executeBranchDelay", "cpu.executeInputWidth", "cpu.decodeInputWidth", "cpu.executeIssueLimit")


def open_while_ranking(page, explorer: Explorer, answered: Callable[[object], None]) -> None:
    """The group of the core's parameters is open; the ranking has been asked for. `answered`: what becomes of
    questions."""
    page.route("**/ask", answered)
    page.goto(explorer.address)
    settled(page)
    page.wait_for_selector("#ranking:has-text('ranking 0 of')")
    page.click("summary:has-text('core')")


@pytest.mark.long
def test_what_moves_the_break_even_is_ranked_by_itself_and_interrupted_by_a_change(browser, explorer: Explorer) -> None:
    page, held, left = browser.new_page(), [], []

    def answered(route) -> None:
        question = json.loads(route.request.post_data)
        if question["kind"] == "rank" and not held:
            held.append(route)  # the first ranking takes as long as this test likes
        elif question["kind"] == "rank":
            left.append(question["controls"])
            some = [[path, values[:1]] for path, values in question["controls"] if path in RANKED]
            route.continue_(post_data=json.dumps({**question, "controls": some}))
        else:
            route.continue_()

    open_while_ranking(page, explorer, answered)
    page.locator("[data-group=core] input[data-path='cpu.executeBranchDelay']").focus()
    page.keyboard.press("ArrowRight")
    # The change's own curves come, and the ranking goes on behind them.
    settled(page)
    page.wait_for_selector("#ranking button:text-is('rank again')")
    held[0].abort()
    assert len(left) == 1 and len(left[0]) > 30 and not page.locator("#trouble").is_visible()
    first = page.locator("#controls > details").first
    assert first.get_attribute("data-group") == "moves" and first.locator(".control").count() >= 3
    moved = [float(text.strip(" %")) for text in first.locator(".name small.moved").all_text_contents()]
    assert moved == sorted(moved, reverse=True) and moved[-1] > 0
    # One parameter's two sliders move together.
    first.locator("input[data-path='cpu.executeBranchDelay']").first.evaluate(
        "each => { each.value = 5; each.dispatchEvent(new Event('input')); }"
    )
    assert page.locator("#controls input[data-path='cpu.executeBranchDelay']").evaluate_all(
        "all => all.map(each => each.value)"
    ) == ["5", "5"]
    # The slider in hand is still there, and still has the keyboard.
    assert page.evaluate("document.activeElement.dataset.path") == "cpu.executeBranchDelay"
    page.close()


@pytest.mark.long
@pytest.mark.parametrize("hand", ["pointer", "keyboard"])
def test_the_ranking_moves_no_slider_from_under_a_hand(browser, explorer: Explorer, hand: str) -> None:
    page, held, views = browser.new_page(), [], []

    def answered(route) -> None:
        question = json.loads(route.request.post_data)
        if question["kind"] == "rank":
            some = [[path, values[:1]] for path, values in question["controls"] if path in RANKED]
            held.append((route, json.dumps({**question, "controls": some})))
        elif question["kind"] == "account":
            views.append(route)
        else:
            route.continue_()

    open_while_ranking(page, explorer, answered)
    slider = page.locator("[data-group=core] input[data-path='cpu.executeBranchDelay']")
    # A page that is scrolled to its end has its parameters move where it gets longer.
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    slider.scroll_into_view_if_needed()
    if hand == "pointer":
        box = slider.bounding_box()
        page.mouse.move(box["x"] + 9, box["y"] + box["height"] / 2)
    else:
        slider.focus()
    before = slider.bounding_box()["y"]
    # The view beside the parameters comes late.
    views[0].continue_()
    page.wait_for_selector("#view .stack >> nth=1")
    if hand == "pointer":  # the rows are drawn anew
        page.dispatch_event("#parameters input[type=search]", "input")
    route, question = held[0]
    route.continue_(post_data=question)
    page.wait_for_selector("#controls > details[data-group=moves]", state="attached")
    assert abs(slider.bounding_box()["y"] - before) <= 1
    page.close()
