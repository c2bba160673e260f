"""A plan as C: the header to ship, and call sites in a guest to simulate.

Both come from the same text. A call site is a function with the dispatch inlined, as the header's function is in a
program; beside it stand call sites that call one routine, whatever the size: what differs is the dispatch. They are
linked behind breakeven's routines, which keep their places. Jumps are relaxed by the linker, as they are in any program
that would ship them. Where they will lie there nobody knows, nor what comes before them: a branch predictor may
confuse their branches with a routine's, and a cycle's micro-ops are grouped otherwise. So each stands in many places,
with up to three more instructions ahead of it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from breakeven.errors import UserError
from breakeven.files.data import find_data
from breakeven.routine.build import KINDS, Registered, compile_text, link, registered
from breakeven.routine.recipe import Recipe, load_recipe
from breakeven.routine.registry import UserRoutineFile, check_harness, user_file_by_routine
from breakeven.tuning.plan_search import Tuned
from breakeven.tuning.plans import RULES, Plan, Segment

#: kind -> what a routine returns, its parameters, its arguments
_SIGNATURES = {
    "copy": ("void", "void *dst, const void *src, size_t n", "dst, src, n"),
    "user-copy": ("size_t", "void *dst, const void *src, size_t n", "dst, src, n"),
    "checksum": ("uint32_t", "const void *src, size_t n", "src, n"),
    "copy-checksum": ("uint32_t", "void *dst, const void *src, size_t n", "dst, src, n"),
    "set": ("void", "void *dst, int byte, size_t n", "dst, byte, n"),
    "move": ("void", "void *dst, const void *src, size_t n", "dst, src, n"),
    "clear": ("void", "void *dst, size_t n", "dst, n"),
}


def identifier(name: str) -> str:
    """A routine's name as C takes it."""
    text = re.sub(r"\W", "_", name)
    return text if text[:1].isalpha() else f"_{text}"


def kind_of(candidates: Sequence[Registered]) -> str:
    """The kind of all of them; raises `UserError` when they are of several."""
    kinds = {candidate.kind for candidate in candidates}
    if kinds == {"copy", "move"}:
        return "copy"  # what moves copies, too
    if len(kinds) > 1:
        raise UserError(f"the candidates are of several kinds: {', '.join(sorted(kinds))}")
    if unknown := kinds - _SIGNATURES.keys():
        raise UserError(f"no dispatcher is made of {unknown.pop()} routines: of {', '.join(_SIGNATURES)}")
    return candidates[0].kind


def installed_candidates(isa: str, names: Sequence[str]) -> list[Registered]:
    """The candidates as the guests that there are have them."""
    own = user_file_by_routine(isa)
    ours = registered(find_data("guests", f"{isa}.elf"))
    return [registered(own[name].guest)[name] if name in own else ours[name] for name in names]


#: places of each call site: ever another of four positions in a line, behind none to three instructions
PLACES = 20
_LINE, _POSITIONS = 64, 4
#: of the header's function as of the simulated one
INLINE = "static inline __attribute__((always_inline)) "


