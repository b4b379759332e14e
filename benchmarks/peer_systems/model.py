"""The scripted model of a run: reads the page from each request in the system's dialect, decides, makes the errors of its profile, and counts."""

import json
from collections.abc import Callable

from benchmarks.llm.decisions import Move, Page, Policy, decide
from benchmarks.llm.meter import Call, Meter, read_text
from benchmarks.llm.pretix_decisions import decide_in_pretix
from benchmarks.llm.sites import PASSWORD
from benchmarks.peer_systems.cells import Cell
from benchmarks.peer_systems.dialects import Dialect, Message
from benchmarks.peer_systems.profiles import Errors, choose_policy, choose_rate
from benchmarks.web_apps.pretix.application import PASSWORD as CUSTOMERS_PASSWORD
from benchmarks.web_apps.wagtail.application import PASSWORD as EDITORS_PASSWORD
from midcourse.testing.models import Blurts, ChatRequest, Fails, Says, Usage
from midcourse.testing.models.script import Answer

PASSWORDS = {"wagtail": EDITORS_PASSWORD, "pretix": CUSTOMERS_PASSWORD}
NOT_UNDERSTOOD: Message = {"content": "I do not understand."}


class PeerModel:
    """Answers as a script of `ModelServer`."""

    def __init__(self, cell: Cell, dialect: Dialect, encode: Callable[[str], list[int]] | None) -> None:
        self._app, self._dialect = cell.app, dialect
        self._policy: Policy = choose_policy(cell.profile)
        self._errors = Errors(cell.app, cell.seed, choose_rate(cell.profile))
        self._meter = Meter(encode)
        self._failing_at = 2 + cell.seed % 3 if cell.fault == "model" else -1
        """Number of answers before the model fails."""
        self._failures_left = 2 + cell.seed % 3
        self.trouble: list[str] = []
        """Requests that the dialect could not read."""

    @property
    def failed(self) -> bool:
        """Whether the model had its planned failures, if any."""
        return self._failing_at < 0 or self._failures_left == 0

    @property
    def errors(self) -> int:
        return len(self._errors.made)

    def spent(self) -> dict[str, float]:
        return self._meter.spent()

    def __call__(self, request: ChatRequest) -> Answer:
        if len(self._meter.calls) == self._failing_at and self._failures_left:
            self._failures_left -= 1
            return Fails(500) if self._failures_left % 2 else Fails(429, retry_after=0.2)
        try:
            message = self._make_message(request)
        except Exception as error:  # the adapter did not understand the request: the pair is not comparable
            self.trouble.append(f"{type(error).__name__}: {error}")
            message = NOT_UNDERSTOOD
        call = self._meter.count(request, read_text(message))
        return _make_answer(message, request, call)

    def _make_message(self, request: ChatRequest) -> Message:
        page = self._dialect.read(request)
        if isinstance(page, dict):
            return page
        if isinstance(page, list):
            return self._dialect.write(page, Page(), request)
        assert isinstance(page, Page)
        page.password = PASSWORDS.get(self._app, PASSWORD)
        moves: list[Move] = self._dialect.select_fitting(self._decide(page))
        return self._dialect.write(self._errors.spoil(moves, page), page, request)

    def _decide(self, page: Page) -> list[Move]:
        if self._app == "pretix":
            return decide_in_pretix(self._policy, page)
        return decide(self._app, self._policy, page)


def _make_answer(message: Message, request: ChatRequest, call: Call) -> Answer:
    if not message.get("tool_calls"):
        return Says(message["content"], usage=Usage(call.tokens_in, call.tokens_out, call.cached))
    usage = {
        "prompt_tokens": call.tokens_in,
        "completion_tokens": call.tokens_out,
        "total_tokens": call.tokens_in + call.tokens_out,
        "prompt_tokens_details": {"cached_tokens": call.cached},
    }
    choice = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", **message}}
    completion = {"id": f"chatcmpl-{request.number}", "object": "chat.completion", "created": 0}
    return Blurts(json.dumps({**completion, "model": request.model, "choices": [choice], "usage": usage}))
