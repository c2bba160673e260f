"""`calibrate`: fits to a model with known parameters, machine files, noisy hosts, invalid input."""

from __future__ import annotations

import contextlib
import json
import math
import shutil
from pathlib import Path

import pytest

from breakeven.calibration import host, host_program, measurements, workflow
from breakeven.calibration.accuracy import accuracy, parsed
from breakeven.calibration.fit import Comparison, Fit, Fitted, Search, as_options
from breakeven.calibration.knobs import Knob, knobs, known_knobs
from breakeven.calibration.machine_file import machine_file
from breakeven.calibration.measurements import VERSION, CacheSize, Measured, Measurements
from breakeven.calibration.model import Model
from breakeven.calibration.probe import Probe, per_instruction
from breakeven.calibration.probes import probes
from breakeven.errors import UserError
from breakeven.machine.presets import load_machine
from tests.cli.conftest import _engine_is_built

has_gcc = shutil.which("gcc") is not None
built = pytest.mark.skipif(not _engine_is_built() or not has_gcc, reason="the engine is not built, or no gcc")

#: parameters that a changed zen3 has, and the probes that must find them
CHANGED = {
    "cpu.serializingStopsFetch": False,
    "cpu.callReturnDelay": 3,
    "cpu.maxTakenPredPerCycle": 2,
    "cpu.instQueues[1].fuPool.FUList[0].opList[1].opLat": 4,
    "cpu.forwardLatency": 8,
    "cpu.misaligned.line_cross_load": 9,
    "cpu.fenceLatency": 27,
    "cpu.isa[0].microcode.rep_movs[5].startup_uops": 180,
}
DECIDING = (
    "taken jump after a fence", "taken jump in a loop", "call of a function, in a loop", "dependent multiplication",
    "store and load of the same 8 B", "latency that a load of 8 B across a line has more",
    *(f"call of {count} dependent additions between fences" for count in (1, 16, 24, 64)),
    *(f"call of {count} loads between fences" for count in (8, 64)),
    *(f"`rep movsb` of {size} B" for size in (128, 512, 2048)),
)  # fmt: skip


def measurements_of(cycles: dict[str, float], **more: object) -> Measurements:
    measured = {name: Measured(each, 0.0) for name, each in cycles.items()}
    return Measurements("A CPU", "AuthenticAMD", 25, 1, "2026-01-02", measured, **more)  # type: ignore[arg-type]


def test_units_in_issue_queues_of_their_own_keep_their_counts() -> None:
    def counted(base: str) -> set[str]:
        return {each.name for each in knobs(load_machine(base))} & {"additions per cycle", "loads per cycle"}

    assert counted("skylake") == {"additions per cycle", "loads per cycle"}
    assert counted("zen3") == {"loads per cycle"}, "by the cache's ports alone"


@pytest.mark.parametrize("base", ["bonnell", "x86_minor", "x86_o3"])
def test_a_core_of_any_kind_can_be_the_base(base: str) -> None:
    assert "more latency of a load across a line" in {each.name for each in knobs(load_machine(base))}


@built
@pytest.mark.slow
def test_a_changed_count_of_units_comes_back() -> None:
    deciding = [each for each in probes((), 0) if each.name == "independent addition"]
    model = Model("goldencove", deciding)
    (count,) = [each for each in knobs(model.root) if each.name == "additions per cycle"]
    changed = count.settings_of(count.base + 1)
    names = [each.name for each in deciding]
    cycles = model.measure(names, as_options(changed))
    assert cycles != model.measure(names)
    fit = Search(model, measurements_of(cycles)).run()
    assert {path: fit.settings.get(path) for path in changed} == changed


@built
@pytest.mark.slow
def test_changed_parameters_come_back() -> None:
    deciding = [each for each in probes((), 0) if each.name in DECIDING]
    assert len(deciding) == len(DECIDING)
    model = Model("zen3", deciding)
    cycles = model.measure(DECIDING, as_options(CHANGED))
    assert cycles != model.measure(DECIDING)
    fit = Search(model, measurements_of(cycles)).run()
    assert not fit.not_modelled()
    startup = "cpu.isa[0].microcode.rep_movs[5].startup_uops"
    assert fit.settings[startup] == pytest.approx(CHANGED[startup], abs=9)  # six of them are a cycle
    found = {path: fit.settings.get(path) for path in CHANGED}
    assert {**found, startup: 180} == CHANGED
    assert Search(model, measurements_of(cycles)).run().settings == fit.settings


