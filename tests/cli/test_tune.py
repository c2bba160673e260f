"""`tune`: the best plan for each number of branches, distributions, and a header whose dispatcher is simulated."""

from __future__ import annotations

import itertools
import json
import shlex
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from breakeven import api
from breakeven.errors import UserError
from breakeven.files.data import find_data
from breakeven.points.distribution import Distribution, distribution_of, load, uniform
from breakeven.points.machine_spec import MachineSpec
from breakeven.routine.build import Registered
from breakeven.routine.guest import guest_routines
from breakeven.tuning.call_sites import unsure
from breakeven.tuning.codegen import INLINE, Dispatchers, function, header, kind_of
from breakeven.tuning.plan_search import (
    Costs,
    Tried,
    Tuned,
    best_plans,
    layouts,
    nearest,
    plans_near_everywhere,
    plans_to_try,
    ranked,
    tree,
    worth_other_layouts,
)
from breakeven.tuning.plans import RULES, Layout, Plan, Segment, always
from breakeven.tuning.request import TuneRequest
from breakeven.tuning.targets import TARGETS, Target, Way
from breakeven.tuning.targets import chosen as chosen_for


def costs_of(cycles: dict[str, list[list[float]]], sizes: list[int], pairs: list[tuple[int, int]]) -> Costs:
    return Costs(uniform(sizes), tuple(pairs), {name: np.array(rows, float) for name, rows in cycles.items()})


def brute_force(costs: Costs, changes: int) -> float:
    """The least expected cycles with at most so many changes of routine along size."""
    best = float("inf")
    each = {name: (costs.shares * cycles.mean(axis=1)) for name, cycles in costs.cycles.items()}
    for chosen in itertools.product(each, repeat=len(costs.sizes)):
        if sum(a != b for a, b in itertools.pairwise(chosen)) <= changes:
            best = min(best, sum(each[name][i] for i, name in enumerate(chosen)))
    return best


def test_plans_are_the_best_there_are():
    random = np.random.default_rng(3)
    for _ in range(20):
        cycles = {name: random.uniform(10, 100, (6, 1)).tolist() for name in "abc"}
        costs = costs_of(cycles, [1, 2, 4, 8, 16, 32], [(0, 0)])
        plans = best_plans(costs, 3, list(RULES))
        for plan in plans:
            assert plan.cycles == pytest.approx(brute_force(costs, plan.branches))
            assert costs.expected(costs.planned(plan)) == pytest.approx(plan.cycles)
        assert [plan.branches for plan in plans] == sorted({plan.branches for plan in plans})


def test_an_alignment_test_where_it_pays():
    aligned, other = [[10.0, 90.0]] * 3, [[50.0, 20.0]] * 3
    costs = costs_of({"word": aligned, "byte": other}, [8, 16, 24], [(0, 0), (3, 0)])
    plain, tested = best_plans(costs, 2, list(RULES))
    assert (plain.describe(), plain.cycles) == ("byte", 35)
    assert (tested.describe(), tested.cycles) == ("both aligned: word; else: byte", 15)
    assert (tested.routine(8, 0, 0), tested.routine(8, 3, 0)) == ("word", "byte")
    # Pairs that are all alike leave nothing to test.
    assert len(best_plans(costs_of({"a": [[1.0]], "b": [[2.0]]}, [8], [(0, 0)]), 2, list(RULES))) == 1
    # A routine that goes by words is the better one for whole words, and later for all.
    sizes = [8, 13, 16, 29, 32, 85]
    words, bytes_ = [8, 30, 16, 40, 32, 60], [10, 14, 20, 31, 36, 90]
    cycles = {"word": [[float(n)] for n in words], "byte": [[float(n)] for n in bytes_]}
    plans = best_plans(costs_of(cycles, sizes, [(0, 0)]), 2, list(RULES))
    assert plans[-1].describe() == "whole words: word; else: n < 32: byte, word"


