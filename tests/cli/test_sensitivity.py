"""Which parameter a break-even rests on: steps, ranking, what is kept and looked up."""

import json
import sys
from dataclasses import fields, replace

import pytest

from breakeven.analysis.sensitivity import describe_sensitivity, sensitivity
from breakeven.analysis.sensitivity_note import rests_on
from breakeven.analysis.sensitivity_question import question
from breakeven.analysis.sensitivity_steps import WORDS, parameters_of, steps_of
from breakeven.cli.sensitivity import sensitivity_done
from breakeven.engines.stored import StoredEngine
from breakeven.errors import UserError
from breakeven.machine.resolve import resolve, resolving
from breakeven.points.engine import Identity
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.mix import mix_of
from breakeven.store import Store
from breakeven.sweeps.spec import SweepSpec

pytestmark = pytest.mark.slow

U74 = MachineSpec("u74")
#: what the model below goes by: an assumed value and a sourced one, that `u74` has
DELAY, WIDTH = "cpu.executeBranchDelay", "cpu.executeCommitLimit"


@pytest.mark.parametrize(
    ("name", "value", "choices", "steps"),
    [
        ("opLat", 3, (), [2, 4]),
        ("data_latency", 20, (), [15, 25]),
        ("tag_latency", 1, (), [0, 2]),
        ("executeIssueLimit", 2, (), [1, 3]),
        ("fetch1ToFetch2BackwardDelay", 0, (), [1]),
        ("numROBEntries", 224, (), [168, 280]),
        ("numEntries", 4096, (), [2048, 8192]),
        ("latency", 64, (), [48, 80]),
        ("size", 28835840, (), [14417920, 57671680]),
        ("assoc", 8, (), [4, 16]),
        ("bytes_per_cycle", 28.0, (), [21.0, 35.0]),
        ("bandwidth", 0.0, (), []),
        ("needsTSO", True, (), [False]),
        ("policy", "trap", ("trap", "emulate", "hardware"), ["emulate", "hardware"]),
        ("prefetcher", None, (), []),
        ("opList", [1], (), []),
    ],
)
def test_a_step_down_and_up(name, value, choices, steps):
    assert steps_of(name, value, choices) == steps


def test_every_value_with_a_source_mark_is_moved_and_can_be_set():
    from breakeven.machine.presets import describe_machine

    found = {parameter.path: parameter for parameter in parameters_of(U74)}
    assert found[DELAY].mark == "assumed"
    assert found[WIDTH].mark == "sourced"
    assert found["mem_ctrl.latency"].mark == "calibrated"
    assert found["mem_ctrl.latency"].steps[0].endswith("ps")
    assert set(found["cpu.misaligned.policy"].steps) >= {"hardware", "emulate"}
    assert {parameter.mark for parameter in found.values()} <= set(WORDS.values())
    # Every path and unit is what --set takes; values that a rule refuses are told by the run.
    describe_machine("u74", [f"{parameter.path}={parameter.value}" for parameter in found.values()])


def test_the_microcode_s_timing_is_moved_though_it_bears_no_mark(tmp_path):
    own = tmp_path / "own.py"
    own.write_text(
        "from machines import skylake\n"
        "def machine(**options):\n"
        "    root = skylake.machine(**options)\n"
        "    root.system.cpu.isa[0].microcode.rep_movs[1].startup_uops = 141\n"
        "    return root\n"
    )
    found = {parameter.path: parameter for parameter in parameters_of(MachineSpec(str(own)))}
    assert found["cpu.isa.microcode.rep_movs.forward.startup_uops"].mark == "no source"
    assert found["cpu.isa.microcode.rep_movs.forward.block"].mark == "sourced"
    assert not [path for path in found if path.endswith((".max_count", ".gem5"))]


def model(routine, size, row, machine):
    """`fast` has a fixed cost that an assumed delay decides; `slow` gains a little by a sourced width."""
    values = dict(setting.split("=") for setting in machine.settings)
    if routine == "fast":
        return 100 + 60 * (int(values.get(DELAY, 1)) - 1) + size
    return (2 * size * 100) // (100 + int(values.get(WIDTH, 2)))


@pytest.fixture(autouse=True)
def few(request, monkeypatch):
    """Moves three values: both of the model's, and one that it does not read."""
    if "moved" not in request.node.name:
        some = [each for each in parameters_of(U74) if each.path in (DELAY, WIDTH, "cpu.dcache.size")]
        # The package's attribute of this name is the verb.
        monkeypatch.setattr(sys.modules["breakeven.analysis.sensitivity"], "parameters_of", lambda machine: some)


def ranked(fake, sizes=range(8, 401, 8), engine=None):
    return sensitivity(SweepSpec(["slow", "fast"], [U74], list(sizes)), engine or fake(model))


