"""`routines`: what each routine is, of a kind, on a machine; and one with its source and code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from breakeven import api
from breakeven.cli import load
from breakeven.errors import UserError
from breakeven.files.binaries import guest_elf
from breakeven.routine.page import Text, listing, publications, texts


def routines(*words: str) -> str:
    done = CliRunner().invoke(load("routines"), ["routines", *words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


@pytest.mark.parametrize("machine", ["u74", "x86_o3"])
def test_every_routine_has_a_sentence_and_code(machine):
    found = json.loads(routines("-m", machine, "--json"))
    guest = guest_elf(found["isa"])
    for row in found["routines"]:
        assert len(row["description"]) > 10 and row["description"].endswith("."), row
        code = listing(found["isa"], guest, row["name"])
        assert len(code) > 3, row
        assert not any(text.startswith((".byte", ".2byte", ".4byte")) for _, text in code), (row["name"], code)
    assert {row["name"] for row in found["routines"]} == {each.name for each in api.routines(machine)}


def test_of_a_kind_and_what_a_machine_lacks():
    text = routines("--kind", "checksum")
    assert "rv-csum-ipxe" in text and "rv-byte" not in text
    assert "rv-do-csum-2024-zbb" in text and "(NOT HERE: it needs Zbb)" in " ".join(text.split())
    with pytest.raises(UserError, match="unknown kind 'sum': one of copy, checksum"):
        routines("--kind", "sum")


def test_one_routine_of_either_instruction_set():
    text = routines("rv-byte")
    assert text.startswith("rv-byte: one byte per iteration. The floor that every other copy is compared with.\n")
    assert "workloads/riscv/routines/rv_byte.S" in text
    assert [line.split("  ")[-1] for line in text.splitlines() if "0x8000" in line][0] == "add a2, a2, a1"
    assert text.splitlines()[-1].endswith("  ret")
    # The machine that is asked by default is a RISC-V one.
    one = json.loads(routines("x64-csum-adx", "--json"))
    assert one["isa"] == "x86" and one["notes"] == "needs ADX"
    assert any(line["instruction"].startswith("adcx ") for line in one["listing"])
    with pytest.raises(UserError, match="there is no routine 'rv-bytes'; did you mean 'rv-byte'"):
        routines("rv-bytes")


def test_where_it_was_published():
    assert any("Tsukamoto" in each for each in publications("rv-copy-user-2017"))
    assert "same" not in publications("i386-movsl-plain")
    assert publications("rv-byte-of-nobody") == []


def test_the_line_is_the_first_sentence():
    assert Text("H. J. Lu's copy of 16 B. From 2 KB on words.").line == "H. J. Lu's copy of 16 B. From 2 KB on words."
    assert Text("of v5.14, for 64 bytes and more. Then bytes.").line == "of v5.14, for 64 bytes and more."
    assert texts("riscv")["rv-byte"].line == "one byte per iteration."


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("breakeven run rv-by", {"rv-byte"}),
        ("breakeven run rv-byte -m skyl", {"skylake"}),
        ("breakeven compare x64-csum-ad", {"x64-csum-adx"}),
        ("breakeven rout", {"routines"}),
    ],
)
def test_the_shell_completes_commands_and_values(words, completed, tmp_path):
    program = Path(sys.executable).parent / "breakeven"
    if not program.is_file():
        pytest.skip("the command is not installed beside this interpreter")
    asked = {"_BREAKEVEN_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [program], env={**os.environ, **asked, "BREAKEVEN_HOME": str(tmp_path)}, capture_output=True, text=True
    )
    assert set(done.stdout.split()) == completed, done.stderr