def test_the_plan_that_is_really_fastest_is_chosen():
    costs = costs_of({"a": [[10.0], [40.0]], "b": [[20.0], [30.0]]}, [8, 16], [(0, 0)])
    none, one = best_plans(costs, 1, [])
    assert one.segments == (Segment(0, "a"), Segment(16, "b")) and one.routine(15, 0, 0) == "a"
    dear, cheap = np.array([[16.0], [36.0]]), np.array([[11.0], [31.0]])
    chosen, other = ranked(costs, [Tried(none, np.array([[20.0], [30.0]]), 25.0), Tried(one, cheap, 21.0)])
    assert (chosen.plan, other.plan) == (one, none)
    assert chosen.regret(costs).tolist() == pytest.approx([0.1, 1 / 30])
    assert ranked(costs, [Tried(none, np.array([[20.0], [30.0]]), 25.0), Tried(one, dear, 26.0)])[0].plan == none
    # As good in expected cycles, and nearer the best routine at more sizes.
    even = np.array([[10.1], [30.1]])
    assert ranked(costs, [Tried(none, cheap, 21.0), Tried(one, even, 21.01)])[0].plan == one


def test_a_little_lost_at_two_sizes_is_better_than_much_at_one():
    costs = costs_of({"a": [[100.0]] * 3, "b": [[150.0]] * 3}, [8, 16, 24], [(0, 0)])
    little, much = np.array([[102.5], [102.5], [100.0]]), np.array([[100.0], [142.0], [100.0]])
    even, uneven = Tried(always("a"), little, 101.0), Tried(always("b"), much, 101.0)
    assert (even.near(costs), uneven.near(costs)) == (1, 2)
    assert even.excess_regret(costs) == pytest.approx(0.01) and uneven.excess_regret(costs) == pytest.approx(0.40)
    assert ranked(costs, [uneven, even])[0] is even


def test_a_dispatcher_is_judged_by_the_best_routine_of_each_size():
    costs = costs_of({"a": [[10.0, 30.0]], "b": [[20.0, 24.0]]}, [8], [(0, 0), (3, 0)])
    # By alignment 17 were possible, by size 20 is the least.
    assert costs.expected(costs.best()) == 17
    assert Tried(always("a"), np.array([[10.0, 30.0]]), 20.0).regret(costs).tolist() == [0]
    assert Tried(always("b"), np.array([[20.0, 24.0]]), 22.0).regret(costs).tolist() == pytest.approx([0.1])


ROUTINES = [Registered(name, "user-copy", 0, name, 0, 0) for name in "abc"]
THREE = Plan("", (Segment(0, "a"), Segment(64, "b"), Segment(512, "c")))


def test_the_code_of_a_plan():
    def code(layout: Layout) -> list[str]:
        plan = Plan("", THREE.segments, layout=layout)
        return [line.strip() for line in function("f", "user-copy", plan, ROUTINES).splitlines()][1:-1]

    assert code(Layout()) == [
        "if (__builtin_expect(n < 64, 1)) {", "return a(dst, src, n);", "}",
        "if (__builtin_expect(n < 512, 1)) {", "return b(dst, src, n);", "}", "return c(dst, src, n);",
    ]  # fmt: skip
    assert code(Layout((512, 64), True)) == [
        "if (__builtin_expect(n < 512, 0)) {", "if (__builtin_expect(n < 64, 0)) {", "return a(dst, src, n);", "}",
        "return b(dst, src, n);", "}", "return c(dst, src, n);",
    ]  # fmt: skip
    void = function("f", "copy", Plan("all", THREE.segments[:2], THREE.segments[:1]), ROUTINES).splitlines()
    assert [line.strip() for line in void[2:-1]] == [
        "if (__builtin_expect(n < 64, 1)) {", "a(dst, src, n);", "return;", "}", "b(dst, src, n);", "return;", "}",
        "a(dst, src, n);",
    ]  # fmt: skip


def how_many_tests(plan: Plan, size: int) -> int:
    """Tests of the size that a dispatcher makes."""
    chain, made = plan.segments, 0
    while len(chain) > 1:
        at = plan.layout.split(chain)
        chain = chain[:at] if size < chain[at].first else chain[at:]
        made += 1
    return made


