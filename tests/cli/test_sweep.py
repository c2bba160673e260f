"""Sweeps and comparisons on a fake engine: order, columns, parameters, failures, files."""

import json

import numpy as np
import pandas as pd
import pytest

import breakeven
from breakeven import points as pt
from breakeven.analysis.compare import compare
from breakeven.analysis.verdict import describe_interval, describe_leads
from breakeven.errors import UserError
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.table import check_output, failures, write_table
from breakeven.sweeps.run import run_sweep
from breakeven.sweeps.spec import SweepSpec

U74 = MachineSpec("u74")


def cost(routine, size, row, machine):
    return {"fast": 100 + size, "slow": 20 + 2 * size}.get(routine, 7 * size)


def test_rows_are_the_product_in_order(fake):
    spec = SweepSpec(["slow", "fast"], [U74], [8, 1], src_offsets=[0, 3], cache_states=["cold", "warm"])
    table = run_sweep(spec, fake(cost))
    assert len(table) == spec.count() == 16
    assert list(table["routine"][:8]) == ["slow"] * 8
    assert list(table["cache_state"][:8]) == ["cold"] * 4 + ["warm"] * 4
    assert list(zip(table["size"][:4], table["src_offset"][:4], strict=True)) == [(8, 0), (8, 3), (1, 0), (1, 3)]
    assert table["cycles_median"][0] == 36
    assert table["ok"].all()


def test_columns(fake):
    spec = SweepSpec(["fast"], [U74], [1], parameters={"cpu.x": ["1", "2"]})
    engine = fake(cost)
    table = run_sweep(spec, engine)
    expected = ["routine", "machine", "size", "src_offset", "dst_offset", "cache_state", "measure"]
    assert list(table.columns)[:7] == expected
    assert {"cycles_min", "cycles_median", "cycles_total", "instructions", "ok"} <= set(table.columns)
    assert list(table["cpu.x"]) == ["1", "2"]
    assert engine.opened == ["u74 cpu.x=1", "u74 cpu.x=2"]


def test_records_hold_the_points(fake):
    spec = SweepSpec(["fast"], [U74], [5], measures=["latency", "throughput", "interleaved"], calls=4, size2=9)
    records = spec.records()
    assert list(records["calls"]) == [1, 4, 4]
    assert list(records["size2"]) == [0, 0, 9]
    packets = SweepSpec(["fast"], [U74], [5], cache_states=["l2", "receive", "send"], size2=9)
    assert list(packets.records()["size2"]) == [0, 9, 9]
    with pytest.raises(UserError, match="l2 is not of the interleaved measure"):
        SweepSpec(["fast"], [U74], [5], cache_states=["l2", "send"], measures=["latency", "interleaved"]).validate()
    assert (records["fault_at"] == np.uint64(pt.NO_FAULT)).all()
    for point in pt.unpack(pt.points_file(records.tobytes())):
        point.validate()


def test_a_routines_parameter_reaches_every_point():
    spec = SweepSpec(["fast"], [U74], [1, 2], routine_parameter=768)
    assert spec.records()["parameter"].tolist() == [768, 768]


def test_bad_machine_fails_before_anything_runs(fake):
    engine = fake(cost)
    with pytest.raises(ValueError, match="bad machine"):
        run_sweep(SweepSpec(["fast"], [U74, MachineSpec("bad")], [1]), engine)
    assert engine.opened == []


def test_unknown_routine_has_near_matches(fake):
    with pytest.raises(UserError, match="did you mean.*slow"):
        run_sweep(SweepSpec(["slwo"], [U74], [1]), fake(cost))


@pytest.mark.parametrize(
    "axes",
    [
        {"sizes": []},
        {"sizes": [1 << 25]},
        {"src_offsets": [4096]},
        {"repetitions": 0},
        {"cache_states": ["hot"]},
        {"cache_states": ["l2"], "measures": ["stream"], "total": 4096},
        {"measures": ["speed"]},
        {"sizes": range(100_000), "src_offsets": range(100)},
    ],
)
def test_bad_specs_are_user_errors(fake, axes):
    with pytest.raises(UserError):
        run_sweep(SweepSpec(**{"routines": ["fast"], "machines": [U74], "sizes": [1], **axes}), fake(cost))


def test_wrong_outputs_are_named(fake):
    table = run_sweep(SweepSpec(["fast", "slow"], [U74], [1, 2]), fake(cost, wrong={("slow", 2)}))
    (sentence,) = failures(table)
    assert "slow" in sentence
    assert "size 2" in sentence
    assert "first wrong byte: 5" in sentence


def test_progress_counts_over_variants(fake):
    seen = []
    spec = SweepSpec(["fast"], [U74], [1, 2], parameters={"p": ["1", "2"]})
    run_sweep(spec, fake(cost), progress=lambda done, total, label: seen.append((done, total)))
    assert seen[-1] == (4, 4)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_files(tmp_path, fake):
    table = run_sweep(SweepSpec(["fast"], [U74], [1, 2]), fake(cost))
    for suffix in (".csv", ".json"):
        path = tmp_path / f"t{suffix}"
        check_output(path)
        write_table(table, path)
        again = tmp_path / f"u{suffix}"
        write_table(table, again)
        assert path.read_bytes() == again.read_bytes()
    assert list(pd.read_csv(tmp_path / "t.csv")["size"]) == [1, 2]
    assert json.loads((tmp_path / "t.json").read_text())[1]["cycles_median"] == 102


