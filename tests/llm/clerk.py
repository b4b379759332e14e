"""A scripted model that reports a ticket, screen by screen."""

import re
from collections.abc import Sequence
from typing import Any

from midcourse.testing.models import ChatRequest
from midcourse.testing.models.answer import Line
from midcourse.testing.sites import USER


class Clerk:
    """What the model says. It reads zone ids off the screen that it is sent, as a model has to."""

    def __init__(
        self, at_first: Sequence[Line] = (), *, password: str = "$secret.password", customer: str = "$input.customer"
    ) -> None:
        self._at_first = list(at_first)
        self._password, self._customer = password, customer

    def __call__(self, request: ChatRequest) -> Line:
        if self._at_first:
            return self._at_first.pop(0)
        title = re.search(r'^surface "([^":]*)', request.text, re.MULTILINE)
        assert title, request.text
        match title[1]:
            case "Sign in":
                steps = [
                    typing(request, "User name", USER),
                    typing(request, "Password", self._password),
                    clicking(request, "button", "Sign in", "Tickets"),
                ]
            case "Tickets":
                steps = [clicking(request, "link", "New ticket", "New ticket")]
            case "New ticket":
                steps = [
                    typing(request, "Customer number", self._customer),
                    typing(request, "Subject", "Lamp hums"),
                    typing(request, "Description", "In B flat."),
                    clicking(request, "button", "Create ticket", "Ticket *"),
                ]
            case _:
                return {"verdict": "done"}
        return {"steps": steps}


def typing(request: ChatRequest, label: str, text: str) -> dict[str, Any]:
    return {
        "zone": zone(request, "textbox", label),
        "skill": "type",
        "arguments": {"text": text},
        "says": f"Fill in {label}",
    }


def clicking(request: ChatRequest, role: str, label: str, then: str) -> dict[str, Any]:
    return {
        "zone": zone(request, role, label),
        "skill": "click",
        "says": label,
        "expect": {"page": then},
        "transition": True,
    }


def zone(request: ChatRequest, role: str, label: str) -> str:
    found = re.search(rf'^(\S+) {role} "{label}"', request.text, re.MULTILINE)
    assert found, f"no {role} {label} in\n{request.text}"
    return found[1]
