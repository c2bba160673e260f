"""A page as one file: style, markup, data and scripts, nothing from elsewhere.

The report's and the explorer's pages are made here, with one theme, one way to draw curves and one set of views below
them (`theme.css`, `dom.js`, `chart.js`, `views.js`).
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from breakeven.output.html import escape

#: the browser refuses what would leave the page, whatever stands in it
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
HERE = Path(__file__).parent
#: characters of data that stand in a page as they are; more are compressed, to a fifth
_PLAIN = 1 << 16


@cache
def text_of(path: Path) -> str:
    """A file of a page."""
    return path.read_text(encoding="utf-8")


def embedded(data: Any) -> str:
    """JSON inside a script element: nothing in it may end the element."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("&", "\\u0026")


def _data(data: Any) -> str:
    """The element with the data; `pageData` of ``dom.js`` reads both forms."""
    text, kind = embedded(data), "application/json"
    if len(text) > _PLAIN:
        text, kind = base64.b64encode(zlib.compress(text.encode(), 9)).decode(), "application/octet-stream"
    return f'<script type="{kind}" id="data">{text}</script>\n'


def document(
    title: str, body: str, data: Any, styles: Sequence[Path], scripts: Sequence[Path], policy: str = POLICY
) -> str:
    """The HTML text. `styles` and `scripts` come behind the shared ones; `data` stands in the element of this id."""
    style = "".join(map(text_of, [HERE / "theme.css", *styles]))
    script = "\n".join(map(text_of, [HERE / "dom.js", HERE / "chart.js", HERE / "views.js", *scripts]))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style></head>\n<body>\n{body}"
        f'{_data(data)}<script>\n"use strict";\n(async () => {{\n{script}\n}})();\n</script>\n</body></html>\n'
    )