@pytest.mark.parametrize("name", ["t.xls", "t", "no/such/folder/t.csv"])
def test_bad_files_are_refused_early(tmp_path, name):
    with pytest.raises(UserError):
        check_output(tmp_path / name)


def test_compare_along_size(fake):
    found = compare(SweepSpec(["slow", "fast"], [U74], list(range(1, 257))), fake(cost))
    assert found.along == "size"
    choice = found.leads.choice
    assert (choice.below, choice.above) == ("slow", "fast")
    assert 80 < choice.threshold < 85
    assert "fast" in describe_leads(found.leads)
    where, who, gain = describe_interval(found.leads.ranges[0])
    assert where.startswith("1..")
    assert who == "slow"
    assert gain.endswith("x)")
    json.dumps(found.as_dict())


def test_a_call_that_takes_no_time_beside_an_empty_one_leads_by_no_number(fake):
    found = compare(
        SweepSpec(["slow", "fast"], [U74], [1, 2]), fake(lambda name, size, row, machine: 3 * (name == "slow"))
    )
    assert describe_interval(found.leads.ranges[0]) == ("1..2", "fast", "∞")
    json.dumps(found.as_dict())


def test_compare_throughput_is_per_call(fake):
    found = compare(SweepSpec(["slow", "fast"], [U74], [1, 2], measures=["throughput"], calls=8), fake(cost))
    assert found.curves["slow"] == [22.0, 24.0]


def test_compare_along_a_parameter(fake):
    def by_parameter(routine, size, row, machine):
        value = int(machine.settings[-1].split("=")[1])
        return 50 if routine == "fast" else 10 * value

    spec = SweepSpec(["fast", "slow"], [U74], [64], parameters={"cpu.p": ["0", "4", "8", "10"]})
    found = compare(spec, fake(by_parameter))
    assert found.x == [0.0, 4.0, 8.0, 10.0]
    assert found.crossings == [("fast", "slow", [pytest.approx(5.0)])]


@pytest.mark.parametrize(
    "axes",
    [
        {"routines": ["fast"]},
        {"routines": ["fast", "fast"]},
        {"parameters": {"a": ["1"], "b": ["2"]}},
        {"sizes": [1, 2], "parameters": {"a": ["1"]}},
        {"parameters": {"a": ["true"]}},
    ],
)
def test_compare_refuses(fake, axes):
    spec = SweepSpec(**{"routines": ["fast", "slow"], "machines": [U74], "sizes": [1], **axes})
    with pytest.raises(UserError):
        compare(spec, fake(cost))


def test_a_comparison_goes_along_times_and_sizes(in_process):
    asked = ("compare", "rv-byte", "rv-word", "-m", "u74", "-n", "256", "--cache", "cold", "--sweep")
    found = json.loads(in_process(*asked, "mem_ctrl.latency=50ns:0.2us:50ns", "--json")[1])
    assert (found["x"], found["unit"]) == ([50, 100, 150, 200], "ns")
    assert found["cycles"]["rv-byte"] == sorted(found["cycles"]["rv-byte"])
    out = in_process(*asked, "cpu.dcache.size=32K,16K", "--plot", "p.png")[1]
    assert "cpu.dcache.size (B)" in out and out.index(" 16384 ") < out.index(" 32768 ")
    status, _, error = in_process(*asked, "clk_domain.clock=1GHz,2ns")
    assert status == 1 and "values along clk_domain.clock must be numbers, sizes" in error
    found = json.loads(in_process("surface", "rv-byte", "rv-word", "-m", "u74", "-n", "1..64", "--sweep",
                                  "mem_ctrl.latency=50ns:100ns:50ns", "--json")[1])  # fmt: skip
    assert found["parameters"] == {"mem_ctrl.latency": [50, 100]}


def test_a_long_run_says_how_long_before_it_starts(monkeypatch, capsys):
    from breakeven.cli.summaries import say_how_long

    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    for points, seconds, said in [
        (5, 30, ""),
        (22, 60, "22 points, some 30 seconds on 2 idle cores; kept ones take none\n"),
        (900, 600, "900 points, some 5 minutes on 2 idle cores; kept ones take none\n"),
        (2_000_000, 11e6, "2000000 points, some 64 days on 2 idle cores; kept ones take none; 1K..1M*2 is 11 sizes\n"),
    ]:
        say_how_long(points, seconds)
        assert capsys.readouterr().err == (f"breakeven: {said}" if said else "")


def test_names_may_come_in_a_list():
    assert list(breakeven.compare(["rv-byte", "rv-word"], sizes="8,16").curves) == ["rv-byte", "rv-word"]
    with pytest.raises(TypeError, match="there is no 'machine' here: give machines"):
        breakeven.sweep("rv-byte", "8", machine="u74")
