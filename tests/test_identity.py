"""The engine computes what it did: scripts/identity against its baseline, and that it says what has moved."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("breakeven._engine")
sys.path.append(str(Path(__file__).resolve().parents[1] / "scripts"))
import identity  # noqa: E402
import identity_runs  # noqa: E402


@pytest.mark.parametrize(
    "every",
    [identity_runs.SAMPLE, pytest.param(1, marks=pytest.mark.long)],
    ids=["a-sample-of-the-probes", "all-probes"],
)
def test_the_engine_computes_what_the_baseline_says(every: int) -> None:
    """A change that is meant: `scripts/identity --update`, and say in the commit which rule changed what."""
    now = identity.baseline_of(identity.measure(every=every))
    kept = identity.read()
    kept = kept.sample_of(now) if every > 1 or not identity_runs.can_probe() else kept
    found = [*identity.told(kept, now), *identity.differences(kept, now)]
    assert not found, "\n".join(["scripts/identity --update accepts:", *found[:40]])


def test_the_sample_of_the_probes_has_every_preset_and_differs_from_preset_to_preset() -> None:
    sample, whole = identity_runs.probes_of(identity_runs.SAMPLE), identity_runs.probes_of(1)
    assert sample.keys() == whole.keys()
    assert min(map(len, sample.values())) >= 2
    assert len({name for names in sample.values() for name in names}) > 3 * max(map(len, sample.values()))


def test_every_study_with_a_short_grid_has_a_point() -> None:
    held = {group.partition(" ")[2] for group, _ in identity.read().runs}
    studies = {study.name for study in identity_runs.studies() if identity_runs.point_of(study)}
    assert studies and studies <= held, "scripts/identity --update measures it"


def group(machine: str = "m", **changed: float) -> identity.Group:
    stats = {"system.cpu.numCycles": 100.0, "loads": 7.0, "never": 0.0} | changed
    others = {"system.cpu.numCycles": 50.0, "loads": 3.0, "never": 0.0}
    runs = [identity.Run("first", f"{stats['system.cpu.numCycles']:.0f}", stats), identity.Run("second", "50", others)]
    return identity.Group("g", runs, machine)


def compare(old: identity.Group, new: identity.Group, folder: Path) -> list[str]:
    identity.write(identity.baseline_of([old]), folder)
    return list(identity.differences(identity.read(folder), identity.baseline_of([new])))


def test_what_differs_is_named(tmp_path: Path) -> None:
    assert compare(group(), group(), tmp_path) == []
    assert compare(group(), group(loads=8), tmp_path) == [
        "g: first: the same cycles, but statistics differ",
        "g: loads (all runs together): 10 -> 11",
    ]
    cycles = compare(group(), group(**{"system.cpu.numCycles": 101}), tmp_path)
    assert cycles[0] == "g: first: cycles 100 -> 101"
    assert compare(group(), group(never=1), tmp_path)[-1] == "g: never (all runs together): 0 -> 1"
    assert "machine's description" in compare(group("m"), group("n"), tmp_path)[0]


def test_differences_that_cancel_out_are_noticed(tmp_path: Path) -> None:
    old = group()
    new = group(loads=8)
    new.runs[1].stats["loads"] = 2.0
    found = compare(old, new, tmp_path)
    assert len(found) == 2 and all("none of its group's sums" in line for line in found)


def points(machine: str, **cycles: str) -> identity.Group:
    return identity.Group(f"{machine} points", [identity.Run(name, each, {}) for name, each in cycles.items()], "d")


def probes(machine: str, **values: str) -> identity.Group:
    return points(machine, **values)._replace(name=f"{machine} probes")


def test_what_moved_is_told_by_machine_and_by_how_much() -> None:
    old = [
        points("u74", a="90/100/300-7", b="200/200/600-7", c="50/50/150-7", d="1/1/3-1"),
        probes("zen3", lat_adc="1", alias_4k="0"),
        points("zen3", a="10/10/30-1"),
        points("minor", a="10/10/30-1"),
        points("o3", a="10/10/30-1"),
    ]
    new = [
        points("u74", a="90/110/330-7", b="198/198/594-7", c="50/50/150-7", e="1/1/3-1"),
        probes("zen3", lat_adc="1.5", alias_4k="0.01"),
        points("zen3", a="10/10/30-1"),
        points("minor", a="10/10/30-1")._replace(machine="another"),
        identity.Group("o3 points", [identity.Run("a", "10/10/30-1", {"loads": 1.0})], "d"),
    ]
    assert list(map(str, identity.movements(identity.baseline_of(old), identity.baseline_of(new)))) == [
        "minor: its description is another one",
        "o3: 1 of 1 runs have the same cycles and other statistics",
        "u74: 2 of 5 runs moved; median +4.50%, largest +10.00% (points: a: 90/100/300-7 -> 90/110/330-7); "
        "2 runs are new or gone",
        "zen3: 2 of 2 probes moved; median +30.00%, largest +50.00% (probes: lat_adc: 1 -> 1.5)",
    ]
    assert identity.movements(identity.baseline_of(old), identity.baseline_of(old)) == []


def test_studies_on_a_machine_that_moved_are_stale() -> None:
    assert "tsukamoto2021" in identity.stale_studies({"u74"})
    assert "tsukamoto2021" not in identity.stale_studies({"katmai"})
    told = list(identity.told(*(identity.baseline_of([points("k7", a=cycles)]) for cycles in ("1", "2"))))
    assert told == [
        "k7: 1 of 1 runs moved; median +100.00%, largest +100.00% (points: a: 1 -> 2)",
        "results of anand2002 were computed by another engine or machine: run scripts/reproduce anand2002",
    ]


@pytest.fixture
def baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A baseline of two machines in a folder of its own; the engine says other cycles on one of them."""
    identity.write(identity.baseline_of([points("minor", a="4"), points("k7", a="100"), probes("k7", b="3")]), tmp_path)
    now = [points("minor", a="4"), points("k7", a="99"), probes("k7", b="3")]

    def measure(machines: list[str]) -> list[identity.Group]:
        return [group for group in now if not machines or group.name.split()[0] in machines]

    monkeypatch.setattr(identity, "measure", measure)
    monkeypatch.setattr(identity, "can_probe", lambda: True)
    monkeypatch.setattr(identity, "FOLDER", tmp_path)
    monkeypatch.setattr(identity.subprocess, "run", lambda command, **_: command)
    return tmp_path