def a_fit() -> Fit:
    product = Knob(
        "multiplication",
        lambda value: {"cpu.instQueues[1].fuPool.FUList[0].opList[1].opLat": value},
        (1, 9),
        ("dependent",),
        3,
    )
    size = Knob("size of level 2", lambda settings: settings, (), (), "512KiB in 8 ways")
    posted = Knob("posted", lambda value: {"cpu.write_combining.posted": value}, (), (), False)
    fitted = [
        Fitted(product, 4, ("dependent",), product.settings_of(4)), Fitted(size, "", (), {"l2.size": "1024KiB"}),
        Fitted(posted, True, ("dependent",), posted.settings_of(True)),
    ]  # fmt: skip
    return Fit("zen3", fitted, {"dependent": Comparison(4.02, 3, 4, 0.2), "taken jump": Comparison(1, 0.2, 0.2, 0.05)})


@built
def test_a_machine_file_is_a_machine_and_says_where_values_come_from(breakeven, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    workflow.write_machine(a_fit(), measurements_of({"dependent": 4.02, "taken jump": 1.0}), path)
    text = path.read_text()
    assert "dependent: 4.02 cycles, spread 0.00" in text and "# taken jump: 1.00, 0.20" in text
    assert "2026-01-02, AuthenticAMD family 25 model 1" in text and "# multiplication (zen3: 3)" in text
    root = load_machine(str(path))
    multiply = root.system.cpu.instQueues[1].fuPool.FUList[0].opList[1]
    assert multiply.opLat == 4 and root.system.l2.size == 1 << 20 and root.system.cpu.write_combining.posted
    provenance = multiply.provenance("opLat")
    assert provenance.mark == "measured" and "family 25" in provenance.note
    done = breakeven("run", "x64-byte", "--size", "8", "-m", "./mine.py", "--repetitions", "1", "--no-store")
    assert done.returncode == 0, done.stderr
    assert "measured on a host" in breakeven("machines", "show", "./mine.py", "--no-store").stdout


def test_a_hosts_name_breaks_no_file() -> None:
    hostile = Measurements('"""\\n\nimport os', "V\u00e9\"'", 1, 2, "2026-01-02", {})
    text = machine_file(Fit("zen3"), hostile, "mine")
    compile(text, "mine.py", "exec")
    assert "\nimport os" not in text


@built
def test_the_command_fits_to_kept_numbers(breakeven, tmp_path: Path) -> None:
    measurements_of({"dependent multiplication": 5.0, "a probe of tomorrow": 3.0}).save(tmp_path / "kept.json")
    done = breakeven("calibrate", "--base", "zen3", "-o", "mine.py", "--measurements", "kept.json")
    assert done.returncode == 0, done.stderr
    assert "latency of a multiplication" in done.stdout and "-m mine.py" in done.stdout
    assert load_machine(str(tmp_path / "mine.py")).system.cpu.instQueues[1].fuPool.FUList[0].opList[1].opLat == 5
    found = json.loads(breakeven("calibrate", "--base", "zen3", "--measurements", "kept.json", "--json").stdout)
    assert [each["value"] for each in found["fitted"]] == [5] and found["probes"][0]["modelled"]


@built
def test_a_check_runs_no_file_of_the_current_folder(breakeven, tmp_path: Path) -> None:
    """The fitted machine is compared; the modules beside its file are somebody's."""
    kept = measurements_of({"dependent multiplication": 5.0}, routines={"x64-byte|copy|0|8|latency": 30.0})
    kept.save(tmp_path / "kept.json")
    (tmp_path / "machines.py").write_text("open('was_run', 'w').close()\n")
    done = breakeven("calibrate", "--base", "zen3", "-o", "mine.py", "--measurements", "kept.json", "--check")
    assert done.returncode == 0, done.stderr
    assert "zen3 compared" in done.stdout and "mine.py compared" in done.stdout
    assert not (tmp_path / "was_run").exists()


@built
@pytest.mark.parametrize("base", ["bonnell", "skylake"])
def test_a_level_that_the_base_lacks_is_left_out(base: str) -> None:
    levels = {f"load to use, level {level}": 20.0 * level for level in (2, 3, 4)}
    found = workflow.fit_preset(base, measurements_of(levels))
    assert list(found.probes) == list(levels)[: 1 if base == "bonnell" else 2]


@built
def test_a_base_without_fences_is_refused() -> None:
    with pytest.raises(UserError, match="SSE2"):
        workflow.fit_preset("pentium3", measurements_of({"nop": 0.5}))


@built
def test_a_base_without_avx2_leaves_out_its_probes() -> None:
    found = workflow.fit_preset("nehalem", measurements_of({"load of 32 B": 0.5, "dependent multiplication": 4.0}))
    assert list(found.probes) == ["dependent multiplication"]


@built
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--base", "zen33"], "did you mean 'zen3'"),
        (["--base", "u74"], "not yet RISC-V"),
        (["--base", "./mine.py"], "--base takes a preset"),
        (["zen3"], "--base zen3"),
        (["zen3", "--check", "--base", "zen4"], "leave out --base"),
        (["-o", "mine.txt"], "must end in .py"),
        (["-o", "no/folder/mine.py"], "no folder"),
        # Before minutes of measuring.
        (["--base", "zen3", "--measurements", "no/folder/kept.json"], "no folder"),
        (["zen3", "--check", "--measurements", "no/folder/kept.json"], "no folder"),
    ],
)
def test_invalid_arguments_are_refused_in_one_sentence(breakeven, arguments: list[str], sentence: str) -> None:
    done = breakeven("calibrate", *arguments)
    assert done.returncode == 1 and sentence in done.stderr and done.stderr.count("\n") == 1, done.stderr


