"""The search for the break-even against full grids: stored ones of the simulator, synthetic ones, a live one."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest

from breakeven.analysis.crossings import Choice, intervals, leads
from breakeven.analysis.find import axis_of, find, surface
from breakeven.analysis.search import bisect, budget_of, search
from breakeven.errors import UserError
from breakeven.points.machine_spec import MachineSpec
from breakeven.sweeps.spec import SweepSpec
from tests.tiers import long_after

SIZES = list(range(1, 2049))
#: cycles at 1 to 2048 bytes, as differences from size to size (scripts/search_grids): five routines on u74 in three
#: offset classes; on x86 unrolled against ERMS, old against Herbert's checksum, movsl against integer registers
GRID = {
    name: np.cumsum(steps.astype(float))
    for file in ("u74_grid.npz", "x86_grid.npz")
    for name, steps in np.load(Path(__file__).parents[1] / "data" / file).items()
}
#: against the unrolled copy it leads at single sizes 64 bytes apart (55, 118, 182: by 3 %), which a tenth of the points
#: cannot all meet: there the search has to say that it is not certain
SINGLE_SIZES = "broadwell x64-copy-erms 3 0"
U74 = [name for name in GRID if name.startswith("rv-")]
X86 = [name for name in GRID if name not in U74]
U74_PAIRS = [pair for pair in itertools.combinations(U74, 2) if pair[0].split()[1:] == pair[1].split()[1:]]
#: the quick searches first
X86_PAIRS = list(zip(X86[::2], X86[1::2], strict=True))[::-1]


def outline(found):
    """What must agree: zones with their ends, their kind and (where one leads) who."""
    return [(i.first, i.last, i.kind, () if i.kind == "alternating" else i.leaders) for i in found]


def searched(curves, sizes=SIZES, **options):
    (old, a), (new, b) = curves.items()
    probed = []

    def probe(at):
        probed.extend(at)
        return a[at], b[at]

    found = search(sizes, (old, new), probe, **options)
    assert sorted(probed) == found.probed == sorted(set(probed))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("pair", [*long_after(1, U74_PAIRS), *long_after(1, X86_PAIRS)], ids=str)
def test_every_change_of_the_full_grid_is_found_with_a_tenth_of_its_points(pair) -> None:
    curves = {name: GRID[name] for name in pair}
    whole = {name: list(curve) for name, curve in curves.items()}
    found = searched(curves)
    assert len(found.probed) <= len(SIZES) / 10
    if pair[1] == SINGLE_SIZES:
        assert not found.certain
        return
    assert outline(intervals(SIZES, found.curves)) == outline(intervals(SIZES, whole))
    assert costs_nothing_more(found.answer.choice, leads(SIZES, whole).choice, whole)


def costs_nothing_more(choice, best, curves):
    """Whether a rule found with few points loses, on the whole grid, what the best one does, within 0.5 %."""
    rule = choice or Choice(*[next(iter(curves))] * 2, None, None, 0.0)
    names = [rule.above if size >= (rule.threshold or 0) else rule.below for size in SIZES]
    times = [curves[name][i] for i, name in enumerate(names)]
    least = [min(each) for each in zip(*curves.values(), strict=True)]
    lost = [t / m - 1 if t > m * 1.01 else 0.0 for t, m in zip(times, least, strict=True)]
    return sum(lost) / len(lost) <= (best.loss if best else 0) + 0.005


def sawtooth(random, sizes):
    """A routine as they are: setup, a loop over blocks, words and bytes left over, sometimes a threshold."""
    n = np.array(sizes)
    block = random.choice([8, 16, 32, 64])
    setup, per_block = random.integers(5, 60), random.integers(4, block)
    word, byte = random.integers(1, 8), random.integers(1, 10)
    left = n % block
    cost = setup + n // block * per_block + left // 8 * word + left % 8 * byte
    if random.random() < 0.5:
        start = random.integers(64, 600)
        cost = np.where(n < start, cost, cost + random.integers(20, 80) - (n - start) // 64 * (per_block * 20 // block))
    return cost.astype(float)


@pytest.mark.slow
@pytest.mark.parametrize("seed", long_after(2, range(12)))
def test_synthetic_sawtooths(seed) -> None:
    random = np.random.default_rng(seed)
    curves = {"a": sawtooth(random, SIZES), "b": sawtooth(random, SIZES)}
    found = searched(curves)
    truth = outline(intervals(SIZES, {name: list(c) for name, c in curves.items()}))
    # What the search does not find it must at least not be sure of.
    assert outline(intervals(SIZES, found.curves)) == truth or not found.certain
    assert len(found.probed) <= len(SIZES) / 10
    ends = [(first, last) for first, last, *_ in truth]
    assert len(set(ends) - {(i.first, i.last) for i in intervals(SIZES, found.curves)}) <= len(ends) // 2


def test_a_small_grid_is_probed_whole_and_a_budget_is_kept() -> None:
    sizes = list(range(1, 20))
    curves = {"a": np.arange(1.0, 20) + 5, "b": np.arange(1.0, 20) * 2}
    found = searched(curves, sizes)
    assert found.probed == list(range(19))
    assert found.certain
    assert len(searched({name: GRID[name] for name in U74_PAIRS[0]}, budget=60).probed) == 60
    assert (budget_of(10), budget_of(2048), budget_of(100_000)) == (10, 204, 1500)


def test_equal_curves_tie_everywhere() -> None:
    found = searched({"a": np.full(2048, 7.0), "b": np.full(2048, 7.0)})
    assert [(i.first, i.last, i.kind) for i in found.answer.ranges] == [(1, 2048, "tie")]


def test_bisection_finds_several_changes_on_a_smooth_axis() -> None:
    x = [float(v) for v in range(1001)]
    a = [100 + 20 * math.sin(v / 150) for v in x]
    b = [100.0] * 1001
    found = bisect(x, ("a", "b"), lambda at: ([a[i] for i in at], [b[i] for i in at]))
    truth = intervals(x, {"a": a, "b": b}, period=0)
    assert outline(found.answer.ranges) == outline(truth)
    assert found.certain
    assert len(found.probed) <= 100


def model(routine, size, row, machine):
    """A fast start against a fast loop; `penalty` is a swept parameter."""
    penalty = sum(int(text.partition("=")[2]) for text in machine.settings)
    return 10 + size if routine == "slow" else 60 + size // 2 + 5 * penalty + (size % 64) // 8


def spec(**changes):
    base = {"routines": ["slow", "fast"], "machines": [MachineSpec("u74")], "sizes": range(1, 1025)}
    return SweepSpec(**{**base, **changes})


def test_find_runs_its_points_through_an_engine(fake) -> None:
    engine = fake(model)
    found = find(spec(), engine)
    sizes = list(range(1, 1025))
    curves = {name: [model(name, n, None, MachineSpec("u74")) for n in sizes] for name in ("slow", "fast")}
    assert outline(found.leads.answer.ranges) == outline(leads(sizes, curves).ranges)
    assert len(engine.opened) == 1
    assert len(found.table) == 2 * len(found.leads.probed) <= 2 * 102
    assert json.loads(json.dumps(found.as_dict(), allow_nan=False))["grid"]["points"] == 1024
    assert "<table>" in found._repr_html_()


def test_find_along_a_parameter(fake) -> None:
    values = [str(v) for v in range(201)]
    found = find(spec(sizes=[640], parameters={"cpu.penalty": values}), fake(model))
    # 10 + 640 = 60 + 320 + 5 p at p = 54
    assert found.crossings == pytest.approx([54.0], abs=1.0)
    assert [i.leaders[0] for i in found.leads.answer.ranges if i.kind == "lead"] == ["fast", "slow"]
    assert found.leads.certain
    assert len(found.leads.probed) <= 24


def test_a_surface_grows_with_the_penalty(fake) -> None:
    found = surface(spec(parameters={"cpu.penalty": ["0", "10", "300"]}), fake(model))
    table = found.table()
    truth = []
    for penalty in (0, 10, 300):
        machine = MachineSpec("u74", (f"cpu.penalty={penalty}",))
        slow, fast = ([model(name, n, None, machine) for n in range(1, 1025)] for name in ("slow", "fast"))
        truth.append(leads(range(1, 1025), {"slow": slow, "fast": fast}).choice.threshold)
    thresholds = table["threshold"].astype(object).where(table["threshold"].notna(), None)
    assert [None if v is None else int(v) for v in thresholds] == truth
    assert truth[2] is None
    assert table["above"][2] == "slow"
    assert "<td>slow</td>" in found._repr_html_()
    json.dumps(found.as_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"routines": ["slow"]}, "two different routines"),
        ({"src_offsets": [0, 1]}, "along one axis"),
        ({"machines": [MachineSpec("u74"), MachineSpec("c906")]}, "one machine"),
        ({"sizes": [64], "parameters": {"cpu.x": ["a", "b"]}}, "values along cpu.x must be numbers"),
    ],
)
def test_what_cannot_be_searched(fake, changes, words) -> None:
    with pytest.raises(UserError, match=words):
        find(spec(**changes), fake(model))


def test_the_axis_is_the_one_with_several_values() -> None:
    assert axis_of(spec()) == "size"
    assert axis_of(spec(sizes=[64], dst_offsets=range(8))) == "dst"
    assert axis_of(spec(sizes=[64], parameters={"cpu.x": ["1", "2"]})) == "cpu.x"


def test_wrong_output_is_loud(fake) -> None:
    found = find(spec(), fake(model, wrong={("fast", 1)}))
    assert len(found.failures) == 1
    assert "Wrong output" in found._repr_html_()


@pytest.mark.slow
def test_the_command_agrees_with_compare(breakeven, tmp_path) -> None:
    grid = ["--sizes", "1..449:4", "--store", "points.db", "--json"]
    pair = ["rv-copy-user-2017", "rv-copy-user-2021"]
    done = breakeven("find", *pair, *grid, "--plot", "found.svg")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    whole = json.loads(breakeven("compare", *pair, *grid).stdout)

    def ends(answer):
        return [(i["first"], i["last"], i["kind"]) for i in answer["intervals"]]

    assert ends(found) == ends(whole) or not found["certain"]
    assert len(found["probed"]) == 24
    assert (tmp_path / "found.svg").stat().st_size > 1000
    # What has been probed is kept: a second search simulates nothing.
    assert json.loads(breakeven("find", *pair, *grid).stdout)["simulated"] == 0


def test_the_command_along_a_parameter_and_its_mistakes(breakeven) -> None:
    pair = ["rv-word", "rv-word-noalign"]
    path = "cpu.misaligned.trap_handler_cycles=0:40:20"
    done = breakeven("find", *pair, "--along", "src=0..3", "--sizes", "64")
    assert done.returncode == 0, done.stderr
    assert "who leads where" in done.stdout
    assert "give --sizes N" in breakeven("find", *pair, "--along", path).stderr
    assert "not size, src, dst" in breakeven("find", *pair, "--along", "sizes").stderr
    assert "two different routines" in breakeven("find", pair[0]).stderr
    assert "--sweep" in breakeven("surface", *pair).stderr


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_surfaces_are_drawn(fake, tmp_path, suffix) -> None:
    from breakeven.analysis.search_result import plot_surface

    one = surface(spec(sizes=range(1, 257, 16), parameters={"cpu.penalty": ["0", "10", "300"]}), fake(model))
    plot_surface(one, tmp_path / f"line{suffix}")
    two = surface(
        spec(sizes=range(1, 257, 16), parameters={"cpu.penalty": ["0", "300"], "cpu.other": ["0", "4"]}), fake(model)
    )
    plot_surface(two, tmp_path / f"map{suffix}")
    assert {path.stat().st_size > 1000 for path in tmp_path.iterdir()} == {True}
    assert len(two.found) == 4