def test_layouts_are_the_usual_order_and_the_one_of_the_fewest_tests():
    random = np.random.default_rng(5)
    plan = Plan("", tuple(Segment(n, "ab"[i % 2]) for i, n in enumerate((0, 8, 16, 24, 32))))
    thresholds = [segment.first for segment in plan.segments[1:]]
    for _ in range(20):
        shares = dict(zip((4, 12, 20, 28, 36), random.dirichlet(np.full(5, 0.3)), strict=True))
        distribution = Distribution("some", shares)

        def expected(order: tuple[int, ...], shares=shares) -> float:
            ordered = Plan("", plan.segments, layout=Layout(order))
            return sum(share * how_many_tests(ordered, n) for n, share in shares.items())

        fewest = min(expected(order) for order in itertools.permutations(thresholds))
        found = layouts(plan, distribution)
        assert all(one.segments == plan.segments and one.layout != Layout() for one in found)
        assert min([expected(()), *(expected(one.layout.order) for one in found)]) == pytest.approx(fewest)
        assert {one.layout.larger_ahead for one in found} >= {True}
    likely_large = Distribution("mostly large", {4: 0.05, 100: 0.05, 600: 0.9})
    assert [one.layout for one in layouts(THREE, likely_large)] == [
        Layout((512, 64)), Layout((), True), Layout((512, 64), True),
    ]  # fmt: skip
    assert "(512 tested first, larger sizes fall through)" in layouts(THREE, likely_large)[-1].describe()
    assert layouts(always("a"), likely_large) == []


def test_which_plans_are_laid_out_otherwise():
    costs = costs_of({"a": [[100.0], [130.0], [100.0]], "b": [[110.0], [100.0], [110.0]]}, [8, 16, 24], [(0, 0)])

    def tried(plan: Plan, *cycles: float) -> Tried:
        found = np.array(cycles)[:, np.newaxis]
        return Tried(plan, found, costs.expected(found))

    alone, other = tried(always("b"), 110, 100, 110), tried(always("a"), 100, 130, 100)
    split = tried(Plan("", (Segment(0, "a"), Segment(16, "b"))), 104, 104, 112)
    # Near everywhere by its routines, and slow as it was compiled first: 120 cycles for each.
    near = tried(Plan("", (Segment(0, "a"), Segment(16, "b"), Segment(24, "a"))), 120, 120, 120)
    assert near not in ranked(costs, [alone, other, split, near])[:2]
    assert worth_other_layouts(costs, [alone, other, split, near]) == [split.plan, alone.plan, near.plan]
    good = tried(Plan("", near.plan.segments, cycles=100.0), 100, 100.1, 100)
    assert worth_other_layouts(costs, [good]) == []


def test_plans_near_everywhere_are_trees_with_one_test_for_a_notch():
    # `b` is needed at 7 alone, as good at 6, and from 12 on.
    sizes = [5, 6, 7, 8, 12, 64]
    a, b = [40, 48, 50, 42, 70, 300], [48, 48, 48, 48, 48, 50]
    costs = costs_of({"a": [[float(n)] for n in a], "b": [[float(n)] for n in b]}, sizes, [(0, 0)])
    plan = plans_near_everywhere(costs, 5)[-1]
    assert plan.segments == (Segment(0, "a"), Segment(7, "b"), Segment(8, "a"), Segment(12, "b"))
    assert plan.cycles == pytest.approx(costs.expected(costs.best())) and plan.describe().endswith("12 tested first)")
    lines = [line.strip() for line in function("f", "copy", plan, ROUTINES).splitlines()]
    assert lines[1:-1] == [
        "if (__builtin_expect(n < 12, 1)) {", "if (__builtin_expect(n == 7, 0)) {",
        '__asm__ volatile("/* 1 */");', "b(dst, src, n);", "return;", "}",
        '__asm__ volatile("/* 2 */");', "a(dst, src, n);", "return;", "}",
        '__asm__ volatile("/* 3 */");', "b(dst, src, n);",
    ]  # fmt: skip
    # No notch where the routines on both sides differ, or where it is wider than one size.
    shallow = Layout(tree=True)
    assert not shallow.notch((Segment(0, "a"), Segment(7, "b"), Segment(8, "c")))
    assert not shallow.notch((Segment(0, "a"), Segment(7, "b"), Segment(9, "a")))
    assert not Layout().notch(plan.segments[:3]) and shallow.notch(plan.segments[:3])


