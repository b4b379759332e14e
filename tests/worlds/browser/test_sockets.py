"""An application that lives on a WebSocket: it shows itself, its fields can be filled in, and what a click sends is asked about."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from midcourse import Agent, Draft, Settings, Task
from midcourse.domain.approval import Decision, Question
from midcourse.planners import Playbook, Rule
from midcourse.testing import Approves
from midcourse.worlds.browser import Browser
from tests.worlds.browser.guarded_page import until
from tests.worlds.browser.site import Site
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

APP = """<!doctype html><html lang=en><title>Berths</title><main></main><script>
const main = document.querySelector('main'); let sent = 0, socket
const state = () => ({boat: main.querySelector('#boat')?.value, berth: main.querySelector('#berth')?.value, page: '7f3a'})
const say = more => socket.send(JSON.stringify({...state(), ...more}))
const show = () => { main.innerHTML = `<label>Boat <input id=boat></label><label>Berth <select id=berth><option>B1<option>B3</select></label>
    <button id=book>Book it</button><output></output>`
  for (const field of main.querySelectorAll('input, select')) field.onchange = () => say()
  main.querySelector('#book').onclick = () => say({book: true}) }
const connect = () => { socket = new WebSocket(location.origin.replace('http', 'ws') + '/live')
  socket.onopen = () => socket.send('{"type":"GREETING"}')
  socket.onclose = () => setTimeout(connect, 50)
  socket.onmessage = said => { if (!main.innerHTML) setTimeout(show, 300); else main.querySelector('output').textContent = said.data } }
connect(); EXTRA
</script></html>"""


def messages(site: Site) -> list[str]:
    return [asked.body.decode() for asked in site.asked if asked.method == "WS"]


@asynccontextmanager
async def using(greeting: str = "hello", extra: str = "") -> AsyncGenerator[tuple[Hand, Site]]:
    site = Site({"/": APP.replace("GREETING", greeting).replace("EXTRA", extra)})
    async with site.served():
        browser = Browser(f"{site.url}/", quiet_seconds=0.05)
        await browser.open()
        try:
            yield Hand(browser), site
        finally:
            await browser.close()


async def test_application_shows_itself_and_what_a_click_sends_is_held() -> None:
    async with using() as (hand, site):
        assert "Book it" in [zone.label for zone in (await hand.see()).zones], (
            "the first look waits until it is rendered"
        )
        assert messages(site) == ['{"type":"hello"}']
        call = hand.call("click", await hand.zone("Book it"))
        assert (await hand.world.act(call)).reason == "would_send"
        commit = await hand.world.commit_set(call)
        assert commit is not None
        assert dict(commit.values)["book"] is True
        ok(await hand.world.act(replace(call, allowed=True)))
        assert len(messages(site)) == 2
        assert '"book":true' in messages(site)[1]


async def test_message_is_asked_about_although_the_step_was_not_meant_to_send_it() -> None:
    async with using() as (hand, _):
        held = await hand.world.act(replace(hand.call("click", await hand.zone("Book it")), unmeant=True))
        assert (held.reason, held.unsent) == ("would_send", ())


async def test_dropped_message_leads_to_another_socket_and_the_application_goes_on() -> None:
    async with using() as (hand, site):
        assert (await hand.on("Book it", "click")).reason == "would_send"
        ok(await hand.on("Boat", "hover"))
        await until(lambda: [asked.path for asked in site.asked].count("/live") > 2)
        ok(await hand.do("navigate", url=f"{site.url}/"))
        assert "Book it" in [zone.label for zone in (await hand.see()).zones], "an act has loaded it again"
        assert set(messages(site)) == {'{"type":"hello"}'}


async def test_keep_alive_holds_nothing_up_and_leaves_its_socket_open() -> None:
    alive = "setInterval(() => socket.readyState == 1 && main.innerHTML && socket.send('ping'), 50)"
    async with using(extra=alive) as (hand, site):
        ok(await hand.on("Boat", "hover"))
        before = messages(site)
        call = hand.call("click", await hand.zone("Book it"))
        assert (await hand.world.act(call)).reason == "would_send"
        ok(await hand.world.act(replace(call, allowed=True)))
        assert [asked.path for asked in site.asked if asked.method == "GET"].count("/live") == 1
        assert [each for each in messages(site)[len(before) :] if each != "ping"] == messages(site)[-1:]
        assert messages(site)[-1].endswith('"book":true}')


async def test_page_that_shows_nothing_names_what_it_may_wait_for() -> None:
    async with using(greeting="order 7") as (hand, site):
        (held,) = [zone for zone in (await hand.see()).zones if zone.role == "request"]
        assert "may wait for this" in str(held.get("hint"))
        assert messages(site) == []
        call = hand.call("send", held)
        commit = await hand.world.commit_set(call)
        assert commit is not None
        assert dict(commit.values) == {"type": "order 7"}
        ok(await hand.world.act(replace(call, allowed=True)))
        assert "Book it" in [zone.label for zone in (await hand.see()).zones]


class ForRun(Approves):
    async def ask(self, question: Question) -> Decision | None:
        decided = await super().ask(question)
        return decided and replace(decided, once=False)


async def test_one_answer_covers_what_is_filled_in_and_the_order_asks_again(tmp_path: Path) -> None:
    site, approver = Site({"/": APP.replace("GREETING", "hello").replace("EXTRA", "")}), ForRun()
    steps = (
        Draft(zone="Boat", skill="type", arguments={"text": "Fram"}),
        Draft(zone="Berth", skill="select", arguments={"option": "B3"}),
        Draft(zone="Berth", skill="select", arguments={"option": "B1"}),
        Draft(zone="Book it", skill="click"),
    )
    planner = Playbook([Rule(on="Berths", steps=steps, final=True)])
    async with site.served():
        settings = Settings.load(overrides={"home": str(tmp_path), "step_delay_seconds": "0"})
        agent = Agent(Browser(f"{site.url}/"), planner, approver=approver, settings=settings)
        await agent.run(Task(goal="Book B3 for Fram"))
    asked = [question for question in approver.questions if question.about == "approve"]
    first, second = (question.consequences[0].commit for question in asked)
    assert dict(first.values)["2: berth"] == "B3", "the field before says its value when it is left"
    assert first.covers
    assert (dict(second.values)["book"], second.covers) == (True, "")
    assert [each.partition('"page"')[0] for each in messages(site)[1:]] == [
        '{"boat":"Fram","berth":"B1",',
        '{"boat":"Fram","berth":"B3",',
        '{"boat":"Fram","berth":"B1",',
        '{"boat":"Fram","berth":"B1",',
    ]
