"""herbert2016: a checksum that does not align (netdev, March 2016), against the one it replaced and all later ones.
`herbert2016_grids` says what runs, `herbert2016_report` tells it; here are the verdicts.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from herbert2016_grids import (
    ALIKE,
    CHECKED,
    DEC_LEA,
    FLAG_FREE,
    FLAG_MERGE,
    GHZ,
    GRIDS,
    HEADERS,
    LINE,
    MACHINES,
    NAIVE,
    NEW,
    NOTHING,
    OLD,
    PAGE,
    PAGE_CROSS,
    SEARCHES,
    TABLE,
    WESTMERE,
    table_cycles,
    with_call,
)
from herbert2016_report import (
    atom_table,
    bare_figure,
    crossing_table,
    depth_table,
    findings,
    fixed_table,
    flags_table,
    forty_table,
    jrcxz_table,
    large_table,
    later_table,
    loop_clocks,
    page_table,
    published_table,
    stall_table,
    winners_table,
)

from breakeven.studies.parts import found_figure, found_flip, machine_value
from breakeven.studies.study import (
    DIRECTION_ONLY,
    NOT_SIMULATED,
    REPRODUCED,
    TIE,
    Contents,
    Data,
    FigureItem,
    Flip,
    Study,
    Verdict,
    judge_absolute,
    judge_ratio,
    judge_winner,
)


def judge(data: Data) -> list[Verdict]:
    return [
        *(judge_row(data, claim, size, offset) for claim, (size, offset) in TABLE.items()),
        judge_interleaved(data),
        judge_page(data),
        judge_frame(data),
        *(judge_loop(data, size) for size in (1400, 40)),
        judge_flag_free(data),
        *judge_pages(data),
        judge_check(data),
        judge_dec_lea(data),
        *(
            judge_alike(data, claim, name)
            for claim, name in (("similar-atom", "bonnell"), ("similar-ivybridge", "ivybridge"))
        ),
        Verdict(
            "fixed",
            "no number",
            "-",
            NOT_SIMULATED,
            "The thread has no time for any of the four; the counts that perf printed there are not in our table of "
            "published numbers.",
        ),
    ]


def published_pair(data: Data, claim: str) -> tuple[float, float]:
    first, second = (float(v) for v in data.claims[claim].value.split("/"))
    return first, second


def judge_row(data: Data, claim: str, size: int, offset: int) -> Verdict:
    old, new = published_pair(data, claim)
    ours = {routine: table_cycles(data, routine, size, offset) for routine in (OLD, NEW)}
    simulated = ours[OLD] / ours[NEW]
    times = "/".join(f"{ours[routine] / GHZ:.1f}" for routine in (OLD, NEW))
    verdict = judge_ratio(old / new, simulated)
    return Verdict(
        claim,
        f"{old:g} / {new:g} ns: {old / new:.2f} times faster",
        f"{times} ns: {simulated:.2f} times faster",
        verdict,
        "" if verdict == REPRODUCED else frame_note((old, new), (ours[OLD], ours[NEW])),
    )


def frame_note(published: tuple[float, float], cycles: tuple[float, float]) -> str:
    """What a test's own cost around the routine does to a ratio of short times."""
    off = " and ".join(f"{c / GHZ / ns - 1:+.0%}" for c, ns in zip(cycles, published, strict=True))
    longer = ", ".join(f"{(cycles[0] + ns * GHZ) / (cycles[1] + ns * GHZ):.2f} with {ns} ns" for ns in (1, 2))
    return (
        f"Old and new alone are off by {off}. Published times include the test around the routine, ours an empty "
        f"call: were that longer, {longer} more."
    )


def judge_interleaved(data: Data) -> Verdict:
    together = with_call(data, "interleaved", routine=NEW)
    alone = statistics.mean(with_call(data, "alone", routine=NEW, size=size) for size in (24, 100))
    return Verdict(
        "interleaved",
        "no material loss (2.05 s interleaved, 2.27 s not: 0.90)",
        f"{together / alone:.2f} times the time",
        judge_ratio(1.0, together / alone),
        "100 and 24 bytes at offset 1 in turn, against the mean of each alone; what the test's parameters meant is "
        "not published.",
    )


