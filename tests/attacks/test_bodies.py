"""No page and no world ends a run by what it says, and a body is shown as its server reads it.

Findings: half of a UTF-16 pair in the JSON of a request raised in the codec, on that look and on every resume. A number in JSON
was shown rounded, and the charset of a body was neither heeded nor shown.
"""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from midcourse import Agent, BaseWorld, Draft, Outcome, Scene, Settings, Zone, skill
from midcourse.codec import decode, encode, make_encodable
from midcourse.domain.approval import CommitSet, Decision, Question
from midcourse.domain.observation import Observation, Surface
from midcourse.planners import Playbook, Rule
from midcourse.testing import Approves
from midcourse.worlds.browser import Browser
from midcourse.worlds.browser.egress.request import Request, find_charset
from tests.pages import serve_pages

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
LONE = "\ud800"


def sent(body: bytes, kind: str = JSON) -> CommitSet:
    return Request(method="POST", url="http://x/", fields={"content-type": kind}, body=body).commit


# --- text that UTF-8 cannot express


@pytest.mark.parametrize("body", [rb'{"a": "\ud800"}', rb'{"\udfff": 1}', rb'["\ud800", "\udc00"]'])
def test_half_of_a_pair_in_json_is_shown_as_it_is_spelled(body: bytes) -> None:
    commit = sent(body)
    assert commit.values == (("body", body.decode()),)
    assert decode(CommitSet, encode(commit)) == commit


def test_a_whole_pair_in_json_is_the_character_that_it_means() -> None:
    assert sent(rb'{"a": "\ud83d\ude00"}').values == (("a", "\N{GRINNING FACE}"),)


@given(st.binary(max_size=200), st.sampled_from([JSON, FORM, "", "text/plain", f"{JSON}; charset=latin-1"]))
def test_values_of_any_body_can_be_encoded(body: bytes, kind: str) -> None:
    commit = sent(body, kind)
    assert decode(CommitSet, encode(commit)) == commit


@given(st.recursive(st.text(st.characters(), max_size=3), st.lists, max_leaves=5))
def test_values_of_any_json_can_be_encoded(value: object) -> None:
    commit = sent(json.dumps([value]).encode())
    assert decode(CommitSet, encode(commit)) == commit


@given(st.text(st.characters(), max_size=5), st.text(st.characters(), max_size=5))
def test_an_observation_is_made_encodable_and_is_unchanged_if_it_was(label: str, value: str) -> None:
    zone = Zone(id="z", role="text", label=label, state=((label, value),))
    seen = Observation(id="o1", surface=Surface(title=value), zones=(zone,), fingerprint="f")
    clean = make_encodable(seen)
    assert clean is not None
    assert decode(Observation, encode(clean)) == clean
    if not any("\ud800" <= letter <= "\udfff" for letter in label + value):
        assert clean is seen


def test_a_value_of_the_wrong_type_is_refused() -> None:
    assert make_encodable(Outcome(data=(("a", object()),))) is None  # pyrefly: ignore[bad-argument-type]


