"""The explorer's page in a real browser: what a person does, and that the command line says the same."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from breakeven.cli import load
from tests.explore.conftest import Explorer
from tests.page_data import data_of

pytestmark = pytest.mark.browser
expect = pytest.importorskip("playwright.sync_api", reason="no playwright: scripts/setup installs it").expect

COPY = """# One byte per iteration.
    .globl mine
mine:
    beqz a2, 2f
1:  lbu t0, 0(a1)
    sb t0, 0(a0)
    addi a1, a1, 1
    addi a0, a0, 1
    addi a2, a2, -1
    bnez a2, 1b
2:  ret
"""
WRONG = COPY.replace("bnez a2, 1b", "nop")
CURVE = "path.curve[data-name=rv-copy-user-2021]"
#: a file let go over the page
DROP = """([name, text]) => { const files = new DataTransfer(); files.items.add(new File([text], name));
  dispatchEvent(new DragEvent('drop', { dataTransfer: files, cancelable: true })); }"""
SETTLED = "html:not([data-busy])[data-measured]"
#: answers of these kinds come when `proceed` is called
LATE = """(kinds) => { const plain = window.fetch, held = new Promise((go) => { window.proceed = go; });
  window.fetch = async (...words) => {
    const answer = await plain(...words);
    if (words[1] && kinds.includes(JSON.parse(words[1].body).kind)) await held;
    return answer; }; }"""
#: what a change of size draws anew is drawn in the next frame
DRAWN = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"


def opened_by(browser, explorer: Explorer) -> Iterator[Any]:
    """A tab with what the explorer was started with."""
    tab = browser.new_page()
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto(explorer.address)
    settled(tab)
    # Parameters come behind the first curves.
    tab.wait_for_selector("#changes", state="attached")
    yield tab
    tab.context.close()
    assert not errors


@pytest.fixture
def page(browser, explorer: Explorer) -> Iterator[Any]:
    yield from opened_by(browser, explorer)


@pytest.fixture
def own_page(browser, own_explorer: Explorer) -> Iterator[Any]:
    yield from opened_by(browser, own_explorer)


def settled(tab) -> None:
    tab.wait_for_selector(SETTLED, state="attached")


def in_address(tab, *words: str) -> None:
    """Waits until the page's address has these, in any order."""
    for word in words:
        expect(tab).to_have_url(re.compile(f"[#&]{re.escape(word)}(&|$)"))


def command_of(tab, kind: str = "command") -> str:
    tab.wait_for_selector("#again:not([data-stale]) pre", state="attached")
    return tab.locator(f"#again pre[data-kind={kind}]").text_content()


def compared(command: str) -> dict:
    """What a `breakeven compare` command says."""
    words = shlex.split(command)
    assert words[0] == "breakeven"
    done = CliRunner().invoke(load(), [*words[1:], "--json"], standalone_mode=False)
    assert done.exception is None, done.exception
    return json.loads(done.stdout)


def downloaded(tab, name: str, folder: Path) -> Path:
    with tab.expect_download() as got:
        tab.click(f"#tools button:text-is('{name}')")
    path = folder / got.value.suggested_filename
    got.value.save_as(path)
    return path


def test_a_slider_moves_curve_and_verdict_to_what_the_command_line_says(page, tmp_path: Path) -> None:
    before, curve = page.locator(".said").text_content(), page.get_attribute(CURVE, "d")
    page.click("summary:has-text('core')")
    page.locator("[data-group=core] input[data-path='cpu.executeBranchDelay']").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_selector("path.ghost", state="attached")
    settled(page)
    command = command_of(page)
    assert "--set cpu.executeBranchDelay=6" in command and "cpu.executeBranchDelay=6" in page.url
    found = compared(command)
    even, said = found["break_even"], found["said"][0]
    shown = page.locator(".said").text_content()
    assert shown.startswith(said.partition("; sizes between")[0]) and shown != before and before[:-1] in shown
    assert page.get_attribute(CURVE, "d") != curve
    assert int(page.locator("rect.mark").first.get_attribute("data-to")) == even["threshold"]
    assert page.locator("#changes li").text_content().startswith("execute branch delay: 1 cycles 6 cycles")
    # The numbers themselves, as the page gives them out.
    rows = list(csv.DictReader(downloaded(page, "CSV", tmp_path).read_text().splitlines()))
    assert [float(row["rv-copy-user-2021 cycles"]) for row in rows] == found["cycles"]["rv-copy-user-2021"]
    assert "</svg>" in downloaded(page, "SVG", tmp_path).read_text()
    page.click("button:has-text('reset all')")
    page.wait_for_selector("path.ghost", state="detached")
    settled(page)
    assert page.locator(".said").text_content() == before