class Dispatchers:
    """The candidates of one instruction set, ready to be linked with dispatchers; raises `UserError`."""

    def __init__(self, isa: str, candidates: Sequence[str], folder: Path) -> None:
        recipe = load_recipe(isa)
        if recipe is None:
            raise UserError("the guests are not built: scripts/setup builds them")
        self._recipe: Recipe = recipe
        self._folder = folder
        own = user_file_by_routine(isa)
        #: the user's file of each candidate that has one
        self._files = {name: own[name] for name in candidates if name in own}
        for file in dict.fromkeys(self._files.values()):
            check_harness(file)
        folder.joinpath("routines").mkdir()
        self.candidates = installed_candidates(isa, candidates)
        #: the kind of them all
        self.kind = kind_of(self.candidates)

    def files_of(self, plan: Plan) -> frozenset[UserRoutineFile]:
        """The user's files whose routines a plan calls."""
        called = (each.routine for each in (*plan.segments, *plan.otherwise))
        return frozenset(self._files[name] for name in called if name in self._files)

    def guest(self, plans: Sequence[Plan]) -> tuple[Path, list[list[str]]]:
        """A guest with call sites for each plan, and of each plan the names of those in its several places.

        It holds breakeven's routines, and of the user's files those whose routines the plans call: what else a file
        brings could change what is measured of a plan without it.
        """
        names = [[f"tuned-{number}-{place}" for place in range(PLACES)] for number in range(len(plans))]
        flags = 0
        for candidate in self.candidates:
            flags |= candidate.flags
        text = '#include "routine.h"\n\n' + declarations(self.kind, self.candidates)
        for number, plan in enumerate(plans):
            text += f"\n{function(f'dispatch_{number}', self.kind, plan, self.candidates, INLINE)}"
        result, parameters, arguments = _SIGNATURES[self.kind]
        for place in range(PLACES):
            turn = place // _POSITIONS
            position = (place + turn) % _POSITIONS * (_LINE // _POSITIONS)
            text += f'__asm__(".text\\n.balign {_LINE}\\n.skip {position}");\n'
            for number, each in enumerate(names):
                symbol = identifier(each[place])
                before = '__asm__ volatile("nop"); ' * (place % _POSITIONS)
                text += f"{result} {symbol}({parameters}) {{ {before}return dispatch_{number}({arguments}); }}\n"
                text += f'ROUTINE({symbol}, "{each[place]}", {KINDS[self.kind]}, {flags});\n'
        out = self._folder / "routines" / "dispatch.o"
        # Without the compiler's sorting and alignment each round lies as it is written. A site calls, and
        # returns itself: as a jump to the routine the one of two that the test falls through to would cost more.
        compile_text(
            self._recipe, text, out, without=("-mno-relax", "-falign-functions=64"),
            more=("-fno-toplevel-reorder", "-fno-optimize-sibling-calls"),
        )  # fmt: skip
        elf = self._folder / "tuned.elf"
        called = frozenset[UserRoutineFile]().union(*map(self.files_of, plans))
        files = [file for file in dict.fromkeys(self._files.values()) if file in called]
        objects = [self._recipe.root / path for path in self._recipe.routines]
        objects += [path for file in files for path in file.objects]
        link(self._recipe, "guest", [*objects, out], elf, without=("-Wl,--no-relax",))
        return elf, names


def _call(candidate: Registered, arguments: str) -> str:
    # On x86 a routine's parameter is one more argument.
    more = f", {candidate.parameter}" if candidate.parameter else ""
    return f"{identifier(candidate.name)}({arguments}{more})"


def declarations(kind: str, candidates: Sequence[Registered], symbols: bool = True) -> str:
    """Prototypes of the candidates; with `symbols`, of those that breakeven has."""
    result, parameters, _ = _SIGNATURES[kind]
    text = ""
    for each in candidates:
        more = ", uint64_t parameter" if each.parameter else ""
        if symbols and not each.symbol:
            raise UserError(f"{each.name}: its function has no name that C can be made of: add it again")
        where = f' __asm__("{each.symbol}")' if symbols else ""
        text += f"{result} {identifier(each.name)}({parameters}{more}){where};\n"
    return text


def function(name: str, kind: str, plan: Plan, candidates: Sequence[Registered], before: str = "") -> str:
    """The dispatcher of a plan; `before` stands before its type."""
    result, parameters, arguments = _SIGNATURES[kind]
    by_name = {each.name: each for each in candidates}

    leaves = itertools.count(1)

    def chain(segments: Sequence[Segment], indent: str, last: bool) -> list[str]:
        """Tests until one segment is left; `last`: nothing follows in the function."""
        if len(segments) == 1:
            call = _call(by_name[segments[0].routine], arguments)
            # Calls behind texts of their own are not merged, nor are the tests that lead to them.
            apart = [f'{indent}__asm__ volatile("/* {next(leaves)} */");'] if plan.layout.tree else []
            if result != "void":
                return [*apart, f"{indent}return {call};"]
            return [*apart, f"{indent}{call};", *([] if last else [f"{indent}return;"])]
        if plan.layout.notch(segments):
            lines = [f"{indent}if (__builtin_expect(n == {segments[1].first}, 0)) {{"]
            lines += [*chain(segments[1:2], f"{indent}    ", False), f"{indent}}}"]
            return lines + chain(segments[:1], indent, last)
        at = plan.layout.split(segments)
        likely = int(not plan.layout.larger_ahead)
        lines = [f"{indent}if (__builtin_expect(n < {segments[at].first}, {likely})) {{"]
        lines += [*chain(segments[:at], f"{indent}    ", False), f"{indent}}}"]
        return lines + chain(segments[at:], indent, last)

    lines = [f"{before}{result} {name}({parameters}) {{"]
    if plan.rule:
        lines += [f"    if ({RULES[plan.rule].c}) {{", *chain(plan.segments, " " * 8, False), "    }"]
    lines += chain(plan.otherwise if plan.rule else plan.segments, "    ", True)
    return "\n".join([*lines, "}\n"])


def header(name: str, kind: str, tuned: Tuned, candidates: Sequence[Registered], about: Sequence[str]) -> str:
    """The header to ship: prototypes, the dispatcher inline, and what it rests on."""
    used = [each for each in candidates if f"{each.name!r}" in repr(tuned.chosen.plan)]
    guard = f"{identifier(name).upper()}_H"
    evidence = [*about, "", *_evidence(tuned)]
    # A name may hold what ends a comment.
    comment = "\n".join(f" * {line.replace('*/', '* /')}".rstrip() for line in evidence)
    text = f"/* {name}: thresholds by breakeven tune.\n *\n{comment}\n */\n"
    text += f"#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
    text += declarations(kind, used, symbols=False)
    text += f"\n{function(identifier(name), kind, tuned.chosen.plan, candidates, INLINE)}"
    return f"{text}\n#endif\n"


def _evidence(tuned: Tuned) -> list[str]:
    """Expected cycles of each routine and of the dispatcher, and both sides of each threshold."""
    costs, chosen = tuned.costs, tuned.chosen
    expected = {name: costs.expected(cycles) for name, cycles in costs.cycles.items()}
    width = max(len(name) for name in [*expected, "always the fastest"])
    lines = ["expected cycles/call:"]
    lines += [f"  {name:<{width}}  {value:.1f}" for name, value in expected.items()]
    lines.append(f"  {'always the fastest':<{width}}  {costs.expected(costs.best()):.1f}")
    dispatch = (
        "dispatch included" if tuned.dispatched else "without dispatch: there was no compiler to simulate it with"
    )
    lines.append(f"  {'this dispatcher':<{width}}  {chosen.expected:.1f}, {dispatch}")
    plan = chosen.plan
    if len(plan.segments) > 1 or len(plan.otherwise) > 1:
        lines += ["", "cycles on both sides of each threshold (mean over the offsets it is for):"]
    for words, chain, its in _sides(tuned):
        for before, after in itertools.pairwise(chain):
            at = costs.sizes.index(after.first)
            # The nearest sizes on either side that come this way.
            below = next((i for i in range(at - 1, -1, -1) if its[i].any()), None)
            above = next((i for i in range(at, len(costs.sizes)) if its[i].any()), None)
            for i in (below, above):
                if i is not None:
                    a, b = (float(costs.cycles[each.routine][i][its[i]].mean()) for each in (before, after))
                    lines.append(f"  {words}n = {costs.sizes[i]}: {before.routine} {a:.1f}, {after.routine} {b:.1f}")
    return lines


def _sides(tuned: Tuned) -> list[tuple[str, Sequence[Segment], np.ndarray]]:
    """What stands before the lines of a chain, the chain, and where (sizes x pairs) it is taken."""
    plan, costs = tuned.chosen.plan, tuned.costs
    if not plan.rule:
        return [("", plan.segments, np.ones((len(costs.sizes), len(costs.pairs)), bool))]
    holds = costs.where(RULES[plan.rule])
    return [(f"{RULES[plan.rule].words}, ", plan.segments, holds), ("otherwise, ", plan.otherwise, ~holds)]