#: a whole file of measurements
WHOLE = {
    "version": VERSION, "host": "a", "vendor": "b", "family": 1, "model": 1, "date": "c", "gigahertz": 1,
    "probes": {}, "caches": [], "noisy": {}, "routines": {},
}  # fmt: skip
#: what it cannot hold
BROKEN = [
    {"probes": {"nop": {"cycles": "many", "spread": 0}}}, {"probes": {"nop": {"cycles": 1, "spread": -1}}},
    {"caches": [{"level": 1}]},
    *({"caches": [{"level": 1, "size": size, "ways": ways}]}
      for size, ways in ((0, 8), (32768, 0), (-32768, -8), (1 << 60, 8))),
    *({"routines": {key: 5}} for key in ("a", "a|b|c|8|latency", "a|copy|0|8|time")),
    {"version": VERSION - 1},
]  # fmt: skip


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", *(json.dumps({**WHOLE, **each}) for each in BROKEN)])
def test_a_broken_file_of_measurements_is_one_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kept.json"
    path.write_text(text)
    with pytest.raises(UserError, match="holds no"):
        measurements.read(path)


def test_measurements_are_read_as_they_were_kept(tmp_path: Path) -> None:
    kept = measurements_of(
        {"nop": 0.17},
        caches=(CacheSize(1, 32768, 8),),
        noisy={"jump": "3 cycles"},
        routines={"a|copy|0|8|latency": 4.0},
    )
    kept.save(tmp_path / "kept.json")
    assert measurements.read(tmp_path / "kept.json") == kept


def test_without_gcc_the_sentence_names_the_fix(monkeypatch) -> None:
    monkeypatch.setattr(host_program.shutil, "which", lambda name: None)
    with pytest.raises(UserError, match="install gcc"):
        workflow.read_or_measure(None)


class FakeProgram:
    """Stands for `HostProgram`: `cycles` of a subclass gives the number of each round and body."""

    def __init__(self, bodies, chase_bytes=()) -> None:
        self.count, self.before = len(bodies) + len(chase_bytes), 0

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        pass

    def rounds(self, cpu: int, count: int, seed: int) -> list[list[float]]:
        self.before += count
        return [[self.cycles(self.before + i, n) for n in range(self.count)] + [3.0] for i in range(count)]


def test_a_noisy_host_is_refused_with_what_was_seen(monkeypatch) -> None:
    class Noisy(FakeProgram):
        def cycles(self, round: int, number: int) -> float:
            return 100 + 40 * (round * 7 % 11)

    monkeypatch.setattr(host, "HostProgram", Noisy)
    with pytest.raises(UserError, match=r"too noisy: 2 of 2 probes differ .*nothing was fitted"):
        host.measure([per_instruction("nop", "nop"), Probe("one", "add rax, rdi")])


def test_the_median_is_robust_to_slow_and_disturbed_rounds(monkeypatch) -> None:
    """A third of the rounds is slow, one is fast, and a quarter was disturbed."""

    class Disturbed(FakeProgram):
        def cycles(self, round: int, number: int) -> float:
            if round == 7:
                return 60
            return math.nan if round % 4 == 1 else (100 + 50 * number) * (3 if round % 3 == 0 else 1)

    monkeypatch.setattr(host, "HostProgram", Disturbed)
    found = host.measure([Probe("one", "add rax, rdi")])
    assert found.probes["one"] == Measured(50.0, 0.0) and found.gigahertz == 3.0 and not found.noisy


