"""What stands behind the page of `breakeven explore`: links, curves and their words, controls, traces, files."""

from __future__ import annotations

import contextvars
import shutil
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

from breakeven.analysis import traces
from breakeven.errors import UserError
from breakeven.explorer import controls, page
from breakeven.explorer.curves import Curves, curves
from breakeven.explorer.state import PROBES, State, from_link, from_row, to_fragment
from tests.explore.conftest import Model, alone


def test_a_link_holds_the_whole_state() -> None:
    for cache, measure in (("cold", "latency"), ("warm", "throughput")):
        state = State(
            "skylake", ("x64-copy-unrolled", "x64-copy-erms"), ("cpu.dcache.size=16KiB", "cpu.x=a,b"), 3, 1, cache,
            measure, 8, 65536,
        )  # fmt: skip
        assert from_link(f"http://127.0.0.1:1/?token=t#{to_fragment(state)}") == state
    assert from_link("#m=u74&r=rv-byte,rv-word&tab=map&at=64") == State()
    with pytest.raises(UserError, match="no link of an explorer"):
        from_link("#x=1")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"src": 5000}, "source offset 5000 is out of range"), ({"src": "x"}, "src 'x' is no number"),
        ({"least": 9, "most": 8}, "sizes 9 to 8"), ({"cache": "receive"}, "unknown cache state"),
        ({"routines": []}, "0 routines"), ({"cache": "cold", "measure": "throughput"}, "cold is not of the throughput"),
        ({"routines": ["a" * 60]}, "cannot be a name"),
    ],
)  # fmt: skip
def test_what_no_page_asks_is_refused(row: dict, words: str) -> None:
    with pytest.raises(UserError, match=words):
        from_row(row)


def test_sizes_reach_both_ends_and_the_coarse_ones_are_among_them() -> None:
    for state in (State(), State(least=0, most=7), State(least=100, most=101), State(most=1 << 24)):
        sizes, coarse = state.sizes(), state.coarse()
        assert sizes[0] == state.least and sizes[-1] == state.most and sizes == sorted(set(sizes))
        assert set(coarse) <= set(sizes) and {state.least, state.most} <= set(coarse) and len(coarse) <= 8


def lines_of(model: Model, state: State, coming: list[str] | None = None, moving: bool = False) -> list[dict]:
    async def collect() -> list[dict]:
        return [line async for line in curves(model, state, coming, moving)]

    return alone(collect())


def test_curves_come_coarse_first_and_end_with_a_break_even_to_the_byte() -> None:
    model, state = Model(lambda n: 2 * n, lambda n: 700 + n), State(settings=("cpu.x=1",))
    lines = lines_of(model, state)
    assert len(lines[0]["points"]) == 8 and not lines[1]["done"]
    assert [line["dots"] for line in lines if "dots" in line] == [[["rv-byte", 64, 150.0, "measured somewhere"]]]
    done = next(line for line in lines if line.get("done"))
    # 2 n > (700 + n) times 1.01 from 715 on.
    assert (done["verdict"]["marks"][0]["lower"], done["verdict"]["marks"][0]["size"]) == (714, 715)
    assert "from 715 B on; ship 715 B" in done["verdict"]["sentences"][0]
    drawn = {size for line in lines for size, _ in line.get("points", [])}
    assert set(state.sizes()) <= drawn and len(drawn) - len(state.sizes()) <= PROBES
    ghosts = {size for line in lines for size, _ in line.get("ghost", [])}
    assert ghosts >= set(state.sizes()) and lines[-1]["ghost_verdict"]["sentences"]
    assert {settings for _, _, settings in model.asked} == {(), ("cpu.x=1",)}


@pytest.mark.parametrize(("moving", "asked_before"), [(False, 2), (True, 1)])
def test_the_next_step_is_simulated_behind_the_axis_or_the_first_sizes_and_its_error_is_nobodys(
    moving: bool, asked_before: int
) -> None:
    model = Model(lambda n: 2 * n, lambda n: 700 + n)
    assert lines_of(model, State(), ["cpu.x=2"], moving)[-1]["end"]
    assert model.ahead == [(asked_before, ("cpu.x=2",), State().coarse())]


@pytest.mark.parametrize(("most", "parts"), [(4096, 2), (1 << 16, 4)])
def test_large_sizes_come_part_by_part(most: int, parts: int) -> None:
    model = Model(lambda n: 2 * n, lambda n: 3 * n)
    lines = lines_of(model, State(most=most))
    assert len([line for line in lines if "points" in line]) == parts


