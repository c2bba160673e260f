"""Where a value comes from, written at the value: ``size = sourced("32KiB", "u74/l1d_size_kb")``.

`sourced(value, row, note="")`: what the row ``cpu/parameter`` of uarch.csv says. `calibrated(value, row, note)`: chosen
so that what the row measures comes out. `assumed(value, note)`: no source; `assumed_unless_marked` keeps the mark that
a value has. `as_gem5(value, note)`: of gem5's reference runs. `measured(value, host, note)`: decided by probes of a
host (`breakeven calibrate`). Of a mapping or a tuple each value is marked. breakeven keeps the mark beside the
parameter; a real gem5 gets the value.

    row = rows_of("skylake")
    numROBEntries = row(rob_size=224)  # as sourced(224, "skylake/rob_size")
    LQEntries, SQEntries = row(load_queue=72, store_queue=56)
    dtb.size, dtb.assoc = row(dtlb_entries=(64, 4))  # two values of one row
"""

try:
    from m5.provenance import as_gem5, assumed, assumed_unless_marked, calibrated, measured, sourced
except ImportError:

    def sourced(value, row, note=""):
        return value

    def calibrated(value, row, note):
        return value

    def assumed(value, note):
        return value

    assumed_unless_marked = assumed

    def as_gem5(value, note):
        return value

    def measured(value, host, note):
        return value


def rows_of(cpu):
    """A function that tags values with rows of this processor: one value, or several in their order. It does not read
    the file; a test compares each value with its row."""

    def row(**rows):
        marked = [
            sourced(value, f"{cpu}/{parameter}")
            for parameter, values in rows.items()
            for value in (values if isinstance(values, tuple) else (values,))
        ]
        return marked if len(marked) > 1 else marked[0]

    return row


__all__ = ["as_gem5", "assumed", "assumed_unless_marked", "calibrated", "measured", "rows_of", "sourced"]