@pytest.mark.long
def test_the_machine_under_the_pointer_is_simulated_before_it_is_pressed(page) -> None:
    page.click("summary:has-text('core')")
    slider = page.locator("[data-group=core] input[data-path='cpu.executeBranchDelay']")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    place = (box["x"] + box["width"] * 0.7, box["y"] + box["height"] / 2)
    with page.expect_request(lambda request: '"kind":"ahead"' in (request.post_data or "")) as ahead:
        page.mouse.move(*place)
    (setting,) = json.loads(ahead.value.post_data)["state"]["settings"]
    assert ahead.value.response().ok
    page.mouse.click(*place)
    settled(page)
    assert f"--set {setting} " in command_of(page)


@pytest.mark.long
def test_where_the_control_in_hand_may_go_is_simulated_while_nothing_is_asked(page) -> None:
    slider = page.locator("[data-group=core] input[data-path='cpu.executeBranchDelay']")

    def along(request) -> bool:
        return '"kind":"along"' in (request.post_data or "") and "executeBranchDelay" in request.post_data

    page.click("summary:has-text('core')")
    with page.expect_request(along) as given:
        slider.focus()
    assert given.value.response().ok
    asked = json.loads(given.value.post_data)
    settings = [setting.partition("=") for (setting,) in (each for each in asked["list"] if each)]
    values = [value for path, _, value in settings if path == "cpu.executeBranchDelay"]
    # The control in hand first, then those that move this break-even most, each nearest places first.
    assert [path for path, _, _ in settings][: len(values)] == ["cpu.executeBranchDelay"] * len(values)
    # What the machine's file has, here the lower end, is no setting.
    # Places are counted from 0, cycles of this delay from 1.
    end = str(int(slider.get_attribute("max")) + 1)
    assert values[:3] == ["2", "3", "4"] and end in values and not {"0", "1"} & set(values)
    assert len(values) == len(set(values)) <= 24 and len(settings) <= 128
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    settled(page)
    assert "--set cpu.executeBranchDelay=3 " in command_of(page)
    # A value that is being typed.
    exact = page.locator("[data-group=core] input[aria-label^='execute branch delay, exactly']")
    with page.expect_request(lambda request: '"kind":"ahead"' in (request.post_data or "")) as ahead:
        exact.fill("7")
    assert json.loads(ahead.value.post_data)["state"]["settings"] == ["cpu.executeBranchDelay=7"]