def test_a_wrong_output_is_told_and_nothing_else() -> None:
    known = Curves(["a", "b"])
    known.add([8, 16], [[1, 1, 1, True, ""], [2, 2, 1, True, ""], [1, 1, 1, True, ""], [2, 2, 1, None, "wrong output"]])
    said = known.said()
    assert said["failures"] == ["b, size 16: wrong output"] and not said["sentences"]


def test_controls_know_value_unit_range_and_source() -> None:
    from breakeven.machine.resolve import resolve
    from breakeven.points.machine_spec import MachineSpec

    found = {each["path"]: each for each in controls.controls(resolve(MachineSpec("u74", ())))}
    policy = found["cpu.misaligned.policy"]
    assert policy["kind"] == "choice" and policy["value"] == "trap" and "hardware" in policy["choices"]
    assert policy["group"] == "misaligned access" and policy["mark"] == "sourced" and policy["source"]
    size = found["cpu.dcache.size"]
    assert (size["scale"], size["number"], size["value"], size["unit"]) == ("log2", 32768, "32768", "B")
    latency = found["mem_ctrl.latency"]
    assert (latency["unit"], latency["factor"], latency["value"]) == ("ns", 1000, "190000ps")
    assert latency["mark"] == "calibrated" and latency["group"] == "memory" and latency["low"] == 0
    assert found["l2.replacement_policy.any_way"]["kind"] == "switch"
    # How gem5 does a thing is no hardware: it is not ranked, and comes last.
    model = [each for each in found.values() if each["group"] == "model"]
    assert {"cpu.gem5BundleBubbles", "cpu.gem5SplitTranslation"} <= {each["path"] for each in model}
    assert not any(each["main"] for each in model) and list(found.values())[-len(model) :] == model
    assert controls.label_of("cpu", "numROBEntries") == "ROB entries"
    assert controls.label_of("cpu.dcache", "tag_latency") == "L1D tag latency"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["u74", *(pytest.param(name, marks=pytest.mark.long) for name in ("skylake", "c910"))])
def test_a_slider_of_the_pipeline_ends_where_the_engine_does(name: str) -> None:
    pytest.importorskip("breakeven._engine", reason="the engine is not built")
    from breakeven import _engine
    from breakeven.machine.resolve import resolve
    from breakeven.points.machine_spec import MachineSpec

    numbers = [each for each in controls.controls(resolve(MachineSpec(name))) if each["kind"] == "number"]
    ends = ("Delay", "Width", "Limit", "BufferSize")
    widths = [each for each in numbers if each["high"] <= 256 and each["path"].endswith(ends)]
    assert len(widths) > 10
    for each in widths[:12]:
        refused = []
        for value in (each["low"] - 1, each["low"], each["high"], each["high"] + 1):
            try:
                text = resolve(MachineSpec(name, (f"{each['path']}={value}",))).text
                said = [line for line in _engine.check_description(text) if each["path"].rpartition(".")[2] in line]
            except Exception as error:
                said = [str(error)]
            refused.append(any("must be" in line or "-1" in line for line in said))
        assert refused == [True, False, False, True], each["path"]
        assert each["low"] <= each["least"] < each["most"] <= each["high"]


TRACE = """O3PipeView:fetch:{0}000:0x10:0:{1}:  add
O3PipeView:decode:{2}000
O3PipeView:rename:{2}000
O3PipeView:dispatch:{2}000
O3PipeView:issue:{2}000
O3PipeView:complete:{3}000
O3PipeView:retire:{4}000:store:0
"""


def test_a_trace_becomes_rows_and_cycles_by_address() -> None:
    text = TRACE.format(7, 2, 8, 9, 15) + TRACE.format(5, 1, 6, 7, 9) + TRACE.format(9, 3, 9, 9, 0)
    rows = traces.rows(text, 1000, 7)
    assert [row.stages for row in rows] == [(-2, -1, -1, -1, -1, 0, 2), (0, 1, 1, 1, 1, 2, 8)]
    packed = traces.packed(rows, 1)
    assert (packed["texts"], packed["ops"], packed["many"]) == ([[16, "add"]], [[0, -2, 1, 1, 1, 1, 2, 4]], 2)
    # Once more at the same address counts as one instruction of two micro-ops.
    assert traces.by_address(rows) == {"0x10": (1, 8)}


