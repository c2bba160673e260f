"""The explorer's server: who is let in, a worker that dies, what Ctrl-C leaves."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from breakeven.cli import load
from breakeven.explorer import connections, launch
from breakeven.explorer.state import State
from tests.explore.conftest import Explorer, Watched
from tests.waiting import until

pytestmark = pytest.mark.slow

QUESTION = {"machine": "u74", "routines": ["rv-word"], "settings": [], "least": 8, "most": 16}
#: seconds after which an answer is given up, which only ends a hang
PATIENT = 100


def opened(
    explorer: Explorer | Watched, kind: str, state: dict, tab: str = "t", token: str | None = None, **more: object
):
    """A question that the server has taken: what it answers comes line by line."""
    body = json.dumps({"tab": tab, "kind": kind, "state": state, **more}).encode()
    headers = {"X-Token": explorer.token if token is None else token}
    request = urllib.request.Request(f"{explorer.base}ask", body, headers)
    return urllib.request.urlopen(request, timeout=PATIENT)


def rest_of(answer) -> list:
    """The lines that are still to come."""
    with answer:
        return [json.loads(line) for line in answer]


def asked(
    explorer: Explorer | Watched, kind: str, state: dict, tab: str = "t", token: str | None = None, **more: object
) -> list:
    """The lines that answer a question."""
    return rest_of(opened(explorer, kind, state, tab, token, **more))


def refused(explorer: Explorer, path: str, **headers: str) -> int:
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(urllib.request.Request(explorer.base + path, headers=headers), timeout=PATIENT)
    return error.value.code


def test_only_who_has_the_token_is_let_in(explorer: Explorer) -> None:
    assert refused(explorer, "") == 403 and refused(explorer, "?token=wrong") == 403
    with pytest.raises(urllib.error.HTTPError, match="403"):
        asked(explorer, "curves", QUESTION, token="wrong")
    # Another site's name for this address: its pages must not read ours.
    assert refused(explorer, f"?token={explorer.token}", Host="evil.example") == 403
    with urllib.request.urlopen(f"{explorer.base}?token={explorer.token}", timeout=PATIENT) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and answer.headers["Referrer-Policy"] == "no-referrer"
    # There is no file to ask for.
    for path in ("page.css", "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "static/page.css"):
        assert refused(explorer, path, **{"X-Token": explorer.token}) == 404


def test_no_long_address_keeps_the_server_from_its_user(explorer: Explorer) -> None:
    """It is refused by its length alone, whatever it holds: what looks at it is done at once."""
    token = f"token={explorer.token}"
    for query in (f"{token}&{'&' * 10_000}", f"{'&' * 10_000}&{token}", f"a={'token=' * 2_000}&{token}"):
        assert refused(explorer, f"?{query}") == 403
    assert refused(explorer, f"?xtoken={explorer.token}") == refused(explorer, f"?{token}&token=wrong") == 403
    for query in (f"a=1&{token}", f"{token}&a=1"):
        with urllib.request.urlopen(f"{explorer.base}?{query}", timeout=PATIENT) as answer:
            assert answer.status == 200


def test_half_a_request_keeps_nobody_out(own_explorer: Explorer) -> None:
    """Of connections without a whole request the newest are kept: they do not use up the server's descriptors."""
    port = int(own_explorer.base.rpartition(":")[2].strip("/"))
    with ExitStack() as stack:
        half = []
        for _ in range(connections.WAITING + 2):
            half.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENT)))
            half[-1].sendall(b"GET / HTTP/1.1\r\nHost: 127")
        for oldest in half[:2]:
            with suppress(ConnectionResetError):
                assert oldest.recv(1) == b""
        assert asked(own_explorer, "curves", QUESTION)
        # A slow one comes to its end, and leaves no connection to be kept: it has no token.
        half[-1].sendall(f".0.0.1:{port}\r\n\r\n".encode())
        with half[-1].makefile("rb") as answer:
            assert answer.read().startswith(b"HTTP/1.1 403")


def test_questions_that_are_wrong_get_a_sentence(explorer: Explorer) -> None:
    for kind, state, words in (
        ("curves", {**QUESTION, "machine": "u75"}, "there is no machine 'u75'; did you mean 'u74'?"),
        ("curves", {**QUESTION, "routines": ["rv-wird"]}, "there is no routine 'rv-wird'; did you mean 'rv-word'"),
        ("curves", {**QUESTION, "settings": ["cpu.dcache.size=3"]}, "cpu.dcache"),
        ("describe", {**QUESTION, "machine": "/tmp/evil.py"}, "is a file, which is run to build the machine"),
        ("nothing", QUESTION, "there is no question 'nothing'"),
        ("account", QUESTION, "the question is incomplete"),
        ("pipeline", {**QUESTION, "machine": "timing"}, "this core has no pipeline"),
    ):
        (line,) = asked(explorer, kind, state, size=8) if kind == "pipeline" else asked(explorer, kind, state)
        assert words in line["error"], line