@pytest.mark.long
def test_the_file_and_the_gem5_script_give_the_same(page, explorer: Explorer, tmp_path: Path, monkeypatch) -> None:
    link = "#m=u74&r=rv-byte,rv-word&set=cpu.executeBranchDelay=6&set=cpu.dcache.size=16KiB&most=16"
    page.goto(explorer.address.partition("#")[0] + link)
    page.reload()
    settled(page)
    cycles = compared(command_of(page))["cycles"]
    monkeypatch.chdir(tmp_path)
    Path("my_cpu.py").write_text(command_of(page, "machine_file"))
    words = shlex.split(command_of(page))
    kept = [word for i, word in enumerate(words) if word != "--set" and words[i - 1] != "--set"]
    kept[kept.index("-m") + 1] = "./my_cpu.py"
    assert compared(shlex.join(kept))["cycles"] == cycles
    first = shlex.split(command_of(page, "gem5").splitlines()[0])
    done = subprocess.run([sys.executable, "-m", *first], capture_output=True, text=True, timeout=100, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = list(csv.DictReader(Path("m5out/sweep.csv").read_text().splitlines()))
    for name, curve in cycles.items():
        assert [float(row["cycles_median"]) for row in rows if row["routine"] == name] == curve


def test_a_link_opens_the_same_view(page, explorer: Explorer, browser) -> None:
    page.click("#tab-map")
    page.wait_for_selector("#view select[aria-label=over]")
    page.select_option("#view select[aria-label=over]", "cpu.executeBranchDelay")
    page.click("#legend button:has-text('rv-byte')")
    page.select_option("#curves select[aria-label=show]", "byte")
    page.focus("#plot")
    page.keyboard.press("ArrowRight")
    in_address(page, f"at={page.locator('#reading b').first.text_content().removesuffix(' B')}")
    other = browser.new_page()
    # The parameters come when the curves are drawn already.
    other.add_init_script(f"({LATE})(['describe'])")
    other.goto(page.url)
    settled(other)
    other.evaluate("proceed()")
    for field in ("#tab-map[aria-selected=true]", "#curves option[value=byte]:checked"):
        other.wait_for_selector(field, state="attached")
    assert other.locator(".said").text_content() == page.locator(".said").text_content()
    assert other.locator("#reading b").first.text_content() == page.locator("#reading b").first.text_content()
    other.wait_for_selector("#view g.cell", state="attached")
    assert other.input_value("#view select[aria-label=over]") == "cpu.executeBranchDelay"
    assert other.locator("path.curve[data-name=rv-byte]").count() == 0 and other.locator(CURVE).count() == 1
    other.context.close()


@pytest.mark.long
def test_a_link_opens_the_same_stretch_of_a_pipeline_and_the_same_search(page, explorer: Explorer, browser) -> None:
    link = "#m=u74&r=rv-byte,rv-word&most=2048&at=2048&tab=pipeline&zoom=1e9&from=-3"
    page.goto(explorer.address.partition("#")[0] + link)
    page.reload()
    settled(page)
    page.click("button:text-is('later ›')")
    page.click("button[aria-label='zoom out']")
    page.fill("#machine input[type=search]", "tag latency")
    page.click("#machine button:has-text('all ')")
    in_address(page, "from=400", "zoom=32", "find=tag+latency", "all=1")
    heads, found = page.locator("#view h3").all_text_contents(), page.locator("#controls .control").count()
    assert "401 to 800 drawn" in heads[0] and found >= 3
    # The texts stay in sight while the bars are scrolled.
    page.evaluate("document.querySelector('.pipeline').scrollLeft = 900")
    place, texts = (page.locator(each).first.bounding_box() for each in (".pipeline", ".pipeline .texts"))
    assert abs(place["x"] - texts["x"]) < 3
    other = browser.new_page()
    other.goto(page.url)
    settled(other)
    other.wait_for_selector("#view .pipeline .op", state="attached")
    expect(other.locator("#view h3")).to_have_text(heads)
    assert other.input_value("#machine input[type=search]") == "tag latency"
    expect(other.locator("#controls .control")).to_have_count(found)
    assert other.url == page.url
    other.fill("#machine input[type=search]", "")
    other.click("summary:has-text('core')")
    expect(other).to_have_url(re.compile("open=[^&]*core"))
    other.context.close()


@pytest.mark.long
def test_a_snapshot_needs_no_server(page, explorer: Explorer, browser, tmp_path: Path) -> None:
    page.wait_for_selector("#view .stack")
    shown = page.locator(".said").text_content(), page.get_attribute(CURVE, "d"), command_of(page)
    file = downloaded(page, "snapshot", tmp_path)
    text = file.read_text()
    assert explorer.token not in text + json.dumps(data_of(text)) and len(text) < 300_000
    alone = browser.new_page(offline=True)
    errors: list[str] = []
    alone.on("pageerror", lambda error: errors.append(str(error)))
    alone.goto(file.as_uri())
    alone.wait_for_selector("#view .stack")
    # Every size has its account and its cycles by instruction.
    for size in ("1", "256"):
        alone.focus("#plot")
        for _ in range(60):
            alone.keyboard.press("ArrowLeft" if size == "1" else "ArrowRight")
        alone.click("#tab-why")
        alone.wait_for_selector(f"#view p:has-text('measurement of {size} B')")
        alone.click("#tab-code")
        alone.wait_for_selector(f"#view p:has-text('{size} B: times run')")
    alone.click("#tab-pipeline")
    alone.wait_for_selector("#view .pipeline rect", state="attached")
    assert (alone.locator(".said").text_content(), alone.get_attribute(CURVE, "d"), command_of(alone)) == shown
    assert alone.locator("#controls input:not([disabled])").count() == 0 and not errors
    assert "</svg>" in downloaded(alone, "SVG", tmp_path).read_text()
    assert downloaded(alone, "PNG", tmp_path).read_bytes().startswith(b"\x89PNG")
    alone.context.close()


def test_a_page_that_the_command_wrote_shows_every_view_of_one_size(browser, tmp_path: Path) -> None:
    import breakeven

    file = breakeven.explore("rv-byte", "rv-word", largest=256, store=tmp_path / "s.sqlite").save(
        tmp_path / "page.html"
    )
    alone = browser.new_page()
    alone.goto(file.as_uri())
    # That of the break-even; a map is of the middle.
    assert "ship 8 B" in alone.inner_text("#verdict")
    alone.wait_for_selector("#view p:has-text('measurement of 8 B')")
    for tab, words in (("pipeline", " 8 B, "), ("code", "8 B: times run"), ("map", "17 B; rows")):
        alone.click(f"#tab-{tab}")
        alone.wait_for_selector(f"#view >> text={words}")
    alone.close()


@pytest.mark.skipif(shutil.which("riscv64-unknown-elf-gcc") is None, reason="no compiler for RISC-V: scripts/setup")
def test_a_routine_of_ones_own_is_checked_and_drawn(own_page) -> None:
    page = own_page

    def drop(name: str, text: str) -> None:
        page.evaluate_handle(DROP, [name, text])

    drop("mine.S", WRONG)
    page.wait_for_selector("#trouble:not([hidden])")
    assert re.search("mine is wrong at size 2, .* byte 1 is", page.locator("#trouble").text_content())
    drop("../../mine.S", COPY)
    page.wait_for_selector("#notice:has-text('verified at')")
    page.wait_for_selector("path.curve[data-name=mine]", state="attached")
    settled(page)
    assert "mine" in command_of(page)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("riscv64-unknown-elf-gcc") is None, reason="no compiler for RISC-V: scripts/setup")
