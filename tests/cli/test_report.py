"""`breakeven report`: what stands in the page, and that a browser draws it, sorts and filters (Debian's chromium)."""

from __future__ import annotations

import json
import re
import shlex
from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import breakeven
from breakeven.cli import failed, load
from breakeven.errors import UserError
from breakeven.explorer.state import from_link
from breakeven.points import FLAG_HUGE_PAGES
from breakeven.points.machine_spec import MachineSpec
from breakeven.points.ranges import ranges_text
from breakeven.points.table import write_table
from breakeven.sweeps.spec import SweepSpec, described
from breakeven.web.page import page
from breakeven.web.sources import Part, Shown, read_part, study_parts, study_verdicts
from tests.page_data import data_of

REPO = Path(__file__).resolve().parents[2]
SIZES = (8, 16, 24, 32)
X86_MACHINE = """
from machines import skylake
NAME, DESCRIPTION, ISA = "mine", "a smaller Skylake", "x86"
def machine(**options):
    root = skylake.machine(**options)
    root.system.cpu.numROBEntries = 100
    return root
"""


def table(**more: object) -> pd.DataFrame:
    """Two routines that cross between 16 and 24 bytes at source offset 0, never at 3."""
    rows = [
        {
            "routine": name, "machine": "u74", "size": size, "src_offset": src, "dst_offset": 0, "cache_state": "warm",
            "measure": "latency", "repetitions": 21, "calls": 1, "cycles_median": cycles(size, src), "instructions": 9,
            "ok": True,
        }
        for name, cycles in (("slow", lambda n, _: 2 * n), ("fast", lambda n, src: 20 + n + 100 * src))
        for size in SIZES
        for src in (0, 3)
    ]  # fmt: skip
    return pd.DataFrame(rows).assign(**more)


def run(*arguments: object):
    done = CliRunner().invoke(load(), [str(one) for one in arguments], standalone_mode=False)
    if isinstance(done.exception, UserError):
        raise done.exception
    return done


def test_a_table_becomes_a_page(tmp_path: Path) -> None:
    source, out = tmp_path / "t.csv", tmp_path / "t.html"
    table().to_csv(source, index=False)
    assert run("report", source, "-o", out, "--set", "cpu.dcache.size=16KiB").return_value == 0
    text = out.read_text()
    data = data_of(text)
    (part,) = data["parts"]
    assert part["axes"] == ["routine", "size", "src_offset"] and part["constants"]["machine"] == "u74"
    rows = part["leads"]["rows"]
    assert rows == [[0, 2, "16-24", "slow", "fast", "nothing"], [3, 2, "slow", "slow", "slow", "nothing"]]
    (machine,) = data["machines"]
    assert machine["name"] == "u74 cpu.dcache.size=16KiB"
    assert ["cpu.dcache.size", "16 KiB"] in machine["parameters"] and machine["sections"]
    assert (
        "breakeven sweep slow fast --machine u74 --sizes 8..32:8 --src 0,3 --dst 0 --cache warm --measure latency "
        "--set cpu.dcache.size=16KiB --out t.csv"
    ) in unescape(text)
    assert not re.search(r"(src|href)=", text.replace("default-src", "")), "the page asks for something"
    again = tmp_path / "again.html"
    run("report", source, "-o", again, "--set", "cpu.dcache.size=16KiB")
    assert again.read_text().replace("again.html", "t.html") == text


def test_a_table_says_what_its_sweep_had(tmp_path: Path) -> None:
    """What `sweep` wrote is enough to run it again: settings with spaces, warm-up, seed, flags, a parameter."""
    settings = ("cpu.dcache.size=16KiB", "cpu.branchPred=TournamentBP(localHistoryTableSize=2048, BTBEntries=64)")
    spec = SweepSpec(
        ["slow", "fast"], [MachineSpec("u74", settings)], SIZES, [0, 3], warmup=20, seed=9, flags=FLAG_HUGE_PAGES,
        routine_parameter=64,
    )  # fmt: skip
    path = tmp_path / "t.csv"
    write_table(described(table(repetitions=15), spec), path)
    part = read_part(path)
    assert part.machines == [Shown(MachineSpec("u74", settings))]
    words = shlex.split(part.command)
    assert [words[i + 1] for i, word in enumerate(words) if word == "--set"] == list(settings)
    for option, value in (("--warmup", "20"), ("--seed", "9"), ("--parameter", "64"), ("--repetitions", "15")):
        assert words[words.index(option) + 1] == value
    assert "--huge-pages" in words and "--size2" not in words and "--sweep" not in words
    # A sweep by default has no more columns than before; two sweeps in one file have no one command.
    plain = SweepSpec(["slow"], [MachineSpec("u74")], SIZES)
    assert list(described(table(), plain)) == list(table())
    both = pd.concat([table(), described(table(), spec)])
    both.to_csv(path, index=False)
    part = read_part(path)
    assert part.command == "" and "different --set" in part.note
    assert [str(each.spec) for each in part.machines] == ["u74", f"u74 {' '.join(settings)}"]


