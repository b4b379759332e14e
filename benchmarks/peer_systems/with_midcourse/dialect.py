"""Midcourse's requests and answers, with or without what its prompt asks for beyond other systems' prompts: `expect` and probe."""

import json

from benchmarks.llm.advice import ADVICE
from benchmarks.llm.decisions import Move, Page
from benchmarks.llm.scripted_model import Evidence, read_page, write
from benchmarks.peer_systems.dialects import Message
from midcourse.testing.models import ChatRequest


class Midcourse:
    def __init__(self, evidence: Evidence) -> None:
        self._evidence: Evidence = evidence

    def read(self, request: ChatRequest) -> Page | list[Move] | Message:
        advice = ADVICE.get(request.role)
        return {"content": json.dumps(advice)} if advice else read_page(request.text)

    def select_fitting(self, moves: list[Move]) -> list[Move]:
        return moves

    def write(self, moves: list[Move], page: Page, request: ChatRequest) -> Message:
        return {"content": json.dumps(write(moves, self._evidence))}
