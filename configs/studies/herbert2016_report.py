"""What herbert2016 tells: tables, figures and the numbers of its text."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

from herbert2016_grids import (
    ADC,
    ATOM_SIZES,
    CHECKED,
    DEPTH,
    DEPTHS,
    FIXED,
    FLAG_FREE,
    FLAG_MERGE,
    FLAG_STALL,
    GHZ,
    JRCXZ,
    JRCXZ_UOPS,
    LARGE,
    LATER,
    LATER_40,
    LATER_SIZES,
    LINE,
    MACHINES,
    NAIVE,
    NEW,
    NOTHING,
    OLD,
    PAGE,
    PAGE_CROSS,
    PAGE_SIZES,
    STALLS,
    TABLE,
    UNALIGNED,
    WESTMERE,
    table_cycles,
    with_call,
)

from breakeven.studies.parts import machine_value, overtaking
from breakeven.studies.study import Data, TableItem

#: words of eight bytes in the packet of the loops
WORDS = 1400 / 8


def published_table(data: Data) -> TableItem:
    rows = []
    for claim, (size, offset) in TABLE.items():
        old, new = (float(v) for v in data.claims[claim].value.split("/"))
        ours = [table_cycles(data, routine, size, offset) for routine in (OLD, NEW)]
        alone = [
            data.cycles("table", routine=routine, size=size, src_offset=offset, measure="latency")
            for routine in (OLD, NEW)
        ]
        rows.append([
            f"{size} B at {offset}", f"{old:g}", f"{new:g}", f"{old / new:.2f}", *(f"{c / GHZ:.1f}" for c in ours),
            f"{ours[0] / ours[1]:.2f}", *(f"{c / ns:.2f}" for c, ns in zip(ours, (old, new), strict=True)),
            *(round(c) for c in alone),
        ])  # fmt: skip
    columns = (
        "buffer", "old, ns", "new, ns", "times faster", "simulated old, ns", "simulated new, ns", "times faster",
        "old equal at, GHz", "new", "old, cycles of one call", "new",
    )  # fmt: skip
    return TableItem("published", "Published and simulated (2.67 GHz), back to back", columns, rows)


def depth_table(data: Data) -> TableItem:
    rows = []
    for claim, (size, offset) in TABLE.items():
        old, new = (float(v) for v in data.claims[claim].value.split("/"))
        at = {"size": size, "src_offset": offset}
        ours = [
            with_call(data, "depth", routine=OLD, **at, **{DEPTH: str(depth)})
            / with_call(data, "depth", routine=NEW, **at, **{DEPTH: str(depth)})
            for depth in DEPTHS
        ]
        rows.append([f"{size} B at {offset}", f"{old / new:.2f}", *(f"{ratio:.2f}" for ratio in ours)])
    columns = ("buffer", "published", *(f"{depth} cycles" for depth in DEPTHS))
    return TableItem("depth", "Times faster, by the cycles from fetch to decode", columns, rows)


def crossing_table(data: Data) -> TableItem:
    rows = []
    for size in (40, 64):
        for routine in (OLD, NEW, CHECKED):
            row: list[object] = [size, routine]
            for measure in ("latency", "throughput"):
                at = {"routine": routine, "size": size, "measure": measure}
                row += [round(data.cycles("crossings", src_offset=offset, **at)) for offset in (NOTHING, LINE, PAGE)]
            rows.append(row)
    places = ("aligned", "across a line", "across a page")
    columns = ("bytes", "routine", *(f"{what}, {how}" for how in ("one call", "back to back") for what in places))
    return TableItem("crossings", "Cycles where a load crosses nothing, a line, a page", columns, rows)


def large_table(data: Data) -> TableItem:
    rows = []
    for size in LARGE:
        for routine in (OLD, NEW):
            at = {"routine": routine, "size": size}
            cycles = [data.cycles("large", src_offset=offset, **at) for offset in (0, *UNALIGNED)]
            rows.append([size, routine, round(cycles[0]), round(min(cycles[1:])), round(max(cycles[1:]))])
    return TableItem(
        "large", "Large buffers, cycles", ("bytes", "routine", "aligned", "unaligned, least", "most"), rows
    )


def atom_gains(data: Data, size: int) -> list[float]:
    """On the Atom, by offset from 0 to 7: how many times faster the new routine is."""
    return [
        with_call(data, "atom", routine=OLD, size=size, src_offset=offset)
        / with_call(data, "atom", routine=NEW, size=size, src_offset=offset)
        for offset in (0, *UNALIGNED)
    ]


def atom_wins_to(data: Data) -> int:
    """The largest size up to which the new routine wins on the Atom at every offset; 0: none."""
    wins = 0
    for size in ATOM_SIZES:
        if min(atom_gains(data, size)) <= 1:
            break
        wins = size
    return wins


def atom_state_gain(data: Data, state: str) -> str:
    """On the Atom, a packet that the first level does not hold: times faster than the old one, median of offsets."""
    gains = [
        data.cycles("atom-states", routine=OLD, src_offset=offset, cache_state=state)
        / data.cycles("atom-states", routine=NEW, src_offset=offset, cache_state=state)
        for offset in UNALIGNED
    ]
    return f"{statistics.median(gains):.2f}"


def page_table(data: Data) -> TableItem:
    rows = []
    for name in ("bonnell", "westmere"):
        for measure, shown in (("throughput", "back to back"), ("latency", "one call")):
            gains = []
            for size in PAGE_SIZES:
                at = {"size": size, "measure": measure}
                gains.append(
                    with_call(data, f"page-{name}", routine=OLD, **at)
                    / with_call(data, f"page-{name}", routine=NEW, **at)
                )
            rows.append([name, shown, *(f"{gain:.2f}" for gain in gains)])
    columns = ("machine", "measure", *(f"{size} B" for size in PAGE_SIZES))
    return TableItem("page", f"Across a page: how many times faster {NEW} is than {OLD}", columns, rows)


def fixed_table(data: Data) -> TableItem:
    sizes = [8, 14, 20, 40]
    rows = [[r, *(f"{with_call(data, 'fixed', routine=r, size=n):.1f}" for n in sizes)] for r in (NEW, FIXED)]
    caption = "Cycles of a call, back to back: a chain for each constant length"
    return TableItem("fixed", caption, ("routine", *(f"{size} B" for size in sizes)), rows)


def atom_table(data: Data) -> TableItem:
    rows = []
    for size in ATOM_SIZES:
        aligned, *unaligned = atom_gains(data, size)
        rows.append([size, f"{aligned:.2f}", f"{min(unaligned):.2f}", f"{max(unaligned):.2f}"])
    columns = ("bytes", "aligned", "unaligned, least", "most")
    return TableItem("atom", f"On the Atom: how many times faster {NEW} is than {OLD}", columns, rows)


def implied_clocks(data: Data, sizes: Callable[[int], bool]) -> list[float]:
    """In GHz, sorted: the clocks at which the rows of these sizes would take the published times, old and new."""
    clocks = []
    for claim, (size, offset) in TABLE.items():
        if sizes(size):
            published = (float(v) for v in data.claims[claim].value.split("/"))
            clocks += [
                table_cycles(data, routine, size, offset) / ns
                for routine, ns in zip((OLD, NEW), published, strict=True)
            ]
    return sorted(clocks)


def median_clock(data: Data) -> float:
    """In GHz: the clock at which half of the table's times are longer than here."""
    return statistics.median(
        table_cycles(data, routine, size, offset) / float(ns)
        for claim, (size, offset) in TABLE.items()
        for routine, ns in zip((OLD, NEW), data.claims[claim].value.split("/"), strict=True)
    )