def test_a_tree_makes_most_tests_where_they_cost_the_smallest_share():
    # Five segments: one needs three tests; at 1024 they are the smallest share of what a copy takes.
    sizes, best = [8, 16, 32, 64, 1024], [10.0, 10, 10, 10, 100]
    costs = costs_of({name: [[n] for n in best] for name in "ab"}, sizes, [(0, 0)])
    plan = Plan("", tuple(Segment(n, "ab"[i % 2]) for i, n in enumerate((0, 16, 32, 64, 1024))))
    found = tree(plan, costs)
    assert [how_many_tests(found, n) for n in sizes] == [2, 2, 2, 3, 3]
    assert (found.segments, found.branches) == (plan.segments, 4)
    for n in range(2000):
        assert found.routine(n, 0, 0) == plan.routine(n, 0, 0)


def test_where_nearness_is_asked_for_it_decides():
    costs = costs_of({"a": [[10.0], [40.0]], "b": [[20.0], [30.0]]}, [8, 16], [(0, 0)])
    fast, near = (
        Tried(always("a"), np.array([[10.0], [32.0]]), 20.0),
        Tried(always("b"), np.array([[10.1], [30.2]]), 22.0),
    )
    assert nearest(costs, [fast, near]) is near
    assert nearest(costs, [near, Tried(always("a"), near.cycles, 21.0)]).expected == 21


def test_more_places_where_it_is_not_known_whether_a_size_is_near():
    # Two plans, six places, three sizes, one pair: steady; unsteady at 40 +- 1.1; unsteady, but far from the best.
    steady = np.full((6, 1), 40.0)
    unsteady = np.array([[38.5], [41.5]] * 3)
    plans = np.array([[steady, unsteady, unsteady + 40], [steady, steady, unsteady]]).swapaxes(1, 2)
    assert plans.shape == (2, 6, 3, 1)
    assert unsure(plans, np.array([40.0, 39.0, 40.0])).tolist() == [[False, True, False], [False, False, True]]
    # Which is the best of candidates: none can be told from the other at the second size.
    assert unsure(plans, None).tolist() == [[False, True, False], [False, False, True]]


def test_the_header_has_the_code_that_is_simulated(tmp_path):
    if shutil.which("x86_64-linux-gnu-gcc") is None or not find_data("guests").joinpath("x86-recipe.json").is_file():
        pytest.skip("no x86 compiler, or the guests are not built with it")
    names = ["x64-copy-unrolled", "x64-copy-erms"]
    built = Dispatchers("x86", names, tmp_path)
    plan = Plan("", (Segment(0, names[0]), Segment(512, names[1])), layout=Layout((), True))
    elf, sites = built.guest([always(names[0]), plan])
    assert elf.is_file() and len({name for places in sites for name in places}) == 2 * len(sites[0])
    source = (tmp_path / "routines" / "dispatch.c").read_text()
    costs = costs_of({names[0]: [[10.0], [40.0]], names[1]: [[20.0], [30.0]]}, [8, 512], [(0, 0)])
    tried = Tried(plan, costs.planned(plan), 20.0)
    text = header("dispatch_1", built.kind, Tuned(costs, [tried], tried), built.candidates, [])
    shipped = text[text.index(INLINE) : text.index("#endif")].strip()
    assert shipped.count("\n") == 5 and shipped in source
    segments = (Segment(0, names[0]), Segment(7, names[1]), Segment(8, names[0]), Segment(512, names[1]))
    plan = Plan("", segments, layout=Layout((512,), tree=True))
    built.guest([plan])
    costs = costs_of({name: [[10.0]] * 3 for name in names}, [7, 8, 512], [(0, 0)])
    tried = Tried(plan, costs.planned(plan), 20.0)
    text = header("dispatch_0", built.kind, Tuned(costs, [tried], tried), built.candidates, [])
    shipped = text[text.index(INLINE) : text.index("#endif")].strip()
    assert shipped in (tmp_path / "routines" / "dispatch.c").read_text()
    (tmp_path / "tree.h").write_text(text)
    (tmp_path / "use.c").write_text('#include "tree.h"\nsize_t f(void *d, void *s) { return dispatch_0(d, s, 9); }\n')
    for language in ("c", "c++") if shutil.which("x86_64-linux-gnu-g++") else ("c",):
        command = ["x86_64-linux-gnu-gcc", "-Wall", "-Wextra", "-Werror", "-x", language, "-O2", "-c", "use.c"]
        subprocess.run(command, cwd=tmp_path, check=True)


