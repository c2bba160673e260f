"""Break-evens in words: never an edge of the grid as a threshold, none where one routine leads throughout."""

import json
import math

import pytest

from breakeven.analysis.baseline import against, read_baseline
from breakeven.analysis.compare import compare
from breakeven.analysis.crossings import leads
from breakeven.analysis.verdict import confidence, describe_confidence, describe_leads, span
from breakeven.cli.comparison_output import comparison_done
from breakeven.errors import UserError
from breakeven.output.console import Table, markdown_lines, print_json, table_lines
from breakeven.points.machine_spec import MachineSpec
from breakeven.sweeps.plot_target import plot_target
from breakeven.sweeps.spec import SweepSpec

U74 = MachineSpec("u74")


def crossing(sizes, at=480.0):
    """`b` costs a fixed amount, `a` grows; `b` is clearly ahead above `at`."""
    return leads(sizes, {"a": [size / at for size in sizes], "b": [1.0 for _ in sizes]})


COSTS = "which costs nothing against always choosing right"


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        (range(1, 4097, 64), f"a leads to 449 B, b from 513 B on; ship 513 B, {COSTS}; sizes between 449 and 513 B were"
         " not tried: `find` narrows it"),
        (range(1, 600), f"a leads to 475 B, b from 485 B on; ship 485 B, {COSTS}"),
        ([500, 512, 1024], "b leads at every size tried (500..1024 B)"),
        ([512], "b leads at every size tried (512 B)"),
        ([8, 16, 32], "a leads at every size tried (8..32 B)"),
        ([8, 16, 481], "a leads or ties at every size tried (8..481 B, with a tie at 1 of 3)"),
        ([480, 512], "b leads or ties at every size tried (480..512 B, with a tie at 1 of 2)"),
    ],
)  # fmt: skip
def test_a_break_even_is_no_more_exact_than_the_grid(sizes, said):
    assert describe_leads(crossing(list(sizes)), "`find` narrows it") == said


def test_equal_curves_tie():
    same = leads([8, 16], {"b": [5, 6], "a": [5, 6]})
    assert same.choice is None
    assert describe_leads(same) == "a and b tie at every size tried (8..16 B)"


def test_every_change_of_a_few_is_told():
    found = leads([8, 100, 300, 900], {"a": [2, 5, 2, 5], "b": [1, 9, 3, 4]})
    assert describe_leads(found) == (
        "b leads to 8 B, a at 100..300 B, b from 900 B on; no single threshold is within 2% of always choosing right; "
        "the best, 100 B (b below it), costs 6.2%"
    )


def test_bounds_are_in_the_json(fake):
    found = compare(SweepSpec(["slow", "fast"], [U74], [1, 449, 513]), fake(lambda r, n, *_: n if r == "slow" else 480))
    told = found.as_dict()
    even = told["break_even"]
    assert (even["below"], even["above"], even["threshold_lower"], even["threshold"]) == ("slow", "fast", 449, 513)
    assert not even["exact"]
    assert told["said"][0].startswith("slow leads to 449 B, fast from 513 B on; ship 513 B")
    json.dumps(told, allow_nan=False)


def test_confidence_tells_what_times_that_are_off_change():
    sizes = [100, 200, 400, 500, 800, 1600]

    def told(sizes, curves):
        found = leads(sizes, curves)
        return describe_confidence(found, confidence(sizes, curves, found))

    growing = {"a": [size / 480 for size in sizes], "b": [1.0] * 6}
    assert told(sizes, growing) == "if b took 5% less time, ship 400-500 B; 5% more, ship 500-800 B"
    assert told([100, 10_000], {"a": [1, 100], "b": [10, 10]}) == "times of b that are 5% off change nothing"
    assert told([8, 16], {"a": [9, 9], "b": [9.2, 9.2]}) == "if a took 5% less time, ship a; 5% more, ship b"


def test_spans():
    assert [span(None, 8), span(7, 8), span(4, 8), span(None, None)] == ["8", "8", "4-8", "-"]


def test_the_winner_is_marked(fake, capsys):
    found = compare(SweepSpec(["slow", "fast"], [U74], [1, 10, 100]), fake(lambda r, n, *_: n if r == "slow" else 10))
    assert comparison_done(found, None, None, False) == 0
    lines = capsys.readouterr().out.splitlines()
    cells = [line.split() for line in lines if line.split()[:1] in (["1"], ["10"], ["100"])][:3]
    assert cells == [["1", "1", "*", "10"], ["10", "10", "=", "10", "="], ["100", "100", "10", "*"]]
    assert not any("plot" in line for line in lines)