def test_what_is_wrong_with_a_routine_of_ones_own_stays_while_curves_come(browser, explorer: Explorer) -> None:
    page, held = browser.new_page(), []

    def answered(route) -> None:
        if json.loads(route.request.post_data)["kind"] == "curves" and not held:
            held.append(route)
        else:
            route.continue_()

    page.route("**/ask", answered)
    page.goto(explorer.address)
    page.wait_for_selector("#controls details", state="attached")
    page.evaluate_handle(DROP, ["mine.S", WRONG])
    page.wait_for_selector("#trouble:has-text('mine is wrong')")
    held[0].continue_()
    settled(page)
    assert "mine is wrong" in page.locator("#trouble").text_content()
    page.close()


def test_the_other_views_and_narrow_pages(page) -> None:
    page.click("#tab-code")
    page.wait_for_selector("#view .listing td.text >> text=lbu")
    page.click("#tab-map")
    page.wait_for_selector("#view g.cell[data-winner='0']", state="attached")
    page.click("#tab-pipeline")
    page.wait_for_selector("#view .pipeline rect", state="attached")
    page.select_option("#preset", "timing")
    page.wait_for_selector("#view p:has-text('this core has no pipeline')")
    page.select_option("#preset", "c910")
    page.wait_for_selector("#view .pipeline rect", state="attached")
    for width in (400, 800, 1900):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate(DRAWN)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"the page is {wide} pixels wide on {width}"


@pytest.mark.long
def test_a_parameters_mark_opens_its_path_source_and_range(page) -> None:
    page.wait_for_selector("[data-group='misaligned access'] [data-row='cpu.misaligned.policy'] .source")
    row = page.locator("[data-group='misaligned access'] [data-row='cpu.misaligned.policy']")
    assert not row.locator(".about").is_visible()
    row.locator(".source").click()
    assert row.locator(".about").inner_text().startswith("cpu.misaligned.policy\nfrom a cited source: u74/")
    page.click("summary:has-text('core')")
    text = page.locator("[data-group=core] [data-row='cpu.executeBranchDelay']").text_content()
    assert "1 to 15 cycles" in text and "1 to 15 is taken" in text


@pytest.mark.long
def test_what_was_measured_on_hardware_is_drawn_with_its_source(page, explorer: Explorer) -> None:
    # A JH7110's own benchmark: 512 bytes at 1.14 bytes a nanosecond and 1.5 GHz.
    link = "#m=u74&r=rv-memcpy-ucb,rv-memcpy-croce-c&src=1&dst=3&measure=throughput&least=64&most=512"
    page.goto(explorer.address.partition("#")[0] + link)
    page.reload()
    settled(page)
    assert page.locator("#plot path.dot").count() == 6
    texts = page.locator("#plot path.dot title").all_text_contents()
    (text,) = (text for text in texts if text.startswith("rv-memcpy-croce-c, 512 B"))
    assert "1.14 B/ns" in text and "J. Zhang" in text and "673.7 cycles at 1.5 GHz" in text
    assert page.locator("#measurements li").count() == 6
    page.select_option("select[aria-label=measure]", "latency")
    page.wait_for_selector("#plot path.dot", state="detached")


@pytest.mark.long
def test_this_hosts_own_processor_is_measured_on_demand(page) -> None:
    if page.locator("#measurements button").count() == 0:
        # The routines shown are RISC-V's.
        page.select_option("#preset", "zen4")
        settled(page)
    press = page.locator("#measurements button")
    if press.count() == 0:
        pytest.skip("this host runs no routines of ours")
    press.click()
    page.wait_for_selector("#plot path.dot title:has-text('measured here')", state="attached")
    if "zen" in page.url:
        # A program does not open user memory: neither do the curves beside its numbers.
        assert "cpu.isa.enable_smap" in page.url