def loop_clocks(data: Data) -> list[float]:
    """In GHz: when a word more, from 40 to 1400 bytes, takes what was published; in the loop, and unrolled."""
    clocks = []
    for routine, which in ((NAIVE, 0), (NEW, 1)):
        short, long = (float(data.claims[f"adc-dec-loop-{size}"].value.split("/")[which]) for size in (40, 1400))
        ours = table_cycles(data, routine, 1400, 0) - table_cycles(data, routine, 40, 0)
        clocks.append(ours / (long - short))
    return clocks


def flags_table(data: Data) -> TableItem:
    rows = []
    for value in ("stall", "uop", "none"):
        cycles = [data.cycles("flags", routine=r, size=1400, **{FLAG_MERGE: value}) for r in (NEW, NAIVE, FLAG_FREE)]
        rows.append(
            [value, *(round(c) for c in cycles), f"{cycles[1] / cycles[0]:.2f}", f"{cycles[1] / cycles[2]:.2f}"]
        )
    columns = ("flag_merge", NEW, NAIVE, FLAG_FREE, "loop / unrolled", "loop / flag-free loop")
    return TableItem("flags", "1400 bytes, cycles, by what reading flags of two writers costs", columns, rows)


def stall_table(data: Data) -> TableItem:
    rows = []
    for size in (1400, 40):
        loop, unrolled = (float(v) for v in data.claims[f"adc-dec-loop-{size}"].value.split("/"))
        row: list[object] = [size, f"{loop / unrolled:.2f}"]
        for stall in STALLS:
            at = {"size": size, FLAG_STALL: str(stall)}
            ours = [with_call(data, "stall", routine=routine, **at) for routine in (NAIVE, NEW)]
            row.append(f"{ours[0] / ours[1]:.2f}")
        rows.append(row)
    columns = ("bytes", "published", *(str(stall) for stall in STALLS))
    return TableItem("stall", "Loop / unrolled, by the cycles from retirement to the reader's renaming", columns, rows)