def test_wrong_outputs_are_loud(tmp_path: Path) -> None:
    source, out = tmp_path / "t.csv", tmp_path / "t.html"
    wrong = table()
    wrong.loc[3, "ok"] = False
    wrong.to_csv(source, index=False)
    assert run("report", source, "-o", out).return_value == 1
    assert "Wrong output at 1 points; the first: t.csv: slow, size 16" in out.read_text()


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("routine,size\nx,1\n")
    with pytest.raises(UserError, match="it has no column cycles_median"):
        run("report", bad, "-o", tmp_path / "x.html")
    bad.write_text("routine,size,cycles_median\nx,1,many\n")
    with pytest.raises(UserError, match="not every cycles_median is a number"):
        run("report", bad, "-o", tmp_path / "x.html")
    with pytest.raises(UserError, match="must end in .html"):
        run("report", bad, "-o", tmp_path / "x.txt")
    with pytest.raises(UserError, match="there is no store"):
        run("report", "--store", tmp_path / "none.sqlite", "-o", tmp_path / "x.html")


#: what a cell of a table may hold that someone else made
HOSTILE = ["", "inf", "9" * 30, "<b>"]
MORE_HOSTILE = ["abc", "-1", "1e400", "nan", "0", "x" * 5000, "\0", "true", "'"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "value",
    [*HOSTILE, *(pytest.param(value, marks=pytest.mark.long) for value in MORE_HOSTILE)],
    ids=range(len(HOSTILE) + len(MORE_HOSTILE)),
)
def test_hostile_cells_are_shown_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for column in [*table().columns, "engine", "settings", "flags", "seed", "cpu.x"]:
        changed = table(machine="native").iloc[:4].astype(object)
        if column not in changed:
            changed[column] = "1"
        changed.iloc[0, changed.columns.get_loc(column)] = value
        changed.to_csv("t.csv", index=False)
        done = CliRunner().invoke(load(), ["report", "t.csv", "-o", "t.html"], standalone_mode=False)
        if done.exception is not None:
            assert failed(done.exception) == 1 and "own" not in capsys.readouterr().err, (column, value)


def test_names_cannot_leave_the_data() -> None:
    evil = "</script><img src=x>"
    text = page(evil, [Part(evil, "", table(routine=evil), "", [])], "again")
    assert "<img" not in text and data_of(text)["parts"][0]["name"] == evil


def test_a_table_that_is_no_product_has_no_command(tmp_path: Path) -> None:
    table().iloc[1:].to_csv(tmp_path / "t.csv", index=False)
    assert read_part(tmp_path / "t.csv").command == ""


@pytest.mark.parametrize("suffix", [".csv", ".json"])
@pytest.mark.parametrize("name", ["123", "NA", "null", "1e5"])
def test_a_routine_may_be_called_as_a_number(tmp_path: Path, suffix: str, name: str) -> None:
    path = tmp_path / f"t{suffix}"
    write_table(table(routine=name), path)
    assert set(read_part(path).table["routine"]) == {name}


def test_a_host_is_no_machine_of_ours(tmp_path: Path) -> None:
    table(machine="native").to_csv(tmp_path / "t.csv", index=False)
    part = read_part(tmp_path / "t.csv")
    assert "--engine native --sizes" in part.command and "--machine" not in part.command
    (machine,) = data_of(page("t", [part], "again"))["machines"]
    assert "parameters" not in machine
    both = pd.concat([table(engine="embedded"), table(machine="native", engine="native")])
    both.to_csv(tmp_path / "t.csv", index=False)
    part = read_part(tmp_path / "t.csv")
    assert part.command == ""
    (shown,) = data_of(page("t", [part], "again"))["parts"]
    assert "engine" not in shown["axes"] and shown["leads"]["columns"][0] == "machine"
    same = pd.concat([table(engine="embedded"), table(engine="gem5")])
    (shown,) = data_of(page("t", [Part("t", "", same, "", [])], "again"))["parts"]
    assert shown["leads"]["columns"][0] == "engine"


