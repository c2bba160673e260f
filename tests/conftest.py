"""Tests simulate: what an earlier run has stored must not answer for the engine under test, and no routine that the
user has added is there. Chromium starts once a worker."""

import os
import shutil
import signal
from collections.abc import Iterator
from typing import Any

import pytest

os.environ["BREAKEVEN_STORE"] = "off"
os.environ["BREAKEVEN_HOME"] = os.devnull
# What a shell starts in the background, or nohup, ignores these; the programs that tests start must not.
for number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler)
#: milliseconds after which what does not come in a browser is given up; nothing else depends on it
PATIENT = 100_000


class Browser:
    """Chromium, whose pages are patient and of one size unless a test says otherwise."""

    def __init__(self, chromium: Any) -> None:
        self._chromium = chromium

    def new_context(self, **options: Any) -> Any:
        context = self._chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(PATIENT)
        return context

    def new_page(self, **options: Any) -> Any:
        return self.new_context(**options).new_page()

    def close_pages(self) -> None:
        for context in self._chromium.contexts:
            context.close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's chromium. Playwright keeps an event loop in this thread: a test that needs its own takes a thread."""
    api = pytest.importorskip("playwright.sync_api", reason="no playwright: scripts/setup installs it")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("no chromium: scripts/setup --test-tools installs it")
    api.expect.set_options(timeout=PATIENT)
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield started
        started.close()


@pytest.fixture
def browser(chromium: Any) -> Iterator[Browser]:
    """Pages of a test, which are closed at its end."""
    opened = Browser(chromium)
    yield opened
    opened.close_pages()
