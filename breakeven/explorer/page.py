"""The page of the explorer as one file: markup, style, scripts and data, nothing from elsewhere.

The same file with its data in it is the snapshot: it then needs no server.
"""

from __future__ import annotations

import json
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

#: the browser refuses what would leave the page, whatever stands in it
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
STATIC = Path(__file__).with_name("static")
#: in the order in which they need each other
SCRIPTS = (
    "dom.js", "chart.js", "state.js", "talk.js", "parameters.js", "curves.js", "why.js", "code.js", "pipeline.js",
    "map.js", "share.js", "main.js",
)  # fmt: skip


@cache
def _text(name: str) -> str:
    return STATIC.joinpath(name).read_text(encoding="utf-8")


def embedded(data: Any) -> str:
    """JSON inside a script element: nothing in it may end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("&", "\\u0026")


def html(title: str, data: dict[str, Any]) -> str:
    """The page. `data`: ``live`` and ``token`` of a server, or all that was simulated (docs/explore.md)."""
    script = "\n".join(_text(name) for name in SCRIPTS)
    policy = POLICY + ("; connect-src 'self'" if data.get("live") else "")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>\n<style>\n{_text('page.css')}</style></head>\n<body>\n{_text('page.html')}"
        f'<script type="application/json" id="data">{embedded(data)}</script>\n'
        f'<script>\n"use strict";\n(() => {{\n{script}\n}})();\n</script>\n</body></html>\n'
    )
