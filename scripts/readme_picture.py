"""Draws docs/explore.png, the picture of the README: `breakeven explore` in Debian's chromium, as a person sees it.

`.venv/bin/python scripts/readme_picture.py`; look at it before it is committed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

REPO = Path(__file__).resolve().parent.parent
OUT = REPO / "docs" / "explore.png"
#: a preset that was measured, in a program as its host was
LINK = "#m=goldencove&r=x64-copy-unrolled,x64-copy-erms&set=cpu.isa.enable_smap=false&src=3&dst=3"
LINK += "&least=16&most=16384&at=512"
WIDTH, HEIGHT = 1180, 860


def main() -> None:
    command = [sys.executable, "-P", "-m", "breakeven", "explore", LINK, "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().partition(": ")[2].strip()
    try:
        with sync_playwright() as api:
            browser = api.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            page.goto(address)
            page.wait_for_selector("html:not([data-busy])[data-measured]", state="attached", timeout=120_000)
            page.wait_for_selector("#ranking button", timeout=600_000)
            page.wait_for_selector("#view .stack")
            page.screenshot(path=OUT)
            browser.close()
        # 256 colours are all of them, and a quarter of the bytes.
        Image.open(OUT).convert("RGB").quantize(256).save(OUT, optimize=True)
    finally:
        process.terminate()
        process.wait(10)
    print(f"{OUT.relative_to(REPO)}: {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