def test_what_is_lost_at_rare_sizes_is_looked_at_as_well():
    shares = Distribution("mostly long", {8: 0.0001, 1024: 0.9999})
    cycles = {"a": np.array([[10.0], [500.0]]), "b": np.array([[30.0], [400.0]])}
    costs = Costs(shares, ((0, 0),), cycles)
    assert [plan.describe() for plan in best_plans(costs, 1, [])] == ["b"]
    assert [plan.describe() for plan in plans_to_try(costs, 1, [])] == ["b", "a", "n < 1024: a, b"]


def test_a_plan_that_is_near_everywhere_is_tried_though_it_gains_nothing():
    # `b` is 5 % faster at 80 alone and 0.9 % slower below.
    a = [[100.0]] * 9 + [[105.0]] + [[100.0]] * 10
    b = [[100.9]] * 9 + [[100.0]] + [[200.0]] * 10
    costs = costs_of({"a": a, "b": b}, list(range(8, 168, 8)), [(0, 0)])
    near = "n < 88: b, a"
    assert [plan.describe() for plan in best_plans(costs, 1, [])] == ["a"]
    assert [plan.describe() for plan in best_plans(costs.relative(), 1, [], 0.0005)] == ["a"]
    assert [plan.describe() for plan in best_plans(costs.misses(), 1, [], 0.1)] == ["a", near]
    assert near in [plan.describe() for plan in plans_to_try(costs, 1, [])]


@pytest.mark.parametrize("branches", [-1, 17, 10**9])
def test_more_tests_than_a_dispatcher_may_make_are_refused(branches):
    with pytest.raises(UserError, match=f"branches {branches} must be 0 to 16"):
        api.tune("rv-byte", "rv-word", branches=branches)


def test_distributions(tmp_path):
    spec = load("spec2017")
    assert sum(spec.shares.values()) == pytest.approx(1)
    up_to = {n: sum(share for size, share in spec.shares.items() if size <= n) for n in (16, 32, 64, 128, 256, 1024)}
    # What is published (cumulative shares), to its rounding.
    assert up_to == pytest.approx({16: 0.398, 32: 0.768, 64: 0.777, 128: 0.801, 256: 0.901, 1024: 0.976}, abs=2e-3)
    thin = spec.on_grid(100)
    assert len(thin.shares) <= 101 and sum(thin.shares.values()) == pytest.approx(1)
    assert thin.shares[32] >= 0.341
    file = tmp_path / "mine.txt"
    file.write_text("# counted\n8 30\n64..65, 10\n")
    assert load(str(file)).shares == pytest.approx({8: 0.75, 64: 0.125, 65: 0.125})
    file.write_text("0,0.5,0,1.5\n")
    assert load(str(file)).shares == pytest.approx({1: 0.25, 3: 0.75})
    for text, said in (
        ("8 x\n", "line 1"),
        ("8 -1\n", "no share"),
        ("", "no size has a weight"),
        ("9..8 1\n", "range"),
    ):
        file.write_text(text)
        with pytest.raises(UserError, match=said):
            load(str(file))
    with pytest.raises(UserError, match="one of uniform, spec2017"):
        load("nothing")
    assert Distribution("few", {8: 1.0}).on_grid(5).shares == {8: 1.0}


