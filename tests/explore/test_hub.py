"""The explorer's questions: which one ends which, what is simulated ahead, what ends with the page."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from breakeven.explorer import hub as hubs
from breakeven.explorer.hub import Hub
from breakeven.explorer.state import State
from tests.explore.conftest import Model, alone


def test_the_slider_in_hand_is_simulated_along_until_anything_else_is_asked() -> None:
    class Slow(Model):
        async def ask(self, call: str, priority: int, **question) -> dict:
            if call == "account":
                return {"cycles": 1}
            self.ahead.append((priority, question["settings"]))
            await asyncio.sleep(0 if len(self.ahead) < 3 else 1000)
            return {}

    async def collect(model: Model, hub: Hub) -> tuple[list[bytes], list[bytes]]:
        state = {"machine": "u74", "routines": ["rv-byte"]}

        async def lines(kind: str, **question) -> list[bytes]:
            return [line async for line in hub.stream("tab", kind, {"state": state, **question})]

        along = asyncio.create_task(lines("along", list=[[f"cpu.x={i}"] for i in range(5)]))
        while len(model.ahead) < 3:
            await asyncio.sleep(0)
        other = await lines("account", size=8)
        return await along, other

    model = Slow()
    along, other = alone(collect(model, Hub(State(), worker=model)))
    assert along == [b'{"ahead": true}\n'] * 2 + [b'{"replaced": true}\n'] and b"cycles" in other[0]
    # Behind all that a person waits for.
    assert model.ahead == [(3, (f"cpu.x={i}",)) for i in range(3)]


@pytest.mark.parametrize("other", ["add", "host"])
def test_nothing_is_simulated_along_while_a_routine_is_built_or_the_host_measured(monkeypatch, other: str) -> None:
    async def collect() -> tuple[int, int, bool]:
        held, release = asyncio.Event(), asyncio.Event()

        class Other(Model):
            closed = False

            async def ask(self, call: str, priority: int, **question) -> dict:
                held.set()
                await release.wait()
                return {}

            def close(self) -> None:
                self.closed = True

        class Counting(Model):
            async def ask(self, call: str, priority: int, **question) -> dict:
                self.asked.append(call)
                await asyncio.sleep(0)
                return {}

        simulating, second = Counting(), Other()
        monkeypatch.setattr(hubs, "Worker", lambda *_, **__: second)
        hub = Hub(State(), worker=simulating)

        async def lines(kind: str, **question) -> list[bytes]:
            state = {"machine": "u74", "routines": ["rv-byte"]}
            return [line async for line in hub.stream("tab", kind, {"state": state, **question})]

        along = asyncio.create_task(lines("along", list=[[f"cpu.x={i}"] for i in range(90)]))
        while not simulating.asked:
            await asyncio.sleep(0)
        beside = asyncio.create_task(hub.add(Path("mine.S"), "riscv", "copy") if other == "add" else lines("host"))
        await held.wait()
        for _ in range(5):  # the one that was begun ends
            await asyncio.sleep(0)
        before = simulating.asked.count("ahead")
        for _ in range(50):
            await asyncio.sleep(0)
        meanwhile = simulating.asked.count("ahead") - before
        release.set()
        await beside
        return meanwhile, len(await along), second.closed

    # It goes on afterwards: all are answered. A file has a process of its own, which ends with it.
    assert alone(collect()) == (0, 90, other == "add")


@pytest.mark.parametrize("question", [{}, {"trusted": ["mine"]}])
def test_a_host_is_asked_with_the_routines_that_the_page_has_named(monkeypatch, question: dict) -> None:
    asked = []

    class Asked(Model):
        async def ask(self, call: str, priority: int, **rest) -> list:
            asked.append((call, rest["trusted"]))
            return []

    async def collect() -> None:
        monkeypatch.setattr(hubs, "Worker", lambda *_, **__: Asked())
        hub = Hub(State(), worker=Model())
        state = {"machine": "u74", "routines": ["mine"]}
        _ = [line async for line in hub.stream("tab", "host", {"state": state, **question})]

    alone(collect())
    assert asked == [("host", question.get("trusted", []))] * 2


@pytest.mark.parametrize(("asked", "goes_on"), [("cpu.x=1", True), ("cpu.x=2", False)])
def test_what_was_begun_under_the_pointer_goes_on_when_it_is_pressed(asked: str, goes_on: bool) -> None:
    async def collect() -> tuple[list[bytes], list[str]]:
        pressed, calls = asyncio.Event(), []

        class Slow(Model):
            async def ask(self, call: str, priority: int, **question) -> dict:
                calls.append(call)
                if call != "ahead":
                    pressed.set()
                    return await super().ask(call, priority, **question)
                await pressed.wait()
                return {}

        hub = Hub(State(), worker=Slow(lambda n: 2 * n, lambda n: 700 + n))

        async def lines(kind: str, setting: str) -> list[bytes]:
            state = {"machine": "u74", "routines": ["rv-byte", "rv-word"], "settings": [setting]}
            return [line async for line in hub.stream("tab", kind, {"state": state})]

        ahead = asyncio.create_task(lines("ahead", "cpu.x=1"))
        while not calls:
            await asyncio.sleep(0)
        await lines("curves", asked)
        return await ahead, calls

    ahead, calls = alone(collect())
    assert ahead == [b'{"ahead": true}\n' if goes_on else b'{"replaced": true}\n'] and calls[:2] == ["ahead", "points"]


@pytest.mark.parametrize("kind", ["curves", "describe"])
def test_a_question_that_is_replaced_before_it_has_begun_ends(kind: str) -> None:
    async def collect() -> list[list[bytes]]:
        hub = Hub(State(), worker=Model())
        state = {"machine": "u74", "routines": ["rv-byte"]}

        async def lines() -> list[bytes]:
            return [line async for line in hub.stream("tab", kind, {"state": state})]

        # All begin in one turn of the loop; each cancels the one before.
        async with asyncio.timeout(60):
            return await asyncio.gather(*(lines() for _ in range(3)))

    *older, newest = alone(collect())
    assert older == [[b'{"replaced": true}\n']] * 2 and newest and b"replaced" not in newest[0]


def test_a_hub_that_is_stopped_ends_what_has_not_begun_and_what_comes_later() -> None:
    async def collect() -> list[list[bytes]]:
        hub = Hub(State(), worker=Model())

        async def lines(stops: bool) -> list[bytes]:
            asked = hub.stream("tab", "describe", {"state": {"machine": "u74", "routines": ["rv-byte"]}})
            first = asyncio.create_task(anext(asked))
            if stops:
                await asyncio.sleep(0)  # the stream waits for its answer, which has not begun
                hub.stop()
            return [await first, *[line async for line in asked]]

        async with asyncio.timeout(60):
            return [await lines(True), await lines(False)]

    assert alone(collect()) == [[b'{"replaced": true}\n']] * 2
