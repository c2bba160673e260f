"""`breakeven gem5` as if it were a gem5 without our patches: only gem5's classes and parameters are there.

The nearest thing to a real gem5 that every test machine has; run as ``python -m tests.gem5.plain_gem5 SCRIPT ...``.
"""

from __future__ import annotations

import json
import sys
from typing import Any

_loads = json.loads


def _without_ours(text: Any, **settings: Any) -> Any:
    data = _loads(text, **settings)
    if isinstance(data, dict) and "added_params" in data:
        data |= {"classes": {}, "added_params": {}, "other_values": {}, "in_scripts": {}}
    return data


if __name__ == "__main__":
    json.loads = _without_ours
    # Reads the data as it is imported.
    import breakeven.config.library  # noqa: F401

    json.loads = _loads
    from breakeven.m5.launcher import main

    sys.exit(main(sys.argv[1:]))
