"""The data that a page holds, as its scripts read them."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any


def data_of(text: str) -> Any:
    """The data of a page's text, plain or compressed."""
    element = re.search(r'<script type="application/([\w-]+)" id="data">(.*?)</script>', text, re.DOTALL)
    assert element, "the page has no data"
    kind, found = element.groups()
    return json.loads(found if kind == "json" else zlib.decompress(base64.b64decode(found)))