class Odd(BaseWorld):
    """Everything that it says has half of a pair in it."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self._answer = answer

    def look(self) -> Scene:
        return Scene(f"Page {LONE}", Zone(id="b", role="button", label=f"Go {LONE}", state=((LONE, LONE),)))

    @skill(effect="irreversible", commit_set="would_send")
    def go(self, zone: Zone) -> Outcome:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer  # pyrefly: ignore[bad-return]

    def would_send(self, zone: Zone) -> CommitSet:
        return CommitSet(address=f"POST {LONE}", values=((LONE, LONE),))


class ReceivedRequest:
    """Is asked, and never answers."""

    def __init__(self) -> None:
        self.once = asyncio.Event()

    async def ask(self, question: Question) -> Decision | None:
        self.once.set()
        await asyncio.Event().wait()
        return None


ANSWERS = [
    Outcome(status="failed", reason=LONE, detail=LONE),
    Outcome(data=((LONE, LONE),)),
    Outcome(data=(("a", object()),)),  # pyrefly: ignore[bad-argument-type]
    ValueError(LONE),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=["failure", "data", "no scalar", "raises"])
async def test_unencodable_text_of_a_world_ends_the_run_with_a_reason_and_it_can_be_resumed(
    answer: object, tmp_path: Path
) -> None:
    def agent(approver: object) -> Agent:
        planner = Playbook([Rule(steps=(Draft(zone="button:*", skill="go"),))])
        settings = Settings.load(overrides={"home": str(tmp_path), "max_calls": "2", "max_step_retries": "0"})
        return Agent(world=Odd(answer), planner=planner, approver=approver, settings=settings)  # pyrefly: ignore[bad-argument-type]

    asked = ReceivedRequest()
    first = asyncio.create_task(agent(asked).run("Go", run_id="odd"))
    await asyncio.wait_for(asked.once.wait(), 30)
    first.cancel()
    await asyncio.wait([first])
    person = Approves()
    assert (await agent(person).resume("odd")).final_reason
    assert person.questions[0].consequences[0].commit.values == (("\N{REPLACEMENT CHARACTER}",) * 2,)


@pytest.mark.slow
@pytest.mark.parametrize("when", ["clicked", "loaded"])
async def test_unencodable_text_in_a_request_ends_the_run_with_a_reason(when: str, tmp_path: Path) -> None:
    fetch = r"""fetch('/x', {method: 'POST', body: '{"a":"\\ud800"}'})"""
    script = f"go.onclick = () => {fetch}" if when == "clicked" else fetch
    with serve_pages() as pages:
        start = pages.show("/", f"<button id=go>Go</button><script>{script}</script>", title="Page")
        planner = Playbook([Rule(on="Page*", steps=(Draft(zone="button:Go", skill="click"),))])
        settings = Settings.load(overrides={"home": str(tmp_path), "max_calls": "2"})
        person = Approves()
        world = Browser(start, settle_seconds=1.0)
        result = await Agent(world=world, planner=planner, approver=person, settings=settings).run("Go")
        sent_there = [hit for hit in pages.hits if hit.startswith("POST")]
    assert result.final_reason
    shown = [question.consequences[0].commit.values for question in person.questions if question.about == "approve"]
    assert shown == [(("body", r'{"a":"\ud800"}'),)] * len(sent_there)


# --- numbers


@pytest.mark.parametrize(
    "number", ["1234567890123456.789", "1e3", "1E3", "-0", "0.10", "1.0e0", "12345678901234567890.5", "1e-7"]
)
def test_a_number_is_shown_as_it_was_written(number: str) -> None:
    assert sent(f'{{"n": {number}}}'.encode()).values in ((("n{number}", number),), (("n", float(number)),))
    (shown,) = sent(f'[{{"n": {number}}}]'.encode()).values
    assert str(shown[1]) == number


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,2})?", fullmatch=True))
def test_every_number_is_shown_as_it_was_written_and_is_no_text(number: str) -> None:
    (as_number,) = sent(f'{{"n": {number}}}'.encode()).values
    (as_text,) = sent(json.dumps({"n": number}).encode()).values
    assert str(as_number[1]) == number
    assert as_number != as_text


# --- charsets


def test_a_charset_that_is_not_utf_8_is_decoded_and_shown() -> None:
    assert sent(b"name=Zo%EB", f"{FORM}; charset=ISO-8859-1").values == (
        ("charset of the body", "ISO-8859-1"),
        ("name", "Zoë"),
    )
    assert sent('{"name": "Zoë"}'.encode("cp1252"), f"{JSON}; charset=windows-1252").values == (
        ("charset of the body", "windows-1252"),
        ("name", "Zoë"),
    )


@pytest.mark.parametrize("named", ["utf-8", "UTF-8", "utf8", '"utf-8"'])
def test_utf_8_is_not_mentioned(named: str) -> None:
    assert sent(b'{"a": 1}', f"{JSON}; charset={named}").values == (("a", 1),)


@pytest.mark.parametrize(
    "named",
    [
        "utf-7",
        "utf-16",
        "utf-16le",
        "utf-32",
        "iso-2022-jp",
        "hz",
        "unicode_escape",
        "punycode",
        "rot13",
        "nonsense",
        "utf-8*",
    ],
)
def test_what_is_in_an_odd_charset_is_bound_by_its_digest_and_the_charset_is_named(named: str) -> None:
    one, other = (sent(b'{"to": "' + to + b'"}', f"{JSON}; charset={named}").values for to in (b"+AEE-", b"A"))
    assert one[0] == ("charset of the body", named)
    assert (one[1][0], "sha256" in str(one[1][1])) == ("body", True)
    assert one != other


def test_several_charsets_are_all_named_and_the_body_is_opaque() -> None:
    values = sent(b"{}", f"{JSON}; charset=utf-8; charset=utf-7").values
    assert (values[0], values[1][0]) == (("charset of the body", "utf-8, utf-7"), "body")
    assert find_charset(["utf-8", "utf-8"]) is None


KINDS = st.sampled_from([JSON, FORM, "multipart/form-data", "x/y"]).flatmap(
    lambda kind: st.text(st.sampled_from("charsetbound*=01'\"; \xa0/,"), max_size=25).map(lambda end: f"{kind};{end}")
)


@given(KINDS | st.text(st.characters(max_codepoint=255), max_size=20), st.sampled_from([b"a=1", b"[1]", b"--X--"]))
@example("multipart/form-data; boundary*=utf-8''X", b"--X--")
@example("application/json; charset*=utf-7''utf-8", b"[1]")
def test_a_body_of_any_type_can_be_stored_and_is_never_left_out(kind: str, body: bytes) -> None:
    commit = sent(body, kind)
    assert decode(CommitSet, encode(commit)) == commit
    assert commit.values


def test_json_in_utf_16_is_not_taken_for_json() -> None:
    assert [name for name, _ in sent('{"a": 1}'.encode("utf-16")).values] == ["body"]