@pytest.mark.long
def test_why_opens_at_the_break_even(page) -> None:
    settled(page)
    ship = re.search(r"ship (\d+) B", page.inner_text("#verdict"))
    assert ship is not None
    page.wait_for_selector(f"#view p:has-text('One measurement of {ship[1]} B')")


@pytest.mark.long
def test_a_routine_of_ones_own_is_measured_here_after_a_second_press(browser, explorer: Explorer) -> None:
    page, asked, mine = browser.new_page(), [], "rv-byte"

    def answered(route) -> None:
        question = json.loads(route.request.post_data)
        if question["kind"] == "host":
            asked.append(question["trusted"])
            route.fulfill(body="")
        elif question["kind"] in ("describe", "about"):
            line = {**json.loads(route.fetch().text()), "host": ["riscv", "a host"]}
            line["routines"] = [[*row[:3], row[0] == mine] for row in line.get("routines", [])]
            route.fulfill(body=json.dumps(line) + "\n")
        else:
            route.continue_()

    page.route("**/ask", answered)
    page.goto(explorer.address)
    settled(page)
    (press := page.locator("#measurements button")).click()
    assert f"press again: the code of {mine} runs on this host" in press.text_content() and not asked
    press.click()
    page.wait_for_selector("#measurements button:not([disabled])")
    assert asked == [[mine]]


@pytest.mark.long
def test_in_a_notebook_the_page_is_live_while_the_kernel_runs_then_a_snapshot(
    browser, tmp_path: Path, monkeypatch
) -> None:
    import threading
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
    from types import SimpleNamespace

    import breakeven
    from breakeven.explorer.notebook import running as running_for

    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=True))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    view = breakeven.explore("rv-byte", "rv-word", largest=64, store=tmp_path / "store.sqlite")
    # The output of a cell, in another server's page as a notebook's is.
    (tmp_path / "notebook.html").write_text(f"<!DOCTYPE html><body>{view._repr_html_()}</body>")
    running = running_for(view.state, *view.where)
    site = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=tmp_path))
    threading.Thread(target=site.serve_forever, daemon=True).start()
    tab = browser.new_page()
    try:
        tab.goto(f"http://localhost:{site.server_port}/notebook.html")
        live, saved = tab.frame_locator("iframe >> nth=0"), tab.frame_locator("iframe >> nth=1")
        # Of the coarse sizes first, then to the byte.
        live.locator(".said", has_text=f"{view.verdicts[0]}.").wait_for()
        live.locator("#controls input:not([disabled])").first.wait_for(state="attached")
        assert tab.locator("iframe >> nth=1").is_hidden()
        running.close()
        tab.reload()
        saved.locator(".said").wait_for()
        assert (
            saved.locator(".said").text_content() == f"{view.verdicts[0]}."
            and tab.locator("iframe >> nth=0").is_hidden()
        )
    finally:
        tab.close()
        running.close()
        site.shutdown()


@pytest.mark.long
def test_paper_is_white_in_every_theme(page) -> None:
    for theme in ("dark", "light"):
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        page.emulate_media(media="print", color_scheme=theme)
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator("#tools").is_hidden() and page.locator("#plot path.curve").first.is_visible()
        # What was changed is on the paper, the sliders are not.
        assert page.locator("#changes").is_visible() and page.locator("#controls").is_hidden()
        page.emulate_media(media="screen")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 28)"


@pytest.mark.long
def test_a_snapshot_says_which_size_its_account_is_of(browser, tmp_path: Path) -> None:
    import breakeven

    view = breakeven.explore("rv-byte", "rv-word", largest=512, store=False)
    kept = {line["size"]: line["cycles"] for line in view.saved["account"] if line["routine"] == "rv-byte"}
    assert len(kept) > 5
    tab = browser.new_page()
    try:
        tab.goto(f"file://{view.save(tmp_path / 'page.html')}")
        seen = set()
        for part in (0.65, 0.95, 0.3):
            box, said = tab.locator("#plot").bounding_box(), tab.locator("#view p.soft").first.text_content()
            tab.mouse.click(box["x"] + part * box["width"], box["y"] + 0.5 * box["height"])
            # The views follow when the pointer rests.
            expect(tab.locator("#view p.soft").first).not_to_have_text(said)
            size = int(
                tab.locator("#view p.soft").first.text_content().removeprefix("One measurement of ").split(" B")[0]
            )
            assert f"{kept[size]} cycles" in tab.locator("#view .who").first.text_content()
            seen.add(size)
        assert len(seen) == 3
    finally:
        tab.close()
