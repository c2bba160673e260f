"""What scripts of others read: columns of tables and keys of --json are added, never renamed or removed
(docs/promises.md)."""

import json

COLUMNS = {
    "routine", "machine", "size", "src_offset", "dst_offset", "cache_state", "measure", "repetitions", "calls",
    "cycles_min", "cycles_median", "cycles_total", "instructions", "overhead", "converged", "ok", "status",
    "detail",
}  # fmt: skip
RUN = {
    "machine", "machine_hash", "routine", "size", "src_offset", "dst_offset", "cache_state", "measure",
    "repetitions", "calls", "size2", "src_offset2", "dst_offset2", "warmup", "seed", "fault_at", "flags",
    "parameter", "cycles", "cycles_min", "cycles_median", "cycles_total", "bytes_per_cycle", "instructions",
    "overhead", "converged", "ret", "ok", "problem",
}  # fmt: skip
COMPARE = {
    "machine", "conditions", "along", "x", "cycles", "repetitions", "not_converged", "intervals", "break_even",
    "crossings", "ok", "file", "least", "half_iqr", "spikes", "said",
}  # fmt: skip
FIND = {
    "machine", "conditions", "routines", "along", "grid", "probed", "cycles", "repetitions", "intervals",
    "break_even", "crossings", "ok", "spikes", "said",
}  # fmt: skip
BREAK_EVEN = {"below", "above", "threshold", "threshold_lower", "loss", "changes", "exact", "confidence"}


def test_columns_and_keys_that_are_there_stay(breakeven, tmp_path) -> None:
    on = ("-m", "atomic", "--no-store")
    done = breakeven("sweep", "rv-word", *on, "-n", "8", "-o", "t.csv")
    assert done.returncode == 0, done.stderr
    head = (tmp_path / "t.csv").read_text().splitlines()[0].split(",")
    assert set(head) >= COLUMNS
    assert set(json.loads(breakeven("run", "rv-word", *on, "-n", "8", "--json").stdout)) >= RUN
    two = ("rv-word", "rv-word-noalign")
    compared = json.loads(breakeven("compare", *two, *on, "-n", "8,16", "--json").stdout)
    assert set(compared) >= COMPARE and set(compared["break_even"]) >= BREAK_EVEN
    found = json.loads(breakeven("find", *two, *on, "-n", "8..24:8", "--json").stdout)
    assert set(found) >= FIND and set(found["break_even"]) >= BREAK_EVEN
