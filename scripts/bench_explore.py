"""How long the explorer lets one wait: `scripts/bench --explore` on an idle machine with two cores.

First curves: from the command to the first eight sizes, as a program asks for them, and as chromium draws them. A moved
slider: a step further, until its eight sizes are here (and drawn), and until all 48 are; "jump" is a move to a machine
of which nothing was simulated ahead, as a program or a paste makes it; "pointed" a press on a slider's track at the end
of a hand's movement along it, on a machine of which nothing was simulated ahead; "in hand" a key to the end of a slider
that has had the keyboard for a while; "ranked" a press behind no movement on one of those on top of the ranking, where
nothing was asked for a while. Modules are compiled before, as those of an installed command. Each number is a median;
the processor time is that of server and workers together, for one move.
"""

from __future__ import annotations

import compileall
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: machine -> routines, the parameter that is moved, its values
CASES = {
    "u74": (["rv-byte", "rv-word"], "cpu.executeBranchDelay", range(2, 12)),
    "skylake": (["x64-copy-unrolled", "x64-copy-erms"], "cpu.dcache.data_latency", range(4, 14)),
}
#: values of a jump: none is the next step of another
JUMPS = (4, 9, 6, 12, 2, 14)
#: how long a hand moves over a track before it presses, and how often the pointer tells where it is (ms)
MOVED, TOLD = 250, 16
#: how long a slider has had the keyboard (ms), and how often that is measured
RESTED, HANDS = 8000, 3
#: how long nothing is asked before a slider on top of the ranking is pressed (ms)
UNASKED = 30_000
#: where they are pressed, as shares of the track
PLACES = (0.62, 0.3, 0.8)
#: how often a server is started for the first curves that chromium draws
STARTS = 3
#: milliseconds that issue and documents promise: first curves; eight sizes; 48 sizes by machine
BUDGET = {"first": 1000, "eight": 100, "u74 all": 500, "skylake all": 1000}
#: moves to a machine of which not all is simulated ahead: 100 ms, too
MOVES = ("pointed", "in hand", "ranked", "jump")
BUDGET |= dict.fromkeys(MOVES, 100)
REPO = Path(__file__).resolve().parents[1]
#: when the page had drawn its first curves, in milliseconds since 1970
FIRST = """async () => { while (!performance.getEntriesByName("first").length) await new Promise(requestAnimationFrame);
  return performance.timeOrigin + performance.getEntriesByName("first")[0].startTime; }"""
