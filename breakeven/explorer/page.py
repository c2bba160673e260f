"""The page of the explorer as one file: markup, style, scripts and data, nothing from elsewhere.

The same file with its data in it is the snapshot: it then needs no server.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from breakeven.web.document import POLICY, document, text_of

STATIC = Path(__file__).with_name("static")
#: in the order in which they need each other
SCRIPTS = (
    "state.js", "talk.js", "parameters.js", "curves.js", "why.js", "code.js", "pipeline.js", "map.js", "share.js",
    "main.js",
)  # fmt: skip


def html(title: str, data: dict[str, Any]) -> str:
    """The page. `data`: ``live`` and ``token`` of a server, or all that was simulated (docs/explore.md)."""
    policy = POLICY + ("; connect-src 'self'" if data.get("live") else "")
    scripts = [STATIC / name for name in SCRIPTS]
    return document(title, text_of(STATIC / "page.html"), data, [STATIC / "page.css"], scripts, policy)