def test_questions_that_hold_anything_get_a_sentence(explorer: Explorer) -> None:
    state = json.dumps(QUESTION)
    deep = "[" * 500 + "]" * 500
    for body in (
        "", "\0", "[]", "NaN", "[" * 99_999, f'{{"kind": "curves", "state": {deep}}}',
        '{"kind": "account", "size": Infinity, "state": STATE}', '{"kind": "account", "size": 1e999, "state": STATE}',
        '{"kind": "account", "size": 1e300, "state": STATE}', '{"kind": "account", "size": -1, "state": STATE}',
        '{"kind": "curves", "state": {"machine": "u74", "most": NaN}}', '{"kind": "curves", "state": [1]}',
        '{"kind": "curves", "state": null}', '{"kind": "along", "list": 7, "state": STATE}',
        '{"kind": "along", "list": {}, "state": STATE}', '{"kind": "map", "state": STATE, "path": 3, "values": [[]]}',
        '{"kind": "rank", "state": STATE, "controls": [3], "around": {}}', '{"kind": [], "state": STATE}',
        '{"kind": "commands", "sizes": ["x"], "state": STATE}', '{"kind": "pipeline", "size": [], "state": STATE}',
    ):  # fmt: skip
        text = body.replace("STATE", state).encode()
        request = urllib.request.Request(f"{explorer.base}ask", text, {"X-Token": explorer.token})
        try:
            lines = rest_of(urllib.request.urlopen(request, timeout=PATIENT))
        except urllib.error.HTTPError as error:
            assert error.code == 400, body[:90]
            lines = [json.loads(error.read())]
        assert lines and {"error", "refused"} & lines[-1].keys(), (body[:90], lines)


def test_the_first_sizes_are_simulated_without_being_asked_for(tmp_path: Path) -> None:
    from breakeven.explorer.process import first_worker
    from breakeven.explorer.state import State
    from breakeven.store import Store

    store = tmp_path / "store.sqlite"
    state = State("u74", ("rv-byte", "rv-word"), least=8, most=64)
    worker = first_worker(state, store)

    def kept() -> bool:
        assert worker.process.poll() is None
        # More, where a median has not converged and is kept with the other number of measurements, too.
        return store.is_file() and sum(each.points for each in Store(store).contexts()) >= 2 * len(state.coarse())

    until(kept)
    worker.close()
    assert worker.process.poll() is not None


def test_why_the_first_sizes_were_not_simulated_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from breakeven.explorer.process import first_worker
    from breakeven.explorer.state import State

    worker = first_worker(State("u74", ("rv-byte", "rv-nothing"), least=8, most=64), tmp_path / "store.sqlite")
    told = until(lambda: capfd.readouterr().err)
    assert "the first sizes were not simulated" in told and "rv-nothing" in told and len(told.splitlines()) == 1
    assert worker.process.poll() is None, "it answers questions all the same"
    worker.close()


def test_what_a_page_offers_comes_behind_its_curves(explorer: Explorer) -> None:
    (line,) = asked(explorer, "about", QUESTION)
    assert ["u74", "riscv"] in [row[:2] for row in line["presets"]] and (line["host"] or ["x86"])[0] in ("x86", "riscv")


def test_a_setting_that_nothing_reads_is_left_out_and_named(explorer: Explorer) -> None:
    lines = asked(explorer, "curves", {**QUESTION, "settings": ["cpu.dcache.warmup_percentage=3"]})
    known = next(line for line in lines if "points" in line)
    assert known["without_effect"] == ["cpu.dcache.warmup_percentage"]


def test_where_the_slider_would_go_next_says_nothing(explorer: Explorer) -> None:
    for coming in ([], ["cpu.executeBranchDelay=7"], ["cpu.executeBranchDelay=-1"], ["cpu.nothing=1"]):
        lines = asked(explorer, "curves", {**QUESTION, "most": 16}, coming=coming)
        assert lines[-1].get("end") and not [line for line in lines if "error" in line]
    (line,) = asked(explorer, "curves", QUESTION, coming=7)
    assert "settings 7 is no number" in line["error"]


