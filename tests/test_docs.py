"""What the documents say holds: links lead somewhere, command lines work, examples build and run."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

REPO = Path(__file__).resolve().parent.parent
sys.path.append(str(REPO / "scripts"))
import docs  # noqa: E402

DOCS = REPO / "docs"
PAGES = [REPO / "README.md", *sorted(DOCS.rglob("*.md")), *sorted(REPO.glob("results/*/README.md"))]
GUIDES = [page for page in PAGES if "results" not in page.relative_to(REPO).parts]
#: Commands that are done in seconds and need nothing but the machines and the guests.
QUICK = {"run", "explain", "compare", "find", "surface", "sweep", "gem5", "routines", "machines"}


def fences(text: str, language: str | None = None) -> list[str]:
    """The contents of fenced blocks, of one language or all."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [body for name, body in found if language in (None, name)]


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


class Shown(NamedTuple):
    """A command line in a fenced block, with the output that stands below it (of lines that start with `$`)."""

    page: str
    line: str
    output: list[str] | None


def shown_commands() -> list[Shown]:
    found = []
    for page in GUIDES:
        for body in fences(page.read_text()):
            lines = re.sub(r"\\\n\s*", "", body).splitlines()
            for i, line in enumerate(lines):
                match = re.match(r"(\$ )?(?:\S*/)?breakeven (.*)", line)
                if not match:
                    continue
                rest = lines[i + 1 :]
                end = next((n for n, later in enumerate(rest) if later.startswith("$ ")), len(rest))
                found.append(Shown(page.name, match[2], rest[:end] if match[1] else None))
    return found


def options_of(command: str) -> set[str]:
    import typer

    from breakeven.cli import load

    group = typer.main.get_command(load())
    if command not in group.commands:
        return set()
    subject = group.commands[command]
    every = [subject, *getattr(subject, "commands", {}).values()]
    return {name for each in every for param in each.params for name in param.opts} | {"--help"}


@pytest.mark.parametrize("page", docs.pages(), ids=lambda page: str(page.relative_to(REPO)))
def test_links_lead_to_a_file_and_a_heading(page: Path) -> None:
    assert list(docs.broken_links(page)) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A `b` c\n\n[a](#a-b-c) [b](#nothing) [c](gone.md) [d](page.md#a-b-c) `[e](no.md)`\n")
    assert list(docs.broken_links(page)) == ["#nothing", "gone.md"]


def test_generated_parts_are_current() -> None:
    pytest.importorskip("breakeven._engine")
    stale = [str(page.relative_to(REPO)) for page in docs.stale()]
    assert not stale, "run scripts/docs --update"


def test_the_index_lists_every_document() -> None:
    index = (DOCS / "README.md").read_text()
    missing = [str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if f"({page.relative_to(DOCS)})" not in index]
    assert missing == ["README.md"]


def test_every_parameter_of_ours_is_documented_and_read() -> None:
    ours = json.loads((REPO / "breakeven/config/data/ours.json").read_text())
    names = {name for each in ours["classes"].values() for name in each["params"]}
    names |= {name for params in ours["added_params"].values() for name in params}
    text = (DOCS / "description.md").read_text()
    code = "".join(path.read_text() for path in (REPO / "engine/machine/src/description").glob("*.rs"))
    assert not [name for name in names if not re.search(rf"\b{name}\b", text)]
    assert not [name for name in names if f'"{name}"' not in code]


#: names a page for each host, which has the machine
NATIVE = REPO / "results" / "native" / "README.md"


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    sorted(
        {*(REPO / "results").glob("*/README.md"), *NATIVE.parent.glob("*/README.md"), *NATIVE.parent.glob("*/mixes.md")}
        - {NATIVE}
    ),
    ids=lambda page: str(page.relative_to(REPO / "results")),
)
def test_results_are_of_the_machines_as_they_are(page: Path) -> None:
    """The hashes a report names are those of today's presets: a preset that changes wants its studies run again."""
    from breakeven.m5 import machine_hash
    from breakeven.machine.presets import describe_machine

    rows = re.findall(r"^\| (\w+)((?: \S+=\S+)*) \| `([0-9a-f]{16})` \|$", page.read_text(), re.MULTILINE)
    assert rows
    for name, settings, shown in rows:
        assert machine_hash(describe_machine(name, settings.split()))[:16] == shown, f"{name}{settings} has changed"


