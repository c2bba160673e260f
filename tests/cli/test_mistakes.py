"""Mistakes that look like requests: each is refused in one sentence that names the thing and the fix."""

from __future__ import annotations

import json

import pytest

from breakeven.errors import UserError
from breakeven.points.engine import Routine
from breakeven.routine.checks import check_one_job


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("run x64-copy-erms -n 64", "x64-copy-erms is an x86-64 routine; u74 is RISC-V: give -m skylake"),
        ("run rv-byte -n 8 -m skylake", "rv-byte is a RISC-V routine; skylake is x86-64: give -m u74"),
        ("find x64-byte x64-copy-erms -m c910", "x64-byte is an x86-64 routine; c910 is RISC-V: give -m skylake"),
        ("sweep rv-byte -n 8 -m u74 -m zen3", "rv-byte is a RISC-V routine; zen3 is x86-64: give -m u74"),
        (
            "sweep all -n 8 -m u74 -m skylake",
            "all: u74 is RISC-V and skylake is x86-64, which have no routine in common: sweep one of them at a time",
        ),
        (
            "find rv-byte rv-word -m u74 -m c910",
            "find takes one --machine, and it is given more than once; `compare`, `best` and `sweep` take several",
        ),
        (
            "compare rv-byte rv-word -m u74,c910 -o t.csv",
            "--out, --baseline, --plot FILE and several --engine are of one machine: name one with -m",
        ),
        (
            "sweep rv-byte -n 8 --scheduler=",
            "--scheduler is empty: give the address of a dask scheduler, as tcp://HOST:8786",
        ),
        (
            "sweep rv-byte -n 8 --sweep clk_domain.clock=1GHz:2ns:1GHz",
            "--sweep clk_domain.clock=1GHz:2ns:1GHz is not made of numbers, sizes (like 32K) or times and "
            "frequencies of one unit (10ns:40ns:10ns): list other values with commas",
        ),
        ("run rv-byte -n 8 -n 64", "run takes one --size, and it is given more than once"),
        (
            "find rv-byte rv-word -n 8 -n 64",
            "find takes one --sizes, and it is given more than once: 8,64,256..512 is one list",
        ),
        (
            "compare x64-copy-unrolled x64-csum-old -m skylake -n 8",
            "x64-copy-unrolled is a user-copy routine, x64-csum-old is a checksum routine: compare routines that do "
            "the same job (see `breakeven routines`)",
        ),
        (
            "find rv-do-csum-2024 rv-word -n 8,64",
            "rv-do-csum-2024 is a checksum routine, rv-word is a copy routine: compare routines that do the same job "
            "(see `breakeven routines`)",
        ),
        (
            "run rv-word -n 8 --set membus.snoop_response_latency=1",
            "membus.snoop_response_latency=1 changes nothing: no rule reads snoop_response_latency on this machine; "
            "did you mean 'response_latency' or 'frontend_latency'?",
        ),
        (
            "sweep rv-word -n 8 --sweep cpu.mmu.dtb.pmp=NULL",
            "cpu.mmu.dtb.pmp=NULL changes nothing: no rule reads pmp on this machine; of system.cpu.mmu.dtb are read: "
            "assoc, l2_assoc, l2_latency, l2_size, size, walker",
        ),
        (
            "run rv-word -n 8 --set l2.prefetcher=StreamPrefetcher --set l2.prefetcher.distance=8 "
            "--set l2.prefetcher=NULL",
            "l2.prefetcher.distance=8 changes nothing: a later setting has replaced its object",
        ),
        *(
            (
                f"run rv-word -n 8 --set cpu.dcache.size={size}KiB",
                f"system.cpu.dcache.size: is {size}KiB: {2 * size} sets of 512 bytes (assoc x line); the number of "
                f"sets must be a power of two, as in gem5; the nearest sizes: {near}",
            )
            for size, near in ((3, "2KiB, 4KiB"), (17, "16KiB, 32KiB"), (33, "32KiB, 64KiB"))
        ),
        (
            "run x64-byte -n 8 -m skylake --set l3.size=16MiB",
            "system.l3.size: is 16MiB: 23831.3 sets of 704 bytes (assoc x line); the number of sets in each of 20 "
            "slices must be a power of two, as in gem5; the nearest sizes: 14080KiB, 28160KiB",
        ),
    ],
)
def test_a_mistake_is_told(in_process, command, sentence):
    assert in_process(*command.split()) == (1, "", f"breakeven: {sentence}\n")


