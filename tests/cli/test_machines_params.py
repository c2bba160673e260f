"""`machines params` and `machines show`."""

from __future__ import annotations

import json

from breakeven.analysis import load_to_use as ltu
from breakeven.errors import UserError
from breakeven.files import data


def test_params_lists_what_has_every_word(in_process):
    status, out, _ = in_process("machines", "params", "rep_movs.forward startup", "-m", "skylake")
    assert status == 0
    rows = [line.split() for line in out.splitlines() if "rep_movs" in line]
    assert rows == [
        ["cpu.isa.microcode.rep_movs.forward.startup", "0", "cycles", "0", "to", "255"],
        [
            "cpu.isa.microcode.rep_movs.forward.startup_uops",
            "140",
            "micro-ops",
            "0",
            "to",
            "4096",
            "*c",
            "broadwell/rep_movs_startup",
        ],
    ]
    status, out, _ = in_process("machines", "params", "l1d_size", "--set", "cpu.dcache.assoc=4", "--json")
    found = json.loads(out)["parameters"]
    assert status == 0 and [one["path"] for one in found] == ["cpu.dcache.size"]
    assert found[0]["source"] == "u74/l1d_size_kb" and found[0]["value"] == "32 KiB"
    _, out, _ = in_process("machines", "params", "l2.tag_latency", "--json")
    assert json.loads(out)["parameters"][0]["note"] == "half of the data's, as banked caches of this size have it"


def test_params_without_a_match_are_told(in_process):
    assert in_process("machines", "params", "mshr5") == (
        1, "", "breakeven: no parameter of u74 has 'mshr5'; did you mean 'mshrs'?\n",
    )  # fmt: skip


def test_show_has_every_parameter_in_its_json(in_process):
    status, out, _ = in_process("machines", "show", "skylake", "--json")
    shown = json.loads(out)
    values = {one["path"]: one for one in shown["parameters"]}
    assert status == 0 and shown["description"]["objects"]
    assert values["cpu.isa.microcode.instructions.adc.latency"]["source"] == "skylake/lat_adc"
    assert values["cpu.fuPool.FUList.PortsLoad.opList.MemRead.opLat"]["unit"] == "cycles"


def test_machines_show_has_the_levels(in_process):
    status, out, _ = in_process("machines", "show", "broadwell", "--no-store")
    section = out.partition("load to use, measured (cycles)\n")[2].partition("\n\n")[0]
    assert status == 0 and [line.split()[0] for line in section.splitlines()] == ["cpu.dcache", "l2", "l3", "memory"]
    assert section.splitlines()[2].split() == ["l3", "30", "MiB", "62.0", "28.2", "ns"]
    shown = json.loads(in_process("machines", "show", "u74", "--json", "--no-store")[1])
    assert shown["load_to_use"][1] == {"level": "l2", "size_bytes": 2 << 20, "cycles": 25.0, "nanoseconds": 25.0}


def test_what_cannot_be_measured_is_told_and_the_rest_shown(in_process, monkeypatch):
    def fails(machine):
        raise UserError("no room")

    monkeypatch.setattr(ltu, "_measured", fails)
    status, out, _ = in_process("machines", "show", "u74", "--no-store")
    assert status == 0 and "not measured: no room" in out and "cpu.dcache" in out
    assert json.loads(in_process("machines", "show", "u74", "--no-store", "--json")[1])["load_to_use"] is None


def test_without_guests_a_machine_is_shown_and_how_to_measure_it(in_process, monkeypatch, tmp_path):
    monkeypatch.setitem(data._KINDS, "guests", (tmp_path, tmp_path, "build them with `scons guests`"))
    status, out, error = in_process("machines", "show", "u74", "--no-store")
    section = out.partition("load to use\n")[2].partition("\n\n")[0]
    assert status == 0 and error == "" and "cpu.dcache" in out and "misaligned" in out
    assert section.count("\n") == 0 and "not measured" in section and "build them with `scons guests`" in section
    assert json.loads(in_process("machines", "show", "u74", "--no-store", "--json")[1])["load_to_use"] is None
