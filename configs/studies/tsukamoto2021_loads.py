"""The four published loads: their copies by where the buffers lie, and the other rows of the profiles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tsukamoto2021_grids import (
    CROCE,
    FRAME,
    IN_L2,
    IN_MEMORY,
    L2_LATENCY,
    LOADS,
    MEMCPY_SHARES,
    NEW,
    OLD,
    PACKET,
    PLACED,
    PLAIN,
    TRAP,
    UCB,
    UNROLLED,
    implied,
    load_cycles,
    load_speed_up,
    published_shares,
    row_cycles,
    row_speed_up,
)

from breakeven.studies.parts import change_text, changes
from breakeven.studies.study import Data, TableItem

#: where the driver's copy begins: its source was written by a device that does not snoop, its destination is a buffer
#: that was used before
DRIVER = "src-cold-dst-l2"
#: M. Croce, linux-riscv, 2021-06-17 (v3 1/3), TCP receive on the same board: `memcpy` and user copy, before and after
#: `memcpy` went from bytes to shift-and-merge
CROCE_BEFORE, CROCE_AFTER = (0.4222, 0.3500), (0.2906, 0.4569)


def from_memory(data: Data, claim: str) -> float | None:
    """The share of the lines that must come from memory, the others from the second level, for the published speed-up;
    None if no share gives it."""
    old, new = (load_cycles(data, claim, routine) for routine in (OLD, NEW))
    old_cold, new_cold = (load_cycles(data, claim, routine, "cold") for routine in (OLD, NEW))
    ratio = implied(data, claim)
    slope = ratio * (new_cold - new) - (old_cold - old)
    share = (old - ratio * new) / slope if slope else -1.0
    return share if 0 < share <= 1 else None


def states_table(data: Data) -> TableItem:
    rows = []
    for state in PLACED:
        gains = [f"{load_speed_up(data, claim, state):.2f}" for claim in LOADS]
        rows.append([state, *gains])
    rows.append(["as the load runs (judged)", *(f"{row_speed_up(data, claim):.2f}" for claim in LOADS)])
    rows.append(["published", *(f"{implied(data, claim):.2f}" for claim in LOADS)])
    columns = [f"{load.what}: {load.size} B, {load.src}/{load.dst}" for load in LOADS.values()]
    return TableItem("loads", "Times faster by where the buffers lie", ("caches", *columns), rows)


def profile_table(data: Data) -> TableItem:
    """What the profiles say besides the user copy's share, against the same quotients of simulated cycles."""
    driver = {routine: data.cycles("driver", routine=routine, cache_state=DRIVER) for routine in (UCB, CROCE)}
    rows = []

    def row(what: str, published: float, simulated: float) -> None:
        rows.append([what, f"{published:.3f}", f"{simulated:.3f}", f"{simulated / published:.2f}"])

    for claim in ("tcp-recv-share", "udp-recv-share"):
        for when, share, memcpy, routine in zip(
            ("before", "after"), published_shares(data, claim), MEMCPY_SHARES[claim], (OLD, NEW), strict=True
        ):
            simulated = row_cycles(data, claim, routine) / driver[UCB]
            row(f"{LOADS[claim].what}, user copy over driver's copy, {when}", share / memcpy, simulated)
    before, after = (memcpy / user for memcpy, user in (CROCE_BEFORE, CROCE_AFTER))
    row("TCP receive, driver's copy by bytes over shift-and-merge", before / after, driver[UCB] / driver[CROCE])
    columns = ("quotient of times", "published", "simulated", "simulated / published")
    caption = f"Other quotients of the profiles; the driver's copy: {FRAME} B, {UCB} and {CROCE}, {DRIVER}"
    return TableItem("profile", caption, columns, rows)


def memory_table(data: Data) -> TableItem:
    rows = []
    for claim, load in LOADS.items():
        share = from_memory(data, claim)
        gains = [f"{value:.2f}" for value in (implied(data, claim), load_speed_up(data, claim))]
        cold = f"{load_speed_up(data, claim, 'cold'):.2f}"
        rows.append([load.what, *gains, cold, f"{share:.0%}" if share else "none"])
    columns = (
        "load",
        "published",
        f"simulated, {PLAIN}",
        "simulated, cold",
        "lines from memory for the published",
    )
    return TableItem("from-memory", "Which share of the lines would have to come from memory", columns, rows)