def judge_page(data: Data) -> Verdict:
    alone = {
        (size, offset): data.cycles("crossings", routine=NEW, size=size, src_offset=offset, measure="latency")
        for size in (40, 64)
        for offset in (NOTHING, LINE, PAGE)
    }
    over = {(size, than): alone[size, PAGE] - alone[size, than] for size in (40, 64) for than in (NOTHING, LINE)}
    extra, cost = over[40, NOTHING] / GHZ, float(machine_value(WESTMERE, PAGE_CROSS))
    verdict = judge_absolute(10, extra)
    return Verdict(
        "page-cross",
        "10 ns more",
        f"{extra:.1f} ns more",
        verdict if verdict == REPRODUCED or extra <= 0 else DIRECTION_ONLY,
        f"{over[40, NOTHING]:.0f} cycles: 40 B, one call at a time, against a buffer that crosses nothing "
        f"({over[40, LINE]:.0f} against one across a line; of 64 B {over[64, NOTHING]:.0f} and {over[64, LINE]:.0f}, "
        "where nothing hides it). The mail does not say against what. The preset has what another test measured on "
        f"this Xeon (`westmere/page_cross_load`): {cost:.0f} cycles over a load that crosses nothing, {cost / GHZ:.1f} "
        f"ns; they take the published 10 ns at {cost / 10:.1f} GHz.",
    )


def judge_frame(data: Data) -> Verdict:
    unaligned, aligned = published_pair(data, "unaligned-32k")
    ours = {offset: 2 * data.cycles("large", routine=NEW, size=32768, src_offset=offset) for offset in (0, 1)}
    later = {offset: 2 * data.cycles("large-ivybridge", src_offset=offset) for offset in (0, 1)}
    ratio = ours[1] / ours[0]
    return Verdict(
        "unaligned-32k",
        f"{unaligned:.0f} against {aligned:.0f} cycles: {unaligned / aligned:.3f}",
        f"{ours[1]:.0f} against {ours[0]:.0f} cycles: {ratio:.3f}",
        judge_ratio(unaligned / aligned, ratio),
        f"Two pieces of 32 KiB. The cycles alone are within {max(ours[0] / aligned, aligned / ours[0]) - 1:.0%} of "
        f"the published; `ivybridge`, which adds 0 and a carry in one cycle, takes {later[1]:.0f} and {later[0]:.0f}: "
        "the mail does not name its processor.",
    )


def judge_loop(data: Data, size: int) -> Verdict:
    loop, unrolled = published_pair(data, f"adc-dec-loop-{size}")
    ours = {routine: table_cycles(data, routine, size, 0) for routine in (NAIVE, NEW)}
    ratio = ours[NAIVE] / ours[NEW]
    times = "/".join(f"{cycles / GHZ:.1f}" for cycles in ours.values())
    verdict = judge_ratio(loop / unrolled, ratio)
    off = [ours[routine] / GHZ / ns - 1 for routine, ns in ((NAIVE, loop), (NEW, unrolled))]
    more = " and ".join(f"{clock:.2f}" for clock in loop_clocks(data))
    note = (
        f"Loop and unrolled sum alone are off by {off[0]:+.0%} and {off[1]:+.0%}. What a word more takes, from 40 to "
        f"1400 bytes, agrees with the published at {more} GHz; the model has {GHZ:.2f}. What the stall takes was set "
        "by GNU MP's loops (`nehalem/adc_dec_loop`), not by this one."
    )
    return Verdict(
        f"adc-dec-loop-{size}",
        f"{loop:g} / {unrolled:g} ns: {loop / unrolled:.2f} times slower",
        f"{times} ns: {ratio:.2f} times slower",
        verdict,
        "" if verdict == REPRODUCED else note,
    )


