"""A scripted model that reports a ticket, screen by screen."""

import re
from collections.abc import Sequence
from typing import Any

from midcourse.testing.models import ChatRequest
from midcourse.testing.models.script import Line
from midcourse.testing.sites import USER


class Clerk:
    """The answers of the model. It finds zone ids in the prompt, as a model must."""

    def __init__(
        self,
        first_answers: Sequence[Line] = (),
        *,
        password: str = "$secret.password",
        customer: str = "$input.customer",
    ) -> None:
        self._first_answers = list(first_answers)
        self._password, self._customer = password, customer

    def __call__(self, request: ChatRequest) -> Line:
        if self._first_answers:
            return self._first_answers.pop(0)
        title = re.search(r'^surface "([^":]*)', request.text, re.MULTILINE)
        assert title, request.text
        match title[1]:
            case "Sign in":
                steps = [
                    type_into(request, "User name", USER),
                    type_into(request, "Password", self._password),
                    click_on(request, "button", "Sign in", "Tickets"),
                ]
            case "Tickets":
                steps = [click_on(request, "link", "New ticket", "New ticket")]
            case "New ticket":
                steps = [
                    type_into(request, "Customer number", self._customer),
                    type_into(request, "Subject", "Lamp hums"),
                    type_into(request, "Description", "In B flat."),
                    click_on(request, "button", "Create ticket", "Ticket *"),
                ]
            case _:
                return {"verdict": "done"}
        return {"steps": steps}


def type_into(request: ChatRequest, label: str, text: str) -> dict[str, Any]:
    return {
        "zone": find_zone(request, "textbox", label),
        "skill": "type",
        "arguments": [{"name": "text", "value": text}],
        "says": f"Fill in {label}",
    }


def click_on(request: ChatRequest, role: str, label: str, then: str) -> dict[str, Any]:
    return {
        "zone": find_zone(request, role, label),
        "skill": "click",
        "says": label,
        "expect": {"page": then},
        "transition": True,
    }


def find_zone(request: ChatRequest, role: str, label: str) -> str:
    found = re.search(rf'(?:^| )(\S+) {role} "{label}"', request.text, re.MULTILINE)
    assert found, f"no {role} {label} in\n{request.text}"
    return found[1]