def latency_curve(data: Data, claim: str) -> tuple[list[float], list[float]]:
    """Latencies of the second level, and the load's speed-up there."""
    load = LOADS[claim]
    rows = data.select("l2-latency", src_offset=load.src, dst_offset=load.dst)
    cycles = rows.assign(latency=rows[L2_LATENCY].astype(float)).pivot(
        index="latency", columns="routine", values="cycles"
    )
    return list(cycles.index), list(cycles[OLD] / cycles[NEW])


def latency_table(data: Data) -> TableItem:
    rows = []
    for claim, load in LOADS.items():
        if load.size != PACKET:
            continue
        latencies, gains = latency_curve(data, claim)
        found = changes(latencies, gains, [implied(data, claim)] * len(latencies))
        at = change_text(found[0]) if found else "none"
        rows.append([load.what, f"{gains[0]:.2f}", f"{gains[-1]:.2f}", f"{implied(data, claim):.2f}", at])
    latencies, _ = latency_curve(data, "udp-send-share")
    columns = ("load", f"at {latencies[0]:.0f} cycles", f"at {latencies[-1]:.0f}", "published", "comes out at")
    return TableItem("l2-latency", f"Times faster by the second level's latency ({L2_LATENCY})", columns, rows)


def far_table(data: Data) -> TableItem:
    """Whether store misses hold loads up: two measurements, and what either kind of core makes of them."""
    rows = []
    for what, measured, routine, size in (
        ("within the second level, eight words per iteration (JH7110, J. Zhang's patch)", 1.28 / 1.5, UNROLLED, IN_L2),
        ("within memory (JH7100, M. Croce, starfive-tech/linux issue 27: 213 to 227 MB/s)", 0.22, CROCE, IN_MEMORY),
    ):
        found = [size / data.cycles(grid, routine=routine, size=size) for grid in ("far", "far-overlapped")]
        rows.append([what, size, f"{measured:.2f}", *(f"{each:.3f} ({each / measured:.2f})" for each in found)])
    columns = ("copies", "bytes", "measured", "one miss at a time (this machine)", "store misses overlap")
    return TableItem("far", "Bytes a cycle, and simulated over measured", columns, rows)


def latency_plot(data: Data) -> Callable[[Path], object]:
    def draw(path: Path) -> None:
        from breakeven.machine.words import axis_words
        from breakeven.output import plots

        curves = {}
        latencies: list[float] = []
        for claim in ("udp-recv-share", "udp-send-share"):
            load = LOADS[claim]
            latencies, curves[f"source at {load.src}, destination at {load.dst}"] = latency_curve(data, claim)
        packets = [(claim, load) for claim, load in LOADS.items() if load.size == PACKET]
        plots.lines(
            path,
            latencies,
            curves,
            title=f"{OLD} time / {NEW} time, {PACKET} bytes",
            xlabel=axis_words(TRAP, L2_LATENCY),
            ylabel="times faster",
            levels=[(implied(data, claim), f"published, {load.what}") for claim, load in packets],
            caption="u74, misaligned accesses trap; both buffers in the second level.",
        )

    return draw


def findings(data: Data) -> dict[str, str]:
    """The numbers that the text names."""
    old, new = (float(v) for v in data.claims["udp-send-throughput"].value.split("/"))
    (s0, s1), bits = published_shares(data, "udp-send-share"), 8 * PACKET
    memcpy = MEMCPY_SHARES["udp-send-share"]
    return {
        "udp_send_memcpy": f"{memcpy[0]:.0%}",
        # Mbit/s at 1 GHz: cycles between two packets are 1000 * bits / rate.
        "udp_send_old": f"{s0 * 1000 * bits / old:.0f}",
        "udp_send_new": f"{s1 * 1000 * bits / new:.0f}",
        "udp_send_old_sim": f"{load_cycles(data, 'udp-send-share', OLD):.0f}",
        "udp_send_new_sim": f"{load_cycles(data, 'udp-send-share', NEW):.0f}",
        "udp_send_cold_old": f"{load_cycles(data, 'udp-send-share', OLD, 'dst-cold'):.0f}",
        "udp_send_cold_new": f"{load_cycles(data, 'udp-send-share', NEW, 'dst-cold'):.0f}",
    }