def judge_flag_free(data: Data) -> Verdict:
    ratio = table_cycles(data, NAIVE, 1400, 0) / table_cycles(data, FLAG_FREE, 1400, 0)
    by_merge = {
        value: data.cycles("flags", routine=NAIVE, size=1400, **{FLAG_MERGE: value})
        / data.cycles("flags", routine=FLAG_FREE, size=1400, **{FLAG_MERGE: value})
        for value in ("stall", "uop", "none")
    }
    others = ", ".join(f"{name} {loop_ratio(data, name):.2f}" for name in MACHINES if name != WESTMERE.name)
    return Verdict(
        "flag-free-loop",
        "2 times faster",
        f"{ratio:.2f} times faster",
        judge_ratio(2.0, ratio),
        "The loop without flags runs at the speed of its carry chain, two cycles per word, whatever jrcxz costs.",
        "adc after dec reads flags of two writers, which stalls this core (`flag_merge`). With a merging micro-op "
        f"instead the ratio would be {by_merge['uop']:.2f}, without either {by_merge['none']:.2f}: the published 2 "
        f"lies between the two ways, and the mail names no processor. On the others: {others}.",
    )


def loop_ratio(data: Data, name: str) -> float:
    """How many times faster the loop that leaves the flags alone is there."""
    naive, free = (
        with_call(data, f"later-{name}", routine=routine, size=1400, measure="throughput")
        for routine in (NAIVE, FLAG_FREE)
    )
    return naive / free


def page_gains(data: Data, name: str, sizes: Sequence[int], measure: str = "throughput") -> list[float]:
    """Across a page: how many times faster the new routine is."""
    at = {"measure": measure}
    return [
        with_call(data, f"page-{name}", routine=OLD, size=size, **at)
        / with_call(data, f"page-{name}", routine=NEW, size=size, **at)
        for size in sizes
    ]


def judge_pages(data: Data) -> list[Verdict]:
    """The thread's paragraph on a load that crosses a page: the Atom gains, the Xeon loses some."""
    verdicts = []
    for claim, name, sizes, gains in (
        ("page-atom-1480", "bonnell", [1480], True),
        ("page-atom-headers", "bonnell", HEADERS, True),
        ("page-xeon-1480", "westmere", [1480], False),
        ("page-xeon-headers", "westmere", HEADERS, False),
    ):
        ratios = page_gains(data, name, sizes)
        leads = [ratio if gains else 1 / ratio for ratio in ratios]
        share = sum(lead > 1 + TIE for lead in leads) / len(leads)
        alone = ", ".join(f"{ratio:.2f}" for ratio in page_gains(data, name, sizes, "latency"))
        verdicts.append(
            Verdict(
                claim,
                f"{NEW} wins" if gains else f"{NEW} loses some",
                ", ".join(f"{ratio:.2f} times at {size} B" for size, ratio in zip(sizes, ratios, strict=True)),
                judge_winner(share, statistics.median(leads)),
                "Old time over new time, from 4 bytes before a page's end, back to back.",
                f"One call at a time: {alone}.",
            )
        )
    return verdicts


def judge_check(data: Data) -> Verdict:
    extra = {
        measure: (
            data.cycles("crossings", routine=CHECKED, size=40, src_offset=NOTHING, measure=measure)
            - data.cycles("crossings", routine=NEW, size=40, src_offset=NOTHING, measure=measure)
        )
        / GHZ
        for measure in ("latency", "throughput")
    }
    return Verdict(
        "page-check",
        "1 ns",
        f"{extra['latency']:.2f} ns",
        judge_absolute(1.0, extra["latency"]),
        f"40 B, one call at a time; back to back {extra['throughput']:+.2f} ns.",
    )


def judge_dec_lea(data: Data) -> Verdict:
    at = {"size": 1400, "measure": "throughput"}
    loop, unrolled = (with_call(data, "later-westmere", routine=routine, **at) for routine in (DEC_LEA, NEW))
    return Verdict(
        "dec-lea",
        "no loss, not much gain",
        f"{loop / unrolled:.2f} times the time",
        judge_ratio(1.0, loop / unrolled),
        "1400 B; dec leaves the carry in another register than the other flags, which stalls this core.",
    )


