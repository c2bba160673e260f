"""Where a value comes from, written at the value: ``size = sourced("32KiB", "u74/l1d_size_kb")``.

`sourced(value, row, note="")`: what the row ``cpu/parameter`` of uarch.csv says. `calibrated(value, row, note)`: chosen
so that what the row measures comes out. `assumed(value, note)`: no source; `assumed_unless_marked` keeps the mark that
a value has. `as_gem5(value, note)`: of gem5's reference runs. Of a mapping each value is marked. breakeven keeps the
mark beside the parameter; a real gem5 gets the value.
"""

try:
    from m5.provenance import as_gem5, assumed, assumed_unless_marked, calibrated, sourced
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


__all__ = ["as_gem5", "assumed", "assumed_unless_marked", "calibrated", "sourced"]