@pytest.mark.parametrize("causes", sorted(REPO.glob("results/native/*/causes.md")), ids=lambda file: file.parent.name)
def test_a_native_page_ends_with_its_causes(causes: Path) -> None:
    assert causes.with_name("README.md").read_text().endswith(causes.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(REPO)))
def test_named_commands_and_options_exist(page: Path) -> None:
    spans = re.findall(r"`breakeven ([a-z]\w+)([^`]*)`", prose(page))
    shown = [each.line.partition(" ")[::2] for each in shown_commands() if each.page == page.name]
    for command, rest in [*spans, *shown]:
        known = options_of(command)
        assert known, f"there is no command {command}"
        assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", rest)) <= known


@pytest.mark.slow
@pytest.mark.parametrize("shown", shown_commands(), ids=lambda shown: f"{shown.page}: {shown.line}")
def test_shown_commands_print_what_is_shown(shown: Shown, tmp_path: Path) -> None:
    pytest.importorskip("breakeven._engine")
    arguments = shlex.split(shown.line)
    if shown.page == "tutorial.md":
        pytest.skip("run in their order by test_tutorial.py")
    if arguments[0] not in QUICK or {"|", ">", "--scheduler"} & set(arguments):
        pytest.skip("not a quick one; its options are checked elsewhere")
    if arguments[0] == "gem5" and not any((REPO / each).is_file() for each in arguments):
        pytest.skip("a script that is not here")
    for name in ("configs", "tests"):
        (tmp_path / name).symlink_to(REPO / name)
    command = [sys.executable, "-m", "breakeven", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    if shown.output is not None:
        # A line of dots stands for what is left out.
        pieces = "\n".join(line.rstrip() for line in shown.output).strip().split("\n...\n")
        printed = "\n".join(line.rstrip() for line in done.stdout.splitlines())
        if not re.search(".*".join(map(re.escape, pieces)), printed, re.DOTALL):
            pytest.fail(f"it prints:\n{printed}", pytrace=False)


@pytest.mark.slow
@pytest.mark.parametrize("page", [REPO / "README.md", DOCS / "add-a-routine.md"], ids=lambda page: page.name)
def test_the_routine_shown_is_right(page: Path, tmp_path: Path) -> None:
    """Dropped into the folder as it stands, it is built, listed and right."""
    engine = pytest.importorskip("breakeven._engine")
    scons = Path(sys.executable).with_name("scons")
    if not scons.exists() or shutil.which("riscv64-unknown-elf-gcc") is None:
        pytest.skip("no scons or no cross compiler")
    source = next(body for body in fences(page.read_text(), "asm") if "END my_copy" in body)
    shutil.copytree(REPO / "workloads", tmp_path / "workloads")
    (tmp_path / "workloads/riscv/routines/my_copy.S").write_text(source)
    (tmp_path / "SConstruct").write_text('SConscript("workloads/SConscript", exports={"env": Environment()})\n')
    subprocess.run([str(scons), "-Q", "-s", "build/guests/riscv.elf"], cwd=tmp_path, check=True, timeout=120)
    guest = tmp_path / "build/guests/riscv.elf"
    assert "my-copy" in {routine["name"] for routine in engine.routines(guest.read_bytes())}
    for size in ("0", "64", "1448"):
        command = ["run", "my-copy", "--size", size, "--src", "3", "--guest", str(guest)]
        done = subprocess.run([sys.executable, "-m", "breakeven", *command], cwd=REPO, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_python_of_the_guide_runs(tmp_path: Path) -> None:
    pytest.importorskip("breakeven._engine")
    (code,) = fences((DOCS / "python.md").read_text(), "python")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