def test_markdown(fake, capsys):
    found = compare(SweepSpec(["slow", "fast"], [U74], [1, 10]), fake(lambda r, n, *_: n if r == "slow" else 10))
    comparison_done(found, None, None, False, markdown=True)
    text = capsys.readouterr().out
    assert "| size | slow | fast |\n|--:|--:|--:|\n| 1 | 1 * | 10 |" in text


def test_tables_are_whole_in_a_pipe_and_wrap_between_words_in_a_terminal():
    table = Table(("name", "what it is"), [("a" * 90, "some words " * 10), ("b", "short")])
    assert max(map(len, table_lines(table))) > 190
    lines = table_lines(table, 110)
    assert max(map(len, lines)) <= 110
    assert "a" * 90 in lines[3]
    assert {word for line in lines[3:] for word in line.split()} == {"a" * 90, "b", "some", "words", "short"}
    narrow = table_lines(Table(("x",), [("unbreakable-word",)]), 8)
    assert narrow[3].strip() == "unbreakable-word"


def test_markdown_keeps_bars_apart():
    assert markdown_lines(Table(("a", "b"), [("x|y", 1)], "t", (1,)))[:5] == [
        "**t**", "", "| a | b |", "|---|--:|", "| x\\|y | 1 |",
    ]  # fmt: skip


def test_a_plot_s_own_name_is_another_one_for_another_question(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from pathlib import Path

    first = SweepSpec(["rv-byte", "rv-word"], [U74], [8, 16], src_offsets=[3])
    other = SweepSpec(["rv-byte", "rv-word"], [U74], [8])
    names = {plot_target(Path("png"), "compare", spec) for spec in (first, other)}
    assert len(names) == 2
    assert str(plot_target(Path("svg"), "compare", first)).startswith("compare-u74-rv-byte-rv-word-src3-")
    assert plot_target(Path("mine.pdf"), "compare", first) == Path("mine.pdf")
    assert plot_target(None, "compare", first) is None
    with pytest.raises(UserError, match=r"\.png, \.svg or \.pdf"):
        plot_target(Path("mine.gif"), "compare", first)


def earlier(fake, tmp_path, model, **axes):
    spec = SweepSpec(**{"routines": ["slow", "fast"], "machines": [U74], "sizes": [10, 20, 40, 80], **axes})
    found = compare(spec, fake(model))
    (tmp_path / "old.json").write_text(json.dumps(found.as_dict()))
    return read_baseline(tmp_path / "old.json")


def before(routine, size, row, machine):
    return 2 * size if routine == "slow" else 60


def now(routine, size, row, machine):
    return 2 * size if routine == "slow" else (60 if size < 40 else 30)


def test_a_baseline_tells_bands_and_break_evens_that_moved(fake, tmp_path):
    old = earlier(fake, tmp_path, before)
    found = compare(SweepSpec(["slow", "fast"], [U74], [10, 20, 40, 80]), fake(now))
    result = against(found, old, "old.json")
    bands = [(band.routine, band.first, band.last, band.verdict, band.speedup) for band in result.bands]
    assert bands == [
        ("slow", 10, 80, "unchanged", 1.0), ("fast", 10, 20, "unchanged", 1.0), ("fast", 40, 80, "faster", 2.0),
    ]  # fmt: skip
    assert result.different == []
    assert result.before == ""
    slower = against(compare(SweepSpec(["slow", "fast"], [U74], [10, 20, 40, 80]), fake(before)),
                     earlier(fake, tmp_path, lambda r, n, *_: 2 * n if r == "slow" else 30), "old.json")  # fmt: skip
    assert slower.before.startswith("slow leads to 10 B, fast from 20 B on; ship 20 B")
    assert "2.00x slower" in str(slower.parts()) and "before: slow leads to 10 B" in str(slower.parts())
    other = compare(SweepSpec(["slow", "fast"], [U74], [10, 20, 40]), fake(now))
    assert against(other, old, "old.json").before is None  # of other sizes nothing is said of the leads
    assert not any("lead" in str(part) for part in against(other, old, "old.json").parts()[-1:])


def test_a_baseline_tells_what_was_asked_otherwise(fake, tmp_path):
    old = earlier(fake, tmp_path, before)
    spec = SweepSpec(["slow", "fast"], [U74], [20, 40, 160], src_offsets=[3], repetitions=85)
    told = " / ".join(against(compare(spec, fake(before)), old, "old.json").different)
    assert "src+0" in told
    assert "src+3" in told
    assert "measurements of a point: 21 before, 85 now" in told
    assert "2 points are in both; 1 are new, 2 are gone" in told


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "no earlier comparison"), ("[]", "no earlier comparison"), ("{}", "no earlier comparison"),
     ('{"x": [1], "along": "size", "cycles": {"a": []}}', "no earlier comparison"),
     ('{"x": [1], "along": "size", "cycles": {"a": [1]}, "ok": false}', "wrong outputs")],
)  # fmt: skip
def test_what_is_no_baseline_is_refused(tmp_path, text, words):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(UserError, match=words):
        read_baseline(tmp_path / "x.json")