def test_a_switch_of_the_engine_is_on_or_off(in_process, monkeypatch):
    words = "run rv-word -n 8 -m o3 --no-store"
    plain = in_process(*words.split())
    assert plain[0] == 0
    for word in ("on", "off", ""):
        monkeypatch.setenv("BREAKEVEN_MEMOIZE", word)
        assert in_process(*words.split())[:2] == plain[:2]
    monkeypatch.setenv("BREAKEVEN_MEMOIZE", "1")
    sentence = "breakeven: BREAKEVEN_MEMOIZE: '1' is no setting; on or off (on without it)\n"
    assert in_process(*words.split()) == (1, "", sentence)


def test_every_number_takes_what_sizes_take(in_process):
    words = "run rv-word -n 0x40 --src 1K --dst 0x10 --measure throughput --calls 0x4 --warmup 0x1 --seed 1K --json"
    point = json.loads(in_process(*words.split())[1])
    named = {"size": 64, "src_offset": 1024, "dst_offset": 16, "calls": 4, "warmup": 1, "seed": 1024}
    assert {name: point[name] for name in named} == named
    words = "run rv-copy-user-2021 -n 1KiB --fault-at 0x200 --repetitions 0x3 --json"
    point = json.loads(in_process(*words.split())[1])
    assert (point["size"], point["fault_at"], point["repetitions"]) == (1024, 512, 3)
    words = "sweep rv-word -n 8 --src 0..2K:1K -j 0x1 --json"
    rows = json.loads(in_process(*words.split())[1])["rows"]
    assert [row["src_offset"] for row in rows] == [0, 1024, 2048]
    words = "compare rv-byte rv-word -n 8,16 --dst 1K -j 0x1 --json"
    found = json.loads(in_process(*words.split())[1])
    assert found["ok"] and "dst+1024" in found["conditions"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--src 1X", "Invalid value for '--src' / '-s': '1X' is not a number (like 1448, 64K or 2MiB)"),
        ("--calls 1.5", "Invalid value for '--calls': '1.5' is not a number (like 1448, 64K or 2MiB)"),
        ("--src -1", "src_offset -1 is out of range: 0 to 4095"),
        ("--dst 4K", "dst_offset 4096 is out of range: 0 to 4095"),
    ],
)
def test_a_number_that_is_none_is_told(in_process, words, sentence):
    status, out, error = in_process("run", "rv-word", "-n", "8", *words.split())
    assert status and (out, error) == ("", f"breakeven: {sentence}\n")


def test_no_plot_draws_none(in_process, tmp_path):
    path = tmp_path / "p.png"
    compare = ("compare", "rv-byte", "rv-word", "-n", "8,16", "--plot", str(path))
    assert in_process(*compare, "--no-plot")[0] == 0 and not path.exists()


def test_a_flag_and_a_list_may_be_repeated(in_process):
    status, out, _ = in_process(
        "run", "rv-word", "-n", "8", "--json", "--json", "--set", "l2.mshrs=4", "--set", "l2.mshrs=8"
    )
    assert status == 0 and '"ok": true' in out


def test_user_copies_and_copies_do_one_job():
    known = [Routine(name, name, 0) for name in ("copy", "user-copy", "checksum", "copy-checksum")]
    check_one_job(known, ["copy", "user-copy"])
    with pytest.raises(UserError, match="copy is a copy routine, copy-checksum is a copy-checksum routine"):
        check_one_job(known, ["copy", "user-copy", "copy-checksum"])
