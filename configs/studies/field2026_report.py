"""What field2026 tells. Its definition, which stood before the first simulation, is `field2026`."""

from __future__ import annotations

from collections.abc import Mapping

from breakeven.studies.study import Contents, Data, TableItem


def contents(data: Data, expected: Mapping[str, str]) -> Contents:
    rows = [[claim, data.claims[claim].cpu, text] for claim, text in expected.items()]
    table = TableItem("expected", "Before the first simulation", ("claim", "answered by", "expected"), rows)
    return Contents({}, [table], [])