def jrcxz_table(data: Data) -> TableItem:
    """What the loop that leaves the flags alone hangs on; cycles per word of eight bytes."""
    cases = {f"jrcxz of {uops} micro-ops": ("jrcxz", {JRCXZ: uops}) for uops in JRCXZ_UOPS}
    cases |= {f"adc of {cycles} cycles": ("jrcxz-adc", {ADC: cycles}) for cycles in ("2", "4", "6")}
    cases["no loop buffer"] = ("jrcxz-fetch", {})
    rows = []
    for what, (grid, where) in cases.items():
        cycles = [with_call(data, grid, routine=routine, **where) / WORDS for routine in (FLAG_FREE, NEW, NAIVE)]
        rows.append([what, *(f"{each:.2f}" for each in cycles), f"{cycles[2] / cycles[0]:.2f}"])
    half = float(data.claims["adc-dec-loop-1400"].value.split("/")[0]) / float(data.claims["flag-free-loop"].value)
    published = [half, *(float(v) for v in reversed(data.claims["adc-dec-loop-1400"].value.split("/")))]
    shown = (f"{ns * GHZ / WORDS:.2f}" for ns in published)
    rows.append(["published, if on this Xeon at its base clock", *shown, data.claims["flag-free-loop"].value])
    columns = ("what is otherwise", FLAG_FREE, NEW, NAIVE, "the last over the first")
    return TableItem("jrcxz", "1400 bytes back to back on westmere, cycles per word of eight bytes", columns, rows)


def fastest(data: Data, name: str, size: int, measure: str) -> tuple[str, float, float]:
    """The quickest checksum there, its cycles per call as a loop measures them, and those of the thread's winner."""
    grids = [f"later-{name}", *([f"later-40-{name}"] if size == 40 else [])]
    times = {}
    for grid in grids:
        for routine in dict.fromkeys(data.tables[grid]["routine"]):
            times[routine] = with_call(data, grid, routine=routine, size=size, measure=measure)
    best = min(times, key=lambda routine: times[routine])
    return best, times[best], times[NEW]


def winners_table(data: Data) -> TableItem:
    rows = []
    for name in MACHINES:
        for size in (14, 40, 100, 256, 1400, 4096):
            row: list[object] = [name, size]
            for measure in ("throughput", "latency"):
                best, cycles, new = fastest(data, name, size, measure)
                row += [best, f"{new / cycles:.2f}"]
            rows.append(row)
    columns = (
        "machine",
        "bytes",
        "fastest back to back",
        f"times faster than {NEW}",
        "fastest one at a time",
        "times faster",
    )
    return TableItem("winners", "Who would have won the thread, had all been there; aligned, warm", columns, rows)