def test_a_host_that_is_always_disturbed_is_refused(monkeypatch) -> None:
    class Shared(FakeProgram):
        def cycles(self, round: int, number: int) -> float:
            return 100.0 if round == 3 else math.nan

    monkeypatch.setattr(host, "HostProgram", Shared)
    with pytest.raises(UserError, match=r"too noisy: 1 of 1 probes .*core shared"):
        host.measure([Probe("one", "add rax, rdi")])


def test_probes_are_added_to_a_file_that_has_routines_only(monkeypatch, tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    measurements_of({}, routines={"a|copy|0|8|latency": 4.0}).save(file)
    for name, value in (("check_gcc", None), ("check_host", None), ("measure", measurements_of({"nop": 0.17}))):
        monkeypatch.setattr(workflow, name, lambda *arguments, value=value: value)
    found = workflow.read_or_measure(file)
    assert found.probes and found.routines and measurements.read(file) == found


def test_only_a_file_to_which_something_is_added_must_be_writable(monkeypatch, tmp_path: Path) -> None:
    def refused(path: Path) -> None:
        raise UserError(f"cannot write {path}")

    monkeypatch.setattr(workflow, "check_target", refused)
    monkeypatch.setattr(workflow, "check_gcc", lambda: None)
    file, routines = tmp_path / "kept.json", {"a|copy|0|8|latency": 4.0}
    for found, kept, checks, is_whole in (
        ({"nop": 0.17}, {}, False, True),
        ({"nop": 0.17}, {}, True, False),
        ({"nop": 0.17}, routines, True, True),
        ({}, routines, False, False),
    ):
        measurements_of(found, routines=kept).save(file)
        with contextlib.nullcontext() if is_whole else pytest.raises(UserError, match="cannot write"):
            assert workflow.read_or_measure(file, routines=checks) == measurements.read(file)


def test_cache_sizes_are_read_from_sysfs(tmp_path: Path) -> None:
    for i, (level, kind, size, ways) in enumerate(
        [(1, "Data", "48K", 12), (1, "Instruction", "32K", 8), (2, "Unified", "?", 8)]
    ):
        folder = tmp_path / f"index{i}"
        folder.mkdir()
        for name, value in (("level", level), ("type", kind), ("size", size), ("ways_of_associativity", ways)):
            (folder / name).write_text(f"{value}\n")
    assert host.cache_sizes(tmp_path) == (CacheSize(1, 48 << 10, 12),)
    assert host.chase_bytes([CacheSize(1, 32 << 10, 8), CacheSize(2, 512 << 10, 8)]) == {
        1: 16384,
        2: 262144,
        0: 2 << 20,
    }


@built
def test_sizes_that_differ_are_set(monkeypatch) -> None:
    root = load_machine("skylake")
    sizes = (CacheSize(1, 32 << 10, 8), CacheSize(2, 512 << 10, 8), CacheSize(3, 36 << 20, 12))
    found = {knob.name: value for knob, value in known_knobs(root, measurements_of({}, caches=sizes, gigahertz=2.41))}
    assert found == {
        "size of level 2": {"l2.size": "512KiB", "l2.assoc": 8},
        "size of level 3": {"l3.size": "36864KiB", "l3.assoc": 12, "l3.slices": 3},
    }


@built
@pytest.mark.parametrize("base", ["zen3", "zen5", "skylake", "goldencove", "crestmont", "nehalem", "x86_o3"])
def test_every_base_takes_what_its_knobs_set(base: str) -> None:
    """Every knob's parameters exist in the base, and the engine takes the base's own values again."""
    model = Model(base, [per_instruction("nop", "nop", 8)])
    every = knobs(model.root)
    assert len({knob.name for knob in every}) == len(every) > 10
    for knob in every:
        assert model.measure(["nop"], as_options(knob.settings_of(knob.base)))


def test_accuracy_counts_pairs_that_the_host_tells_apart() -> None:
    native = {f"{name}|copy|0|64|latency": cycles for name, cycles in (("a", 100.0), ("b", 104.0), ("c", 200.0))}
    native |= {"a|copy|0|8|throughput": 64.0 * 4, "b|copy|0|8|throughput": 64.0 * 8}
    model = {**native, "a|copy|0|64|latency": 250.0, "b|copy|0|8|throughput": 64.0 * 9}
    found = accuracy(native, model, parsed(native))
    assert (found.long, found.short, found.pairs) == (3, 2, 3)  # a and b of 64 B are a tie on the host
    assert found.winner_right == pytest.approx(2 / 3) and found.long_near == pytest.approx(2 / 3)
    assert found.difference == 0.5 and found.short_bias == 0.5 and found.short_near == 1.0
    assert parsed(native)[-1].calls == 64