def test_a_machine_is_simulated_ahead_or_there_is_none(explorer: Explorer) -> None:
    for settings, there in (["cpu.executeBranchDelay=8"], True), (["cpu.executeBranchDelay=-1"], False):
        assert asked(explorer, "ahead", {**QUESTION, "settings": settings}) == [{"ahead": there}]


def test_a_newer_question_of_a_tab_replaces_the_older_and_no_other_tabs(explorer: Explorer) -> None:
    # It takes minutes.
    long = {**QUESTION, "routines": ["rv-byte"], "most": 1 << 24, "src": 1}
    old = opened(explorer, "curves", long, "a")
    other = opened(explorer, "curves", {**QUESTION, "src": 5}, "b")
    new = opened(explorer, "curves", QUESTION, "a")
    assert rest_of(old)[-1] == {"replaced": True}
    assert rest_of(new)[-1]["end"] and rest_of(other)[-1]["end"]


def test_a_worker_that_dies_is_told_and_replaced(watched: Watched) -> None:
    answer = opened(watched, "curves", {**QUESTION, "routines": ["rv-byte"], "most": 1 << 24, "src": 2})
    until(lambda: watched.simulates(1 << 24))
    watched.kill()
    line = rest_of(answer)[-1]
    assert line["died"] and "has died (signal 9)" in line["error"]
    assert asked(watched, "curves", QUESTION)[-1]["end"]


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    running = Explorer(tmp_path, "#m=u74&r=rv-byte,rv-word&most=300000")
    assert running.address.endswith("#m=u74&r=rv-byte,rv-word&most=300000")
    try:
        asked(running, "describe", {**QUESTION})
        children = running.children()
    except BaseException:
        running.interrupt()
        raise
    assert len(children) == 1 and running.interrupt() == 0
    for child in children:
        assert not Path(f"/proc/{child}").exists()
    assert {name.partition(".")[0] for name in os.listdir(tmp_path)} <= {"home", "store"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_browsers_command_line_does_not_show_the_token(tmp_path: Path, number: signal.Signals) -> None:
    """Every user of a machine can read it."""
    browser, seen, temporary = tmp_path / "browser", tmp_path / "seen", tmp_path / "tmp"
    temporary.mkdir()
    browser.write_text(f'#!/bin/sh\necho "$@" > {seen}.new\nmv {seen}.new {seen}\n')
    browser.chmod(0o755)
    command = [sys.executable, "-m", "breakeven", "explore", *QUESTION["routines"], "--no-store", "--threads", "1"]
    variables = {**os.environ, "BROWSER": f"{browser} %s", "TMPDIR": str(temporary)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=variables)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().partition(": ")[2].strip()
        until(seen.exists)
        (word,) = seen.read_text().split()
        page = Path(word.removeprefix("file://"))
        assert "token" in address and "token" not in word
        assert html.escape(address) in page.read_text()
        assert page.stat().st_mode & 0o777 == 0o600 and page.parent.stat().st_mode & 0o777 == 0o700
        assert b"token" not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
    finally:
        process.send_signal(number)
        status = process.wait()
    assert status == (0 if number == signal.SIGINT else -number)
    assert not list(temporary.iterdir())


def test_what_cannot_be_served_is_told(explorer: Explorer) -> None:
    port = explorer.base.rsplit(":", 1)[1].rstrip("/")
    for words, said in (
        (["rv-word", "--port", port], f"cannot listen on 127.0.0.1:{port}: address already in use"),
        (["-m", "u75"], "there is no machine 'u75'"),
        (["rv-word", "-n", "64"], "from one size to another, such as 1..2048"),
        (["#m=./evil.py&r=rv-word"], "the link names the machine file './evil.py'"),
        (["#x=1"], "is no link of an explorer"),
    ):
        with pytest.raises(Exception, match=re.escape(said)):
            load("explore")(["explore", *words, "--no-browser"], standalone_mode=False)


def test_a_link_steers_no_terminal(monkeypatch, capsys) -> None:
    monkeypatch.setattr(launch, "server", lambda *_: SimpleNamespace(run=lambda sockets: None))
    launch.serve(State(), browser=False, no_store=True, link="m=u74&r=rv-word&set=cpu.a=1&zz=%41\x1b[31m")
    assert "#m=u74&r=rv-word&set=cpu.a=1&zz=%41%1B[31m\n" in capsys.readouterr().out


def test_new_curves_of_a_tab_end_its_ranking(explorer: Explorer) -> None:
    pair = {**QUESTION, "routines": ["rv-byte", "rv-word"], "most": 256}
    steps = [["cpu.executeBranchDelay", [str(value)]] for value in range(2, 60)]
    # Each asks for points of megabytes: it takes minutes.
    ranking = opened(explorer, "rank", {**pair, "most": 1 << 24}, "r", controls=steps, around=1 << 23)
    assert asked(explorer, "curves", pair, "r")[-1]["end"]
    assert rest_of(ranking)[-1] == {"replaced": True}
    # A first look at each, then all sizes and values, what moved most then first.
    some = [["cpu.dcache.write_buffers", ["4"]], steps[4]]
    *first, strongest, last = asked(explorer, "rank", pair, "r", controls=some, around=64)
    assert [line["path"] for line in first] == [path for path, _ in some] and all(line["coarse"] for line in first)
    assert strongest["path"] == "cpu.executeBranchDelay" and strongest["moved"] > 0.1 and "coarse" not in strongest
    assert strongest["moved"] >= first[1]["moved"] > 0 and last["path"] == "cpu.dcache.write_buffers"
    looked = [[line["path"], line["moved"]] for line in first]
    assert asked(explorer, "rank", pair, "r", controls=some, around=64, looked=looked) == [strongest, last]


@pytest.mark.parametrize("kind", ["map", "account", "commands"])
def test_new_curves_of_a_tab_end_what_was_asked_of_its_old_ones(explorer: Explorer, kind: str) -> None:
    pair = {**QUESTION, "routines": ["rv-byte", "rv-word"]}
    more = {"size": 8, "sizes": [8]} if kind != "map" else {"path": "cpu.executeBranchDelay", "values": ["3", "4"]}
    # Another tab's question takes minutes: nothing is answered before it.
    before = opened(explorer, "curves", {**pair, "most": 1 << 24, "src": 3}, f"{kind} before")
    old = opened(explorer, kind, pair, kind, **more)
    new = opened(explorer, "curves", pair, kind)
    assert rest_of(old)[-1] == {"replaced": True}
    before.close()
    assert rest_of(new)[-1]["end"]


def test_a_value_that_the_machine_does_not_take_leaves_the_rest_of_a_map(explorer: Explorer) -> None:
    pair = {**QUESTION, "routines": ["rv-byte", "rv-word"], "most": 32}
    lines = asked(explorer, "map", pair, "m", path="cpu.executeBranchDelay", values=["0", "3"])
    assert "must be 1 to" in lines[1]["refused"] and not lines[1]["cells"]
    assert len(lines[2]["cells"]) == len(lines[0]["x"]) and all(lines[2]["cells"][0])


#: name and text of a dropped file, and what is said of it; the first ones are looked at after every change
HOSTILE = [
    ("forever.S", ".globl forever\nforever: j forever\n", "forever"),
    ("host.S", '.incbin "/no/such/file"\n', "file not found"),
    ("host.S", '.globl host\nhost: ret\n.incbin "/etc/passwd"\n', "host.S reads '/etc/passwd'"),
    ("bomb.c", "int broken(", "bomb"),
    ("..", "x", "whose name ends in"),
    (f"{'n' * 300}.c", "x", "a name of 302 letters: give it one of 100 at most"),
    ("wild.S", ".globl wild\nwild: li a0, -8\n sd a0, 0(a0)\n ret\n", "wild"),
    ("host.S", '.macro m x\n.inc\\x "/etc/passwd"\n.endm\n.globl host\nhost: ret\nm bin\n', "reads '/etc/passwd'"),
    ("host.S", '.globl host\nhost: ret\n.include "/etc/passwd"\n', "reads '/etc/passwd'"),
    ("host.S", '#include "/etc/passwd"\n', "reads '/etc/passwd'"),
    ("host.c", '#include "/etc/passwd"\n', "reads '/etc/passwd'"),
    ("host.c", 'void host(void) {}\n__asm__(".incbin \\"/etc/passwd\\"");\n', "reads '/etc/passwd'"),
    ("evil.py", "raise SystemExit", "whose name ends in .S, .s, .c, .o"),
]


@pytest.mark.skipif(shutil.which("riscv64-unknown-elf-gcc") is None, reason="no compiler for RISC-V: scripts/setup")
@pytest.mark.parametrize(
    ("name", "text", "words"), [*HOSTILE[:6], *(pytest.param(*each, marks=pytest.mark.long) for each in HOSTILE[6:])]
)
def test_a_hostile_routine_is_a_sentence_and_the_page_goes_on(
    explorer: Explorer, name: str, text: str, words: str
) -> None:
    address = f"{explorer.base}add?name={name}&kind=copy&isa=riscv"
    request = urllib.request.Request(address, text.encode(), {"X-Token": explorer.token})
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(request, timeout=PATIENT)
    assert error.value.code == 400
    said = json.loads(error.value.read())["error"]
    assert words in said and "Traceback" not in said and "root:" not in said, said
    assert asked(explorer, "curves", QUESTION)[-1]["end"]


@pytest.mark.skipif(shutil.which("riscv64-unknown-elf-gcc") is None, reason="no compiler for RISC-V: scripts/setup")
@pytest.mark.parametrize("name", [pytest.param("plain.c", marks=pytest.mark.long), "object.o"])
def test_a_dropped_function_or_object_is_checked_and_drawn(own_explorer: Explorer, tmp_path: Path, name: str) -> None:
    explorer = own_explorer
    routine = name.partition(".")[0]
    source = tmp_path / f"{routine}.c"
    source.write_text(f"void {routine}(char *d, const char *s, unsigned long n) {{ while (n--) *d++ = *s++; }}\n")
    if name.endswith(".o"):
        command = ["riscv64-unknown-elf-gcc", "-O1", "-march=rv64gc", "-mabi=lp64d", "-c", source.name]
        subprocess.run(command, cwd=tmp_path, check=True)
    address = f"{explorer.base}add?name={name}&kind=copy&isa=riscv"
    request = urllib.request.Request(address, (tmp_path / name).read_bytes(), {"X-Token": explorer.token})
    added = json.loads(urllib.request.urlopen(request, timeout=PATIENT).read())
    assert added["routines"] == [routine] and added["points"] > 1000
    lines = asked(explorer, "curves", {**QUESTION, "routines": ["rv-word", routine], "most": 32})
    (said,) = [line["verdict"] for line in lines if line.get("done")]
    assert said["sentences"][0] == "rv-word leads at every size tried (8..32 B)" and not said["failures"]
    drawn = [rows for line in lines for _, rows in line.get("points", [])]
    assert drawn and all(rows[0][1] < rows[1][1] for rows in drawn)  # cycles of both, at every size


#: keeps a preprocessor busy until its time is up
ENDLESS = """#if __INCLUDE_LEVEL__ < 30
#include __FILE__
#include __FILE__
#endif
void endless(void) {}
"""


def in_groups_of(explorer: Explorer) -> list[str]:
    """The compilers that run for an explorer, whose children they are no more once their parent has gone."""
    home = f"HOME={explorer.home}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if home in (process / "environ").read_bytes() and b"cc1" in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


@pytest.mark.skipif(shutil.which("riscv64-unknown-elf-gcc") is None, reason="no compiler for RISC-V: scripts/setup")
@pytest.mark.parametrize("leaves", ["client", "server"])
def test_a_build_ends_with_who_waits_for_it_and_leaves_nothing(own_explorer: Explorer, leaves: str) -> None:
    explorer = own_explorer
    text = ENDLESS.encode()
    host, port = explorer.base.removeprefix("http://").rstrip("/").split(":")
    with socket.create_connection((host, int(port))) as client:
        head = f"POST /add?name=endless.c&kind=copy&isa=riscv HTTP/1.1\r\nHost: {host}:{port}\r\n"
        client.sendall(f"{head}X-Token: {explorer.token}\r\nContent-Length: {len(text)}\r\n\r\n".encode() + text)
        until(lambda: in_groups_of(explorer))
        before = explorer.children()
        if leaves == "server":
            explorer.interrupt()
    until(lambda: not in_groups_of(explorer))
    until(lambda: not list((explorer.home / "routines" / "riscv").iterdir()))
    if leaves == "client":
        until(lambda: len(explorer.children()) == len(before) - 1)
        assert asked(explorer, "curves", QUESTION)[-1]["end"]


def test_a_build_is_bounded_in_time(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("breakeven.explorer.hub.BUILD_SECONDS", 0)
    request = urllib.request.Request(
        f"{watched.base}add?name=f.c&kind=copy&isa=riscv", b"void f(void) {}\n", {"X-Token": watched.token}
    )
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(request, timeout=PATIENT)
    assert "f.c was not built and checked within 0 s" in json.loads(error.value.read())["error"]