SETTLED = "html:not([data-busy])[data-measured]"
_TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def explorer(machine: str, routines: list[str]) -> Iterator[tuple[subprocess.Popen[str], str, float]]:
    """A server with an empty store: the process, its address, when its command was given."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-m", "breakeven", "explore", *routines, "-m", machine, "--no-browser"]
        start = time.perf_counter()
        compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        process = subprocess.Popen(
            [*command, "--store", str(Path(folder, "store.sqlite"))], stdout=subprocess.PIPE, text=True, env=compiled
        )
        assert process.stdout is not None
        address = process.stdout.readline().partition(": ")[2].strip()
        try:
            yield process, address, start
        finally:
            process.terminate()
            process.wait(10)


def processor_time(process: int) -> float:
    """Seconds of a process and its children."""
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True)
    total = 0
    for each in [process, *map(int, done.stdout.split())]:
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / _TICKS


def curves(address: str, state: dict[str, Any], start: float, coming: list[str] | None = None) -> tuple[float, float]:
    """Milliseconds from `start` until eight sizes, and until every size of the axis, have come."""
    base, _, rest = address.partition("?token=")
    body = json.dumps({"tab": "bench", "kind": "curves", "state": state, "coming": coming}).encode()
    request = urllib.request.Request(f"{base}ask", body, {"X-Token": rest.partition("#")[0]})
    eight = every = 0.0
    with urllib.request.urlopen(request, timeout=100) as answer:
        for line in map(json.loads, answer):
            if "error" in line:
                raise SystemExit(f"bench: {line['error']}")
            now = 1e3 * (time.perf_counter() - start)
            if line.get("points") and not eight:
                eight = now
            # A verdict comes behind the eight, behind the 48, and at the end.
            if line.get("done") is False:
                every = now
            if line.get("done"):
                break
    return eight, every


def asked(machine: str) -> dict[str, float]:
    """What a program waits for."""
    routines, path, values = CASES[machine]
    state = {"machine": machine, "routines": routines, "settings": []}
    with explorer(machine, routines) as (process, address, start):
        first, _ = curves(address, state, start)
        moves, used = [], []
        for value in values:
            before = processor_time(process.pid)
            moved = {**state, "settings": [f"{path}={value}"]}
            # As the page says it: the value that the slider's next step would set.
            moves.append(curves(address, moved, time.perf_counter(), [f"{path}={value + 1}"]))
            used.append(1e3 * (processor_time(process.pid) - before))
        jumped = []
        for value in JUMPS:
            far = {**state, "settings": [f"cpu.dcache.tag_latency={value}"]}
            jumped.append(curves(address, far, time.perf_counter())[0])
    # The first move also makes the machine's own curves, which stay behind the others.
    eight, every = (statistics.median(move[i] for move in moves[1:]) for i in (0, 1))
    jump = statistics.median(jumped)
    return {"first": first, "eight": eight, "jump": jump, "all": every, "processor": statistics.median(used[1:])}


def drawn(machine: str) -> dict[str, float] | None:
    """What a person waits for, in chromium; None: there is none."""
    program = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if program is None:
        return None
    routines, path, values = CASES[machine]
    with sync_playwright() as api:
        browser = api.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        # A browser that is open, as most people's is.
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        firsts = []
        for _ in range(STARTS - 1):
            with explorer(machine, routines) as (_, address, start):
                firsts.append(first_curves(page, address, start))
        with explorer(machine, routines) as (_, address, start):
            firsts.append(first_curves(page, address, start))
            # The parameters are ranked behind the curves: not while we measure.
            page.wait_for_selector("#ranking button", state="attached", timeout=300_000)
            page.evaluate("document.querySelectorAll('#controls details').forEach((each) => { each.open = true; })")
            measured = []
            for _ in values:
                page.focus(f"#controls input[type=range][data-path='{path}']")
                page.evaluate("delete document.documentElement.dataset.measured")
                page.keyboard.press("ArrowRight")
                page.wait_for_selector(SETTLED, state="attached", timeout=60_000)
                measured.append(json.loads(page.evaluate("document.documentElement.dataset.measured")))
            jumped = [jump(page, value) for value in JUMPS]
            jump(page, values[0], path)  # no press is on the value that there is
            pointed_at = [pointed(page, path, value, JUMPS[i - 1] / 20) for i, value in enumerate(JUMPS)]
            in_hand = [to_the_end(page, path, values[0], value) for value in JUMPS[:HANDS]]
            ranked_top = [ranked(page, value, share) for value, share in zip(JUMPS, PLACES, strict=False)]
        browser.close()
    one: Callable[[str], float] = lambda name: statistics.median(row[name] for row in measured[1:])  # noqa: E731
    return {
        "first": statistics.median(firsts),
        "eight": one("first"),
        "jump": statistics.median(jumped),
        "pointed": statistics.median(pointed_at),
        "in hand": statistics.median(in_hand),
        "ranked": statistics.median(ranked_top),
        "all": one("grid"),
        "drawing": one("drawing"),
    }


def first_curves(page: Any, address: str, start: float) -> float:
    """Milliseconds until the frame that shows them, by the page's own clock: this program's waiting is not in it."""
    page.goto(address)
    began = 1e3 * (time.time() - (time.perf_counter() - start))
    return float(page.evaluate(FIRST)) - began


def pointed(page: Any, path: str, other: int, share: float) -> float:
    """Milliseconds from a press on the track of a slider until the first sizes are drawn. A hand moves there: from the
    slider's other end, fastest in the middle (the minimum of jerk), and presses as soon as it is there."""
    jump(page, other)  # another machine each time: no place of this slider was simulated before
    box = track(page, path)
    start = box["x"] + box["width"] * (0.05 if share > 0.5 else 0.95)
    end, middle = box["x"] + box["width"] * share, box["y"] + box["height"] / 2
    page.evaluate("delete document.documentElement.dataset.measured")
    began = time.perf_counter()
    while (part := 1e3 * (time.perf_counter() - began) / MOVED) < 1:
        page.mouse.move(start + (end - start) * part**3 * (10 - 15 * part + 6 * part**2), middle)
        page.wait_for_timeout(TOLD)
    page.mouse.move(end, middle)
    return pressed(page)