def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    monkeypatch.setattr(sys, "argv", ["identity", *words])
    return identity.main(), capsys.readouterr().out.splitlines()


def test_the_command_accepts_a_rule_that_has_changed(
    baseline: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = [
        "k7: 1 of 1 runs moved; median -1.00%, largest -1.00% (points: a: 100 -> 99)",
        "results of anand2002 were computed by another engine or machine: run scripts/reproduce anand2002",
    ]
    assert said(monkeypatch, capsys) == (1, ["k7 points: a: cycles 100 -> 99", *summary])
    assert said(monkeypatch, capsys, "minor") == (0, ["identical: 1 runs, 0 sums of statistics"])
    assert said(monkeypatch, capsys, "--update", "k7") == (0, summary)
    assert said(monkeypatch, capsys) == (0, ["identical: 3 runs, 0 sums of statistics"])


def test_a_host_that_cannot_probe_keeps_what_is_known(
    baseline: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(identity, "can_probe", lambda: False)
    monkeypatch.setattr(identity, "measure", lambda machines: [points("minor", a="4"), points("k7", a="99")])
    assert said(monkeypatch, capsys, "--update")[0] == 0
    assert identity.read(baseline).runs["k7 probes", "b"][0] == "3"
    assert said(monkeypatch, capsys) == (0, ["identical: 2 runs, 0 sums of statistics"])


def test_a_machine_that_nothing_is_measured_on_is_refused(baseline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["identity", "u75"])
    with pytest.raises(SystemExit, match="2"):
        identity.main()
