"""A request executes a machine's file once for each variant, whatever asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import breakeven
from breakeven.cli import load
from breakeven.errors import UserError
from breakeven.machine.resolve import resolve, resolving
from breakeven.points.machine_spec import MachineSpec
from tests.cli.conftest import _engine_is_built

pytestmark = pytest.mark.skipif(not _engine_is_built(), reason="the engine or the guests are not built")

MINE = """
from machines import minor
from pathlib import Path
NAME, DESCRIPTION, ISA = "mine", "counts its executions", "riscv"
def machine(**options):
    with open(Path(__file__).with_name("executed"), "a") as file:
        file.write("x")
    return minor.machine(**options)
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A machine file that counts how often it is executed."""
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def executed(mine: Path) -> int:
    """How often it was since the last call."""
    count = mine.with_name("executed")
    times = len(count.read_text()) if count.exists() else 0
    count.unlink(missing_ok=True)
    return times


SWEPT = ["--sweep", "cpu.executeBranchDelay=1:2"]


@pytest.mark.parametrize(
    ("words", "variants"),
    [
        (["run", "rv-byte", "-n", "8"], 1),
        (["compare", "rv-byte", "rv-word", "-n", "8,9"], 1),
        (["sweep", "copy", "-n", "8", "--json"], 1),
        (["sweep", "rv-byte", "-n", "8", "--json", *SWEPT], 2),
        (["find", "rv-byte", "rv-word", "-n", "8..20"], 1),
        (["surface", "rv-byte", "rv-word", "-n", "8..20", *SWEPT], 2),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_executes_a_machine_file_once_a_variant(mine: Path, words: list[str], variants: int) -> None:
    for store in (["--no-store"], ["--store", str(mine.with_name("s.sqlite"))]):
        done = CliRunner().invoke(load(words[0]), [*words, "-m", str(mine), *store], standalone_mode=False)
        assert done.exception is None, done.exception
        assert executed(mine) == variants


@pytest.mark.parametrize("words", [["show", "{}"], ["params", "assoc", "-m", "{}"]], ids=lambda words: words[0])
def test_a_page_of_a_machine_executes_its_file_once(mine: Path, words: list[str]) -> None:
    command = ["machines", *(word.format(mine) for word in words)]
    done = CliRunner().invoke(load("machines"), command, standalone_mode=False)
    assert done.exception is None and executed(mine) == 1


def test_the_api_does_so_too_and_each_call_anew(mine: Path) -> None:
    breakeven.run("rv-byte", 8, machine=str(mine), store=False)
    assert executed(mine) == 1
    breakeven.compare("rv-byte", "rv-word", sizes=[8, 9], machine=str(mine), store=False)
    assert executed(mine) == 1


def test_a_request_is_given_one_machine(mine: Path) -> None:
    spec = MachineSpec(str(mine))
    with resolving(), resolving():
        machine = resolve(spec)
        assert resolve(MachineSpec(str(mine))) is machine and executed(mine) == 1
        assert resolve(spec.with_settings("cpu.executeBranchDelay=2")).hash != machine.hash
    executed(mine)
    assert resolve(spec).hash == machine.hash and executed(mine) == 1
    assert machine.isa == "riscv"


#: of others values are taken from the first three; what a machine lacks is left out
MOVED = [
    "cache_line_size", "cpu.dcache.size", "cpu.dcache.tag_latency", "cpu.misaligned.policy=hardware",
    "cpu.mmu.dtb.size", "cpu.branchPred.btb.numEntries", "cpu.executeBranchDelay", "cpu.numROBEntries",
    "cpu.commitToFetchDelay",
    "cpu.isa.microcode.rep_movs.backwards.startup_uops", "cpu.dcache.prefetcher.degree", "mem_ctrl.latency",
    "cpu_clk_domain.clock=777MHz", "cpu.isa.vlen", "l2.data_latency",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ["u74", "skylake", "o3", "x86_minor", "c910", "x280"])
def test_a_variant_made_of_a_template_is_the_one_that_the_file_makes(name: str) -> None:
    from breakeven.config.errors import OverrideError
    from breakeven.config.overrides import get_parameter
    from breakeven.machine.template import Template

    template, base = Template(name), resolve(MachineSpec(name))
    settings = []
    for path in MOVED:
        try:
            text = path if "=" in path else f"{path}={2 * int(get_parameter(base.root, path))}"
            whole = resolve(MachineSpec(name, (text,)))
        except (OverrideError, TypeError):
            continue
        if whole.text != base.text:
            settings.append((text, whole))
    assert len(settings) >= 6
    for text, whole in settings:
        made = template.variant([text])
        assert (made.text, made.description) == (whole.text, whole.description), text
    # Several at once; and the tree is as it was.
    several = tuple(text for text, _ in settings)
    assert template.variant(several).text == resolve(MachineSpec(name, several)).text
    assert template.variant([]).text == base.text


def test_what_a_template_cannot_make_the_file_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    from breakeven.config.errors import OverrideError
    from breakeven.machine import presets, template

    executed = []
    load_machine = presets._loaded
    monkeypatch.setattr(presets, "_loaded", lambda name, *more: executed.append(more) or load_machine(name, *more))
    simple = [MachineSpec("u74", (f"cpu.executeBranchDelay={n}",)) for n in range(2, 9)]
    with resolving():
        made = [resolve(spec) for spec in simple]
        # The first one's, and the template's.
        assert len(executed) == 2 and len({machine.hash for machine in made}) == len(simple)
        # Its tree is made when it is asked for.
        assert made[5].root.system.cpu.executeBranchDelay == 7 and len(executed) == 3
        other = resolve(MachineSpec("u74", ("cpu.branchPred=LocalBP",)))
        assert len(executed) == 4 and '"LocalBP"' in other.text
        for wrong, said in (("cpu.dcache.warmup_percentage=3", "changes nothing"), ("cpu.x=1", "has no parameter 'x'")):
            with pytest.raises(OverrideError, match=said):
                resolve(MachineSpec("u74", (wrong,)))
        one = "cpu.executeBranchDelay=20"
        assert resolve(MachineSpec("u74", (one,))).text == template.Template("u74").variant([one]).text


def test_a_machine_without_a_cpu_has_no_isa() -> None:
    from breakeven.machine.resolve import Machine

    with pytest.raises(UserError, match="no CPU of a known instruction set"):
        assert Machine(MachineSpec("none"), None, {"objects": []}, "").isa