def test_the_names_of_rules_hold():
    for src, dst in itertools.product(range(16), repeat=2):
        assert RULES["both"].holds(5, src, dst) == (src % 8 == 0 and dst % 8 == 0)
        assert RULES["mutual"].holds(5, src, dst) == (src % 8 == dst % 8)
        assert RULES["source"].holds(5, src, dst) == (src % 8 == 0)
        assert RULES["size"].holds(src, 3, dst) == (src % 8 == 0)
        assert RULES["all"].holds(16, src, dst) == RULES["both"].holds(5, src, dst)
    assert Plan("both", (Segment(0, "a"), Segment(9, "b")), (Segment(0, "c"),)).branches == 2


def test_the_command_of_a_request_is_whole():
    more = {"src": [0, 1, 2], "dst": [8], "everywhere": True, "repetitions": 5, "cache": "cold", "name": "f"}
    spec = MachineSpec("u74", ("cpu.dcache.size=64KiB",))
    asked = TuneRequest(spec, ("a", "b"), distribution_of("uniform", [1, 2, 3, 64]), **more)
    assert asked.command() == (
        "breakeven tune --machine u74 --set cpu.dcache.size=64KiB --candidates a,b --sizes 1..3,64 --src 0..2 --dst 8 "
        "--branches 3 --cache cold --measure latency --points 1000 --name f --repetitions 5 --everywhere"
    )
    named = replace(asked, distribution=distribution_of("spec2017", [1]).on_grid(16))
    assert "--candidates a,b --distribution spec2017 --src" in named.command()
    assert replace(asked, distribution=distribution_of({8: 1.0}, [])).command() == ""


