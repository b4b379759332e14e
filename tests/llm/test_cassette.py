"""What models were asked and answered, kept in a file and played from it: exactly that, nothing else, and no secret."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelRateLimitError,
    ModelServerError,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import BinaryContent, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from midcourse.domain.replace import replace
from midcourse.errors import CassetteMiss, FormatUnknown, TaskInvalid
from midcourse.llm.cassette import (
    Played,
    Player,
    Recorded,
    Recorder,
    build_models_with_cassette,
    compute_key,
    read_exchanges,
)
from midcourse.llm.roles.planner import build_planner_prompt
from midcourse.redact import Redactor
from tests.llm.situations import FIRST
from tests.test_redact import ENCODINGS

NAME = "openai:gpt-5"
SECRETS = {"plain": "hunter2-Ωmega", "awkward": "a\"b c&d<e>'\\f/é", "long": "0123456789abcdef" * 4}


def keep_text(text: str) -> str:
    return text


def make_model(*answers: str | Exception) -> Model:
    left = list(answers)

    def answer(*_: object) -> ModelResponse:
        answered = left.pop(0)
        if isinstance(answered, Exception):
            raise answered
        return ModelResponse(parts=[TextPart(content=answered)], usage=RequestUsage(input_tokens=7, output_tokens=3))

    return FunctionModel(answer)


async def ask(model: Model, *content: Any, max_tokens: int = 9, instructions: str = "Be brief.") -> ModelResponse:
    schema = OutputObjectDefinition(json_schema={"type": "object"}, name="plan")
    return await model_request(
        model,
        [ModelRequest(parts=[UserPromptPart(content=list(content) or ["Which?"])], instructions=instructions)],
        model_settings=ModelSettings(max_tokens=max_tokens, max_retries=0),
        model_request_parameters=ModelRequestParameters(output_mode="native", output_object=schema),
    )


def read_text(response: ModelResponse) -> str:
    (part,) = response.parts
    assert isinstance(part, TextPart)
    return part.content


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tapes" / "run.jsonl"


class TestPlaying:
    async def test_a_recorded_question_gets_its_recorded_answer_and_usage(self, path: Path):
        recorded = Recorded(make_model("blue", "green"), NAME, Recorder(path, keep_text))
        first, second = await ask(recorded, "Sky?"), await ask(recorded, "Grass?")
        player = Player(path, keep_text)
        played = Played(NAME, player)
        again = await ask(played, "Grass?"), await ask(played, "Sky?")
        assert [read_text(response) for response in again] == ["green", "blue"]
        assert [response.usage for response in again] == [second.usage, first.usage]
        assert player.left == 0

    async def test_the_same_question_is_answered_in_recorded_order(self, path: Path):
        recorded = Recorded(make_model("one", "two"), NAME, Recorder(path, keep_text))
        await ask(recorded)
        await ask(recorded)
        played = Played(NAME, Player(path, keep_text))
        assert [read_text(await ask(played)) for _ in range(2)] == ["one", "two"]
        with pytest.raises(CassetteMiss, match="recorded 2 times, and is asked once more"):
            await ask(played)

    async def test_a_question_that_was_not_recorded_says_what_differs(self, path: Path):
        recorded = Recorded(make_model("blue", "red"), NAME, Recorder(path, keep_text))
        await ask(recorded, "The screen\nline two\nline three")
        await ask(recorded, "Something else altogether")
        with pytest.raises(CassetteMiss) as missed:
            await ask(Played(NAME, Player(path, keep_text)), "The screen\nline 2\nline three")
        message = str(missed.value)
        assert "-line two" in message
        assert "+line 2" in message
        assert "line three" not in message
        assert "Something else" not in message

    @pytest.mark.parametrize("change", [{"max_tokens": 10}, {"instructions": "Be long."}])
    async def test_a_question_with_other_settings_or_instructions_is_a_miss(self, path: Path, change: dict[str, Any]):
        await ask(Recorded(make_model("blue"), NAME, Recorder(path, keep_text)))
        with pytest.raises(CassetteMiss):
            await ask(Played(NAME, Player(path, keep_text)), **change)

    async def test_pictures_count_and_are_not_kept(self, path: Path):
        picture, other = (BinaryContent(data=data, media_type="image/png") for data in (b"a picture" * 9, b"another"))
        await ask(Recorded(make_model("a cat"), NAME, Recorder(path, keep_text)), "What is it?", picture)
        assert picture.base64 not in path.read_text()
        with pytest.raises(CassetteMiss):
            await ask(Played(NAME, Player(path, keep_text)), "What is it?", other)
        assert read_text(await ask(Played(NAME, Player(path, keep_text)), "What is it?", picture)) == "a cat"

    async def test_a_model_that_was_not_recorded_is_missed_when_it_is_asked(self, path: Path):
        await ask(Recorded(make_model("blue"), NAME, Recorder(path, keep_text)))
        (other,) = build_models_with_cassette("openai:gpt-6", player=Player(path, keep_text))
        with pytest.raises(CassetteMiss, match=r"recorded of openai:gpt-6; recorded was openai:gpt-5\."):
            await ask(other)


TROUBLE = [
    ModelRateLimitError("m", "slow down", retry_after=1.5),
    ModelServerError("m", "500"),
    ModelAuthenticationError("m", "wrong key"),
    ModelConnectionError("m", "reset", phase="read"),
    ModelAPIError("m", "whatever"),
    ContentFilterError("not that"),
    UnexpectedModelBehavior("no choices"),
]


class TestTrouble:
    @pytest.mark.parametrize("error", TROUBLE, ids=lambda error: type(error).__name__)
    async def test_a_recorded_error_is_raised_again(self, path: Path, error: Any):
        with pytest.raises(type(error)):
            await ask(Recorded(make_model(error), NAME, Recorder(path, keep_text)))
        with pytest.raises(type(error), match=error.message) as again:
            await ask(Played(NAME, Player(path, keep_text)))
        for trait in ("retry_after", "phase"):
            assert getattr(again.value, trait, None) == getattr(error, trait, None)

    async def test_recorded_timeout_is_replayed_without_waiting(self, path: Path):
        async def never(*_: object) -> ModelResponse:
            await asyncio.sleep(60)
            raise AssertionError

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ask(Recorded(FunctionModel(never), NAME, Recorder(path, keep_text))), 0.01)
        with pytest.raises(TimeoutError):
            await ask(Played(NAME, Player(path, keep_text)))


class TestSecrets:
    @pytest.mark.parametrize("encoding", ENCODINGS)
    @pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
    async def test_no_form_of_a_secret_is_in_the_file(self, path: Path, encoding: str, secret: str):
        """Wherever it comes from: what is asked, what is answered, an error."""
        form = ENCODINGS[encoding](secret)
        recorder = Recorder(path, Redactor([("pin", secret)]))
        recorded = Recorded(make_model(f"it is {form}", ModelServerError("m", f"bad {form}")), NAME, recorder)
        await ask(recorded, f"field {form} here", instructions=f"never say {form}")
        with pytest.raises(ModelServerError):
            await ask(recorded)
        written = path.read_text()
        assert written.count("<secret pin>") >= 4
        for text in [written, *_texts(written)]:
            assert form not in text.replace("<secret pin>", "\0")

    async def test_a_question_is_found_with_the_secret_and_without(self, path: Path):
        await ask(Recorded(make_model("ok"), NAME, Recorder(path, Redactor([("pin", "hunter2!")]))), "It says hunter2!")
        with_it = Player(path, Redactor([("pin", "hunter2!")]))
        assert read_text(await ask(Played(NAME, with_it), "It says hunter2!")) == "ok"
        assert read_text(await ask(Played(NAME, Player(path, keep_text)), "It says <secret pin>")) == "ok"


def _texts(written: str) -> list[str]:
    """Every text in the file, decoded."""
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, str):
            found.append(value)
        for inner in value.items() if isinstance(value, dict) else value if isinstance(value, list) else ():
            for each in inner if isinstance(inner, tuple) else (inner,):
                walk(each)

    for line in written.splitlines():
        walk(json.loads(line))
    return found


class TestFile:
    def test_lines_of_another_kind_are_passed_over(self, path: Path):
        """Earlier versions also recorded the situations that a model planned in."""
        Recorder(path, keep_text).exchange(NAME, {"number": 1}, {})
        with path.open("a") as file:
            file.write('{"kind": "situation", "context": {}, "draft": {}}\n')
        assert [exchange.asked for exchange in read_exchanges(path)] == [{"number": 1}]

    def test_recording_appends_to_an_existing_cassette(self, path: Path):
        for number in range(2):
            Recorder(path, keep_text).exchange(NAME, {"number": number}, {})
        assert [exchange.asked["number"] for exchange in read_exchanges(path)] == [0, 1]
        assert path.read_text().count('"format"') == 1

    @pytest.mark.parametrize("text", ["", "not JSON", "[]", '{"kind": "journal"}'])
    def test_a_file_that_is_no_cassette_is_refused(self, path: Path, text: str):
        path.parent.mkdir()
        path.write_text(text)
        with pytest.raises(TaskInvalid, match="is not a cassette"):
            read_exchanges(path)

    def test_a_later_format_is_refused(self, path: Path):
        path.parent.mkdir()
        path.write_text('{"kind": "cassette", "format": 2}\n')
        with pytest.raises(FormatUnknown, match="format 2"):
            read_exchanges(path)

    def test_a_missing_file_is_refused(self, path: Path):
        with pytest.raises(TaskInvalid, match="cannot be read"):
            read_exchanges(path)


def test_a_recording_is_played_on_another_day_and_in_another_place():
    """But not for another request."""

    def key(facts: str, hour: str, goal: str = "Lend it") -> str:
        return compute_key("m", {"text": f"Task: {goal}\n\n{facts}\n\nLeft: 3 calls. It is about {hour}."})

    one = key("Today is Monday, 2026-07-13; time zone Europe/Berlin; the screen is 1280 x 800.", "13:45")
    assert one == key("Today is Friday, 2027-01-01; time zone UTC; language en-US.", "00:00")
    assert one != key("Today is Friday, 2027-01-01.", "00:00", goal="Return it")


def test_a_prompt_that_a_planner_is_given_at_another_hour_has_the_same_key():
    noon = 1_783_944_000.0

    def key(now: float) -> str:
        return compute_key("m", {"text": build_planner_prompt(replace(FIRST, now=now), 50_000).text})

    assert key(noon) == key(noon + 3 * 86_400 + 7_300)