def ranked(page: Any, other: int, share: float) -> float:
    """As `pointed`, where the pointer is there before anybody looks: nothing was asked for a while, and the slider is
    the first of those that move this break-even most."""
    jump(page, other)
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(5, 5)
    page.wait_for_timeout(UNASKED)
    box = track(page, "", "details[data-group=moves] ")
    page.evaluate("delete document.documentElement.dataset.measured")
    page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
    return pressed(page)


def track(page: Any, path: str, within: str = "") -> Any:
    """Where a slider lies on the page that is not that of `jump`."""
    page.evaluate("document.querySelectorAll('#controls details').forEach((each) => { each.open = true; })")
    which = f"[data-path='{path}']" if path else ":not([data-path='cpu.dcache.tag_latency'])"
    slider = page.locator(f"#controls {within}input[type=range]{which}").first
    slider.scroll_into_view_if_needed()
    return slider.bounding_box()


def pressed(page: Any) -> float:
    """Milliseconds from a press where the pointer is until the first sizes are drawn, as of `settled`."""
    page.mouse.down()
    page.mouse.up()
    return settled(page)


def to_the_end(page: Any, path: str, start: int, other: int) -> float:
    """Milliseconds until the first sizes are drawn of the end of a slider that has had the keyboard for a while."""
    jump(page, start, path)
    jump(page, other)  # another machine each time: its end was not simulated before
    page.focus(f"#controls input[type=range][data-path='{path}']")
    page.wait_for_timeout(RESTED)
    page.evaluate("delete document.documentElement.dataset.measured")
    page.keyboard.press("End")
    return settled(page)


def jump(page: Any, value: int, path: str = "cpu.dcache.tag_latency") -> float:
    """Milliseconds until the first sizes of a value are drawn that is set without a pointer that rested on it."""
    page.evaluate("delete document.documentElement.dataset.measured")
    page.evaluate(
        """([path, value]) => { const found = document.querySelector(`#controls input[data-path='${path}']`);
        found.value = value; found.dispatchEvent(new Event("input")); }""",
        [path, value],
    )
    return settled(page)


def settled(page: Any) -> float:
    """Milliseconds until the first sizes were drawn, once all are."""
    page.wait_for_selector(SETTLED, state="attached", timeout=60_000)
    return float(json.loads(page.evaluate("document.documentElement.dataset.measured"))["first"])


def main() -> None:
    for folder in ("breakeven", "configs"):
        compileall.compile_dir(REPO / folder, quiet=1)
    rows = []
    for machine in CASES:
        for how, found in (("asked", asked(machine)), ("drawn", drawn(machine))):
            if found is None:
                print("no chromium: what is drawn is not measured", file=sys.stderr)
                continue
            for name in [each for each in ("first", "eight", *MOVES, "all") if each in found]:
                budget = BUDGET.get(name) or BUDGET[f"{machine} all"]
                rows.append((machine, how, name, found[name], budget))
            for name in ("processor", "drawing"):
                if name in found:
                    rows.append((machine, how, name, found[name], None))
    print(f"load {os.getloadavg()[0]:.1f}; milliseconds")
    for machine, how, name, took, budget in rows:
        said = "" if budget is None else f"  of {budget}{'' if took <= budget else '  TOO LONG'}"
        print(f"{machine:8} {how:6} {name:10} {took:7.0f}{said}")


if __name__ == "__main__":
    main()