def test_the_page_is_one_file_below_300_kb_that_asks_nobody() -> None:
    text = page.html("t", {"live": False, "state": {}, "x": "</script><b>&"})
    assert len(text.encode()) < 300_000
    assert "</script><b>" not in text and "\\u003c/script>\\u003cb>\\u0026" in text
    assert f'content="{page.POLICY}"' in text and "connect-src" not in page.POLICY
    plain = text.replace("http://www.w3.org", "")
    assert not [word for word in ("src=", "href=", "http://", "https://", "@import", "url(h") if word in plain]


@pytest.mark.slow
@pytest.mark.parametrize(("isa", "file"), [("riscv", "riscv/routines/rv_byte.S"), ("x86", "x86/routines/x64_byte.S")])
def test_a_routine_may_read_the_guests_headers_and_no_other_file(isa: str, file: str, tmp_path: Path) -> None:
    from breakeven.routine.build import Build, build
    from breakeven.routine.recipe import load_recipe

    recipe = load_recipe(isa)
    if recipe is None or shutil.which(recipe.compiler) is None:
        pytest.skip("no compiler, or the guests are not built")
    mine, secret = tmp_path / "a copy.S", tmp_path / "secret"
    text = (Path("workloads") / file).read_text().replace("-byte", "-mine")
    mine.write_text(text)
    assert any(name.endswith("-mine") for name in build(recipe, Build(mine, confined=True), tmp_path / "1").names)
    secret.write_text("movabs\n")
    for way in (f'.incbin "{secret}"', f'.include "{secret}"', f'#include "{secret}"'):
        mine.write_text(f"{text}\n{way}\n")
        with pytest.raises(UserError, match="reads '.*secret'") as said:
            build(recipe, Build(mine, confined=True), tmp_path / way.split()[0])
        assert "movabs" not in str(said.value)


def test_no_other_command_loads_the_server() -> None:
    code = (
        "import sys, breakeven.cli; from breakeven.cli import load; load('run')(['run', 'rv-word', '-n', '8'], "
        "standalone_mode=False); print([m for m in sys.modules if m.split('.')[0] in "
        "('starlette', 'uvicorn', 'anyio', 'h11') or m.startswith('breakeven.explorer')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parent)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_points_are_simulated_on_as_many_threads_as_were_asked_for(monkeypatch) -> None:
    pytest.importorskip("breakeven._engine", reason="the engine is not built")
    from breakeven.engines.embedded import EmbeddedSession
    from breakeven.explorer.simulate import Simulator

    asked, run = [], EmbeddedSession.run

    def recorded(session: EmbeddedSession, records: bytes, threads: int = 0, *more) -> bytes:
        asked.append(threads)
        return run(session, records, threads, *more)

    monkeypatch.setattr(EmbeddedSession, "run", recorded)
    for threads in (0, 1):
        Simulator(None, True, threads).points("atomic", (), ["rv-word"], [(8, 0, 0)], "warm", "latency")
    assert asked == [0, 1]


def test_points_come_in_the_order_of_the_places_though_the_long_ones_run_first() -> None:
    pytest.importorskip("breakeven._engine", reason="the engine is not built")
    from breakeven.explorer.simulate import Simulator

    simulator, names = Simulator(None, no_store=True), ["rv-byte", "rv-word"]
    places = [(size, 0, 0) for size in (8, 64, 1, 32)]
    together = simulator.points("u74", (), names, places, "warm", "latency")["rows"]
    alone = [
        simulator.points("u74", (), [name], [place], "warm", "latency")["rows"][0] for place in places for name in names
    ]
    assert together == alone and len({row[1] for row in together}) > 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("machine", "setting", "names"),
    [
        ("u74", "cpu.executeBranchDelay=7", ["rv-byte", "rv-word"]),
        ("bonnell", "cpu.dcache.data_latency=9", ["x64-copy-unrolled", "x64-byte"]),
    ],
)
def test_points_are_the_same_with_a_store_and_come_out_of_it_again(
    machine: str, setting: str, names: list[str], tmp_path: Path
) -> None:
    pytest.importorskip("breakeven._engine", reason="the engine is not built")
    from breakeven.explorer.simulate import Simulator

    places = [(size, 3, 0) for size in (64, 8, 200)]
    question = (machine, [setting], names, places, "warm", "latency")
    plain, simulator = Simulator(None, no_store=True), Simulator(tmp_path / "store.sqlite")
    points = simulator.points(*question)["rows"]
    assert points == plain.points(*question)["rows"] and simulator._engine.simulated == 6
    simulator.close()
    again = Simulator(tmp_path / "store.sqlite")
    assert again.points(*question)["rows"] == points and again._engine.simulated == 0
    with pytest.raises(UserError, match="there is no routine 'rv-wird'"):
        again.points(*question[:2], [names[0], "rv-wird"], *question[3:])
    again.close()