def test_a_further_variant_of_a_machine_has_only_what_differs() -> None:
    specs = (MachineSpec("u74"), MachineSpec("timing"), MachineSpec("u74", ("cpu.dcache.size=16KiB",)))
    found = data_of(page("t", [Part("t", "", table(), "", [Shown(spec) for spec in specs])], "again"))["machines"]
    assert ["like" in each for each in found] == [False, False, True] and found[2]["like"] == 0
    assert found[2]["parameters"] == [["cpu.dcache.size", "16 KiB"]]
    assert found[2]["hash"] != found[0]["hash"] and len(found[2]["sections"]) >= len(found[0]["sections"])
    assert 1 <= sum(each is not None for each in found[2]["sections"]) <= 3


def test_data_do_not_choose_code_that_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine file that a table names is run only where the person at the keyboard names it, too."""
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from machines import u74\nNAME, DESCRIPTION, ISA = 'mine', 'a board', 'riscv'\nopen('was_run', 'w').close()\n"
        "def machine(**options):\n    return u74.machine(**options)\n"
    )
    for name in ("./mine.py", str(mine), "mine.py", "./mine.py cpu.dcache.size=16KiB"):
        table(machine=name).to_csv("t.csv", index=False)
        assert run("report", "t.csv", "-o", "t.html").return_value == 0
        assert not (tmp_path / "was_run").exists(), name
        (machine,) = data_of(Path("t.html").read_text())["machines"]
        assert "--machine-file" in machine["about"] and "parameters" not in machine
    assert run("report", "t.csv", "-o", "t.html", "--machine-file", "mine.py").return_value == 0
    assert (tmp_path / "was_run").exists()
    text = Path("t.html").read_text()
    assert ["cpu.dcache.size", "16 KiB"] in data_of(text)["machines"][0]["parameters"]
    assert "--machine-file mine.py" in unescape(text)
    with pytest.raises(UserError, match="there is no machine file 'no.py'"):
        run("report", "t.csv", "-o", "t.html", "--machine-file", "no.py")


def test_a_machine_file_may_have_spaces_in_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my own.py").write_text(
        "from machines import u74\ndef machine(**options):\n    return u74.machine(**options)\n"
    )
    table(machine="./my own.py cpu.dcache.size=16KiB cpu.dcache.assoc=2").to_csv("t.csv", index=False)
    assert run("report", "t.csv", "-o", "t.html", "--machine-file", "my own.py").return_value == 0
    found = data_of(Path("t.html").read_text())["machines"][0]["parameters"]
    assert ["cpu.dcache.size", "16 KiB"] in found and ["cpu.dcache.assoc", "2"] in found


def test_ranges_are_written_as_they_are_read() -> None:
    from breakeven.points.ranges import parse_integers

    for text in ("5", "1,7", "1..256,265..2047:9", "0..4,64..1024:64"):
        assert ranges_text(parse_integers(text, "size", 0, 1 << 20)) == text


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_study_becomes_a_page() -> None:
    title, parts = study_parts(REPO / "results/tsukamoto2021")
    assert title.startswith("tsukamoto2021: ")
    assert {str(shown.spec) for part in parts for shown in part.machines} >= {"u74 cpu.misaligned.policy=trap"}
    assert all(set(part.table["machine"]) for part in parts)
    verdicts = study_verdicts(REPO / "results/tsukamoto2021")
    text = page(title, parts, "again", verdicts=verdicts)
    assert "breakeven reproduce tsukamoto2021" in text
    assert f"of {len(verdicts)} claims reproduced" in text and "<td>bytes-when-mismatched</td>" in text


def test_points_of_the_store_become_a_page(breakeven, tmp_path: Path) -> None:
    store = tmp_path / "points.sqlite"
    done = breakeven("sweep", "rv-byte", "rv-word", "--sizes", "8,16", "--store", store, "-m", "u74", "-m", "minor")
    assert done.returncode == 0, done.stderr
    done = breakeven("report", "--store", store, "--machine", "minor", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["points"] == 4, done.stderr
    text = (tmp_path / "report.html").read_text()
    assert f"breakeven report --out report.html --machine minor --store {store}\n</pre>" in text.replace(
        "</pre>", "\n</pre>"
    )
    data = data_of(text)
    assert [machine["name"] for machine in data["machines"]] == ["minor"] and data["machines"][0]["marks"]


def test_points_of_a_machine_file_become_a_page(breakeven, tmp_path: Path) -> None:
    """The file is shown as it was when they were simulated, and not run."""
    store, mine = tmp_path / "points.sqlite", tmp_path / "mine.py"
    example = re.findall(r"```python\n(.*?)```", (REPO / "docs/machines.md").read_text(), re.DOTALL)[-1]
    for text, routines in ((example, ("rv-byte", "rv-word")), (X86_MACHINE, ("x64-byte", "x64-memcpy-orig"))):
        mine.write_text(text)
        done = breakeven("compare", *routines, "-n", "8,16", "--store", store, "-m", "./mine.py")
        assert done.returncode == 0, done.stderr
    mine.write_text("open('was_run', 'w').close()\n")
    done = breakeven("report", "--store", store)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "was_run").exists()
    machines = data_of((tmp_path / "report.html").read_text())["machines"]
    assert [machine["name"] for machine in machines] == ["./mine.py"] * 2
    parameters = [dict(machine["parameters"]) for machine in machines]
    assert parameters[0]["cpu.dcache.size"] == "64 KiB" and parameters[1]["cpu.numROBEntries"] == "100"
    assert all("as it was when" in machine["about"] and len(machine["sections"]) > 5 for machine in machines)
    text = json.dumps(machines[1]["sections"])
    assert "rep_movs modes" in text and "forward" in text


def opened(browser, folder: Path, text: str):
    """The page in a browser, and the errors that it will have had."""
    tab, errors = browser.new_page(viewport={"width": 1200, "height": 900}), []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    # What the page's own policy refuses is told here.
    tab.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    (folder / "page.html").write_text(text)
    tab.goto((folder / "page.html").as_uri())
    return tab, errors


def test_routines_of_one_job_are_ranked_among_themselves(tmp_path: Path) -> None:
    """A checksum does not lead a copy."""
    copies, sums = (table(), table().assign(cycles_median=lambda rows: rows["cycles_median"] // 2))
    copies["routine"] = copies["routine"].map({"slow": "rv-byte", "fast": "rv-word"})
    sums["routine"] = sums["routine"].map({"slow": "rv-csum-ipxe", "fast": "rv-do-csum-2024"})
    both = pd.concat([copies, sums], ignore_index=True)
    (part,) = data_of(page("t", [Part("t.csv", "", both, "", [])], "breakeven report"))["parts"]
    assert part["leads"]["columns"] == ["src_offset", "routines", "ship", "below it", "from it on", "costs"]
    named = [{row[3], row[4]} for row in part["leads"]["rows"]]
    assert len(named) == 4 and all(len({"csum" in name for name in each}) == 1 for each in named)


@pytest.mark.browser
def test_a_browser_draws_sorts_and_filters(browser, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    text = page("t", [Part("t.csv", "", table(), "", [Shown(MachineSpec("u74", ()))])], "breakeven report")
    tab, errors = opened(browser, tmp_path, text)
    curves, legend, said = tab.locator("svg path.curve"), tab.locator(".legend button"), tab.locator(".said")

    def pointed_at(*lines: str) -> None:
        """The largest size's cycles are told under the pointer."""
        figure = tab.locator(".figure").first
        figure.hover(position={"x": 0.98 * figure.bounding_box()["width"], "y": 50})
        expect(tab.locator(".tip b")).to_have_text("size 32")
        expect(tab.locator(".tip div")).to_have_text(list(lines))

    expect(curves).to_have_count(2)
    pointed_at("fast: 52", "slow: 64")
    expect(said).to_have_text(
        "slow leads to 16 B, fast from 24 B on; ship 24 B, which costs nothing against always choosing right."
    )
    marks = tab.locator("rect.mark")
    assert [(mark.get_attribute("data-from"), mark.get_attribute("data-to")) for mark in marks.all()] == [("16", "24")]
    legend.first.click()
    expect(curves).to_have_count(1)
    expect(legend.first).to_have_attribute("aria-pressed", "false")
    legend.first.click()
    tab.select_option("select[aria-label=src_offset]", index=1)
    expect(said).to_have_text("slow leads at every size tried (8..32 B).")
    pointed_at("slow: 64", "fast: 352")
    tab.select_option("select[aria-label='a line for each']", index=1)
    expect(legend).to_have_text(["slow, 0", "slow, 3", "fast, 0", "fast, 3"])

    points = tab.locator("details:has(> summary:text-is('Every point'))").last
    points.locator("summary").click()
    cycles, size, routine = (points.locator(f"th:has-text('{name}')").first for name in ("cycles", "size", "routine"))
    cycles.locator("button").click()
    cycles.locator("button").click()
    expect(points.locator("tbody tr td:nth-child(4)")).to_have_text(
        [str(n) for n in sorted(table()["cycles_median"], reverse=True)]
    )
    size.locator("input").fill(">=24")
    routine.locator("input").fill("FAST")
    expect(points.locator(".count")).to_have_text("4 of 16 rows")
    expect(points.locator("tbody tr td:nth-child(1)")).to_have_text(["fast"] * 4)
    expect(points.locator("tbody tr td:nth-child(2)")).to_have_text(["32", "24", "32", "24"])

    machine = tab.locator("#machines > details > summary")
    expect(machine).to_have_text("u74")
    machine.click()
    expect(tab.locator("#machines pre").first).to_have_text(re.compile(".{50}", re.DOTALL))
    assert not errors


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of two copies on two machines, of which one keeps no account."""
    out = tmp_path_factory.mktemp("swept") / "t.csv"
    breakeven.sweep(["rv-byte", "rv-word"], [8, 64], machines=["u74", "timing"], src=[0, 3], store=False).to_csv(
        out, index=False
    )
    return out


def test_a_page_keeps_where_cycles_went_and_the_code(swept: Path, tmp_path: Path) -> None:
    run("report", swept, "-o", tmp_path / "t.html")
    data = data_of((tmp_path / "t.html").read_text())
    points = data["parts"][0]["points"]
    assert [(point["where"], point["size"]) for point in points] == [
        ({"machine": "u74", "src_offset": src}, size) for src in (0, 3) for size in (8, 64)
    ]
    (there,) = (point for point in points if point["size"] == 64 and point["where"]["src_offset"] == 3)
    for one, (name, found) in zip(
        there["of"], breakeven.explain("rv-byte", "rv-word", size=64, src=3).items(), strict=True
    ):
        assert (one["routine"], one["cycles"], one["instructions"]) == (name, found.cycles, found.instructions)
        shares = [line["percent"] for line in one["account"] if not line["reason"]]
        assert sum(shares) == pytest.approx(100, abs=0.1)
        # The cycles that the routine's own instructions held up: no more than all, the empty call's included.
        assert 0 < sum(held for _, held in one["by_address"].values()) <= one["pipeline"]["cycles"]
        assert {f"{address:#x}" for address, _ in data["code"][name]["listing"]} >= set(one["by_address"]) > set()
        pipeline = one["pipeline"]
        assert 32 <= len(pipeline["ops"]) <= pipeline["many"] and pipeline["cycles"] > one["cycles"]
        assert {f"{address:#x}" for address, _ in pipeline["texts"]} & set(one["by_address"])
        # In the order of fetch, each later stage behind the fetch.
        assert pipeline["ops"] == sorted(pipeline["ops"], key=lambda op: op[1])
        assert all(later is None or later >= 0 for op in pipeline["ops"] for later in op[2:])


def test_numbers_that_are_not_this_engines_get_no_account(swept: Path, tmp_path: Path) -> None:
    other = pd.read_csv(swept)
    other["cycles_median"] += 1
    other.to_csv(tmp_path / "t.csv", index=False)
    run("report", tmp_path / "t.csv", "-o", tmp_path / "t.html")
    assert data_of((tmp_path / "t.html").read_text())["parts"][0]["points"] == []


def test_a_file_that_a_table_names_is_not_run_for_an_account(swept: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("raise SystemExit('it ran')\n")
    pd.read_csv(swept).assign(machine=str(tmp_path / "mine.py")).to_csv(tmp_path / "t.csv", index=False)
    run("report", tmp_path / "t.csv", "-o", tmp_path / "t.html")
    assert data_of((tmp_path / "t.html").read_text())["parts"][0]["points"] == []


@pytest.mark.long
@pytest.mark.browser
def test_tabs_of_a_page(browser, swept: Path, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    run("report", swept, "-o", tmp_path / "t.html")
    tab, errors = opened(browser, tmp_path, (tmp_path / "t.html").read_text())
    tabs, view = tab.locator("[role=tab]"), tab.locator(".view")
    expect(tabs).to_have_text(["why", "map", "pipeline", "code"])

    def press(name: str) -> str:
        tabs.get_by_text(name, exact=True).click()
        expect(tabs.get_by_text(name, exact=True)).to_have_attribute("aria-selected", "true")
        return view.text_content()

    why, code = press("why"), press("code")
    assert "rv-byte" in why and "IPC" in why and "first-level cache" in why
    assert "lbu" in code and "times run" in code
    # What the page says of the explorer, the explorer reads.
    (fragment,) = re.findall(r"breakeven explore '#([^']*)'", why)
    asked = from_link(f"#{fragment}")
    assert (asked.machine, asked.routines, asked.src, asked.most) == ("u74", ("rv-byte", "rv-word"), 0, 64)
    press("pipeline")
    expect(view.locator("h3").first).to_have_text(
        re.compile(r"rv-byte \d+ B, \d+ cycles, \d+ micro-ops(; the first \d+ drawn)?")
    )
    ops = tab.locator(".pipeline g").evaluate_all("ops => ops.map((op) => op.querySelectorAll('rect').length)")
    assert len(ops) > 60 and max(ops) > 3
    press("map")
    assert view.locator("p.soft").first.text_content().startswith("src_offset 0; rows: machine. ")
    cells = [cell.get_attribute("data-winner") for cell in tab.locator(".cell").all()]
    assert len(cells) == 4 and set(cells) <= {"-1", "0", "1"}
    tab.select_option("select[aria-label=machine]", index=0)
    assert press("why").startswith("Nothing was kept here of this condition")
    view.locator("button").first.click()
    expect(view).to_contain_text("IPC")
    assert not errors


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_study_of_long_points_alone_has_every_tab_below_300_kb() -> None:
    # One megabyte, cold, 23 calls a measurement: one call alone.
    folder = REPO / "results" / "boards2026"
    title, parts = study_parts(folder)
    text = page(title, parts, "breakeven reproduce boards2026", (), study_verdicts(folder))
    assert len(text.encode()) < 300_000
    for part in data_of(text)["parts"]:
        (point,) = part["points"]
        assert point["size"] == 1 << 20 and len(point["of"]) == 2
        table = {
            row.routine: row.cycles_median
            for row in next(p for p in parts if p.name == part["name"]).table.itertuples()
        }
        for one in point["of"]:
            # Its own cycles, beside the table's median, which it is within a hundredth of.
            assert one["alone"] == table[one["routine"]] and one["pipeline"]["ops"] and one["by_address"]
            assert one["cycles"] == pytest.approx(one["alone"], rel=0.02)


@pytest.mark.slow
def test_a_folder_of_results_becomes_pages_that_link_to_one_another(tmp_path: Path) -> None:
    import shutil

    from breakeven.web.results_site import write_site

    shutil.copytree(REPO / "results" / "native" / "zen4", tmp_path / "native" / "zen4")
    site = write_site(tmp_path)
    assert site.index == tmp_path / "index.html" and not site.failures
    linked = re.findall(r'href="([^"#]+)"', site.index.read_text())
    assert "./native/zen4/index.html" in linked and all((tmp_path / link).is_file() for link in linked)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_folder_of_all_results_becomes_a_site_that_needs_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import re
    import shutil

    from breakeven.web import details
    from breakeven.web.results_site import write_site

    monkeypatch.setattr(details, "LONG_CYCLES", 0)  # minutes

    committed = Path(__file__).resolve().parents[2] / "results"
    folder = tmp_path / "results"
    for name in ("field2026", "tables2026", "native/zen4"):
        shutil.copytree(committed / name, folder / name, ignore=shutil.ignore_patterns("*.png", "index.html"))
    site = write_site(folder)
    assert site.index == folder / "index.html" and site.points > 300 and not site.failures
    pages = [site.index, folder / "field2026" / "index.html", folder / "native" / "zen4" / "index.html"]
    for at in pages:
        text = at.read_text()
        plain = text.replace("http://www.w3.org", "")
        assert "http://" not in plain and "https://" not in plain and "src=" not in plain
        linked = re.findall(r'href="([^"#]+)"', text)
        assert linked and all((at.parent / link).is_file() for link in linked), at
    top = pages[0].read_text()
    assert "go-2048" in top and "direction only" in top and "field2026/index.html" in top
    assert "claims reproduced" in pages[1].read_text()
    parts = {part["name"]: part for part in data_of(pages[1].read_text())["parts"]}
    assert parts["past"]["without"].startswith(
        "Its shortest points take 19 million simulated cycles; a page has 0 million"
    )
    assert all(bool(part["points"]) != ("without" in part) for part in parts.values())
    assert "results/native/zen4" in json.dumps(data_of(pages[2].read_text()))
    before = {at: at.read_bytes() for at in pages}
    write_site(folder)
    assert before == {at: at.read_bytes() for at in pages}, "the same tables are the same bytes"