@pytest.mark.slow
def test_a_header_is_written_that_is_as_good_as_choosing_right(breakeven, tmp_path):
    """From 1 KiB on dispatch is nothing, below 2 KiB or so string instructions lose: one threshold, and it is found."""
    if shutil.which("x86_64-linux-gnu-gcc") is None or not find_data("guests").joinpath("x86-recipe.json").is_file():
        pytest.skip("no x86 compiler, or the guests are not built with it")
    done = breakeven(
        "tune", "-m", "x86_o3", "--candidates", "x64-copy-unrolled,x64-copy-erms", "-n", "1024,2048,4096", "--src", "0",
        "--branches", "1", "--json", "-o", "t.h",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["near"] == found["sizes"] == 3, found
    text = (tmp_path / "t.h").read_text()
    assert text == found["header"] and "always_inline)) size_t tuned_copy(void *dst" in text
    again = next(line for line in text.splitlines() if line.startswith(" * again: ")).removeprefix(
        " * again: breakeven "
    )
    assert json.loads(breakeven(*shlex.split(again), "--json").stdout)["header"] == text
    (tmp_path / "use.c").write_text('#include "t.h"\nsize_t f(void *d, void *s) { return tuned_copy(d, s, 9); }\n')
    subprocess.run(["x86_64-linux-gnu-gcc", "-Wall", "-Werror", "-c", "use.c"], cwd=tmp_path, check=True)
    done = breakeven("tune", "-m", "x86_o3", "--candidates", "x64-copy-unrolled,x64-byte")
    assert "of several kinds: copy, user-copy" in done.stderr
    assert "at least two" in breakeven("tune", "--candidates", "rv-byte").stderr


def target_of(*ways: str, today: int | None = 16) -> Target:
    above = tuple(Way(name, name) for name in ways)
    return replace(TARGETS["rvv-memcpy"], above=above, today=today, sizes=(8, 16, 32), pairs=((0, 0), (1, 0)))


@pytest.mark.slow
def test_without_candidates_it_takes_the_best_of_a_kind(monkeypatch):
    asked = []
    monkeypatch.setattr("breakeven.tuning.run.tune", lambda question, *_: asked.append(question.candidates))
    api.tune(machine="u74", sizes="1..64", src=0)
    api.tune(kind="checksum", machine="minor", sizes="8..256:8")
    copies, sums = asked
    assert 2 <= len(copies) <= 3 and 2 <= len(sums) <= 3
    table = api.sweep([*copies, "rv-byte"], "8..64:8", machines="u74").groupby("routine")["cycles_median"].sum()
    assert table[list(copies)].min() < table["rv-byte"]
    with pytest.raises(UserError, match="no kind 'song'"):
        api.tune(kind="song", machine="u74")
    with pytest.raises(UserError, match="c906 has no two routines of kind move"):
        monkeypatch.setattr("breakeven.tuning.candidates.guest_routines", lambda machine: (None, []))
        api.tune(kind="move", machine="c906")


def test_a_move_does_for_a_copy():
    def of(*kinds: str) -> str:
        return kind_of([Registered(f"r{i}", kind, 0, "r", 0, 0) for i, kind in enumerate(kinds)])

    assert of("copy", "move") == "copy" and of("move", "move") == "move"
    with pytest.raises(UserError, match="several kinds: copy, user-copy"):
        of("copy", "user-copy")


def test_a_targets_threshold_loses_least_over_sizes_and_offsets():
    target = target_of("m1", "m4")
    # Sizes first, two pairs of offsets each: m1 wins at 16 and 32, m4 by more at 32 alone.
    below = [10, 10, 20, 20, 40, 40]
    m1, m4 = target.above
    found = chosen_for(target, "x", below, {m1: [20, 20, 10, 10, 30, 30], m4: [30, 30, 30, 30, 10, 10]})
    assert (found.way.name, found.threshold) == ("m4", 32)
    assert found.loss == pytest.approx((0 + 0 + 1 + 1 + 0 + 0) / 6)  # at 16 m1 would take half
    assert found.worst == (16, 1.0)
    # From 16 on, the better of the two ways loses 2 at 32 (m1) or 2 at 16 (m4).
    assert found.today_loss == pytest.approx(4 / 6)
    assert found.line == "#define MEMCPY_VECTOR_THRESHOLD 32  /* bytes */\n#define MEMCPY_VECTOR_LMUL 4"
    never = chosen_for(target_of("m1"), "x", below, {target.above[0]: [50] * 6})
    assert (never.threshold, never.loss) == (None, 0)
    assert "SIZE_MAX" in never.line and never.as_dict()["threshold"] is None
    # A call that takes no time beside an empty one.
    none = chosen_for(target_of("m1"), "x", [10, 10, 0, 0, 40, 40], {target.above[0]: [20, 20, 3, 0, 10, 10]})
    assert (none.threshold, none.loss) == (32, 0)
    assert none.today_loss == pytest.approx(3 / 6)
    # A tie is no loss: then the threshold is as large as it can be.
    assert chosen_for(target_of("m1"), "x", below, {target.above[0]: [10.05, 10, 20, 20, 40, 40]}).threshold is None


@pytest.mark.parametrize("name", TARGETS)
def test_a_targets_ways_are_there_and_its_line_says_both(name: str):
    target = TARGETS[name]
    known = {one.name for one in guest_routines(MachineSpec({"x86": "zen4", "riscv": "x60"}[target.isa]))[1]}
    assert {way.routine for way in (target.below, *target.above)} <= known
    for size in (None, target.sizes[-1]):
        for way in target.above:
            assert target.line(size, way).strip()
            assert size is None or str(size) in target.line(size, way)
    assert list(target.sizes) == sorted(set(target.sizes))


@pytest.mark.slow
def test_targets_of_the_command(breakeven, monkeypatch):
    small = replace(TARGETS["rvv-memcpy"], sizes=(16, 64), pairs=((0, 0),))
    monkeypatch.setitem(TARGETS, "rvv-memcpy", small)
    done = breakeven("tune", "--target", "rvv-memcpy", "-m", "x60,c920", "--json")
    found = json.loads(done.stdout)
    assert [one["machine"] for one in found] == ["x60", "c920"]
    assert all(one["loss"] <= one["today_loss"] for one in found)
    assert "MEMCPY_VECTOR_THRESHOLD" in breakeven("tune", "--target", "rvv-memcpy", "-m", "x60").stdout
    assert "did you mean 'rvv-memcpy'" in breakeven("tune", "--target", "rv-memcpy").stderr
    assert "name another machine" in breakeven("tune", "--target", "rvv-memcpy", "-m", "zen4").stderr
    assert "one of them" in breakeven("tune", "checksum", "--candidates", "rv-byte,rv-word").stderr
    assert "one of them" in breakeven("tune", "--target", "rvv-memcpy", "--candidates", "a,b").stderr