def later_table(data: Data) -> TableItem:
    names = list(dict.fromkeys([*LATER, *(r for more in MACHINES.values() for r in more)]))
    rows = []
    for routine in names:
        row: list[object] = [routine]
        for name, more in MACHINES.items():
            there = routine in LATER or routine in more
            row.append(
                round(with_call(data, f"later-{name}", routine=routine, size=1400, measure="throughput"))
                if there
                else "-"
            )
        rows.append(row)
    return TableItem("later", "1400 bytes back to back, cycles/call", ("routine", *MACHINES), rows)


def forty_table(data: Data) -> TableItem:
    rows = []
    for routine in [OLD, NEW, "x64-csum-dumazet", "x64-csum-goldstein", *LATER_40]:
        row: list[object] = [routine]
        for name in MACHINES:
            grid = f"later-40-{name}" if routine in LATER_40 else f"later-{name}"
            each = [with_call(data, grid, routine=routine, size=40, measure=m) for m in ("throughput", "latency")]
            row.append("/".join(f"{cycles:.0f}" for cycles in each))
        rows.append(row)
    return TableItem(
        "forty",
        "40 bytes, cycles/call: back to back / one at a time with the empty call",
        ("routine", *MACHINES),
        rows,
    )


def bare_figure(data: Data, name: str) -> Callable[[Path], object]:
    """Bytes a cycle over size."""
    shown = [OLD, NEW, NAIVE, FLAG_FREE, "x64-csum-dumazet", "x64-csum-goldstein", *MACHINES[name][1:]]

    def draw(path: Path) -> None:
        from breakeven.output import plots

        rates = {}
        for routine in shown:
            sizes, cycles = data.curve(f"later-{name}", routine=routine, measure="throughput")
            rates[routine] = [size / max(each, 1e-9) for size, each in zip(sizes, cycles, strict=True) if size >= 64]
        found = overtaking(data, f"later-{name}", OLD, NEW, measure="throughput")
        ahead = f"{NEW} is ahead of {OLD} " + (
            "at every size from 8 B on." if found.leads_everywhere else f"from {found.threshold} B on."
        )
        plots.lines(
            path, [size for size in LATER_SIZES if size >= 64], rates, title=f"Checksums on {name}", log_x=True,
            ylabel="bytes a cycle",
            caption=f"{name}, aligned, warm, calls back to back. {ahead}",
        )  # fmt: skip

    return draw


def findings(data: Data) -> dict[str, str]:
    page = [data.cycles("crossings", routine=r, size=40, src_offset=PAGE, measure="latency") for r in (NEW, CHECKED)]
    aligned = [
        data.cycles("crossings", routine=r, size=40, src_offset=NOTHING, measure="throughput") for r in (NEW, CHECKED)
    ]
    words = {
        name: with_call(data, f"later-{name}", routine=NEW, size=4096, measure="throughput") / 512 for name in MACHINES
    }
    short, long = implied_clocks(data, lambda size: size <= 40), implied_clocks(data, lambda size: size == 1400)
    lines, page_cost = 1400 / 64, float(machine_value(WESTMERE, PAGE_CROSS))
    missing = [
        (float(ns) * GHZ - table_cycles(data, routine, 1400, 0)) / lines
        for routine, ns in zip((OLD, NEW), data.claims["1400/0"].value.split("/"), strict=True)
    ]
    return {
        "table_clock": f"{median_clock(data):.1f}",
        "short_clocks": f"{short[0]:.1f} to {short[-1]:.1f}",
        "long_clocks": " and ".join(f"{clock:.1f}" for clock in long),
        "loop_clocks": " and ".join(f"{clock:.1f}" for clock in loop_clocks(data)),
        "flag_stall": machine_value(WESTMERE, FLAG_STALL),
        "page_cost": f"{page_cost:.0f}",
        "page_clock": f"{page_cost / float(data.claims['page-cross'].value):.1f}",
        "missing": f"{min(missing):.1f} to {max(missing):.1f}",
        "atom_wins": f"{atom_wins_to(data)}",
        "atom_memory": atom_state_gain(data, "src-cold"),
        "atom_l2": atom_state_gain(data, "src-l2"),
        "page_new": f"{page[0]:.0f}",
        "page_checked": f"{page[1]:.0f}",
        "check_costs": f"{aligned[1] - aligned[0]:.1f}",
        "westmere_word": f"{words['westmere']:.2f}",
        "skylake_word": f"{words['skylake']:.2f}",
    }