def test_points_of_several_guests_come_in_their_order_and_are_told_by_their_places(monkeypatch) -> None:
    from types import SimpleNamespace

    from breakeven.engines import user_routines
    from breakeven.points import POINT_BYTES, RESULT_BYTES, Point, pack, unpack_results
    from breakeven.points.machine_spec import MachineSpec

    class Guest:
        """Answers with the size of a point and the number of its guest."""

        def __init__(self, number: int) -> None:
            self.number = number

        def open(self, machine: MachineSpec) -> Guest:
            return self

        def run(self, records: bytes, threads: int, progress, on_results) -> bytes:
            parts = [records[at : at + POINT_BYTES] for at in range(0, len(records), POINT_BYTES)]
            progress(len(parts), len(parts))
            rows = [
                i.to_bytes(4, "little") + bytes(4) + part[40:48] + self.number.to_bytes(8, "little")
                + bytes(RESULT_BYTES - 24) for i, part in enumerate(parts)
            ]  # fmt: skip
            on_results(b"".join(row[:4] for row in rows), b"".join(rows))
            return b"".join(rows)

    own = {"mine": SimpleNamespace(folder=Path("f"), guest=Path("g"))}
    monkeypatch.setattr(user_routines, "check_harness", lambda file: None)
    monkeypatch.setattr(user_routines, "user_file_by_routine", lambda isa: own)
    engine = user_routines.UserRoutinesEngine(lambda guest: Guest(2 if guest else 1))
    records = pack([Point(name, i) for i, name in enumerate(("a", "mine", "b", "mine", "a"))])
    told, came = [], []
    ran = engine.open(MachineSpec("u74")).run(
        records, 0, lambda *done: told.append(done), lambda which, rows: came.append((which, rows))
    )
    assert [(r.index, r.cycles_min, r.cycles_median) for r in unpack_results(ran)] == [
        (0, 0, 1), (1, 1, 2), (2, 2, 1), (3, 3, 2), (4, 4, 1),
    ]  # fmt: skip
    assert told == [(3, 5), (5, 5)]
    assert [[which[at] for at in range(0, len(which), 4)] for which, _ in came] == [[0, 2, 4], [1, 3]]
    assert [[r.index for r in unpack_results(rows)] for _, rows in came] == [[0, 2, 4], [1, 3]]