def judge_alike(data: Data, claim: str, name: str) -> Verdict:
    gains = []
    for size in ALIKE:
        at = {"size": size, "measure": "throughput"}
        gains.append(
            with_call(data, f"later-{name}", routine=OLD, **at) / with_call(data, f"later-{name}", routine=NEW, **at)
        )
    share = sum(gain > 1 + TIE for gain in gains) / len(gains)
    return Verdict(
        claim,
        "similar results",
        ", ".join(f"{gain:.2f} times at {size} B" for size, gain in zip(ALIKE, gains, strict=True)),
        judge_winner(share, statistics.median(gains)),
        f"Times faster, aligned, back to back, on `{name}`.",
    )


def contents(data: Data) -> Contents:
    tables = [
        published_table(data),
        depth_table(data),
        crossing_table(data),
        large_table(data),
        atom_table(data),
        page_table(data),
        fixed_table(data),
        flags_table(data),
        stall_table(data),
        jrcxz_table(data),
        later_table(data),
        forty_table(data),
        winners_table(data),
    ]
    figures = [
        FigureItem("sizes", "Bytes a cycle over size, every checksum on westmere", bare_figure(data, "westmere")),
        FigureItem("sizes-later", "The same on a later processor", bare_figure(data, "skylake")),
        FigureItem(
            "what-if",
            "Cycles of 1400 unaligned bytes over what a load across two lines occupies",
            found_figure(data.found["split"], "What if a load across two lines cost more? 1400 bytes, offset 3"),
        ),
        FigureItem(
            "what-if-atom",
            "On the Atom, over how much later such a load comes",
            found_figure(data.found["split-atom"], "What if it delayed the Atom less? 1400 bytes, offset 3"),
        ),
        FigureItem(
            "what-if-page",
            "Cycles of 40 bytes across a page over what that costs",
            found_figure(data.found["page-cross"], "What if a load across two pages cost less? 40 bytes"),
        ),
    ]
    return Contents(findings(data), tables, figures, flips(data))


def flips(data: Data) -> list[Flip]:
    slower = {
        value: data.cycles("flags", routine=NAIVE, size=1400, **{FLAG_MERGE: value})
        / data.cycles("flags", routine=NEW, size=1400, **{FLAG_MERGE: value})
        for value in ("none", "uop")
    }
    cost = float(machine_value(WESTMERE, PAGE_CROSS))
    pays = "pays" if any(at <= cost for at in data.found["page-cross"].crossings) else "does not pay"
    return [
        found_flip(
            data.found["split"], f"{NEW} beats {OLD}, which aligns, at 1400 unaligned bytes (westmere)", "what-if"
        ),
        found_flip(data.found["split-atom"], f"{OLD} beats {NEW} there on the Atom (bonnell)", "what-if-atom"),
        found_flip(
            data.found["page-cross"],
            f"at a page's end the test for it {pays} ({CHECKED}, 40 bytes, westmere)",
            "what-if-page",
        ),
        Flip(
            "a loop of adc and dec is slower than the unrolled sum (1400 bytes, westmere)",
            FLAG_MERGE,
            "stall",
            f"none ({slower['none']:.2f} times its time; with uop {slower['uop']:.2f})",
            "flags",
        ),
    ]


def answer(data: Data) -> str:
    gains = [table_cycles(data, OLD, *point) / table_cycles(data, NEW, *point) for point in TABLE.values()]
    wins = "Yes" if min(gains) > 1 + TIE else "No" if max(gains) < 1 + TIE else "Not always"
    return f"{wins}: at {len(gains)} lengths and offsets it is {min(gains):.2f} to {max(gains):.2f} times as fast."


STUDY = Study(
    name="herbert2016",
    title="herbert2016: the Internet checksum without aligning",
    grids=GRIDS,
    judge=judge,
    contents=contents,
    searches=SEARCHES,
    answer=answer,
)