def test_the_strongest_is_first_and_the_sentence_names_it(fake):
    found = ranked(fake)
    assert [effect.parameter.path for effect in found.effects] == [DELAY, WIDTH]
    top = found.effects[0]
    assert top.doublings > 0.5
    said = found.sentence()
    assert said.startswith(f"the threshold rests on {DELAY} (assumed): with 0 in place of 1 it moves from")
    assert [parameter.path for parameter in found.idle] == ["cpu.dcache.size"]
    (row, *_), marks = found.rows(), {row[1] for row in found.rows()}
    assert row[:3] == (DELAY, "assumed", "1")
    assert marks == {"assumed", "sourced"}
    json.dumps(found.as_dict(), allow_nan=False)
    assert "<table>" in found._repr_html_()


def test_at_one_size_the_lead_is_looked_at(fake):
    found = ranked(fake, [300])
    assert found.one_size
    assert found.sentence().startswith(f"the lead of fast rests on {DELAY} (assumed)")


def test_a_break_even_that_nothing_moves(fake):
    found = sensitivity(SweepSpec(["slow", "fast"], [U74], [8, 16]), fake(lambda r, n, *_: n if r == "fast" else 9 * n))
    assert "rests on no single value" in found.sentence()
    assert found.effects == []


def test_the_end_of_the_command(fake, capsys):
    assert sensitivity_done(ranked(fake), 1, False) == 0
    text = capsys.readouterr().out
    assert DELAY in text
    assert "... and 1 parameters more" in text
    assert text.splitlines()[-2].startswith("the threshold rests on") or "refused" in text
    assert sensitivity_done(ranked(fake), 1, True) == 0
    assert json.loads(capsys.readouterr().out)["effects"][0]["parameter"]["path"] == DELAY


def test_only_the_first_ones_are_searched_again(fake):
    spec = SweepSpec(["slow", "fast"], [U74], list(range(8, 401, 8)))
    found = sensitivity(spec, fake(model), top=1)
    assert [effect.doublings is None for effect in found.effects] == [False, True]
    assert found.rows()[1][3].endswith("x")
    assert any("searched again for the first 1" in line for line in describe_sensitivity(found))
    assert all(each.doublings is not None for each in sensitivity(spec, fake(model), top=2).effects)


def test_progress_counts_every_move_and_search_and_names_the_strongest(fake):
    seen = []
    sensitivity(
        SweepSpec(["slow", "fast"], [U74], list(range(8, 401, 8))), fake(model), 1, lambda *each: seen.append(each)
    )
    assert [done for done, *_ in seen] == list(range(len(seen))) and seen[-1][0] == seen[-1][1] == 6 + 4
    assert any(label == f"most so far: {DELAY}" for *_, label in seen)


def test_a_pattern_chooses_the_values_and_the_answer_is_not_kept(fake, tmp_path):
    spec = SweepSpec(["slow", "fast"], [U74], list(range(8, 401, 8)))
    with Store(tmp_path / "s.sqlite") as store:
        engine = StoredEngine(Storable(fake(model)), store)
        engine.open(U74)
        found = sensitivity(spec, engine, match="sourced executeCOMMIT")
        assert [effect.parameter.path for effect in found.effects] == [WIDTH] and found.moved == 1
        assert rests_on(spec, engine) == ""
    with pytest.raises(UserError, match="no value of u74 that could be moved has 'nonsense'"):
        sensitivity(spec, fake(model), match="nonsense")


#: it moves the break-even of these
MOVING = "cpu.fetch1ToFetch2BackwardDelay"
REAL = ["rv-byte", "rv-memcpy-croce-c", "--sizes", "1..64", "--no-store", "--json"]


def test_what_it_says_of_a_moved_value_is_what_find_says_with_it_set_when_moved(in_process):
    """On the real engine."""
    status, out, _ = in_process("sensitivity", *REAL, "--match", MOVING)
    (effect,) = json.loads(out)["effects"]
    assert status == 0 and effect["parameter"]["path"] == MOVING
    before = json.loads(in_process("find", *REAL)[1])["break_even"]
    assert effect["variations"] and before["threshold"] == json.loads(out)["break_even"]["threshold"]
    for moved in effect["variations"]:
        found = json.loads(in_process("find", *REAL, "--set", f"{MOVING}={moved['value']}")[1])["break_even"]
        assert moved["choice"] == {name: found[name] for name in moved["choice"]}
        assert before["threshold"] != found["threshold"]


def test_compare_tells_what_its_answer_rests_on_when_moved(in_process, tmp_path):
    """On the real engine; a machine with few values that could be moved."""
    words = ["compare", "rv-byte", "rv-word", "-m", "atomic", "--sizes", "1..8", "--store", tmp_path / "s.sqlite"]
    assert "rests on" not in in_process(*words)[1]
    status, out, _ = in_process(*words, "--confidence")
    line = next(line for line in out.splitlines() if "rests on" in line)
    assert status == 0 and line.endswith("(1 to 8 B)")
    assert json.loads(in_process(*words, "--confidence", "--json")[1])["sensitivity"] == line
    # It is looked up from now on.
    assert f"{line[:-1]}; an earlier `breakeven sensitivity`)" in in_process(*words)[1]


