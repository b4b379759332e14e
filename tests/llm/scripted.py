"""A scripted model for tests: answers by the screen in the prompt, or in turn, and records the prompts."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

Answer: TypeAlias = object
"""JSON to answer with; text as it is; a response as it is; an exception to raise."""


class ScriptedModel:
    """Answers by the title of the surface, or for each call in turn. Every call reports `tokens` as its usage."""

    def __init__(
        self,
        answers: Mapping[str, Answer] | Sequence[Answer] | Callable[[str], Answer],
        *,
        name: str = "scripted",
        provider: str = "",
        tokens: tuple[int, int] = (100, 20),
    ) -> None:
        self.answers = answers
        self.provider = provider
        self.tokens = tokens
        self.prompts: list[str] = []
        self.infos: list[AgentInfo] = []
        self.model = FunctionModel(self._answer, model_name=name)

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        prompt = prompt_text(messages)
        self.prompts.append(prompt)
        self.infos.append(info)
        answer = self._choose_answer(prompt)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, ModelResponse):
            return answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        usage = RequestUsage(input_tokens=self.tokens[0], output_tokens=self.tokens[1])
        return ModelResponse(parts=[TextPart(content=text)], usage=usage, provider_name=self.provider or None)

    def _choose_answer(self, prompt: str) -> Answer:
        if callable(self.answers):
            return self.answers(prompt)
        if isinstance(self.answers, Sequence):
            return self.answers[len(self.prompts) - 1]
        return next(answer for title, answer in self.answers.items() if f'surface "{title}"' in prompt)


def prompt_text(messages: list[ModelMessage]) -> str:
    request = messages[-1]
    assert isinstance(request, ModelRequest)
    texts = [request.instructions or ""]
    for part in request.parts:
        assert isinstance(part, UserPromptPart)
        content = [part.content] if isinstance(part.content, str) else part.content
        texts += [text for text in content if isinstance(text, str)]
    return "\n\n".join(texts)