def test_a_baseline_of_something_else_is_refused(fake, tmp_path):
    old = earlier(fake, tmp_path, before)
    with pytest.raises(UserError, match="no size"):
        against(compare(SweepSpec(["slow", "fast"], [U74], [1, 2]), fake(before)), old, "old.json")
    with pytest.raises(UserError, match="no routine"):
        against(compare(SweepSpec(["fast", "rv-word"], [U74], [10]), fake(before)), {**old, "cycles": {"x": []}}, "o")


def test_tick_labels_are_plain():
    plots = pytest.importorskip("breakeven.output.plots")
    assert [plots.plain_label(v) for v in (20.0, 200.0, 100_000.0, 0.5)] == ["20", "200", "100000", "0.5"]
    assert [plots.size_label(v) for v in (16.0, 1024.0, 65536.0, 1 << 20)] == ["16", "1 Ki", "64 Ki", "1 Mi"]


def test_a_constant_surface_is_no_black_block(tmp_path):
    plots = pytest.importorskip("breakeven.output.plots")
    import matplotlib.pyplot as plt

    for name, sizes in (("same", [411.0] * 4), ("near", [411.0, 411.0, 412.0, 412.0])):
        path = plots.surface(
            tmp_path / f"{name}.png", {"a": [1, 2], "b": [16384, 32768]}, {"stays": sizes}, title="t", caption="c",
            texts={"a": ["1", "2"], "b": ["16KiB", "32KiB"]}, cells={"stays": [f"{size:.0f}" for size in sizes]},
        )  # fmt: skip
        assert plt.imread(path)[..., :3].mean() > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_interval_of_a_break_even_is_marked_and_the_same_bytes_each_time(fake, tmp_path, suffix):
    from breakeven.analysis.comparison import plot_comparison

    found = compare(SweepSpec(["slow", "fast"], [U74], [1, 449, 513]), fake(lambda r, n, *_: n if r == "slow" else 480))
    paths = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for path in paths:
        plot_comparison(found, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_values_of_a_surface_keep_their_units(fake):
    from breakeven.analysis.find import surface
    from breakeven.cli.search_output import surface_done

    spec = SweepSpec(["slow", "fast"], [U74], [1, 449, 513, 600], parameters={"cpu.dcache.size": ["32KiB", "16KiB"]})
    found = surface(spec, fake(lambda r, n, *_: n if r == "slow" else 480))
    assert found.texts == {"cpu.dcache.size": ["16KiB", "32KiB"]}
    assert list(found.table()["cpu.dcache.size"]) == [16384, 32768]
    assert list(found.table()["threshold_lower"]) == [449, 449]
    assert "16KiB" in found._repr_html_()
    assert "449-513" in found._repr_html_()
    assert surface_done(found, None, None, 1.0, False) == 0


def test_a_surface_on_the_screen_has_intervals_and_units(fake, capsys):
    test_values_of_a_surface_keep_their_units(fake)
    text = capsys.readouterr().out
    assert "16KiB" in text
    assert "449-513" in text
    assert "a smaller step of --sizes narrows it" in text


def test_a_tuned_threshold_tells_the_sizes_that_were_not_simulated():
    from breakeven.tuning.plans import Plan, Segment, threshold_bounds

    plan = Plan("", (Segment(0, "a"), Segment(449, "b"), Segment(601, "c")))
    assert threshold_bounds(plan, [1, 401, 449, 600, 601]) == [(401, 449)]


def test_compare_loads_no_plotting_library():
    """Half of the processor time of a comparison was matplotlib's import; nothing is drawn unasked."""
    import subprocess
    import sys

    code = (
        "import sys\nfrom breakeven.cli import load\n"
        "asked = ['compare', 'rv-byte', 'rv-word', '-n', '8,16', '--no-store']\n"
        "status = load('compare')(asked, standalone_mode=False)\n"
        "sys.exit(', '.join({'matplotlib', 'rich'} & set(sys.modules)) or status)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "rv-word leads at every size tried (8..16 B)" in done.stdout


def test_what_is_not_a_number_is_null_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"curves": {"a": [1.5, math.nan]}, "ratio": math.inf, "n": 3})
    assert json.loads(capsys.readouterr().out) == {"curves": {"a": [1.5, None]}, "ratio": None, "n": 3}