def test_every_variant_is_of_the_machine_s_file_as_it_was(fake, tmp_path):
    """Variants are made in threads, while somebody edits the file."""
    file, seen = tmp_path / "mine.py", []
    text = "from machines import u74\ndef machine(**options):\n    return u74.machine(l1d_assoc={}, **options)\n"
    file.write_text(text.format(4))

    class Edited(fake):
        def check(self, machine, routines=()):
            objects = resolve(machine).description["objects"]
            seen.extend(each["params"]["assoc"] for each in objects if each["path"] == "system.cpu.dcache")
            file.write_text(text.format(8))

    with resolving():
        sensitivity(SweepSpec(["slow", "fast"], [MachineSpec(str(file))], [8, 400]), Edited(model))
    assert len(seen) > 2 and set(seen) == {4}


#: another value of each field of a sweep that decides its points; machine and sizes stand beside the question
OTHER = {
    "routines": ["slow", "rv-word"], "src_offsets": [3], "dst_offsets": [3], "offset_pairs": [(3, 3)],
    "cache_states": ["cold"], "measures": ["throughput"], "repetitions": 5, "warmup": 3, "calls": 8, "total": 4096,
    "size2": 8, "src_offset2": 3, "dst_offset2": 3, "seed": 2, "flags": 1, "routine_parameter": 1, "distance": 64,
    "again": False, "mix": mix_of("1..8"),
}  # fmt: skip


def test_an_answer_is_of_all_that_its_points_were_measured_with(fake, tmp_path):
    assert {each.name for each in fields(SweepSpec)} == {*OTHER, "machines", "sizes", "parameters"}
    spec = SweepSpec(["slow", "fast"], [U74], [8, 400])
    with Store(tmp_path / "s.sqlite") as store:
        engine = StoredEngine(Storable(fake(model)), store)
        engine.open(U74)
        sensitivity(spec, engine)
        assert rests_on(replace(spec, sizes=[8, 200, 400]), engine)
        told = [name for name, value in OTHER.items() if rests_on(replace(spec, **{name: value}), engine)]
        assert told == [] and not rests_on(replace(spec, sizes=[8]), engine)


def test_refused_values_are_told(fake):
    class Engine(fake):
        def check(self, machine, routines=()):
            if any(setting == f"{WIDTH}=1" for setting in machine.settings):
                raise UserError("must be 2 or more")

    found = ranked(fake, engine=Engine(model))
    assert found.refused == [f"{WIDTH}=1 (must be 2 or more)"]
    assert any(WIDTH in line for line in describe_sensitivity(found))


@pytest.mark.parametrize(
    "axes", [{"routines": ["slow"]}, {"src_offsets": [0, 1]}, {"parameters": {"cpu.p": ["1", "2"]}}]
)
def test_what_a_sensitivity_cannot_be_of(fake, axes):
    with pytest.raises(UserError, match="a sensitivity is of"):
        sensitivity(SweepSpec(**{"routines": ["slow", "fast"], "machines": [U74], "sizes": [1], **axes}), fake(model))


class Storable:
    """The fake engine as one whose results may be kept."""

    def __init__(self, engine):
        self.inner = engine

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def identity(self, machine):
        return Identity("engine", str(machine), "guest"), "{}"

    def open(self, machine):
        session = self.inner.open(machine)
        session.machine_hash = str(machine)
        return session

    def routines(self, machine):
        return self.inner.open(machine).routines()


def test_what_was_found_is_kept_and_looked_up_without_a_run(fake, tmp_path):
    spec = SweepSpec(["slow", "fast"], [U74], list(range(8, 401, 8)))
    with Store(tmp_path / "s.sqlite") as store:
        engine = StoredEngine(Storable(fake(model)), store)
        engine.open(U74)
        assert rests_on(spec, engine) == ""
        said = sensitivity(spec, engine).sentence()
        later = StoredEngine(Storable(fake(model)), store)
        later.open(U74)
        assert rests_on(spec, later) == f"{said} (8 to 400 B; an earlier `breakeven sensitivity`)"
        other = SweepSpec(["slow", "fast"], [U74], list(range(8, 401, 8)), src_offsets=[3])
        assert question(other) != question(spec)
        assert rests_on(other, later) == ""
        # Another build of the engine's has found nothing yet, and pruning takes the answers along.
        store.prune("another engine")
        again = StoredEngine(Storable(fake(model)), store)
        again.open(U74)
        assert rests_on(spec, again) == ""
    assert rests_on(spec, fake(model)) == ""
    with pytest.raises(UserError, match="two routines"):
        rests_on(SweepSpec(["slow", "fast", "rv-word"], [U74], [1]), fake(model), run=True)
