"""An upload in several requests: one answer covers the file that it names, to the origin of its page, and nothing else."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from midcourse import Agent, Draft, Settings, Task
from midcourse.domain.argument import Reference
from midcourse.domain.expectation import Expectation, TextContains
from midcourse.planners import Playbook, Rule
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.ports.world import Call
from midcourse.testing import Approves
from midcourse.worlds.browser import Browser
from midcourse.worlds.browser.egress.upload import THE_FILE
from tests.worlds.browser.site import Answer, Site
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

PUT = "/put/7f3ac2"
CONTENT = "boat;berth\nFram;B3\n"
BY_POST = """const ask = async file => {
  const said = await fetch('/where', {method: 'POST', body: JSON.stringify({want: 'an address'})})
  send(file, (await said.json()).put) }"""
BY_SOCKET = """const socket = new WebSocket(location.origin.replace('http', 'ws') + '/live'); let file
socket.onmessage = said => send(file, JSON.parse(said.data.slice(4)).put)
const ask = one => { file = one; socket.send(JSON.stringify({put: '/put/7f3ac2', for: 'upload'})) }"""
PLAIN = "const send = (file, where) => fetch(where, {method: 'PUT', body: file})"
FORM = """const send = (file, where) => { const form = new FormData(); form.append(file.name, file)
  return fetch(where, {method: 'PUT', body: form}) }"""
THEN = "const send = async (file, where) => { await fetch(where, {method: 'PUT', body: file}); fetch('/done', {method: 'POST', body: 'x=1'}) }"


def site_of(send: str, ask: str = BY_POST) -> Site:
    page = f"""<!doctype html><html lang=en><title>Berths</title><label>Note <input id=note></label>