def test_what_was_simulated_ahead_is_not_simulated_again_and_is_let_go_of(tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("breakeven._engine", reason="the engine is not built")
    from breakeven.engines.embedded import EmbeddedEngine, EmbeddedSession
    from breakeven.explorer import simulate
    from breakeven.points import POINT_BYTES

    booted, opened, run = [], EmbeddedEngine.open, EmbeddedSession.run

    def point_by_point(session: EmbeddedSession, records: bytes, threads: int, progress, on_results) -> bytes:
        """As the session, which tells of a point at the latest some milliseconds after it: here, before the next."""
        parts = [records[at : at + POINT_BYTES] for at in range(0, len(records), POINT_BYTES)]
        ran = []
        for i, part in enumerate(parts):
            ran.append(run(session, part, threads))
            on_results(i.to_bytes(4, "little"), ran[-1])
            progress(i + 1, len(parts))
        return b"".join(ran)

    def open_(engine: EmbeddedEngine, spec):
        session = opened(engine, spec)
        booted.append(weakref.ref(session))
        return session

    monkeypatch.setattr(EmbeddedEngine, "open", open_)
    monkeypatch.setattr(simulate, "KEPT", 1)
    simulator = simulate.Simulator(tmp_path / "store.sqlite")
    settings = [["cpu.executeBranchDelay=3"], ["cpu.executeBranchDelay=4"]]
    question = (["rv-byte"], [(8, 0, 0), (16, 0, 0), (24, 0, 0)], "warm", "latency")
    longer = (["rv-byte"], [(size, 3, 0) for size in range(400, 800, 50)], "warm", "latency")
    simulator.ahead("u74", settings[0], *question)
    assert len(booted) == 1 and simulator._engine.simulated == 3
    ahead = simulator.points("u74", settings[0], *question)["rows"]
    assert len(booted) == 1 and (simulator._engine.simulated, simulator._engine.read) == (3, 0)
    # It ends where somebody asks, and what it has got to is kept.

    def stop() -> None:
        if simulator._engine.simulated > 3:
            raise TimeoutError

    with monkeypatch.context() as patched, pytest.raises(TimeoutError):
        patched.setattr(EmbeddedSession, "run", point_by_point)
        simulator.stop = stop
        simulator.ahead("u74", settings[1], *longer)
    assert simulator._engine.simulated == 4
    simulator.stop = lambda: None
    simulator.points("u74", settings[1], *longer)
    # One variant is kept: the first one's guest is gone, its points are counted, known and in the store.
    assert [guest() is not None for guest in booted] == [False, True] and simulator._engine.simulated == 11
    read = simulator._engine.read
    assert simulator.points("u74", settings[0], *question)["rows"] == ahead
    assert len(booted) == 2 and (simulator._engine.simulated, simulator._engine.read) == (11, read)
    # Of what is simulated while nothing is asked the points are kept, no guest in another's place.
    idle = ["cpu.executeBranchDelay=7"]
    simulator.ahead("u74", idle, *question, keep=False)
    assert list(simulator._variants) == [("u74", tuple(settings[1]))] and len(booted) == 3
    for _ in range(2):
        simulator.ahead("u74", idle, *question, keep=False)
        simulator.points("u74", idle, *question)
    assert len(booted) == 3 and simulator._engine.simulated == 14
    with pytest.raises(UserError):
        simulator.points("u74", idle, ["rv-byte", "rv-csum-byte"], [(8, 0, 0)], "warm", "latency")
    simulator.close()


def test_a_simulator_ends_in_another_context_than_it_began_in() -> None:
    pytest.importorskip("breakeven._engine", reason="the engine is not built")
    from breakeven.explorer.simulate import Simulator

    contextvars.copy_context().run(Simulator, None, True).close()


def test_what_is_looked_into_ends_where_somebody_asks() -> None:
    pytest.importorskip("breakeven._engine", reason="the engine is not built")
    from breakeven.explorer.simulate import Simulator

    simulator, point = Simulator(None, no_store=True), ((2048, 0, 0), "warm", "latency")
    called = []

    def stop() -> None:
        called.append(None)
        if len(called) == 4:
            raise TimeoutError

    for look in (simulator.account, simulator.trace):
        called.clear()
        simulator.stop = stop
        with pytest.raises(TimeoutError):
            look("u74", (), "rv-byte", *point)
        assert len(called) == 4
    simulator.stop = lambda: None
    assert simulator.account("u74", (), "rv-byte", *point)["cycles"] > 10_000


@pytest.mark.parametrize("text", ['x" + __import__("os").name + "', 'x\\" + "', "a\nb", "16KiB", "1.5", "-3"])
def test_a_settings_value_is_no_code_in_a_machine_file(text: str) -> None:
    import ast

    from breakeven.explorer.commands import _literal

    assert str(ast.literal_eval(_literal(text))) == text


@pytest.mark.parametrize("name", ["--store=/x", "-m"])
def test_a_routine_whose_name_is_an_option_is_refused(name: str) -> None:
    from breakeven.explorer.state import from_row

    with pytest.raises(UserError, match="cannot be a name: .* the first no '-'"):
        from_row({"machine": "u74", "routines": ["rv-byte", name]})


def test_a_machine_file_has_settings_of_elements_of_vectors_and_of_objects(tmp_path: Path) -> None:
    from breakeven.explorer.commands import machine_file
    from breakeven.machine.presets import load_machine
    from breakeven.machine.resolve import resolve
    from breakeven.points.machine_spec import MachineSpec

    for name, settings in (
        ("u74", ("cpu.dcache.size=16KiB", "cpu.executeBranchDelay=4", "mem_ctrl.latency=100000ps")),
        ("nehalem", ("cpu.isa[0].microcode.rep_movs[2].whole_lines=true",)),
        ("u74", ("l2.replacement_policy=LRURP()",)),
    ):
        file = tmp_path / str(len(settings)) / name / "my_cpu.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        isa = "x86" if name == "nehalem" else "riscv"
        file.write_text(machine_file(State(name, settings=settings), isa, load_machine(name)))
        assert resolve(MachineSpec(str(file))).hash == resolve(MachineSpec(name, settings)).hash, settings