<label>List <input type=file id=list></label><p id=said></p><script>
const note = () => document.getElementById('note').value
const list = document.getElementById('list')
{send}
{ask}
list.onchange = () => ask(list.files[0])
</script></html>"""
    where = Answer(f'{{"put": "{PUT}"}}', kind="application/json")
    return Site({"/": page, "/where": where, PUT: Answer(status=201), "/done": Answer(status=204)})


@asynccontextmanager
async def using(site: Site, folder: Path) -> AsyncGenerator[tuple[Hand, Call]]:
    """Yield a page with a note that was typed, and the upload of a file."""
    file = folder / "list.csv"
    file.write_text(CONTENT)
    async with site.served():
        browser = Browser(f"{site.url}/", quiet_seconds=0.05)
        await browser.open()
        try:
            hand = Hand(browser)
            ok(await hand.on("Note", "type", text="meet at noon"))
            yield hand, hand.call("upload", await hand.zone("List"), path=str(file))
        finally:
            await browser.close()


def uploads(site: Site) -> list[str]:
    return [f"{asked.method} {asked.path}" for asked in site.asked if asked.method not in ("GET", "WS")]


@pytest.mark.parametrize(("send", "ask"), [(PLAIN, BY_POST), (FORM, BY_POST), (FORM, BY_SOCKET)])
async def test_answer_covers_the_file_and_its_question_says_so(tmp_path: Path, send: str, ask: str) -> None:
    site = site_of(send, ask)
    async with using(site, tmp_path) as (hand, call):
        assert (await hand.world.act(call)).reason == "would_send"
        commit = await hand.world.commit_set(call)
        assert commit is not None
        assert str(dict(commit.values)[THE_FILE]).startswith(f"list.csv ({len(CONTENT)} bytes, sha256 ")
        assert f"sent to {site.url} " in str(dict(commit.values)[THE_FILE])
        assert uploads(site) == []
        outcome = await hand.world.act(replace(call, allowed=True))
        assert (outcome.status, outcome.evidence) == ("ok", "response")
        assert uploads(site) == (["POST /where"] if ask == BY_POST else []) + [f"PUT {PUT}"]
        assert CONTENT.encode() in site.asked[-1].body


HOSTILE = {
    "another file": "const send = (file, where) => fetch(where, {method: 'PUT', body: 'boat;berth'})",
    "the file and more": "const send = async (file, where) => fetch(where, {method: 'PUT', body: await file.text() + note()})",
    "the file twice": """const send = (file, where) => { const form = new FormData(); form.append('file', file); form.append('more', file)
        return fetch(where, {method: 'PUT', body: form}) }""",
    "a text in another part": """const send = (file, where) => { const form = new FormData(); form.append('file', file)
        form.append('note', note()); return fetch(where, {method: 'PUT', body: form}) }""",
    "a text as the name of the part": """const send = (file, where) => { const form = new FormData(); form.append(note(), file)
        return fetch(where, {method: 'PUT', body: form}) }""",
    "a text as the name of the file": """const send = (file, where) => { const form = new FormData(); form.append('file', file, note())
        return fetch(where, {method: 'PUT', body: form}) }""",
    "a word as the name of the part": """const send = (file, where) => { const form = new FormData()
        form.append(note().replace(/ /g, ''), file); return fetch(where, {method: 'PUT', body: form}) }""",
    "a text as the type": """const send = (file, where) => fetch(where, {method: 'PUT', body: file,
        headers: {'content-type': 'text/' + encodeURIComponent(note()).replace(/%20/g, '')}})""",
    "a text in a header": "const send = (file, where) => fetch(where, {method: 'PUT', body: file, headers: {'x-note': note()}})",
    "a text in a token": "const send = (file, where) => fetch(where, {method: 'PUT', body: file, headers: {'x-csrf-token': btoa(note())}})",
    "a text in the query": "const send = (file, where) => fetch(where + '?' + encodeURIComponent(note()), {method: 'PUT', body: file})",
    "a text in the address": "const send = (file, where) => fetch(where + btoa(note()), {method: 'PUT', body: file})",
    "an address that the server did not say": "const send = (file, where) => fetch('/publish', {method: 'POST', body: file})",
    "another origin": "const send = (file, where) => fetch(location.origin.replace('127.0.0.1', 'localhost') + where, {method: 'POST', body: file})",
    "another method": "const send = (file, where) => fetch(where, {method: 'PATCH', body: file})",
    "a method in a header": "const send = (file, where) => fetch(where, {method: 'PUT', body: file, headers: {'x-http-method-override': 'DELETE'}})",
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_anything_but_the_file_is_held(tmp_path: Path, name: str) -> None:
    site = site_of(HOSTILE[name])
    async with using(site, tmp_path) as (hand, call):
        assert (await hand.world.act(call)).reason == "would_send"
        assert await hand.world.commit_set(call)
        await hand.world.act(replace(call, allowed=True))
        assert uploads(site) == ["POST /where"]


async def test_file_leaves_once_and_not_without_the_question_that_says_so(tmp_path: Path) -> None:
    twice = "const send = async (file, where) => { await fetch(where, {method: 'PUT', body: file}); fetch(where, {method: 'PUT', body: file}) }"
    site = site_of(twice)
    async with using(site, tmp_path) as (hand, call):
        assert (await hand.world.act(call)).reason == "would_send"
        assert await hand.world.commit_set(call)
        await hand.world.act(replace(call, allowed=True))
        assert uploads(site) == ["POST /where", f"PUT {PUT}"]
    site = site_of(PLAIN)
    async with using(site, tmp_path) as (hand, call):
        assert (await hand.world.act(call)).reason == "would_send"
        await hand.world.act(replace(call, allowed=True))
        assert uploads(site) == ["POST /where"]


@pytest.mark.parametrize(
    ("send", "ask", "sent"),
    [(THEN, BY_POST, ["POST /where", f"PUT {PUT}"]), (HOSTILE["a text in another part"], BY_SOCKET, [])],
    ids=["what follows the file", "the file, which is not all that is sent with it"],
)
async def test_nobody_is_asked_whether_it_happened_while_a_part_waits(
    tmp_path: Path, send: str, ask: str, sent: list[str]
) -> None:
    (tmp_path / "list.csv").write_text(CONTENT)
    site, approver = site_of(send, ask), Approves()
    step = Draft(zone="List", skill="upload", arguments={"path": Reference(source="file", name="list.csv")})
    planner = Playbook([Rule(on="Berths", steps=(step,), final=True)])
    async with site.served():
        settings = Settings.load(overrides={"home": str(tmp_path), "step_delay_seconds": "0"})
        agent = Agent(Browser(f"{site.url}/"), planner, approver=approver, settings=settings)
        await agent.run(Task(goal="Upload the list", files=(str(tmp_path / "list.csv"),)))
    assert [question.about for question in approver.questions] == ["approve"]
    assert uploads(site) == sent


async def test_what_is_left_of_an_upload_is_shown_as_held_for_it_and_can_be_sent(tmp_path: Path) -> None:
    site = site_of(THEN)
    async with using(site, tmp_path) as (hand, call):
        assert (await hand.world.act(call)).reason == "would_send"
        assert await hand.world.commit_set(call)
        outcome = await hand.world.act(replace(call, allowed=True))
        assert "not sent yet" in outcome.detail
        (left,) = [zone for zone in (await hand.see()).zones if zone.role == "request"]
        assert left.get("held_for") == "upload"
        ok(await hand.world.act(replace(hand.call("send", left), allowed=True)))
        assert uploads(site)[-1] == "POST /done"


DIRECTLY = "const ask = file => send(file, '/put/7f3ac2')"
NOTHING_ELSE = "const ask = file => fetch('/where', {method: 'POST', body: JSON.stringify({want: file.name})})"


async def play(site: Site, folder: Path) -> tuple[Approves, list[str]]:
    """Upload a list with a planner that guesses what the page then shows. Return also why it was asked for each plan."""
    (folder / "list.csv").write_text(CONTENT)
    approver, why = Approves(), list[str]()

    async def think(context: PlanningContext) -> PlanDraft:
        why.append(context.why)
        if len(why) > 1:
            return PlanDraft(verdict="done")
        (zone,) = [zone.id for zone in context.observation.zones if zone.label == "List"]
        path = Reference(source="file", name="list.csv")
        expect = Expectation(checks=(TextContains(text="*boats*"),))
        return PlanDraft(
            steps=(Draft(zone=zone, skill="upload", arguments={"path": path}, says="Upload it", expect=expect),)
        )

    async with site.served():
        settings = Settings.load(overrides={"home": str(folder), "step_delay_seconds": "0"})
        agent = Agent(Browser(f"{site.url}/"), think, approver=approver, settings=settings)
        await agent.run(Task(goal="Upload the list", files=(str(folder / "list.csv"),)))
    return approver, why


@pytest.mark.parametrize(
    ("send", "ask", "told"),
    [
        (PLAIN, BY_POST, ""),
        (FORM, BY_SOCKET, ""),
        (PLAIN, DIRECTLY, ""),
        (THEN, BY_SOCKET, "; the rest of it waits as "),
    ],
    ids=["after a POST", "after a message", "directly", "with a rest"],
)
async def test_wrong_guess_about_an_accepted_upload_is_told_to_the_planner(
    tmp_path: Path, send: str, ask: str, told: str
) -> None:
    site = site_of(send, ask)
    approver, why = await play(site, tmp_path)
    assert [question.about for question in approver.questions] == ["approve"]
    assert why[1].startswith("led elsewhere: upload 'List' expected the text '*boats*'; the screen is 'Berths'")
    assert told in why[1]
    assert uploads(site).count(f"PUT {PUT}") == 1


@pytest.mark.parametrize(
    ("send", "ask", "answer"),
    [
        (PLAIN, NOTHING_ELSE, Answer(status=201)),
        (PLAIN, DIRECTLY, Answer(status=500)),
        (PLAIN, DIRECTLY, Answer('{"error": "no room"}', kind="application/json")),
    ],
    ids=["no file", "a status of failure", "an answer of failure"],
)
async def test_person_is_asked_about_an_upload_whose_file_was_not_accepted(
    tmp_path: Path, send: str, ask: str, answer: Answer
) -> None:
    site = site_of(send, ask)
    site.pages[PUT] = answer
    approver, _ = await play(site, tmp_path)
    assert [question.about for question in approver.questions] == ["approve", "happened"]
